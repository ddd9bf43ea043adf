import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from scipy import stats

from astray.numerics import elementary, random
from astray.tables import ADDRESS, Array, Table, table
from support.kernels import without_jit

KEY = random.key(7, "rover", "sensor", "gps")
N = 20_000
LEAST_P = 1e-3  # of a Kolmogorov-Smirnov test; the seed is fixed, so it passes always or never
Deal = Callable[..., Array]
MOST_CORRELATION = 4.0 / math.sqrt(N)  # four standard deviations of that of independent numbers

KNOWN_ANSWERS = {
    "zeros": ((0, 0, 0, 0), (0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    "ones": ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    "pi": (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
}


def addresses(n: int = N) -> Table:
    """n robots that differ in everything, with the largest numbers among them."""
    made = table(ADDRESS, n)
    k = np.arange(n)
    made["tick"] = k * 37 % 10_007
    made["world"] = k // 100
    made["robot"] = k * 7 % random.MAX_ROBOTS
    made["episode"] = k % 5
    made[-1]["tick"], made[-1]["world"], made[-1]["robot"] = 2**32 - 1, 2**31 - 1, 2**16 - 1
    return made


def normals(address: Table, rows: Array, count: int, key: np.uint64 = KEY) -> Array:
    out = np.full((len(rows), count), np.nan)
    random.normals_all(out, address, rows, key)
    return out


def uniforms(address: Table, rows: Array, count: int, key: np.uint64 = KEY) -> Array:
    out = np.full((len(rows), count), np.nan)
    random.uniforms_all(out, address, rows, key)
    return out


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN_ANSWERS.values(), ids=KNOWN_ANSWERS)
def test_philox_gives_its_published_answers(
    counter: tuple[int, ...], key: tuple[int, int], answer: str
) -> None:
    words = random.philox(counter, np.uint64(key[0]), np.uint64(key[1]))
    assert [int(word) for word in words] == [int(word, 16) for word in answer.split()]


def test_uniforms_are_53_bits_of_philox() -> None:
    address = table(ADDRESS, 1)
    u, v = uniforms(address, np.arange(1), 2, np.uint64(0))[0]
    assert u * 2**53 == (0x6627E8D5 >> 5) * 2**26 + (0xE169C58D >> 6)
    assert v * 2**53 == (0xBC57AC4C >> 5) * 2**26 + (0x9B00DBD8 >> 6)


def test_normals_are_those_of_box_and_muller() -> None:
    address, rows = addresses(200), np.arange(200)
    for (u, v), pair in zip(uniforms(address, rows, 2), normals(address, rows, 2), strict=True):
        radius = mpmath.sqrt(-2 * mpmath.log(1 - mpmath.mpf(u)))
        angle = 2 * mpmath.pi * v
        exact = float(radius * mpmath.cos(angle)), float(radius * mpmath.sin(angle))
        assert pair == pytest.approx(exact, rel=1e-14)


def test_uniforms_are_uniform() -> None:
    got = uniforms(addresses(), np.arange(N), 3)
    assert got.min() >= 0.0
    assert got.max() < 1.0
    for column in got.T:
        assert stats.kstest(column, "uniform").pvalue > LEAST_P


def test_normals_are_normal() -> None:
    for column in normals(addresses(), np.arange(N), 3).T:
        assert stats.kstest(column, "norm").pvalue > LEAST_P


def test_draws_are_uncorrelated() -> None:
    got = np.corrcoef(normals(addresses(), np.arange(N), 5).T) - np.eye(5)
    assert np.abs(got).max() < MOST_CORRELATION


@pytest.mark.parametrize("field", ["tick", "world", "robot", "episode"])
def test_neighbours_are_uncorrelated(field: str) -> None:
    here, rows = addresses()[:-1], np.arange(N - 1)
    there = here.copy()
    there[field] += 1
    got = np.corrcoef(normals(here, rows, 2).T, normals(there, rows, 2).T)[:2, 2:]
    assert np.abs(got).max() < MOST_CORRELATION


def test_names_are_uncorrelated() -> None:
    address, rows = addresses(), np.arange(N)
    other = normals(address, rows, 2, random.key(7, "rover", "sensor", "gps2"))
    got = np.corrcoef(normals(address, rows, 2).T, other.T)[:2, 2:]
    assert np.abs(got).max() < MOST_CORRELATION


@pytest.mark.parametrize("deal", [normals, uniforms])
def test_a_row_is_dealt_the_same_in_any_batch(deal: Deal) -> None:
    address = addresses(300)
    together = deal(address, np.arange(300), 3)
    some = np.random.default_rng(1).permutation(300)[:90]
    assert deal(address, some, 3).tobytes() == together[some].tobytes()
    alone = address[123:124].copy()
    assert deal(alone, np.arange(1), 3).tobytes() == together[123:124].tobytes()


def test_more_draws_leave_the_first_as_they_were() -> None:
    address, rows = addresses(50), np.arange(50)
    for count in range(1, 7):
        assert (normals(address, rows, 7)[:, :count] == normals(address, rows, count)).all()


def test_a_kernel_deals_a_pair_as_the_columns_do() -> None:
    address = addresses(3)
    pairs = [random.normal_pair(address[1], KEY, k) for k in range(2)]
    assert np.ravel(pairs).tolist() == normals(address, np.array([1]), 4)[0].tolist()


def test_key_depends_on_every_name() -> None:
    keys = [
        random.key(7, "rover", "gps"),
        random.key(8, "rover", "gps"),
        random.key(7, "truck", "gps"),
        random.key(7, "rover", "imu"),
        random.key(7, "gps", "rover"),
        random.key(7, "rover"),
        random.key(7, "rover", "gps", ""),
        random.key(7, "roverg", "ps"),
        random.key(7, "rovergps"),
    ]
    assert len(set(keys)) == len(keys)


def test_key_is_the_same_in_every_process() -> None:
    assert random.key(7, "rover", "gps") == np.uint64(8630154454046526872)


@pytest.mark.parametrize("deal", [normals, uniforms])
def test_compiled_and_plain_give_the_same_bytes(deal: Deal) -> None:
    address = addresses()
    rows = np.r_[0:N:100, N - 1]
    compiled = deal(address, rows, 3)
    with without_jit(random, elementary):
        assert deal(address, rows, 3).tobytes() == compiled.tobytes()


def test_compiled_and_plain_philox_agree() -> None:
    words = [int(word) for word in np.random.default_rng(1).integers(0, 1 << 32, 6 * 200)]
    for k in range(0, len(words), 6):
        counter, k0, k1 = tuple(words[k : k + 4]), np.uint64(words[k + 4]), np.uint64(words[k + 5])
        assert tuple(map(int, random.philox.dispatcher()(counter, k0, k1))) == tuple(
            map(int, random.philox.function(counter, k0, k1))
        )
