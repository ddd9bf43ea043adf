import math

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from astray.numerics import elementary, se2
from astray.numerics.elementary import wrap
from astray.numerics.kernels import Kernel
from astray.numerics.se2 import SMALL, Pose
from support.kernels import without_jit

KERNELS = {
    name: made
    for name, made in vars(se2).items()
    if isinstance(made, Kernel) and made.__module__ == se2.__name__
}
CLOSE = 1e-9  # m and rad, for poses within a kilometre

lengths = st.floats(-1000.0, 1000.0)
yaws = st.floats(-math.pi, math.pi, exclude_min=True)
sines = st.floats(-1.0, 1.0)
poses = st.tuples(lengths, lengths, yaws)
arcs = st.tuples(lengths, lengths, st.floats(-3.0, 3.0))


def same(a: Pose, b: Pose, within: float = CLOSE) -> bool:
    away = max(abs(a[0] - b[0]), abs(a[1] - b[1]), abs(wrap(a[2] - b[2])))
    return away <= within


@given(poses, poses, poses)
def test_composition_is_associative(a: Pose, b: Pose, c: Pose) -> None:
    assert same(se2.compose(se2.compose(a, b), c), se2.compose(a, se2.compose(b, c)))


@given(poses)
def test_origin_changes_nothing(a: Pose) -> None:
    origin = (0.0, 0.0, 0.0)
    assert se2.compose(a, origin) == a
    assert se2.compose(origin, a) == a


@given(poses)
def test_inverse_undoes(a: Pose) -> None:
    assert same(se2.compose(a, se2.inverse(a)), (0.0, 0.0, 0.0))
    assert same(se2.compose(se2.inverse(a), a), (0.0, 0.0, 0.0))


@given(poses, poses)
def test_between_is_composition_with_the_inverse(a: Pose, b: Pose) -> None:
    assert same(se2.relative_pose(a, b), se2.compose(se2.inverse(a), b))
    assert same(se2.compose(a, se2.relative_pose(a, b)), b)


@given(poses, poses)
@example((0.0, 0.0, math.pi), (0.0, 0.0, math.pi))
def test_yaw_stays_in_range(a: Pose, b: Pose) -> None:
    for pose in (se2.compose(a, b), se2.relative_pose(a, b), se2.inverse(a), se2.arc(a, *b)):
        assert -math.pi < pose[2] <= math.pi


def test_composition_turns_what_is_added() -> None:
    assert same(
        se2.compose((1.0, 2.0, math.pi / 2), (3.0, 1.0, 0.25)), (0.0, 5.0, math.pi / 2 + 0.25)
    )


@given(poses)
def test_exp_undoes_log(a: Pose) -> None:
    assert same(se2.exp_se2(*se2.log_se2(a)), a)


@given(arcs)
def test_log_undoes_exp(arc: Pose) -> None:
    assert se2.log_se2(se2.exp_se2(*arc)) == pytest.approx(arc, rel=1e-9, abs=1e-9)


@given(poses, arcs)
def test_arc_starts_where_the_robot_is(a: Pose, arc: Pose) -> None:
    assert same(se2.arc(a, *arc), se2.compose(a, se2.exp_se2(*arc)))


@given(arcs)
def test_two_halves_make_the_whole_arc(arc: Pose) -> None:
    u, v, w = arc
    half = se2.exp_se2(0.5 * u, 0.5 * v, 0.5 * w)
    assert same(se2.compose(half, half), se2.exp_se2(*arc))


@given(poses, st.floats(0.1, 100.0), st.floats(0.01, 6.0), st.sampled_from([-1.0, 1.0]))
def test_arc_is_a_piece_of_a_circle(a: Pose, radius: float, turn: float, side: float) -> None:
    x, y, yaw = a
    radius *= side
    centre = (x - radius * math.sin(yaw), y + radius * math.cos(yaw))
    end = yaw + side * turn
    exact = (centre[0] + radius * math.sin(end), centre[1] - radius * math.cos(end), end)
    assert same(se2.arc(a, abs(radius) * turn, 0.0, side * turn), exact)


@pytest.mark.parametrize("w", [0.0, 1e-5, 2 * SMALL, -0.7, 3.0, 5.0])
def test_arc_is_the_limit_of_small_straight_steps(w: float) -> None:
    a, u, v, steps = (1.0, -2.0, 2.5), 1.5, -0.4, 100_000
    yaw = a[2] + w * np.arange(steps) / steps
    x = a[0] + np.sum(u * np.cos(yaw) - v * np.sin(yaw)) / steps
    y = a[1] + np.sum(u * np.sin(yaw) + v * np.cos(yaw)) / steps
    assert same(se2.arc(a, u, v, w), (x, y, a[2] + w), within=1e-4)


