"""Signals: closed forms, every rule of the document, and equal bits from every interface."""

from __future__ import annotations

import contextlib
import itertools
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from astray import SignalError
from astray.errors import SignalWarning
from astray.files.marked_yaml import read_yaml
from astray.numerics import elementary
from astray.numerics.kernels import kernel
from astray.signals import (
    IntervalConfig,
    Samples,
    Signal,
    Signals,
    SimType,
    Sine,
    bank,
    constant,
    evaluate,
)
from astray.signals import compute_value as value_of
from astray.signals.evaluate import value, value_among
from support.kernels import without_jit
from support.signals import EXAMPLES, intervals, length, number

C, L, Q, STEP = SimType.CONSTANT, SimType.LINEAR, SimType.QUADRATIC, SimType.STEP

# The examples of the document, verbatim.


def plain(text: str) -> Any:
    tree = read_yaml(text, "x.yaml", [])
    assert tree is not None
    return tree.plain()


def read(text: str, **options: Any) -> Signals:
    """Signals from YAML, where a warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return Signals.read(plain(text), **options)


def problems(text: str, **options: Any) -> list[str]:
    with pytest.raises(SignalError) as caught:
        read(text, **options)
    return str(caught.value).splitlines()


# The document.


def test_the_examples_of_the_document_run_verbatim() -> None:
    signals = read(EXAMPLES)
    assert list(signals) == ["linear_x", "wheel_fl", "angular_z"]
    for t in (0.0, 3.3, 10.0, 99.0):
        assert signals.get_object_value("linear_x", t) == 5.0
    for t, y in ((0.0, 0.0), (2.5, 5.0), (5.0, 10.0), (7.0, 10.0)):
        assert signals.get_object_value("wheel_fl", t) == y
    for t, y in ((0.0, 0.0), (5.0, 3.14), (2.5, 0.75 * 3.14), (10.0, 0.0), (11.0, 0.0)):
        assert signals.get_object_value("angular_z", t) == pytest.approx(y, abs=1e-15)
    peak = max(signals["angular_z"](np.linspace(0.0, 10.0, 1001)))
    assert peak == signals["angular_z"](5.0) == 3.14


def test_the_names_of_the_document_are_spelt_as_there() -> None:
    assert [kind.name for kind in SimType][:3] == ["CONSTANT", "LINEAR", "QUADRATIC"]
    interval = IntervalConfig(Q, 0.0, 10.0, 0.0, 0.0, 5.0, 3.14)
    fields = "type t_start t_end y_start y_end t_mid y_mid"
    assert " ".join(vars(interval)) == fields
    assert value_of(5.0, interval) == 3.14


def test_constant_returns_y_start() -> None:
    interval = IntervalConfig(C, 1.0, 2.0, 5.0, y_end=7.0)
    assert [value_of(t, interval) for t in (1.0, 1.5, 2.0)] == [5.0, 5.0, 5.0]


@pytest.mark.parametrize("t", [0.0, 0.1, 1.0, 1.7, 3.0])
def test_linear_is_the_line_through_two_points(t: float) -> None:
    interval = IntervalConfig(L, 0.0, 3.0, 2.0, -4.0)
    assert value_of(t, interval) == pytest.approx(2.0 + (-4.0 - 2.0) * t / 3.0, abs=1e-15)


@pytest.mark.parametrize("t", [0.0, 0.3, 1.0, 2.2, 4.0, -1.0, 6.0])
def test_quadratic_is_lagrange_through_three_points(t: float) -> None:
    interval = IntervalConfig(Q, 0.0, 4.0, 1.0, 2.0, 1.0, 5.0)
    t0, t1, t2 = 0.0, 1.0, 4.0
    y = 1.0 * (t - t1) * (t - t2) / ((t0 - t1) * (t0 - t2))
    y += 5.0 * (t - t0) * (t - t2) / ((t1 - t0) * (t1 - t2))
    y += 2.0 * (t - t0) * (t - t1) / ((t2 - t0) * (t2 - t1))
    assert value_of(t, interval) == pytest.approx(y, rel=1e-14)


def test_before_all_intervals_it_is_zero() -> None:
    assert Signal([IntervalConfig(C, 1.0, 2.0, 5.0)])(math.nextafter(1.0, 0.0)) == 0.0
    assert Signal()(3.0) == 0.0


def test_after_all_intervals_the_last_value_is_held() -> None:
    for kind, at_end in ((C, 3.0), (L, 4.0), (Q, 4.0), (STEP, 4.0)):
        signal = Signal([IntervalConfig(kind, 0.0, 2.0, 3.0, 4.0, y_mid=9.0)])
        assert [signal(t) for t in (2.0, 2.0000001, 1e9)] == [at_end, 4.0, 4.0]
        assert Signal(signal.intervals, gap="zero")(1e9) == 4.0


def test_an_unknown_object_reads_zero_with_one_warning() -> None:
    signals = read("vx: 1.0")
    with pytest.warns(SignalWarning, match="unknown signal 'vy'") as warned:
        assert [signals.get_object_value("vy", t) for t in (0.0, 1.0)] == [0.0, 0.0]
    assert len(warned) == 1
    with pytest.raises(KeyError):
        signals["vy"]


# The table of open points.


GAP = "[{type: linear, t_start: 0, t_end: 1, y_start: 0, y_end: 2}, {type: constant, t_start: 3, t_end: 4, y_start: 5}]"


def test_a_gap_holds_unless_it_is_set_to_zero() -> None:
    times = (1.0, 1.5, 2.999, 3.0)
    assert [read(f"a: {GAP}")["a"](t) for t in times] == [2.0, 2.0, 2.0, 5.0]
    zero = read(f"a: {{gap: zero, intervals: {GAP}}}")["a"]
    assert [zero(t) for t in times] == [2.0, 0.0, 0.0, 5.0]
    assert zero(math.nextafter(1.0, 2.0)) == 0.0
    assert zero(99.0) == 5.0
    assert problems("a: {gap: hole, intervals: []}") == ["a.gap: hold or zero, not 'hole'"]


def test_touching_is_no_overlap_and_the_later_one_counts_at_the_border() -> None:
    signal = Signal([IntervalConfig(C, 0.0, 5.0, 1.0), IntervalConfig(C, 5.0, 10.0, 2.0)])
    assert [signal(t) for t in (math.nextafter(5.0, 0.0), 5.0, 10.0)] == [1.0, 2.0, 2.0]


def test_an_overlap_is_an_error_without_tolerance() -> None:
    barely = math.nextafter(5.0, 0.0)
    with pytest.raises(SignalError, match="before interval_0 ends at 5 s"):
        Signal([IntervalConfig(C, 0.0, 5.0, 1.0), IntervalConfig(C, barely, 10.0, 2.0)])
    text = "a: {num_intervals: 3, interval_0: {type: constant, t_start: 0, t_end: 9, y_start: 1}, interval_1: {type: constant, t_start: 1, t_end: 2, y_start: 1}, interval_2: {type: constant, t_start: 3, t_end: 4, y_start: 1}}"
    assert problems(text) == [
        "a.interval_1: begins at 1 s, before interval_0 ends at 9 s",
        "a.interval_2: begins at 3 s, before interval_0 ends at 9 s",
    ]
    endless = "a: [{type: sine, amplitude: 1, frequency: 1}, {type: constant, t_start: 1, t_end: 2, y_start: 1}]"
    assert problems(endless) == ["a[1]: begins at 1 s, before interval 0 ends, which is never"]


def test_the_held_value_is_that_at_t_end_also_for_a_constant() -> None:
    text = EXAMPLES.split("\n\n")[0]  # it has no y_end, which must not be taken for 0
    assert read(text)["linear_x"](10.1) == 5.0


def test_after_a_constant_its_own_end_value_is_held() -> None:
    """Inside it is y_start, at its end too; then a y_end of its own counts, as the document has it."""
    one = "{type: constant, t_start: 0, t_end: 2, y_start: 5, y_end: 7}"
    signal = read(f"a: {one}")["a"]
    assert [signal(t) for t in (0.0, 2.0, math.nextafter(2.0, 3.0), 9.0)] == [5.0, 5.0, 7.0, 7.0]
    assert signal.integral(4.0) == pytest.approx(2 * 5.0 + 2 * 7.0)
    assert Signals.read({"a": signal.plain()})["a"] == signal
    later = "{type: constant, t_start: 4, t_end: 5, y_start: 1}"
    touching = "{type: constant, t_start: 2, t_end: 3, y_start: 1}"
    gap = read(f"a: [{one}, {later}]")["a"]
    assert [gap(t) for t in (2.0, 3.0, 4.0, 9.0)] == [5.0, 7.0, 1.0, 1.0]
    assert gap.integral(5.0) == pytest.approx(2 * 5.0 + 2 * 7.0 + 1.0)
    zero = read(f"a: {{gap: zero, intervals: [{one}, {later}]}}")["a"]
    assert [zero(t) for t in (2.0, 3.0, 4.0)] == [5.0, 0.0, 1.0]
    assert [read(f"a: [{one}, {touching}]")["a"](t) for t in (1.9, 2.0, 9.0)] == [5.0, 1.0, 1.0]
    jump = read("a: {type: constant, t_start: 2, t_end: 2, y_start: 5, y_end: 0}")["a"]
    assert [jump(t) for t in (1.9, 2.0, 2.1)] == [0.0, 5.0, 0.0]
    wrong = "a: {type: constant, t_start: 0, t_end: 2, y_start: 5, y_end: .inf}"
    assert problems(wrong) == ["a.y_end: a finite number is needed, not inf"]


# Parameters as a node of ROS 2 has them.


def flat(tree: Any, prefix: str = "") -> dict[str, Any]:
    """Nested parameters as ROS 2 flattens them."""
    if not isinstance(tree, dict):
        return {prefix[:-1]: tree}
    return {k: v for key in tree for k, v in flat(tree[key], f"{prefix}{key}.").items()}


def test_flat_parameters_are_read_as_ros_hands_them_over() -> None:
    nested = plain(EXAMPLES)
    parameters = {"use_sim_time": True, "qos_overrides./clock.depth": 1, **flat(nested)}
    assert "angular_z.interval_0.y_mid" in parameters
    assert dict(Signals.read(parameters)) == dict(Signals.read(nested))
    assert dict(Signals.read({**parameters, "max_intervals": 1})) == dict(Signals.read(nested))
    partly = {**nested, "wheel_fl": flat(nested["wheel_fl"])}
    assert dict(Signals.read(partly)) == dict(Signals.read(nested))
    apart = {
        "wheel_fl": {"num_intervals": 1},
        **flat({"wheel_fl": {"interval_0": nested["wheel_fl"]["interval_0"]}}),
    }
    assert Signals.read(apart)["wheel_fl"] == Signals.read(nested)["wheel_fl"]
    dotted = Signals.read(flat({"left.arm": {**nested["wheel_fl"], "gap": "zero"}}))
    assert dotted["left.arm"](2.5) == 5.0


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ({"a": 3.0, "a.num_intervals": 0}, "a: is given as a whole and in parts"),
        ({"a": {"num_intervals": 0}, "a.num_intervals": 1}, "a.num_intervals: is given twice"),
        ({"a.num_intervals": 1}, "a: needs 'interval_0': num_intervals is 1"),
        (
            {"a.num_intervals": 1, "a.interval_0.type": "constant"},
            "a.interval_0: needs 't_start', 't",
        ),
        ({"a.num_intervals": "two"}, "a.num_intervals: a whole number from 0 on is needed"),
        ({"a.num_intervals": 1, "a.interval_0.t.end": 1}, "a.interval_0: needs 'type'"),
        ({"a.num_intervals": {"x": 1}}, "a.num_intervals: a whole number from 0 on is needed"),
    ],
)
def test_faults_of_flat_parameters_are_told_by_their_names(written: Any, fault: str) -> None:
    with pytest.raises(SignalError) as caught:
        Signals.read(written)
    assert fault in str(caught.value)


def test_flat_parameters_of_a_signal_that_is_not_allowed_are_refused() -> None:
    with pytest.raises(SignalError, match="vz: unknown signal 'vz'"):
        Signals.read({"vz.num_intervals": 0}, ["vx", "vy"])


def test_intervals_out_of_order_are_sorted() -> None:
    there = [IntervalConfig(C, k, k + 1.0, k) for k in range(4)]
    signal = Signal([there[k] for k in (2, 0, 3, 1)])
    assert signal == Signal(there)
    assert [signal(k + 0.5) for k in range(4)] == [0.0, 1.0, 2.0, 3.0]


def test_only_a_constant_may_last_no_time() -> None:
    jump = Signal([IntervalConfig(C, 2.0, 2.0, 7.0)])
    assert [jump(t) for t in (1.9, 2.0, 3.0)] == [0.0, 7.0, 7.0]
    for kind in ("linear", "quadratic", "step"):
        text = f"a: {{type: {kind}, t_start: 1, t_end: 1, y_start: 0, y_end: 1, y_mid: 2}}"
        assert "only a constant may last 0 s" in problems(text)[0]
    assert problems("a: {type: constant, t_start: 2, t_end: 1, y_start: 0}") == [
        "a.t_end: 1 s is before t_start, 2 s"
    ]


def test_t_mid_is_the_middle_unless_given_and_y_mid_must_be_given() -> None:
    start = "a: {type: quadratic, t_start: 0, t_end: 4, y_start: 0, y_end: 0"
    (interval,) = read(start + ", y_mid: 1}")["a"].intervals
    assert isinstance(interval, IntervalConfig)
    assert interval.t_mid == 2.0
    assert problems(start + "}") == ["a: needs 'y_mid'"]
    for t_mid in (0, 4, -1, 5):
        found = problems(start + f", y_mid: 1, t_mid: {t_mid}}}")
        assert found == [f"a.t_mid: {t_mid} s is not between t_start and t_end, 0 and 4 s"]


LIMITED = f"max_intervals: 1\na: {GAP}"


def test_the_first_max_intervals_are_loaded_with_a_warning_or_an_error_if_strict() -> None:
    with pytest.warns(SignalWarning, match="a: has 2 intervals, and max_intervals is 1"):
        signals = Signals.read(plain(LIMITED))
    assert signals["a"](3.5) == 2.0
    assert "max_intervals is 1" in problems("strict: true\n" + LIMITED)[0]
    assert "max_intervals is 1" in problems(LIMITED, strict=True)[0]
    with pytest.warns(SignalWarning, match="max_intervals is 1"):
        Signals.read(plain(f"a: {GAP}"), max_intervals=1)
    assert read(f"a: {GAP}", max_intervals=2)["a"](3.5) == 5.0
    # Those that are not loaded need not even be there.
    cut = "max_intervals: 1\na: {num_intervals: 3, interval_0: {type: constant, t_start: 0, t_end: 1, y_start: 4}}"
    with pytest.warns(SignalWarning, match="has 3 intervals"):
        assert Signals.read(plain(cut))["a"](0.5) == 4.0


def test_missing_keys_are_named() -> None:
    assert problems("a: {num_intervals: 2, interval_1: {type: linear, t_end: 1}}") == [
        "a: needs 'interval_0': num_intervals is 2",
        "a.interval_1: needs 't_start', 'y_start', 'y_end'",
    ]
    assert problems("a: {num_intervals: 1, interval_0: {t_start: 0}}")[0].startswith(
        "a.interval_0: needs 'type' (constant, linear, quadratic"
    )
    assert problems("a: {}") == ["a: needs 'num_intervals' or 'intervals'"]
    with pytest.raises(SignalError, match="unknown key 'interval_111"):
        Signals.read({"a": {"num_intervals": 0, f"interval_{'1' * 5000}": 1}})
    assert "needs 'interval_0', 'interval_1'" in problems("a: {num_intervals: 1000000000}")[0]


def test_an_unknown_type_is_constant_with_a_warning() -> None:
    text = "a: {type: quadratik, t_start: 0, t_end: 5, y_start: 3, y_end: 9, y_mid: 1}"
    with pytest.warns(
        SignalWarning, match=r"a.type: unknown type 'quadratik', taken as constant.*'quadratic'"
    ):
        signals = Signals.read(plain(text))
    assert [signals["a"](t) for t in (0.0, 4.0, 9.0)] == [3.0, 3.0, 9.0]
    wobble: Any = "wobble"
    with pytest.warns(SignalWarning, match="unknown type 'wobble'"):
        assert IntervalConfig(wobble, 0.0, 1.0, 2.0).type is C
    assert "unknown type 'quadratik'" in problems(text, strict=True)[0]
    wrong = problems("a: {type: sin, amplitude: 1, frequency: 2}")
    assert "a.type: unknown type 'sin', taken as constant; did you mean 'sine'?" in wrong


def test_types_are_compared_without_case() -> None:
    assert read("a: {type: LiNeAr, t_start: 0, t_end: 2, y_start: 0, y_end: 2}")["a"](1.0) == 1.0


def test_without_num_intervals_those_present_are_counted_with_a_warning() -> None:
    text = "a: {interval_0: {type: constant, t_start: 0, t_end: 1, y_start: 4}}"
    with pytest.warns(SignalWarning, match="no num_intervals; 1 are given and taken"):
        assert Signals.read(plain(text))["a"](0.5) == 4.0


def test_an_interval_that_num_intervals_does_not_count_is_left_out_with_a_warning() -> None:
    one = "{type: constant, t_start: 0, t_end: 1, y_start: 4}"
    text = f"a: {{num_intervals: 1, interval_0: {one}, interval_1: {one}}}"
    with pytest.warns(SignalWarning, match="interval_1: is left out: num_intervals is 1"):
        assert len(Signals.read(plain(text))["a"].intervals) == 1
    assert read("a: {num_intervals: 0}")["a"](1.0) == 0.0


def test_numbers_of_numpy_are_numbers() -> None:
    points = np.array([[0, 0], [2, 4]])
    written = {
        "a": np.float32(2.0),
        "b": {"type": "samples", "points": points},
        "c": [{"type": "constant", "t_start": np.int64(0), "t_end": 1, "y_start": np.float64(3.0)}],
    }
    assert [signal(1.0) for signal in Signals.read(written).values()] == [2.0, 2.0, 3.0]


def test_integers_are_taken_for_doubles() -> None:
    assert read("a: {type: linear, t_start: 0, t_end: 4, y_start: 0, y_end: 1}")["a"](1) == 0.25


@pytest.mark.parametrize(
    "wrong", [".nan", ".inf", "-.inf", "'1.0'", "true", "~", "[1]", "1" + "0" * 400]
)
def test_what_is_no_finite_number_is_refused(wrong: str) -> None:
    for key in ("t_start", "t_end", "y_start", "y_end", "t_mid", "y_mid"):
        written = {"t_start": 0, "t_end": 4, "y_start": 0, "y_end": 1, "t_mid": 1, "y_mid": 1}
        text = ", ".join(f"{k}: {wrong if k == key else v}" for k, v in written.items())
        (found,) = problems(f"a: {{type: quadratic, {text}}}")
        assert found.startswith(f"a.{key}: a ")
    if wrong != "[1]":
        assert len(problems(f"a: {wrong}")) == 1


def test_all_faults_are_reported_at_once_and_keys_are_suggested() -> None:
    text = "vx: [{type: linear, t_strat: 0, t_end: 1, y_start: 0, y_end: 0}, 5]\nvxy: 1\nwz: {num_interval: 1}\nmax_intervals: -1\nstrict: maybe\ncurvature: on"
    names = ("vx", "vy", "wz", "curvature")
    found = "\n".join(problems(text, names=names))
    for part in (
        "strict: true or false, not 'maybe'",
        "max_intervals: a whole number from 0 on is needed, not -1",
        "vx[0]: needs 't_start'",
        "vx[0].t_strat: unknown key 't_strat'; did you mean 't_start'?",
        "vx[1]: an interval is needed, not 5",
        "vxy: unknown signal 'vxy'; did you mean 'v",
        "wz.num_interval: unknown key 'num_interval'; did you mean 'num_intervals'?",
        "curvature: a signal is needed, not 'on'",
    ):
        assert part in found
    assert problems("[1, 2]") == ["a mapping of names to signals is needed, not [1, 2]"]


def test_values_that_no_double_holds_are_refused() -> None:
    with pytest.raises(SignalError, match="too large"):
        IntervalConfig(L, -1.7e308, 1.7e308, 0.0, 1.0)
    with pytest.raises(SignalError, match="too large"):
        IntervalConfig(Q, 0.0, 1e10, 0.0, 1.0, 1e-300, 5.0)
    with pytest.raises(SignalError, match="not between"):
        IntervalConfig(Q, 1.0, math.nextafter(1.0, 2.0), 0.0, 1.0, y_mid=5.0)


# Further kinds.


def test_a_number_is_a_signal_from_zero_on() -> None:
    assert [read("a: 3")["a"](t) for t in (-0.1, 0.0, 50.0)] == [0.0, 3.0, 3.0]
    assert constant(3.0) == read("a: 3")["a"]


def test_a_step_changes_at_t_mid() -> None:
    signal = read("a: {type: step, t_start: 0, t_end: 4, y_start: 1, y_end: 2, t_mid: 3}")["a"]
    assert [signal(t) for t in (0.0, 2.99, 3.0, 4.0, 5.0)] == [1.0, 1.0, 2.0, 2.0, 2.0]
    (interval,) = signal.intervals
    assert isinstance(interval, IntervalConfig)
    assert [value_of(t, interval) for t in (-1.0, 2.99, 3.0, 9.0)] == [1.0, 1.0, 2.0, 2.0]


def test_a_sine_has_amplitude_frequency_phase_and_offset() -> None:
    signal = read(
        "a: {type: sine, amplitude: 2, frequency: 0.5, phase: 0.3, offset: 1, t_start: 1}"
    )["a"]
    t = np.linspace(1.0, 50.0, 777)
    assert np.allclose(signal(t), 1.0 + 2.0 * np.sin(np.pi * (t - 1.0) + 0.3), rtol=0, atol=1e-13)
    assert signal(0.5) == 0.0
    ended = Signal([Sine(1.0, 1.0, t_end=0.25)])
    assert ended(0.25) == ended(99.0) == 1.0
    assert math.isnan(signal(1e300))
    right = {"type": "sine", "amplitude": 1, "frequency": 1}
    for key, wrong in (
        ("frequency", 0),
        ("frequency", -1.0),
        ("t_end", 0),
        ("amplitude", math.nan),
    ):
        with pytest.raises(SignalError, match=f"a.{key}: "):
            Signals.read({"a": {**right, key: wrong}})


def test_samples_are_joined_by_lines_and_two_at_one_time_jump() -> None:
    signal = read("a: {type: samples, points: [[0, 0], [1, 2], [1, 5], [3, 1], [3, 9]]}")["a"]
    assert [signal(t) for t in (-1, 0, 0.5, 1, 2, 3, 7)] == [0.0, 0.0, 1.0, 5.0, 3.0, 9.0, 9.0]
    assert read("a: {type: samples, points: [[2, 4]]}")["a"](3.0) == 4.0
    assert problems("a: {type: samples, points: [[0, 0], [2, 1], [1, 3]]}") == [
        "a.points[2]: 1 s is before 2 s"
    ]
    for wrong in ("[]", "3", "[[0, 1, 2]]", "[[0, .nan]]", "[[0, '1']]"):
        assert problems(f"a: {{type: samples, points: {wrong}}}")[0].startswith("a.points")
    with pytest.raises(SignalError, match="too far apart"):
        Samples(np.array([[0.0, -1.7e308], [1.0, 1.7e308]]))


CSV = {
    "0,1\n1,3\n": {},
    "# made by hand\n\nt;y\n0;1\n\n1;3\n": {},
    "value\ttime\n1\t0\n3\t1\n": {"time": "time"},
    "t, ax, ay\n0, 1, 7\n1, 3, 7\n": {"value": "ax"},
    "n,t,ax\n5,0,1\n6,1,3\n": {"time": "t", "value": "ax"},
    "\ufefft,y\r\n0,1\r\n1,3\r\n": {"time": "t", "value": "y"},
}


@pytest.mark.parametrize("text", CSV, ids=lambda text: repr(text)[:20])
def test_csv_has_two_columns_or_named_ones(text: str, tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    file.write_text(text, encoding="utf-8", newline="")
    written = {"type": "csv", "file": str(file), **CSV[text]}
    signal = Signals.read({"a": written})["a"]
    assert [signal(t) for t in (0.0, 0.25, 1.0, 9.0)] == [1.0, 1.5, 3.0, 3.0]
    later = Signals.read({"a": {**written, "t_start": 10}})["a"]
    assert [later(t) for t in (9.9, 10.25, 11.0)] == [0.0, 1.5, 3.0]
    for each in (signal, later):
        assert Signals.read({"a": each.plain()})["a"] == each


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "holds no numbers"),
        ("t,y\n", {}, "holds no numbers"),
        ("0,1,2\n", {}, ":1: two columns are needed"),
        ("0,1\n", {"value": "y"}, ":1: two columns are needed, or a header"),
        ("t,a,b\n0,1,2\n", {}, ":1: say which column is the value (t, a, b)"),
        ("t,accel\n0,1\n", {"value": "acel"}, ":1: unknown column 'acel'; did you mean 'accel'? (t, accel)"),
        ("t,y\n0,1\n1,x\n", {}, ":3: a number is needed, not 'x'"),
        ("0,1\n1,nan\n", {}, ":2: a finite number is needed, not nan"),
        ("0,1\n1\n", {}, ":2: has 1 columns, not 2"),
        ("0,1\n2,1\n1,1\n", {}, ":3: 1 s is before 2 s"),
        ("0,1\n" + "1" * 200_000 + ",1\n", {}, ":2: field larger than field limit"),
        (b"\xff\xfe", {}, "not a text file"),
        (None, {}, "no file"),
        ("0,1\n", {"digest": "1234"}, "has changed"),
        ("0,1\n", {"time": 5}, "a.time: a text is needed"),
    ],
    ids=str,
)  # fmt: skip
def test_a_wrong_csv_is_refused_with_its_line(
    text: Any, options: Any, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "data.csv"
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SignalError) as caught:
        Signals.read({"a": {"type": "csv", "file": str(file), **options}})
    assert message in str(caught.value)


keys = "a.num_intervals a.interval_0 a.interval_0.type interval_0.t_start a.gap type t_start t_end y_start y_end t_mid y_mid gap intervals num_intervals interval_0 interval_1 points file max_intervals strict amplitude frequency a"
leaf = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["linear", "sine", "samples", "csv", "quadratic", "step", "zero"]),
)
anything = st.recursive(
    leaf,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(keys.split()), inner, max_size=8)
    ),
    max_leaves=25,
)


@settings(max_examples=300)
@given(anything)
def test_nothing_that_is_written_ends_in_anything_but_signals_or_faults(written: Any) -> None:
    with contextlib.suppress(SignalError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for signal in Signals.read(written).values():
            assert np.isfinite(signal(np.linspace(-10.0, 10.0, 21))).all() or signal.intervals


# The same however it is asked.


@kernel
def in_a_kernel(out: Any, table: Any, first: Any, times: Any) -> None:
    """A kernel as in a plugin."""
    for i in range(len(times)):
        out[i] = (
            value(table, times[i])
            if first[0] < 0
            else value_among(table, first[1], first[2], times[i])
        )


gaps = st.sampled_from(["hold", "zero"])


@settings(max_examples=150)
@given(intervals(), gaps, st.lists(st.floats(-100.0, 8000.0), max_size=20))
def test_array_scalar_kernel_and_plain_python_agree_bit_for_bit(
    parts: list[Any], gap: Any, more: list[float]
) -> None:
    signal = Signal(parts, gap)
    borders = [t for part in parts for t in (part.t_start, part.t_end)]
    near = [math.nextafter(t, to) for t in borders for to in (-1e9, 1e9)]
    times = np.array([*borders, *near, *more])
    values = signal(times)
    assert np.isfinite(values).all()
    out, both = np.empty(len(times)), bank([constant(1.0), signal, constant(2.0)])
    in_a_kernel(out, both.table, both.first, times)
    integrals = signal.integral(times)
    assert out.tobytes() == values.tobytes()
    for t, y, total in zip(times.tolist(), values, integrals, strict=True):
        assert np.float64(signal(t)).tobytes() == y.tobytes()
        assert np.float64(signal.integral(t)).tobytes() == total.tobytes()
    again = Signal(parts, gap)
    with without_jit(evaluate, elementary):
        assert again(times).tobytes() == values.tobytes()
        assert again.integral(times).tobytes() == integrals.tobytes()
    assert signal(times.reshape(1, -1)).shape == (1, len(times))


@settings(max_examples=200)
@given(number, length, st.floats(1e-6, 1.0 - 1e-6), number, number, number)
def test_a_quadratic_passes_through_its_three_points_to_the_last_bit(
    start: float, lasts: float, share: float, y_start: float, y_mid: float, y_end: float
) -> None:
    end, middle = start + lasts, start + share * lasts
    assume(start < middle < end)
    signal = Signal([IntervalConfig(Q, start, end, y_start, y_end, middle, y_mid)])
    assert [signal(t) for t in (start, middle, end, end + 1.0)] == [y_start, y_mid, y_end, y_end]


@settings(max_examples=200)
@given(number, length, number, number)
def test_a_line_is_exact_at_both_ends_and_never_leaves_their_range(
    start: float, lasts: float, y_start: float, y_end: float
) -> None:
    end = start + lasts
    signal = Signal([IntervalConfig(L, start, end, y_start, y_end)])
    assert (signal(start), signal(end)) == (y_start, y_end)
    values = signal(np.linspace(start, end, 101))
    assert values.min() >= min(y_start, y_end)
    assert values.max() <= max(y_start, y_end)
    level = Signal([IntervalConfig(L, start, end, y_start, y_start)])
    assert (level(np.linspace(start, end, 101)) == y_start).all()


@settings(max_examples=150)
@given(intervals())
def test_touching_intervals_are_continuous_from_the_right(parts: list[Any]) -> None:
    signal = Signal(parts)
    for part in parts:
        alone = Signal([part])
        border = part.t_start
        assert signal(border) == alone(border)
        after = border + 1e-9 * (part.t_end - border)
        assert signal(after) == alone(after)
    assert Signal(list(reversed(parts))) == signal
    assert Signals.read({"a": signal.plain()})["a"] == signal


def phase_at_zero(part: Any) -> float:
    """A bound of the phase of a sine up to time 0, rad; 0 of other intervals."""
    if not isinstance(part, Sine):
        return 0.0
    return abs(part.phase) + math.tau * part.frequency * abs(part.t_start)


@settings(max_examples=60)
@given(intervals(), gaps, st.floats(-60.0, 500.0))
def test_the_integral_is_that_of_quadrature(parts: list[Any], gap: Any, t: float) -> None:
    signal = Signal(parts, gap)
    points = [0.0, t]
    for part in parts:
        points += [part.t_start, part.t_end]
        if isinstance(part, Samples):
            points += part.points[:, 0].tolist()
        elif isinstance(part, Sine):  # each half wave for itself
            count = min(200.0, 2.0 * part.frequency * (part.t_end - part.t_start))
            points += (part.t_start + np.arange(count) / (2.0 * part.frequency)).tolist()
        elif part.type is STEP:
            points.append(part.t_mid)
    low, high = min(0.0, t), max(0.0, t)
    borders = sorted({p for p in points if low <= p <= high})
    assume(
        sum(isinstance(p, Sine) and p.frequency * (p.t_end - p.t_start) > 100.0 for p in parts) == 0
    )
    total = sum(quad(signal, a, b, limit=200)[0] for a, b in itertools.pairwise(borders))
    within = [np.linspace(part.t_start, part.t_end, 100) for part in parts]
    peaks = [float(np.abs(signal(x)).max()) for x in within]
    scale = 1.0 + max(peaks, default=0.0) * (high - low)
    # The integral from 0 is a difference of two where parts start before 0: it is as exact as the
    # size of those parts allows, and a sine as exact as its phase.
    conditioning = sum(
        peak * -part.t_start * (1.0 + phase_at_zero(part))
        for part, peak in zip(parts, peaks, strict=True)
        if part.t_start < 0.0
    )
    bound = 1e-8 * scale + 8.0 * np.finfo(float).eps * conditioning
    assert signal.integral(t) == pytest.approx(math.copysign(1.0, t) * total, abs=bound)


def test_the_integral_of_a_sine_over_a_short_time_does_not_cancel() -> None:
    """The difference of two cosines of nearly the same large phase lost eight of its digits."""
    signal, t = Signal([Sine(-689304.0, 36.4, 152353.0)]), 2.7e-7
    assert signal.integral(t) == pytest.approx(quad(signal, 0.0, t)[0], rel=1e-12)
    assert signal.integral(1e-12) == pytest.approx(1e-12 * signal(0.5e-12), rel=1e-9)


@pytest.mark.parametrize("t", [0.5, 3.0, 4.0, 12.0])
def test_the_integrals_of_the_examples_have_their_closed_forms(t: float) -> None:
    signals = read(EXAMPLES)
    assert signals["linear_x"].integral(t) == pytest.approx(5.0 * t, rel=1e-15)
    ramp = t * t if t <= 5.0 else 25.0 + 10.0 * (t - 5.0)
    assert signals["wheel_fl"].integral(t) == pytest.approx(ramp, rel=1e-15)
    u = min(t, 10.0)
    arch = 3.14 * (u * u / 5.0 - u * u * u / 75.0)
    assert signals["angular_z"].integral(t) == pytest.approx(arch, rel=1e-14)


def test_the_integral_counts_from_zero_also_where_the_signal_begins_before() -> None:
    signal = Signal([IntervalConfig(C, -2.0, 5.0, 3.0)])
    assert [signal.integral(t) for t in (-9.0, -2.0, -1.0, 0.0, 2.0)] == [
        -6.0,
        -6.0,
        -3.0,
        0.0,
        6.0,
    ]
    assert Signal().integral(5.0) == 0.0


def test_a_time_that_is_none_gives_none() -> None:
    for signal in (Signal(), constant(1.0)):
        assert math.isnan(signal(math.nan))
        assert math.isnan(signal.integral(math.nan))


def test_signals_are_a_mapping_that_can_be_written_and_read() -> None:
    signals = read(EXAMPLES)
    assert len(signals) == 3
    assert "linear_x" in signals
    assert dict(Signals.read(signals.plain())) == dict(signals)
    assert dict(Signals.read(signals)) == dict(signals)
    assert "linear_x" in repr(signals)
    assert repr(signals["linear_x"]).startswith("Signal([IntervalConfig(type=<SimType.CONSTANT")
    hole: Any = "hole"
    with pytest.raises(SignalError, match="hold or zero"):
        Signal([], gap=hole)
