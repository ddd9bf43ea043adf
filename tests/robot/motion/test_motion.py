"""Every motion against closed forms, its limits, and calculus: rates are derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import astray
from astray import ScenarioError
from astray.plugin import Motion
from astray.robot.motion import Ackermann, Differential, Integrator, Omni, Unicycle
from astray.tables import ADDRESS, DRIVE, STATE, Array, Table, table
from support.tables import same

EVERY = [Ackermann(), Differential(), Integrator(), Omni(), Unicycle()]
INERT = [motion for motion in EVERY if motion.kind != "integrator"]
every = pytest.mark.parametrize("motion", EVERY, ids=lambda motion: motion.kind)
inert = pytest.mark.parametrize("motion", INERT, ids=lambda motion: motion.kind)
few = settings(max_examples=25)
speeds = st.floats(-2.0, 2.0)
curvatures = st.floats(-3.0, 3.0) | st.just(np.nan)
asked = st.fixed_dictionaries({"vx": speeds, "vy": speeds, "wz": speeds, "curvature": curvatures})
courses = st.lists(asked, min_size=2, max_size=4)


class Bench:
    """One robot on its motion alone, without a simulator."""

    def __init__(self, motion: Motion, dt: float = 0.01, **state: float) -> None:
        self.motion = motion.attach(table(ADDRESS, 1), {}, dt, 0, "bench")
        self.motion.begin(np.arange(1))
        self.dt = dt
        self.truth, self.drive = table(STATE, 1), table(DRIVE, 1)
        for name, value in state.items():
            self.truth[name] = value

    def ask(self, **drive: float) -> Bench:
        """Ask for a drive: what is not named is zero, curvature and limits are nan."""
        for name in DRIVE.names or ():
            free = 0.0 if name in ("vx", "vy", "wz") else np.nan
            self.drive[name] = drive.get(name, free)
        return self

    def move(self, steps: int = 1) -> Bench:
        self.motion.move(np.arange(1), self.truth, self.drive, self.dt, steps)
        return self

    def trace(self, steps: int) -> Table:
        """The present state and those after each of some ticks, (steps + 1,)."""
        states = [self.truth.copy(), *(self.move().truth.copy() for _ in range(steps))]
        return np.concatenate(states)

    def __getattr__(self, column: str) -> Any:
        return self.truth[column][0]


def on_a_circle(motion: Motion, v: float, radius: float) -> Bench:
    """A robot that drives a circle to the left already."""
    bench = Bench(motion, vx=v, wz=v / radius)
    if isinstance(motion, Ackermann):
        bench.truth["steer"] = math.atan(motion.wheelbase / radius)
    return bench.ask(vx=v, curvature=1.0 / radius)


# Closed forms.


@every
def test_a_straight_line_is_its_closed_form(motion: Motion) -> None:
    bench = Bench(motion).ask(vx=0.5).move(400)
    lost = 0.0 if motion.kind == "integrator" else 0.5 * 0.5 / 2.0  # m, while speeding up
    assert bench.x == pytest.approx(0.5 * 4.0 - lost, abs=1e-12)
    assert (bench.y, bench.yaw, bench.vx, bench.ax, bench.ay) == (0.0, 0.0, 0.5, 0.0, 0.0)


@every
def test_a_steady_turn_is_a_circle(motion: Motion) -> None:
    v, radius = 0.4, 0.8
    states = on_a_circle(motion, v, radius).trace(1500)
    turned = v / radius * 0.01 * np.arange(1501)
    assert np.abs(states["x"] - radius * np.sin(turned)).max() < 1e-9
    assert np.abs(states["y"] - radius * (1.0 - np.cos(turned))).max() < 1e-9
    assert np.abs(states["ay"][1:] - v * v / radius).max() < 1e-12
    assert np.abs(states["alpha"][1:]).max() < 1e-12


@pytest.mark.parametrize("motion", [Omni(), Integrator()], ids=lambda motion: motion.kind)
def test_a_platform_drives_sideways_while_it_turns(motion: Motion) -> None:
    v, w = 0.3, 0.25
    states = Bench(motion, vy=v, wz=w).ask(vy=v, wz=w).trace(1500)
    turned = w * 0.01 * np.arange(1501)
    assert np.abs(states["x"] - v / w * (np.cos(turned) - 1.0)).max() < 1e-9
    assert np.abs(states["y"] - v / w * np.sin(turned)).max() < 1e-9
    assert np.abs(states["ax"][1:] + w * v).max() < 1e-12


def test_wheels_of_a_car_turn_as_its_geometry_says() -> None:
    # Curvature 1.5 1/m at 0.5 m/s, computed by hand to six digits.
    bench = Bench(Ackermann(), vx=0.5, steer=math.atan(1.5 * 0.405)).ask(vx=0.5, curvature=1.5)
    rates = bench.move().wheel_rate
    assert rates == pytest.approx([9.874846, 12.468832, 8.002381, 11.045238], abs=1e-6)
    assert bench.wheel == pytest.approx(rates * 0.01, abs=1e-12)


def test_wheels_of_a_platform_give_its_velocity_back() -> None:
    bench = Bench(Omni()).ask(vx=0.2, vy=-0.1, wz=0.3).move(100)
    fl, fr, rl, rr = bench.wheel_rate * 0.2 / 4.0
    assert fl + fr + rl + rr == pytest.approx(0.2, abs=1e-12)
    assert -fl + fr + rl - rr == pytest.approx(-0.1, abs=1e-12)
    assert (-fl + fr - rl + rr) / 0.9 == pytest.approx(0.3, abs=1e-12)


def test_a_car_is_of_fourth_order() -> None:
    def end(dt: float) -> Array:
        # Speeding up and steering all the way, from limit to limit: nothing lands in between.
        motion = Ackermann(steer_speed=1.0)
        bench = Bench(motion, dt, vx=0.2, steer=-0.3).ask(vx=0.8, curvature=1.5)
        bench.move(round(0.4 / dt))
        return np.array([bench.x, bench.y, bench.yaw])

    exact = end(0.4 / 512)
    errors = [np.abs(end(dt) - exact).max() for dt in (0.1, 0.05, 0.025)]
    assert errors[0] / errors[1] > 13.0
    assert errors[1] / errors[2] > 13.0
    assert errors[2] < 1e-6


# Limits.


@pytest.mark.parametrize("motion", [Ackermann(), Omni(), Unicycle()], ids=lambda m: m.kind)
@few
@given(vx=st.floats(-0.3, 0.3), curvature=st.floats(-1.2, 1.2))
@example(vx=0.12, curvature=0.0)  # twelve ticks of 0.01 m/s add up to a little less
def test_the_tick_that_arrives_lands_exactly(motion: Motion, vx: float, curvature: float) -> None:
    states = Bench(motion).ask(vx=vx, curvature=curvature).trace(100)[1:]
    assert states["vx"][-1] == vx
    for column in ("vx", "wz", "steer"):
        goal = states[column][-1]
        there = np.abs(states[column] - goal) < 1e-12 * abs(goal)
        assert (states[column][there] == goal).all()


@inert
@few
@given(before=asked, after=asked)
def test_speeds_stay_on_what_is_asked_for(
    motion: Motion, before: dict[str, float], after: dict[str, float]
) -> None:
    bench = Bench(motion).ask(**before).move(300)
    landed = bench.ask(**after).move(1200).truth.copy()
    bench.move()
    for column in ("vx", "vy", "wz", "steer"):
        assert bench.truth[column] == landed[column]
    within = {k: v for k, v in after.items() if abs(v) < 0.1}
    bench.ask(**within).move(1200)
    assert bench.vx == within.get("vx", 0.0)


@inert
def test_a_change_of_direction_passes_through_zero(motion: Motion) -> None:
    vx = Bench(motion).ask(vx=0.333).move(200).ask(vx=-0.333).trace(400)["vx"]
    assert (vx == 0.0).sum() == 1
    assert vx[-1] == -0.333
    assert (np.diff(vx) <= 0.0).all()


@inert
@few
@given(course=courses)
def test_nothing_changes_faster_than_its_limits(
    motion: Motion, course: list[dict[str, float]]
) -> None:
    bench = Bench(motion)
    states = np.concatenate([bench.ask(**drive).trace(80) for drive in course])
    p = bench.motion.params[0]
    change = np.diff(states["vx"]) / bench.dt
    slowing = np.diff(np.abs(states["vx"])) < 0.0
    assert np.abs(change[slowing]).max(initial=0.0) < p.decel + 1e-9
    assert np.abs(change[~slowing]).max(initial=0.0) < p.accel + 1e-9
    assert np.abs(states["vx"]).max() <= p.max_speed
    if motion.kind == "ackermann":
        assert states["vx"].min() >= p.min_speed
        assert np.abs(states["steer"]).max() <= p.max_steer
        assert np.abs(np.diff(states["steer"])).max() < p.steer_speed * bench.dt + 1e-12
    else:
        assert np.abs(states["wz"]).max() <= p.max_turn
        assert np.abs(np.diff(states["wz"])).max() < p.turn_accel * bench.dt + 1e-12


@every
def test_a_command_may_ask_for_less_acceleration_but_not_for_more(motion: Motion) -> None:
    def first_speed(**limits: float) -> float:
        return float(Bench(motion).ask(vx=0.5, **limits).move().vx)

    own = 0.5 if motion.kind == "integrator" else 0.01
    assert first_speed(accel=0.2) == pytest.approx(0.002)
    assert first_speed(accel=100.0) == pytest.approx(own)
    assert first_speed(accel=0.0) == first_speed(accel=-1.0) == 0.0


@every
@pytest.mark.parametrize("speed", [0.3, 0.7, 5.0, -5.0])
def test_a_curvature_is_kept_at_any_speed_that_is_asked_for(motion: Motion, speed: float) -> None:
    bench = Bench(motion).ask(vx=speed, curvature=1.2).move(800)
    assert bench.wz / bench.vx == pytest.approx(1.2, rel=1e-12)
    assert bench.vx * speed > 0.0


def test_a_point_has_the_velocity_it_is_asked_for_at_once() -> None:
    bench = Bench(Integrator(), vx=0.4).ask(vx=-0.3, vy=0.2, wz=0.5).move()
    assert (bench.vx, bench.vy, bench.wz) == (-0.3, 0.2, 0.5)
    fast = Bench(Integrator()).ask(vx=3.0, vy=-4.0).move()
    assert (fast.vx, fast.vy) == pytest.approx((0.6, -0.8))


def test_a_platform_whose_wheels_cannot_follow_slows_alike() -> None:
    bench = Bench(Omni()).ask(vx=1.0, vy=0.5, wz=0.5).move(500)
    assert np.abs(bench.wheel_rate).max() * 0.2 == pytest.approx(1.0, abs=1e-12)
    assert (bench.vy / bench.vx, bench.wz / bench.vx) == pytest.approx((0.5, 0.5))


# Steering.


def test_a_curvature_at_standstill_turns_the_wheels_and_moves_nothing() -> None:
    bench = Bench(Ackermann()).ask(curvature=-1.0)
    assert bench.move(10).steer == pytest.approx(-0.2)  # 0.1 s at 2 rad/s
    assert bench.steer_rate == pytest.approx(-2.0)
    bench.move(100)
    assert bench.steer == pytest.approx(-math.atan(0.405), abs=1e-15)
    assert bench.steer_rate == 0.0
    assert (bench.x, bench.y, bench.yaw, bench.wz) == (0.0, 0.0, 0.0, 0.0)
    assert not bench.wheel.any()


def test_a_turn_rate_at_standstill_keeps_the_steering() -> None:
    bench = Bench(Ackermann(), steer=0.25).ask(wz=1.0).move(50)
    assert (bench.steer, bench.steer_rate, bench.yaw) == (0.25, 0.0, 0.0)


@pytest.mark.parametrize("vx", [0.4, -0.4])
@pytest.mark.parametrize("wz", [0.3, -0.3])
def test_a_turn_rate_is_driven_in_both_directions(vx: float, wz: float) -> None:
    bench = Bench(Ackermann()).ask(vx=vx, wz=wz).move(200)
    assert bench.wz == pytest.approx(wz, abs=1e-12)
    assert bench.steer * vx * wz > 0.0


def test_steering_does_not_stop_in_the_middle() -> None:
    steer = Bench(Ackermann(), steer=0.333).ask(curvature=-1.0).trace(30)["steer"]
    assert not (steer == 0.0).any()
    assert np.diff(steer)[:30] == pytest.approx(-0.02)


# Calculus.


def derivative(values: Array, dt: float) -> Array:
    """Central differences at all but the first and the last moment."""
    return np.asarray(values[2:] - values[:-2]) / (2.0 * dt)


@every
@few
@given(course=courses)
def test_velocity_is_the_derivative_of_the_pose(
    motion: Motion, course: list[dict[str, float]]
) -> None:
    bench = Bench(motion, 0.001)
    for drive in course:
        s = bench.ask(**drive).trace(100)
        inputs = ("vx", "vy", "steer" if motion.kind == "ackermann" else "wz")
        smooth = np.all([np.abs(np.diff(s[c], 2)) < 1e-9 for c in inputs], axis=0)
        now, dx, dy = s[1:-1], derivative(s["x"], 0.001), derivative(s["y"], 0.001)
        cos, sin = np.cos(now["yaw"]), np.sin(now["yaw"])
        assert smooth.sum() > 80
        assert np.abs(cos * dx + sin * dy - now["vx"])[smooth].max() < 1e-5
        assert np.abs(cos * dy - sin * dx - now["vy"])[smooth].max() < 1e-5
        turning = derivative(np.unwrap(s["yaw"]), 0.001)
        assert np.abs(turning - now["wz"])[smooth].max() < 1e-4


@every
@few
@given(course=courses)
def test_accelerations_are_the_derivatives_of_velocities(
    motion: Motion, course: list[dict[str, float]]
) -> None:
    bench = Bench(motion)
    for drive in course:
        s = bench.ask(**drive).trace(60)
        now = s[1:]
        rates = {c: np.diff(s[c]) / bench.dt for c in ("vx", "vy", "wz", "steer")}
        assert np.abs(rates["vx"] - now["wz"] * now["vy"] - now["ax"]).max() < 1e-9
        assert np.abs(rates["vy"] + now["wz"] * now["vx"] - now["ay"]).max() < 1e-9
        if motion.kind != "ackermann":  # of which alpha changes during a tick
            assert np.abs(rates["wz"] - now["alpha"]).max() < 1e-9
        assert np.abs(rates["steer"] - now["steer_rate"]).max() < 1e-9


@few
@given(course=courses)
def test_a_car_turns_ever_faster_as_speed_and_steering_say(course: list[dict[str, float]]) -> None:
    bench, dt = Bench(Ackermann(), 1e-4), 1e-4
    for drive in course:
        s = bench.ask(**drive).trace(60)
        # Half a tick before and after the end of a tick in which nothing else began.
        smooth = np.all([np.abs(np.diff(s[c], 2)) < 1e-12 for c in ("vx", "steer")], axis=0)
        central = (s["wz"][2:] - s["wz"][:-2]) / (2.0 * dt)
        assert smooth.sum() > 50
        assert np.abs(central - s["alpha"][1:-1])[smooth].max() < 1e-5


@few
@given(course=courses)
def test_what_a_car_foresees_is_what_the_next_tick_does(course: list[dict[str, float]]) -> None:
    bench = Bench(Ackermann(), 0.001)
    for drive in course:
        bench.ask(**drive).move(37)
        ahead = bench.truth.copy()
        bench.motion.predict_accelerations(np.arange(1), ahead, bench.drive, 0.001)
        kept = [c for c in ahead.dtype.names if c not in ("ax", "ay", "alpha", "steer_rate")]
        assert all((ahead[c] == bench.truth[c]).all() for c in kept)
        bench.move()
        for column in ("ax", "steer_rate"):
            assert bench.truth[column] == ahead[column]


@every
@few
@given(course=courses)
def test_wheel_rates_are_the_derivatives_of_wheel_angles(
    motion: Motion, course: list[dict[str, float]]
) -> None:
    bench = Bench(motion, 0.001)
    for drive in course:
        s = bench.ask(**drive).trace(60)
        mean = 0.5 * (s["wheel_rate"][1:] + s["wheel_rate"][:-1])
        assert np.abs(np.diff(s["wheel"], axis=0) / 0.001 - mean).max() < 1e-4
    assert s["wheel"][:, motion.wheels :].any() == 0


@every
@few
@given(course=courses, cuts=st.lists(st.integers(1, 30), max_size=6))
def test_cutting_the_ticks_changes_no_byte(
    motion: Motion, course: list[dict[str, float]], cuts: list[int]
) -> None:
    whole, cut = Bench(motion), Bench(motion)
    for drive in course:
        whole.ask(**drive).move(180)
        cut.ask(**drive)
        for steps in cuts:
            cut.move(steps)
        cut.move(180 - sum(cuts))
    assert same(whole.truth, cut.truth)


# In a scenario.


@pytest.mark.parametrize("kind", ["unicycle", "integrator"])
def test_a_motion_without_wheels_has_none_to_read(kind: str) -> None:
    robot = {"name": "a", "motion": {"kind": kind}, "sensors": [{"kind": "wheels"}]}
    with pytest.raises(ScenarioError, match=f"moves as '{kind}' has no wheels"):
        astray.load({"robots": [robot]})
    robot = {"name": "a", "motion": {"kind": kind}, "estimator": {"kind": "odometry"}}
    with pytest.raises(
        ScenarioError, match=f"has no wheel kinematics for motion '{kind}': it has no wheels"
    ):
        astray.load({"robots": [robot]})


@pytest.mark.parametrize(
    ("motion", "message"),
    [
        ({"min_speed": 0.1}, "at most 0"),
        ({"max_steer": 1.6}, "less than 1.57"),
        ({"track": 0}, "0"),
    ],
)
def test_a_car_that_cannot_be_is_a_fault(motion: dict[str, float], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        astray.load({"robots": [{"name": "a", "motion": {"kind": "ackermann", **motion}}]})
