import math
import random
import struct
from collections.abc import Callable, Iterable
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from astray.numerics import elementary
from astray.numerics.kernels import Kernel
from support.kernels import without_jit

KERNELS = {name: made for name, made in vars(elementary).items() if isinstance(made, Kernel)}
OF_NUMBERS = [name for name in KERNELS if name != "sincos_all"]
TIMES = 3000
MOST_ULPS = {"sin": 1, "cos": 1, "tan": 3, "exp": 1, "log": 1, "atan2": 2}
Draw = Callable[[random.Random], float]


def neighbour(x: float, steps: int) -> float:
    for _ in range(abs(steps)):
        x = math.nextafter(x, math.copysign(math.inf, steps))
    return x


ANGLES: dict[str, Draw] = {
    "some turns": lambda r: r.uniform(-1.0, 1.0) * r.choice((4.0, 100.0, 1e4)),
    "any size": lambda r: r.choice((-1, 1)) * 10 ** r.uniform(-18, 4),
    "tiny": lambda r: r.choice((-1, 1)) * 10 ** r.uniform(-323, -100),
    "quarter turns": lambda r: neighbour(
        r.randint(-60_000, 60_000) * math.pi / 2, r.randint(-9, 9)
    ),
}
POWERS: dict[str, Draw] = {
    "normal results": lambda r: r.uniform(-708.0, 709.78),
    "subnormal results": lambda r: r.uniform(-745.2, -708.0),
    "about one": lambda r: r.choice((-1, 1)) * 10 ** r.uniform(-18, 0),
    "the largest": lambda r: neighbour(709.782712893384, -r.randint(0, 100)),
}
ARGUMENTS: dict[str, Draw] = {
    "below one": lambda r: r.uniform(1e-12, 1.0),
    "near one": lambda r: 1.0 + r.choice((-1, 1)) * 10 ** r.uniform(-16, -0.6),
    "neighbours of one": lambda r: neighbour(1.0, r.randint(-50, 50)),
    "neighbours of √½": lambda r: neighbour(math.sqrt(0.5), r.randint(-50, 50)),
    "any size": lambda r: 10 ** r.uniform(-307, 308),
    "subnormal": lambda r: r.randint(1, 1 << 52) * 5e-324,
}
SIDES: dict[str, Draw] = {
    "box": lambda r: r.uniform(-1.0, 1.0),
    "any size": lambda r: r.choice((-1, 1)) * 10 ** r.uniform(-150, 150),
    "alike": lambda r: r.choice((-1, 1)) * r.uniform(1.0, 1.001),
    "simple fractions": lambda r: neighbour(r.choice((-4, -3, -1, 1, 2, 3, 4)), r.randint(-3, 3)),
}
DRAWS = dict.fromkeys(("sin", "cos", "tan"), ANGLES)
DRAWS |= {"exp": POWERS, "log": ARGUMENTS, "atan2": SIDES}
CASES = [
    pytest.param(name, draw, id=f"{name}: {which}")
    for name, draws in DRAWS.items()
    for which, draw in draws.items()
]


def check(name: str, arguments: Iterable[tuple[float, ...]]) -> None:
    with mpmath.workdps(40):
        for these in arguments:
            exact = getattr(mpmath, name)(*map(mpmath.mpf, these))
            off = abs(mpmath.mpf(getattr(elementary, name)(*these)) - exact)
            assert off <= MOST_ULPS[name] * math.ulp(float(exact)), these


def bits(result: float | tuple[float, ...]) -> list[bytes]:
    values = result if isinstance(result, tuple) else (result,)
    return [b"nan" if math.isnan(v) else struct.pack("<d", v) for v in values]


@pytest.mark.parametrize(("name", "draw"), CASES)
def test_result_is_within_the_promised_ulps(name: str, draw: Draw) -> None:
    source, count = random.Random(1), 2 if name == "atan2" else 1
    check(name, (tuple(draw(source) for _ in range(count)) for _ in range(TIMES)))


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_a_hundred_thousand_radians_cost_no_digits(name: str) -> None:
    source = random.Random(2)
    far = [(source.uniform(-1e5, 1e5),) for _ in range(TIMES)]
    check(name, [(-95029.30203885445,), (83579.75107447596,), *far])


LONG = [(4.1e307, 1.64e308), (1.5e308, 1.7e308), (-1.7e308, -1.5e308)]
SHORT = [(5e-324, 1.5e-323), (1e-323, -4.4e-323), (0.0, 5e-324), (-5e-324, 0.0)]
EDGES = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf]


@pytest.mark.parametrize(("y", "x"), LONG + SHORT)
def test_atan2_knows_the_longest_and_the_shortest_vectors(y: float, x: float) -> None:
    check("atan2", [(y, x)])


@pytest.mark.parametrize(("y", "x"), list(product(EDGES, EDGES)))
def test_atan2_has_the_signs_and_infinities_of_ieee(y: float, x: float) -> None:
    assert bits(elementary.atan2(y, x)) == bits(math.atan2(y, x))


