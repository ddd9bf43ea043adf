import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from astray.errors import PluginError
from astray.numerics import random
from astray.plugin import distributions
from astray.plugin.distributions import Choice, Distribution, Normal, Uniform
from astray.tables import ADDRESS, Array, Table, table

NAMES = (3, "rover", "motion", "differential", "radius")
KEY = random.key(*NAMES)
N = 20_000
LEAST_P = 1e-3  # the seed is fixed, so a test passes always or never
DISTRIBUTIONS = [Normal(0.05, 0.0005), Uniform(-1.0, 3.0), Choice((1.0, 2.0, 4.0))]


def robots(n: int = N) -> Table:
    made = table(ADDRESS, n)
    made["world"], made["robot"] = np.divmod(np.arange(n), 4)
    return made


def sample(distribution: Distribution, n: int = N) -> Array:
    return distribution.sample(robots(n), np.arange(n), KEY)


@pytest.mark.parametrize(
    ("written", "parsed"),
    [
        (3, 3.0),
        (-0.5, -0.5),
        ({"normal": [0.05, 0.0005]}, Normal(0.05, 0.0005)),
        ({"normal": (1, 0)}, Normal(1.0, 0.0)),
        ({"uniform": [-1, 2]}, Uniform(-1.0, 2.0)),
        ({"uniform": [2, 2]}, Uniform(2.0, 2.0)),
        ({"choice": [1, 2.5, 1]}, Choice((1.0, 2.5, 1.0))),
        (Normal(1.0, 0.1), Normal(1.0, 0.1)),
    ],
)
def test_numbers_and_distributions_are_read(written: object, parsed: object) -> None:
    assert distributions.parse(written) == parsed


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("3", "a number is needed, not '3'"),
        (True, "a number is needed, not True"),
        (None, "a number is needed, not None"),
        ([1, 2], r"a number is needed, not \[1, 2\]"),
        (math.nan, "a finite number is needed, not nan"),
        (-math.inf, "a finite number is needed, not -inf"),
        ({}, "one key: normal, uniform or choice"),
        ({"normal": [0, 1], "uniform": [0, 1]}, "one key: normal, uniform or choice"),
        ({"gauss": [0, 1]}, "unknown distribution 'gauss': normal, uniform or choice"),
        ({"normal": 3}, "normal needs a list of numbers"),
        ({"choice": []}, "choice needs a list of numbers"),
        ({"normal": [1]}, "normal needs two numbers, not 1"),
        ({"uniform": [1, 2, 3]}, "uniform needs two numbers, not 3"),
        ({"normal": [1, -0.1]}, "sd >= 0"),
        ({"uniform": [2, 1]}, "low <= high"),
        ({"uniform": [0, math.inf]}, "a finite number is needed, not inf"),
        ({"choice": [1, "a"]}, "a number is needed, not 'a'"),
        ({"normal": [0, {"uniform": [0, 1]}]}, "a number is needed"),
    ],
)
def test_what_is_wrong_is_said(written: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        distributions.parse(written)


finite = st.floats(-1e6, 1e6)
numbers = st.one_of(
    finite,
    st.builds(Normal, finite, st.floats(0, 1e3)),
    st.tuples(finite, finite).map(lambda ends: Uniform(*sorted(ends))),
    st.lists(finite, min_size=1, max_size=5).map(lambda values: Choice(tuple(values))),
)


@given(numbers)
def test_what_is_written_reads_back(number: distributions.Number) -> None:
    assert distributions.parse(distributions.to_scenario(number)) == number


def test_nominal_is_what_a_datasheet_says() -> None:
    assert distributions.nominal(0.3) == 0.3
    assert distributions.nominal(Normal(0.05, 0.0005)) == 0.05
    assert distributions.nominal(Uniform(1.0, 2.0)) == 1.5
    assert distributions.nominal(Choice((4.0, 1.0))) == 4.0


def test_normal_samples_follow_the_bell_curve() -> None:
    got = sample(Normal(0.05, 0.0005))
    assert stats.kstest(got, "norm", args=(0.05, 0.0005)).pvalue > LEAST_P


def test_uniform_samples_fill_their_range_evenly() -> None:
    got = sample(Uniform(-1.0, 3.0))
    assert stats.kstest(got, "uniform", args=(-1.0, 4.0)).pvalue > LEAST_P


def test_choices_are_equally_likely() -> None:
    values, counts = np.unique(sample(Choice((4.0, 1.0, 2.0))), return_counts=True)
    assert values.tolist() == [1.0, 2.0, 4.0]
    assert stats.chisquare(counts).pvalue > LEAST_P


@pytest.mark.parametrize(("error", "drawn"), [(7.0, 2.5), (-7.0, 1.5), (4.9, 2.49), (-4.9, 1.51)])
def test_normal_is_cut_at_five_standard_deviations(
    error: float, drawn: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random, "normals_all", lambda out, *_: out.fill(error))
    assert sample(Normal(2.0, 0.1), 3) == pytest.approx([drawn] * 3)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_samples_stay_in_the_range_that_is_promised(distribution: Distribution) -> None:
    low, high = distribution.range
    got = sample(distribution)
    assert low <= got.min() < got.max() <= high


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_a_robot_is_dealt_the_same_in_any_batch(distribution: Distribution) -> None:
    together = sample(distribution, 200)
    some = np.random.default_rng(1).permutation(200)[:60]
    assert distribution.sample(robots(200), some, KEY).tobytes() == together[some].tobytes()
    assert distribution.sample(robots(200)[77:78], np.arange(1), KEY)[0] == together[77]


def test_only_what_is_drawn_costs_a_sample() -> None:
    rows = np.arange(5)
    assert distributions.sample_values(0.3, robots(5), rows, *NAMES) == 0.3
    uniform = Uniform(0.0, 1.0)
    assert (
        distributions.sample_values(uniform, robots(5), rows, *NAMES) == sample(uniform, 5)
    ).all()


SUMS = """x + 1|1 + x|x - 1|1 - x|x * 2|2 * x|x / 2|2 / x|-x|x < 1|x > 1|float(x)|math.sqrt(x)
max(x, 1)|column * x|x * column|column - x|column < x|column.fill(x)"""
MORE = """x**2|2**x|x // 2|x % 2|x <= 1|1 <= x|+x|abs(x)|int(x)|round(x)|range(x)
column**x|column >= x|np.sqrt(x)|np.maximum(column, x)"""


@pytest.mark.parametrize(
    "computation",
    [
        *re.split(r"[|\n]", SUMS),
        *re.split(r"[|\n]", MORE),
    ],
)
@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=lambda d: type(d).__name__)
def test_computing_with_a_distribution_says_what_to_read(
    distribution: Distribution, computation: str
) -> None:
    names = {"x": distribution, "column": np.ones(3), "math": math, "np": np}
    with pytest.raises(PluginError, match=r"drawn per robot .* read self\.params\[name\]\[rows\]"):
        eval(computation, names)