def clothoid(way: float, k0: float, k1: float) -> Pose:
    """The exact end of a curve whose curvature changes evenly over its way, from the origin."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    s = 0.5 * way * (nodes + 1.0)
    yaw = k0 * s + 0.5 * (k1 - k0) * s * s / way
    x, y = (0.5 * way * float(np.sum(weights * f(yaw))) for f in (np.cos, np.sin))
    return x, y, 0.5 * (k0 + k1) * way


def test_the_error_of_a_bend_falls_with_the_fifth_power_of_its_way() -> None:
    errors = []
    for way in (0.4, 0.2, 0.1):
        end, k1 = clothoid(way, -0.5, -0.5 + 2.0 * way), -0.5 + 2.0 * way
        x, y, yaw = se2.clothoid_step((0.0, 0.0, 0.0), way, end[2], k1 + 0.5)
        assert yaw == end[2]
        errors.append(math.hypot(x - end[0], y - end[1]))
    assert errors[0] / errors[1] > 28.0
    assert errors[1] / errors[2] > 28.0


@given(poses, st.floats(-0.05, 0.05), st.floats(-0.05, 0.05))
def test_a_short_bend_that_keeps_its_curvature_is_an_arc(a: Pose, u: float, w: float) -> None:
    assert same(se2.clothoid_step(a, u, w, 0.0), se2.arc(a, u, 0.0, w))


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_straight_limit_is_smooth(side: float) -> None:
    edge = [SMALL]
    for _ in range(20):
        edge = [math.nextafter(edge[0], 0.0), *edge, math.nextafter(edge[-1], 1.0)]
    with mpmath.workdps(40):
        for h in (*edge, *np.geomspace(1e-9, 0.5, 500)):
            exact = mpmath.sin(mpmath.mpf(h)) / mpmath.mpf(h)
            assert abs(se2.sinc(side * float(h)) - exact) <= 2.0**-52
    ends = [se2.exp_se2(1.0, 0.5, 2.0 * side * h) for h in edge]
    assert np.ptp(np.array(ends), axis=0).max() < 1e-14


@pytest.mark.parametrize("side", [-1, 1])
def test_the_slope_of_sinc_is_smooth_where_its_series_ends(side: float) -> None:
    with mpmath.workdps(40):
        for h in (math.nextafter(SMALL, 0.0), SMALL, *np.geomspace(1e-9, 0.5, 200)):
            x = mpmath.mpf(side * float(h))
            exact = (mpmath.sin(x) / x - mpmath.cos(x)) / (2 * x)
            assert abs(se2.sinc_slope(side * float(h)) - exact) <= 2.0**-49


def test_no_turn_is_a_straight_line() -> None:
    assert se2.sinc(0.0) == 1.0
    assert se2.exp_se2(3.0, -1.0, 0.0) == (3.0, -1.0, 0.0)
    assert se2.log_se2((3.0, -1.0, 0.0)) == (3.0, -1.0, 0.0)


@given(poses, st.floats(0.1, 100.0), yaws)
def test_bearing_is_the_direction_in_the_robots_frame(a: Pose, far: float, to: float) -> None:
    x, y, _ = se2.compose(a, (far * math.cos(to), far * math.sin(to), 0.0))
    assert abs(wrap(se2.bearing_to(a, x, y) - to)) < 1e-9


@pytest.mark.parametrize("name", KERNELS)
def test_compiled_and_plain_give_the_same_bytes(name: str) -> None:
    takes = {
        "sinc": st.tuples(lengths),
        "sinc_slope": st.tuples(lengths),
        "sincos_of_small": st.tuples(lengths),
        "compose": st.tuples(poses, poses),
        "inverse": st.tuples(poses),
        "relative_pose": st.tuples(poses, poses),
        "arc": st.tuples(poses, lengths, lengths, lengths),
        "arc_given_heading": st.tuples(poses, lengths, lengths, lengths, st.tuples(sines, sines)),
        "clothoid_step": st.tuples(poses, lengths, lengths, lengths),
        "clothoid_chord": arcs,
        "displace": st.tuples(poses, lengths, lengths, lengths),
        "exp_se2": arcs,
        "log_se2": st.tuples(poses),
        "bearing_to": st.tuples(poses, lengths, lengths),
    }

    @given(takes[name])
    def compare(arguments: tuple[float | Pose, ...]) -> None:
        with without_jit(se2, elementary):
            plain = KERNELS[name](*arguments)
        compiled = KERNELS[name].dispatcher()(*arguments)
        assert np.array(compiled).tobytes() == np.array(plain).tobytes()

    compare()