def test_nan_in_nan_out() -> None:
    for function in (
        elementary.sin,
        elementary.cos,
        elementary.tan,
        elementary.exp,
        elementary.log,
    ):
        assert math.isnan(function(math.nan)), function
    for y, x in ((math.nan, 1.0), (1.0, math.nan), (math.nan, math.inf)):
        assert math.isnan(elementary.atan2(y, x))


def test_limits_are_those_of_the_functions() -> None:
    assert elementary.exp(709.8) == elementary.exp(math.inf) == math.inf
    assert elementary.exp(-746.0) == elementary.exp(-math.inf) == 0.0
    assert (elementary.log(0.0), elementary.log(math.inf)) == (-math.inf, math.inf)
    assert (elementary.exp(0.0), elementary.log(1.0)) == (1.0, 0.0)
    assert math.isnan(elementary.log(-1.0))
    assert all(math.isnan(v) for v in elementary.sincos(math.inf))


@given(st.integers(-(1 << 40), 1 << 40), st.sampled_from([0.0, 0.25, 0.5, 0.75]))
def test_whole_quarter_turns_are_exact(whole: int, part: float) -> None:
    exact = {0.0: (0.0, 1.0), 0.25: (1.0, 0.0), 0.5: (0.0, -1.0), 0.75: (-1.0, 0.0)}
    assert elementary.sincos_turns(whole + part) == exact[part]


@given(st.floats(-1e6, 1e6))
@example(-math.pi)
@example(math.nextafter(math.pi, 4.0))
@example(-15.707963267948964)  # rounding lands above π
@example(40.840704496667314)
def test_wrap_lands_in_range(angle: float) -> None:
    assert -math.pi < elementary.wrap(angle) <= math.pi


@given(st.floats(-1e6, 1e6))
def test_wrap_keeps_direction(angle: float) -> None:
    with mpmath.workdps(40):
        turns = (mpmath.mpf(angle) - mpmath.mpf(elementary.wrap(angle))) / (2 * mpmath.pi)
        assert abs(turns - mpmath.nint(turns)) * 2 * mpmath.pi <= 2 * math.ulp(angle)


@given(st.floats(-math.pi, math.pi, exclude_min=True))
def test_wrap_leaves_what_is_in_range_untouched(angle: float) -> None:
    assert bits(elementary.wrap(angle)) == bits(angle)


@pytest.mark.parametrize("angle", [math.nan, math.inf, -math.inf, 1e20, -1e300])
def test_wrap_of_what_is_no_angle_is_nan(angle: float) -> None:
    assert math.isnan(elementary.wrap.dispatcher()(angle))
    assert math.isnan(elementary.wrap.function(angle))


ANY = st.tuples(st.floats())
TAKES: dict[str, st.SearchStrategy[tuple[float, ...]]] = {
    "sincos_reduced": st.tuples(st.floats(-0.8, 0.8), st.floats(-1e-16, 1e-16)),
    "quarter_turns": st.tuples(st.floats(), st.floats(), st.integers(-(1 << 50), 1 << 50)),
    "sincos_turns": st.tuples(st.floats(-(2.0**50), 2.0**50)),
    "sincos_quarters": st.tuples(st.floats(-(2.0**29), 2.0**29)),
    "atan2": st.tuples(st.floats(), st.floats()),
    "effective_limit": st.tuples(st.floats(), st.floats(min_value=0.0)),
    "log_normal": st.tuples(st.floats(2.3e-308, 1.7e308)),
    **dict.fromkeys(("sincos", "sincos_in_pass", "sin", "cos", "tan", "exp", "log", "wrap"), ANY),
}


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_compiled_and_plain_give_the_same_bytes(name: str) -> None:
    compiled = KERNELS[name].dispatcher()

    @settings(max_examples=300)
    @given(TAKES[name])
    def compare(arguments: tuple[float, ...]) -> None:
        with without_jit(elementary):
            plain = KERNELS[name](*arguments)
        assert bits(compiled(*arguments)) == bits(plain)

    compare()


@given(st.lists(st.floats(), min_size=1, max_size=elementary.CHUNK))
def test_angles_in_passes_give_the_bytes_of_each_by_itself(angles: list[float]) -> None:
    one_by_one = [elementary.sincos(angle) for angle in angles]
    for by in (elementary.sincos_all.dispatcher(), elementary.sincos_all.function):
        w = np.full((3, elementary.CHUNK), 7.0)
        w[0, : len(angles)] = angles
        by(w, len(angles))
        assert [bits(pair) for pair in zip(*w[:2, : len(angles)].tolist(), strict=True)] == [
            bits(pair) for pair in one_by_one
        ]
        assert (w[2] == 7.0).all()
        assert (w[:2, len(angles) :] == 7.0).all()
