"""The servo on two axes: each at a speed or to its end, exact, within its limits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import astray
from astray.engine.event_queue import Event
from astray.errors import EventError
from astray.robot.control.servo import closing_speed
from astray.sim import Sim

LIMITS = {"accel": 0.3, "decel": 0.6, "turn_accel": 1.5, "turn_decel": 1.5}


def rover(estimator: bool = True, **control: float) -> dict[str, Any]:
    """A robot with exact odometry, or one that believes the truth."""
    return {
        "name": "rover",
        "motion": {"kind": "differential", "accel": 2.0, "decel": 10.0, "turn_accel": 6.0},
        "control": {"kind": "servo", "speed": 1.0, "decel": 10.0, "turn_decel": 6.0, **control},
        "sensors": [{"kind": "wheels", "rate": 50, "ticks": 0}] if estimator else [],
        "estimator": {"kind": "odometry"} if estimator else None,
    }


def load(estimator: bool = True, worlds: int = 1, **control: float) -> Sim:
    return astray.load({"dt": 0.01, "robots": [rover(estimator, **control)]}, worlds=worlds)


def tell(sim: Sim, step: int | None = None, **values: Any) -> None:
    """Command the robot in mode servo."""
    sim.post(Event("command", "rover", values={"mode": "servo", **LIMITS, **values}, step=step))


def trace(sim: Sim, seconds: float) -> Any:
    """The truth after every tick."""
    return np.concatenate([sim.truth.copy() for _ in sim.ticks(seconds)])


FINE = {"gain": 1.0, "slow_within": 1.0, "tolerance": 1e-4, "creep": 0.002}
FINE_TURN = {"gain": 1.0, "turn_tolerance": 3e-4, "turn_creep": 0.007}


@pytest.mark.parametrize("estimator", [True, False])
@pytest.mark.parametrize("distance", [1.0, -0.5, 0.03, -2.5])
def test_a_distance_is_exact_both_ways_and_not_overshot(distance: float, estimator: bool) -> None:
    sim = load(estimator, **FINE)
    tell(sim, distance=distance, serial=1, speed=1.5)
    states = trace(sim, 12.0)
    assert states["x"][-1] == pytest.approx(distance, abs=2e-4)
    assert np.abs(states["x"]).max() < abs(distance) + 2e-4
    assert states["vx"][-1] == 0.0


def test_any_distance_ends_where_it_should_within_its_limits() -> None:
    rng = np.random.default_rng(7)
    n = 300
    distance, speed = rng.uniform(-2.0, 2.0, n), rng.uniform(0.2, 3.0, n)
    accel, decel = rng.uniform(0.1, 2.0, n), rng.uniform(0.1, 2.0, n)
    sim = load(worlds=n, **FINE)
    tell(sim, distance=distance, serial=1, speed=speed, accel=accel, decel=decel)
    states = np.array([(sim.truth["x"], sim.truth["vx"]) for _ in sim.ticks(60.0)])
    x, vx = states[:, 0], np.concatenate([np.zeros((1, n)), states[:, 1]])
    change = np.diff(np.abs(vx), axis=0) / 0.01
    assert np.abs(x[-1] - distance).max() < 3e-4
    assert (np.abs(x).max(0) - np.abs(distance)).max() < 3e-3
    assert (np.abs(vx).max(0) <= np.minimum(speed, 1.0) + 1e-9).all()
    assert (change.max(0) <= accel + 1e-6).all()
    assert (change.min(0) >= -decel - 1e-6).all()


@pytest.mark.parametrize(("start", "heading"), [(0.0, 1.5), (3.0, -3.0), (-1.0, 0.5), (0.2, 0.19)])
def test_a_heading_is_reached_the_shorter_way_round(start: float, heading: float) -> None:
    sim = load(**FINE_TURN)
    sim.robots["rover"].place(yaw=start)
    sim.robots["rover"].believe(yaw=start)
    tell(sim, heading=heading, turn=1.3)
    states = trace(sim, 12.0)
    turned = np.unwrap(np.concatenate([[start], states["yaw"]]))
    short = math.remainder(heading - start, math.tau)
    assert turned[-1] - start == pytest.approx(short, abs=4e-4)
    assert np.abs(turned - start).max() < abs(short) + 4e-4
    assert np.abs(states["wz"]).max() <= 1.3 + 1e-9


def test_the_axes_are_independent() -> None:
    sim = load(**FINE)
    tell(sim, distance=1.0, serial=1, wz=0.4, speed=0.8)
    states = trace(sim, 15.0)
    path_length = np.hypot(np.diff(states["x"]), np.diff(states["y"])).sum()
    assert path_length == pytest.approx(1.0, abs=1e-3)  # along the bend, not as the crow flies
    assert np.hypot(states["x"][-1], states["y"][-1]) < 0.9
    assert states["wz"][-1] == pytest.approx(0.4)
    assert np.abs(states["wz"][100:] - 0.4).max() < 1e-9

    sim = load(**FINE_TURN)
    tell(sim, vx=0.3, heading=1.0)
    states = trace(sim, 15.0)
    assert states["vx"][-1] == pytest.approx(0.3)
    assert states["yaw"][-1] == pytest.approx(1.0, abs=4e-4)


def test_a_turn_changes_the_speed_along_by_nothing_and_the_other_way_round() -> None:
    alone, mixed = load(**FINE), load(**FINE)
    tell(alone, distance=0.8, serial=1)
    tell(mixed, distance=0.8, serial=1, heading=0.7)
    assert trace(alone, 8.0)["vx"] == pytest.approx(trace(mixed, 8.0)["vx"], abs=1e-6)


def test_a_repeated_command_goes_on_and_a_new_serial_begins_anew() -> None:
    whole, repeated, anew = load(**FINE), load(**FINE), load(**FINE)
    for sim in (whole, repeated, anew):
        tell(sim, distance=0.5, serial=1)
    for step in range(50, 800, 50):
        tell(repeated, step, distance=0.5, serial=1, wz=0.0)
    tell(anew, 100, distance=0.5, serial=2)
    ends = [trace(sim, 10.0) for sim in (whole, repeated, anew)]
    assert ends[0]["x"][-1] == ends[1]["x"][-1]
    gone = ends[2]["x"][99]
    assert 0.05 < gone < 0.4
    assert ends[2]["x"][-1] == pytest.approx(gone + 0.5, abs=1e-3)


def test_a_speed_ends_a_distance_and_a_stop_ends_both() -> None:
    sim = load(**FINE)
    tell(sim, distance=5.0, heading=2.0, serial=1)
    tell(sim, 100, vx=0.2, wz=-0.1, serial=1)
    states = trace(sim, 4.0)
    assert (states["vx"][-1], states["wz"][-1]) == pytest.approx((0.2, -0.1))
    tell(sim, serial=1)
    states = trace(sim, 2.0)
    assert (states["vx"][-1], states["wz"][-1]) == (0.0, 0.0)
    assert not sim.robots["rover"].control.closing  # there is nothing to look after any more


def test_a_belief_that_is_set_on_the_way_counts_as_no_way() -> None:
    sim = load(**FINE)
    tell(sim, distance=1.0, serial=1)
    sim.post(Event("believe", "rover", values={"x": -7.0, "y": 3.0, "yaw": 0.0}, step=200))
    assert trace(sim, 10.0)["x"][-1] == pytest.approx(1.0, abs=0.02)


def test_a_servo_closes_on_the_belief_and_not_on_the_truth() -> None:
    robot = rover(**FINE)
    robot["sensors"][0]["slip"] = 0.1
    sim = astray.load({"dt": 0.01, "robots": [robot]})
    tell(sim, distance=1.0, serial=1)
    assert trace(sim, 10.0)["x"][-1] == pytest.approx(1.0 / 1.1, abs=1e-3)
    assert float(sim.robots["rover"].belief["x"][0]) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("kind", ["differential", "omni", "unicycle", "integrator"])
def test_limits_of_angular_acceleration_reach_every_motion(kind: str) -> None:
    robot = {"name": "rover", "motion": {"kind": kind, "max_turn": 2.0, "max_speed": 5.0}}
    sim = astray.load({"dt": 0.01, "robots": [robot]})
    tell(sim, wz=1.0, turn_accel=0.5, turn_decel=1.0)
    tell(sim, 300, wz=0.0, turn_accel=0.5, turn_decel=1.0)
    wz = trace(sim, 5.0)["wz"]
    assert wz[[99, 199, 299]] == pytest.approx([0.5, 1.0, 1.0])
    assert wz[[349, 399]] == pytest.approx([0.5, 0.0], abs=1e-9)


def test_a_motion_never_turns_harder_than_it_can() -> None:
    motion = {"kind": "differential", "turn_accel": 0.4}
    sim = astray.load({"dt": 0.01, "robots": [{"name": "rover", "motion": motion}]})
    tell(sim, wz=1.0, turn_accel=9.0, turn_decel=9.0)
    assert trace(sim, 1.0)["wz"][-1] == pytest.approx(0.4)


def test_silence_stops_a_robot_as_gently_as_it_was_told() -> None:
    robot = {**rover(), "autonomy": {"kind": "remote", "timeout": 1.0}}
    sim = astray.load({"dt": 0.01, "robots": [robot]})
    tell(sim, vx=0.3, accel=2.0, decel=0.2)
    vx = trace(sim, 3.0)["vx"]
    assert vx[99] == pytest.approx(0.3)
    assert vx[149] == pytest.approx(0.2, abs=0.005)
    assert vx[-1] == 0.0


@given(
    rest=st.floats(1e-6, 50.0),
    decel=st.floats(0.01, 10.0),
    gain=st.floats(0.1, 10.0),
    step=st.floats(1e-6, 1e-3),
)
def test_the_law_of_the_servo_never_brakes_harder_than_allowed(
    rest: float, decel: float, gain: float, step: float
) -> None:
    now = closing_speed(rest + step, math.inf, decel, gain, 0.0)
    then = closing_speed(rest, math.inf, decel, gain, 0.0)
    assert 0.0 <= then <= now <= gain * (rest + step) * (1 + 1e-9)
    # v dv / ds is the deceleration; the mean speed makes it exact for the square root.
    assert (now - then) * 0.5 * (now + then) <= decel * step * (1 + 1e-6) + 1e-12
    assert closing_speed(-rest, math.inf, decel, gain, 0.0) == -then


def test_only_servos_understand_the_mode_and_commands_are_checked() -> None:
    plain = {**rover(), "control": {"kind": "direct"}}
    sim = astray.load({"dt": 0.01, "robots": [plain]})
    with pytest.raises(EventError, match="'direct' does not understand 'servo'"):
        tell(sim, vx=0.1)
    sim = load()
    with pytest.raises(EventError, match="distance is nan: it must be finite"):
        tell(sim, distance=math.nan)
    with pytest.raises(EventError, match="unknown value 'turnaccel'"):
        tell(sim, turnaccel=1.0)


def test_limits_that_make_no_sense_harm_nothing() -> None:
    sim = load(**FINE)
    tell(sim, distance=1.0, heading=1.0, serial=1, speed=-1.0, turn=0.0, decel=-2.0, turn_decel=0.0)
    states = trace(sim, 1.0)
    assert np.isfinite(states["x"]).all()
    assert (states["x"][-1], states["yaw"][-1]) == (0.0, 0.0)


def test_commands_replay_bit_for_bit_in_any_batch() -> None:
    sim = load(worlds=3, **FINE)
    for k, step in enumerate(range(0, 400, 37)):
        tell(sim, step, distance=0.1 * k - 0.4, heading=0.3 * k, serial=k // 2)
    sim.run(6.0)
    again = load(worlds=3, **FINE)
    again.replay([Event.from_json(event.to_json()) for event in sim.events])
    again.step(600)
    assert sim.digest() == again.digest()
    alone = load(**FINE)
    alone.replay(sim.events)
    alone.run(6.0)
    assert alone.truth["x"][0] == sim.truth["x"][0]
