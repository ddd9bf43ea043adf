"""The truck engine: equal to the original where that is right, and correct where it is not.

Tests that begin with `test_the_original` are named after a mistake of the engine that this one
replaces, and hold what should have been.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import astray
from astray.truck import Engine, Model, Pose, Status, TruckState
from astray.world.map import Map, block, merge, wall
from support.paths import DATA

TRACES = DATA / "truck"

Array = np.ndarray


def room(wide: float = 20.0, high: float = 20.0) -> Map:
    """A closed room with one corner at the origin."""
    return wall([(0, 0), (wide, 0), (wide, high), (0, high), (0, 0)])


def angle(a: float, b: float) -> float:
    return abs(math.remainder(a - b, math.tau))


def box(x: float, y: float, side: float) -> Map:
    """A square block around a point."""
    half = 0.5 * side
    corners = [(-half, -half), (half, -half), (half, half), (-half, half)]
    return block([(x + u, y + v) for u, v in corners])


# Equal to the original.

GOLDEN = (
    "01_straight",
    "02_straight_backward",
    "03_circle_left",
    "06_reverse_turn",
    "12_recontrol_same_speed",
    "09_accel_argument",
    "10_odd_durations",
)


def golden(name: str) -> dict[str, Any]:
    file = TRACES / f"{name}.json"
    if not file.exists():
        pytest.skip(f"no recorded trace {name} in ../shared/data/truck")
    read: dict[str, Any] = json.loads(file.read_text())
    return read


def drive_trace(trace: dict[str, Any]) -> list[tuple[dict[str, Any], TruckState]]:
    """Drive as the trace was driven; each of its samples beside our state.

    Three mistakes of the original are driven around: it raised what acceleration was asked for to
    what the truck can (09), it selected one that is scaled by the curvature (03, 06, 12), and it
    dropped what is left of a duration after whole steps (10).
    """
    engine, start = Engine(), trace["reset_base"]
    if start:
        pose = (start["x"], start["y"], start["yaw"])
        engine.reset_base(pose, start["middle_steering"], start["linear_velocity"])
    found = [(trace["samples"][0], engine.state(lidar=False))]
    samples = iter(trace["samples"][1:])
    for step in trace["steps"]:
        velocity, curvature, a = step["velocity"], step["curvature"], step["acceleration"]
        if a is None:
            a = selected_by_the_original(engine, velocity, curvature)
        elif a < 2.0:
            a = None
        engine.set_base_control(velocity, a, curvature)
        whole = int(step["advance_s"] / trace["integration_step"]) * trace["integration_step"]
        for _ in range(step["n_advance"]):
            engine.advance(whole)
            found.append((next(samples), engine.state(lidar=False)))
    assert len(found) == len(trace["samples"])
    return found


def axle_ratio(curvature: float) -> float:
    """The speed of the rear axle over that of the base."""
    model = Model()
    curvature = min(max(curvature, -model.max_base_curvature), model.max_base_curvature)
    return math.sqrt(1.0 - (curvature * model.wheel_base.base_to_rear) ** 2)


def selected_by_the_original(engine: Engine, velocity: float, curvature: float) -> float:
    """The acceleration of the base that the original selects, once for a command."""
    limits, now = Model().limits, engine.state(lidar=False).rear_state.velocity
    goal = min(max(velocity, limits.velocity.min), limits.velocity.max) * axle_ratio(curvature)
    brakes = goal * now < 0.0 or abs(goal) < abs(now)
    return limits.max_deceleration if brakes else limits.max_acceleration


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_traces_are_followed(name: str) -> None:
    for sample, state in drive_trace(golden(name)):
        x, y, yaw, steering, speed = sample["rear_state"]
        assert state.rear_state.x == pytest.approx(x, abs=1e-9)
        assert state.rear_state.y == pytest.approx(y, abs=1e-9)
        assert angle(state.rear_state.yaw, yaw) < 1e-9
        assert state.rear_state.steering == pytest.approx(steering, abs=1e-9)
        assert state.rear_state.velocity == pytest.approx(speed, abs=1e-9)
        assert state.odom_base_pose[:2] == pytest.approx(sample["base_pose"][:2], abs=1e-9)
        assert angle(state.odom_base_pose.yaw, sample["base_pose"][2]) < 1e-9
        assert state.current_steering == pytest.approx(sample["current_steering"], abs=1e-9)
        assert state.target_steering == pytest.approx(sample["target_steering"], abs=1e-9)
        twist = sample["base_twist"]
        assert state.base_twist.curvature == pytest.approx(twist["curvature"], abs=1e-9)
        assert state.base_twist.velocity == pytest.approx(twist["velocity"], abs=1e-9)
        turning = sample["base_angular_velocity"]
        assert state.base_angular_velocity == pytest.approx(turning, abs=1e-9)
        wheels = [sample["wheel_rad_s"][k] for k in ("rl", "rr", "fl", "fr")]
        assert state.wheel_velocity == pytest.approx(wheels, abs=1e-9)
        current, target = sample["motor_rps"]
        assert state.target_motor_rps == pytest.approx(target, abs=1e-9)
        # The original's is that of the base, which is faster than the axle that the motor drives.
        share = speed / twist["velocity"] if speed else 1.0
        assert state.current_motor_rps == pytest.approx(current * share, abs=1e-9)


@pytest.mark.parametrize("name", GOLDEN)
def test_velocity_and_imu_are_the_exact_ones(name: str) -> None:
    for sample, state in drive_trace(golden(name)):
        exact = sample["exact"]
        velocity = exact["base_velocity_world"]
        assert state.odom_base_linear_velocity == pytest.approx(velocity, abs=1e-9)
        assert state.gyro_angular_velocity == pytest.approx(exact["gyro_optical"], abs=1e-9)
        assert state.accel_linear_acceleration == pytest.approx(exact["accel_optical"], abs=1e-6)


def test_known_answers_of_the_original() -> None:
    """What the deleted tests of the original expected, to nine digits."""
    engine = Engine()
    engine.set_base_control(0.8, 0.0)
    engine.advance(5.0)
    assert engine.state().rear_state[:2] == pytest.approx((3.68 - 0.2025, 0.0), abs=1e-9)
    engine.reset_base((0, 0, 0))
    for speed, seconds in ((0.8, 1.0), (-0.8, 2.0), (0.8, 3.0), (0.0, 2.0)):
        engine.set_base_control(speed, 0.0)
        engine.advance(seconds)
    assert engine.state().odom_base_pose.x == pytest.approx(1.9425, abs=1e-9)
    engine.reset_base((0, 0, 0))
    engine.set_base_control(0.8, 1.0, 2.0)  # the limit, scaled as it was there
    engine.advance(5.0)
    state = engine.state()
    assert state.odom_base_pose[:2] == pytest.approx((-0.2314822449, -0.0320693938), abs=1e-9)
    assert angle(state.odom_base_pose.yaw, math.radians(336.909262889)) < 1e-9
    assert state.gyro_angular_velocity == pytest.approx((0, -1.2841306595, 0), abs=1e-9)
    assert state.accel_linear_acceleration == pytest.approx((-0.9389, -9.81, -0.7197), abs=1e-4)


# Control and time.


def test_the_original_ignored_a_requested_acceleration() -> None:
    engine = Engine()
    engine.set_base_control(0.8, 0.2, 0.0)
    engine.advance(1.0)
    assert engine.state().base_twist.velocity == pytest.approx(0.2, abs=1e-12)
    engine.set_base_control(0.0, 0.5, 0.0)
    engine.advance(0.2)
    assert engine.state().base_twist.velocity == pytest.approx(0.1, abs=1e-12)
    engine.set_base_control(0.8, 50.0, 0.0)
    engine.advance(0.3)
    assert engine.state().base_twist.velocity == pytest.approx(0.4, abs=1e-12)


@pytest.mark.parametrize("curvature", [1.6, -1.6, 0.7, 0.0])
def test_the_original_selected_an_acceleration_scaled_by_the_curvature(curvature: float) -> None:
    """Without an acceleration the motor speeds up and brakes by its limits, in turns as well."""
    selected, asked = Engine(), Engine()
    for velocity, seconds, speed in ((0.8, 0.5, 0.5), (0.0, 0.1, 0.3), (-0.5, 0.25, -0.1)):
        selected.set_base_control(velocity, curvature)
        asked.set_base_control(velocity, 5.0, curvature)
        for engine in (selected, asked):
            engine.advance(seconds)
            assert engine.state().rear_state.velocity == pytest.approx(speed, abs=1e-12)
    assert selected.sim.truth.tobytes() == asked.sim.truth.tobytes()


def test_the_original_reversed_in_a_turn_at_two_scales() -> None:
    """It scaled the limit with which it braked, and then sped up by the limit unscaled.

    Our engine did scale both, until it scaled none.
    """
    curvature, speed = 1.5, 0.4
    ratio = axle_ratio(curvature)
    original, ours = Engine(), Engine()
    for engine in (original, ours):
        engine.set_base_control(speed / ratio, 5.0, curvature)
        engine.advance(2.0)
    original.set_base_control(-0.5, selected_by_the_original(original, -0.5, curvature), curvature)
    ours.set_base_control(-0.5, curvature)
    stops = {original: speed / (2.0 * ratio), ours: speed / 2.0}
    for engine, stop in stops.items():
        engine.advance(0.1)
        braked = (speed - engine.state().rear_state.velocity) / 0.1
        assert braked == pytest.approx(speed / stop, abs=1e-9)
        engine.advance(0.3)
        # A step in which the speed passes 0 ends there.
        assert engine.state().rear_state.velocity == pytest.approx(stop - 0.4, abs=1.1e-3)


def test_the_arguments_of_a_control_are_in_the_order_of_the_document() -> None:
    """Two are velocity and curvature; three are velocity, acceleration and curvature."""
    calls = [
        lambda e: e.set_base_control(0.8, 0.2, 1.2),
        lambda e: e.set_base_control(0.8, 1.2, acceleration=0.2),
        lambda e: e.set_base_control(0.8, curvature=1.2, acceleration=0.2),
        lambda e: e.set_base_control(acceleration=0.2, curvature=1.2, velocity=0.8),
    ]
    twists = []
    for call in calls:
        engine = Engine()
        call(engine)
        engine.advance(1.0)
        twists.append(engine.state().base_twist)
    assert twists == [twists[0]] * len(calls)
    assert twists[0] == pytest.approx((1.2, 0.2), abs=1e-9)
    engine = Engine()
    engine.set_base_control(0.8, None, 1.2)
    other = Engine()
    other.set_base_control(0.8, 1.2)
    for one in (engine, other):
        one.advance(0.3)
    assert engine.state().base_twist == other.state().base_twist


def test_the_original_dropped_the_rest_of_a_duration() -> None:
    engine, other = Engine(), Engine()
    for one in (engine, other):
        one.set_base_control(0.7, 1.1)
    for _ in range(100):
        engine.advance(0.0007)
    other.advance(0.07)
    assert engine.sim.truth.tobytes() == other.sim.truth.tobytes()
    assert engine.state().time == pytest.approx(0.07, abs=1e-12)


@given(st.lists(st.integers(0, 400_000), min_size=1, max_size=30))
def test_any_cut_of_a_time_is_the_same_time(parts: list[int]) -> None:
    engine, other = Engine(), Engine()
    for one in (engine, other):
        one.set_base_control(-0.3, -0.9)
    for part in parts:
        engine.advance(part * 1e-6)
    other.advance(sum(parts) * 1e-6)
    assert engine.sim.truth.tobytes() == other.sim.truth.tobytes()


def test_limits_hold() -> None:
    engine = Engine()
    engine.set_base_control(100.0, 100.0)
    engine.advance(5.0)
    state = engine.state()
    assert state.base_twist == pytest.approx((1.605163324388, 0.8), abs=1e-9)
    assert state.current_steering == pytest.approx(state.target_steering, abs=1e-12)
    assert state.current_steering.left == pytest.approx(math.radians(40.0), abs=0.15)
    assert state.target_motor_rps == pytest.approx(state.current_motor_rps, abs=1e-9)


# Reset.


def test_reset_base_starts_over() -> None:
    engine = Engine(map=room())
    engine.reset_base((10, 10, 0.3))
    engine.set_base_control(0.8, 1.0)
    engine.advance(2.0004)
    engine.reset_base((5, 6, -2.0), steering=0.3, velocity=0.5)
    state = engine.state()
    assert state.time == 0.0
    assert state.status is Status.IN_PROGRESS
    assert state.odom_base_pose == pytest.approx((5.0, 6.0, -2.0), abs=1e-12)
    assert state.current_steering.middle == pytest.approx(0.3, abs=1e-12)
    # Nothing is left of the control: it keeps the speed and the steering that it was given.
    assert state.target_steering.middle == pytest.approx(0.3, abs=1e-12)
    engine.advance(1.0)
    later = engine.state()
    assert later.time == pytest.approx(1.0, abs=1e-12)
    assert later.rear_state[3:] == pytest.approx(state.rear_state[3:], abs=1e-12)
    assert later.odom_base_pose.x != pytest.approx(5.0, abs=0.01)


def test_the_original_returned_another_speed_than_was_set() -> None:
    engine = Engine()
    engine.reset_base((0, 0, 0), 0.3, 0.5)
    assert engine.state().base_twist.velocity == pytest.approx(0.5, abs=1e-12)
    assert np.hypot(*engine.state().odom_base_linear_velocity) == pytest.approx(0.5, abs=1e-12)


def test_maps_come_and_go_and_start_over(tmp_path: Path) -> None:
    file = tmp_path / "room.geojson"
    ring = [[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]]
    feature = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [ring]}}
    feature["properties"] = {"solid": False}  # type: ignore[assignment]
    file.write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    engine = Engine()
    engine.reset_base((2, 2, 0), velocity=0.4)
    assert np.isinf(engine.state().lidar_ranges).all()  # type: ignore[arg-type]
    engine.advance(1.0)
    engine.reset_map(file)
    state = engine.state()
    assert (state.time, state.odom_base_pose) == (0.0, pytest.approx((2, 2, 0)))
    assert state.rear_state.velocity == pytest.approx(0.4)
    ranges = state.lidar_ranges
    assert ranges is not None
    assert ranges[[0, 800, 1600, 2400]] == pytest.approx([2.0, 2.0, 2.0, 2.0], abs=1e-9)
    engine.advance(10.0)
    assert engine.state().status is Status.COLLISION
    engine.erase_map()
    state = engine.state()
    assert (state.time, state.status) == (0.0, Status.IN_PROGRESS)
    assert np.isinf(state.lidar_ranges).all()  # type: ignore[arg-type]
    engine.advance(10.0)
    assert engine.state().odom_base_pose.x == pytest.approx(6.0, abs=1e-9)


# Collisions.


def test_a_collision_interrupts_until_the_next_reset() -> None:
    engine = Engine(map=room())
    engine.reset_base((18.0, 10.0, 0.0))
    engine.set_base_control(0.8, 0.0)
    engine.advance(60.0)
    state = engine.state()
    assert state.status is Status.COLLISION
    assert state.odom_base_pose == pytest.approx((20.0 - 0.2525, 10.0, 0.0), abs=5e-6)
    assert state.base_twist.velocity == 0.0
    # 0.8 s to gain speed, then 1.7475 − 0.32 m at 0.8 m/s.
    assert state.time == pytest.approx(0.8 + (1.7475 - 0.32) / 0.8, abs=2e-3)
    engine.advance(5.0)
    assert engine.state().time == state.time
    assert engine.state().rear_state == state.rear_state
    engine.reset_base((10, 10, 0))
    engine.set_base_control(0.8, 0.0)
    engine.advance(1.0)
    assert engine.state().status is Status.IN_PROGRESS


def test_the_original_drove_through_walls_in_one_advance() -> None:
    thin = merge([room(), wall([(12.0, 0.0), (12.0, 20.0)])])
    for cut in (40.0, 4.0, 0.01):
        engine = Engine(map=thin)
        engine.reset_base((10, 10, 0))
        engine.set_base_control(0.8, 0.0)
        for _ in range(round(40.0 / cut)):
            engine.advance(cut)
        state = engine.state()
        assert state.status is Status.COLLISION
        assert state.odom_base_pose.x == pytest.approx(12.0 - 0.2525, abs=5e-6)


@given(
    yaw=st.floats(-3.1, 3.1),
    curvature=st.floats(-1.7, 1.7),
    speed=st.sampled_from([0.8, 0.3, -0.5]),
    seconds=st.floats(0.0, 1000.0),
)
def test_no_advance_crosses_a_wall(
    yaw: float, curvature: float, speed: float, seconds: float
) -> None:
    engine = Engine(map=room(3.0, 3.0))
    engine.reset_base((1.5, 1.5, yaw))
    engine.set_base_control(speed, curvature)
    engine.advance(seconds)
    x, y, yaw = engine.state(lidar=False).odom_base_pose
    for u, v in ((0.2525, 0.1565), (0.2525, -0.1565), (-0.2525, 0.1565), (-0.2525, -0.1565)):
        corner = (
            x + math.cos(yaw) * u - math.sin(yaw) * v,
            y + math.sin(yaw) * u + math.cos(yaw) * v,
        )
        assert all(-1e-9 < c < 3.0 + 1e-9 for c in corner)


@pytest.mark.parametrize(
    ("x", "y", "side", "hit"),
    [
        (0.2525 + 0.03 + 0.05, 0.0, 0.1, False),  # 3 cm ahead of the front
        (0.2525 + 0.04, 0.0, 0.1, True),  # 1 cm into the front
        (-0.24, 0.0, 0.05, True),  # at the tail
        (-0.2525 - 0.08, 0.0, 0.1, False),  # behind it
        (0.0, 0.1565 + 0.06, 0.1, False),  # beside it
        (0.0, 0.0, 0.05, True),  # a post inside the body
        (0.0, 0.0, 3.0, True),  # the truck inside a block
    ],
)
def test_the_original_had_its_body_5_cm_ahead_and_open_behind(
    x: float, y: float, side: float, hit: bool
) -> None:
    engine = Engine(map=box(10.0 + x, 10.0 + y, side))
    engine.reset_base((10, 10, 0))
    assert engine.state().status is (Status.COLLISION if hit else Status.IN_PROGRESS)
    engine.set_base_control(0.1, 0.0)
    engine.advance(0.01)
    assert (engine.state().time == 0.0) == hit


def test_the_original_never_collided_with_a_post_behind_it() -> None:
    engine = Engine(map=box(9.0, 10.0, 0.1))
    engine.reset_base((10, 10, 0))
    engine.set_base_control(-0.5, 0.0)
    engine.advance(10.0)
    state = engine.state()
    assert state.status is Status.COLLISION
    assert state.odom_base_pose.x == pytest.approx(9.05 + 0.2525, abs=5e-6)


# IMU and velocity.

R = np.array([0.43648, 0.01978])  # m, of the IMU from the rear axle


def body_acceleration(state: TruckState) -> Array:
    """Forward and lateral acceleration from the IMU reading in camera axes."""
    right, down, ahead = state.accel_linear_acceleration
    assert down == pytest.approx(-9.81, abs=1e-12)
    return np.array([ahead, -right])


@given(
    drives=st.lists(
        st.tuples(st.floats(-0.5, 0.8), st.floats(-1.7, 1.7), st.floats(0.1, 3.0)),
        min_size=1,
        max_size=5,
    ),
    start=st.tuples(st.floats(-0.6, 0.6), st.floats(-0.5, 0.8)),
)
def test_imu_is_the_motion_of_the_point_where_it_is_mounted(
    drives: list[tuple[float, float, float]], start: tuple[float, float]
) -> None:
    engine, h = Engine(), 0.001
    engine.reset_base((1.0, 2.0, 0.7), *start)
    for velocity, curvature, limit in drives:
        engine.set_base_control(velocity, limit, curvature)
        engine.advance(0.05)
        states = []
        for _ in range(3):
            states.append(engine.state(lidar=False))
            engine.advance(h)
        steer = np.array([s.rear_state.steering for s in states])
        speed = np.array([s.rear_state.velocity for s in states])
        if max(abs(np.diff(steer, 2)[0]), abs(np.diff(speed, 2)[0])) > 1e-12:
            continue  # a limit was reached in between
        points, yaws = [], [s.rear_state.yaw for s in states]
        for s in states:
            x, y, yaw = s.rear_state[:3]
            c, si = math.cos(yaw), math.sin(yaw)
            points.append([x + c * R[0] - si * R[1], y + si * R[0] + c * R[1]])
        p, middle = np.array(points), states[1]
        acceleration = (p[0] - 2.0 * p[1] + p[2]) / (h * h)
        c, si = math.cos(yaws[1]), math.sin(yaws[1])
        along = np.array(
            [c * acceleration[0] + si * acceleration[1], c * acceleration[1] - si * acceleration[0]]
        )
        assert body_acceleration(middle) == pytest.approx(along, abs=2e-4)
        turning = math.remainder(yaws[2] - yaws[0], math.tau) / (2.0 * h)
        assert middle.gyro_angular_velocity == pytest.approx([0.0, -turning, 0.0], abs=1e-4)
        base = [np.array(s.odom_base_pose[:2]) for s in states]
        velocity_ = (base[2] - base[0]) / (2.0 * h)
        assert middle.odom_base_linear_velocity == pytest.approx(velocity_, abs=1e-4)


def test_the_original_measured_nan_on_a_straight_line() -> None:
    engine = Engine()
    assert engine.state().accel_linear_acceleration == pytest.approx([0.0, -9.81, 0.0], abs=1e-12)
    engine.set_base_control(0.8, 0.0)
    engine.advance(0.4)
    assert engine.state().accel_linear_acceleration == pytest.approx([0.0, -9.81, 1.0], abs=1e-12)
    engine.advance(1.0)
    assert engine.state().accel_linear_acceleration == pytest.approx([0.0, -9.81, 0.0], abs=1e-12)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_original_measured_right_turns_with_the_wrong_sign(side: float) -> None:
    engine = Engine()
    engine.set_base_control(0.8, side * 1.2)
    engine.advance(10.0)
    state = engine.state()
    w = state.base_angular_velocity
    steady = np.array([-w * w * R[0], state.rear_state.velocity * w - w * w * R[1]])
    assert body_acceleration(state) == pytest.approx(steady, abs=1e-9)
    assert np.sign(body_acceleration(state)[1]) == side


def test_the_original_neglected_the_angular_acceleration() -> None:
    engine = Engine()
    engine.reset_base((0, 0, 0), steering=0.0, velocity=0.5)
    engine.set_base_control(0.5, 1.0)
    engine.advance(0.001)
    state = engine.state()
    alpha = 0.5 * 2.0 / 0.405  # v · steering rate / wheelbase, as good as straight ahead
    assert body_acceleration(state)[1] == pytest.approx(alpha * R[0], rel=0.02)


def test_the_original_moved_along_its_heading_in_turns() -> None:
    engine = Engine()
    engine.set_base_control(0.8, 2.0)
    engine.advance(5.0)
    state = engine.state()
    along = math.atan2(*state.odom_base_linear_velocity[::-1])
    off = math.degrees(math.remainder(along - state.odom_base_pose.yaw, math.tau))
    assert off == pytest.approx(18.97, abs=0.01)


# Lidar.


def brute_force(map: Map, x: float, y: float, angles: Array) -> Array:
    """The ranges of single rays by testing every segment."""
    a, b = map.segments[:, :2], map.segments[:, 2:]
    d = np.stack([np.cos(angles), np.sin(angles)], axis=-1)[:, None]
    e, o = (b - a)[None], (a - [x, y])[None]
    with np.errstate(divide="ignore", invalid="ignore"):
        det = d[..., 0] * e[..., 1] - d[..., 1] * e[..., 0]
        t = (o[..., 0] * e[..., 1] - o[..., 1] * e[..., 0]) / det
        u = (o[..., 0] * d[..., 1] - o[..., 1] * d[..., 0]) / det
        met = (t >= 0.0) & (u >= 0.0) & (u <= 1.0)
    found: Array = np.where(met, t, np.inf).min(axis=1)
    return found


def test_the_original_had_3199_rays_and_lost_one_at_the_seam() -> None:
    map = merge([room(), box(13.0, 10.4, 1.0), box(7.0, 12.0, 2.0), wall([(15, 9.6), (15, 10.6)])])
    engine = Engine(map=map)
    wrong = 0
    for yaw in np.linspace(-3.0, 3.0, 11):
        engine.reset_base((10.0, 10.0, yaw))
        ranges = engine.state().lidar_ranges
        assert ranges is not None
        assert len(ranges) == 3200
        exact = brute_force(map, 10.0, 10.0, yaw + np.arange(3200) * math.tau / 3200)
        wrong += int((np.abs(ranges - exact) > 1e-9).sum())
    assert wrong == 0


def test_the_original_measured_beyond_its_range() -> None:
    model = Model.model_validate({"lidar": {"range_min": 1.0, "range_max": 9.0}})
    engine = Engine(model, map=merge([room(40.0, 40.0), box(21.0, 20.0, 1.0)]))
    engine.reset_base((20, 20, 0))
    ranges = engine.state().lidar_ranges
    assert ranges is not None
    assert ranges[0] == -np.inf  # a block half a metre ahead: nearer than it can see
    assert ranges[1600] == np.inf
    assert not ((ranges > 9.0) & np.isfinite(ranges)).any()


@pytest.mark.parametrize(
    ("first", "last", "rays"), [(0.0, 90.0, 91), (315.0, 405.0, 91), (30.0, 30.5, 1)]
)
def test_the_original_missed_a_wall_that_fills_a_narrow_field_of_view(
    first: float, last: float, rays: int
) -> None:
    lidar = {"angle_min": first, "angle_max": last, "angle_increment": 1.0}
    engine = Engine(Model.model_validate({"lidar": lidar}), map=room())
    engine.reset_base((10, 10, 0.5))
    ranges = engine.state().lidar_ranges
    angles = 0.5 + np.radians(first + np.arange(rays))
    assert ranges == pytest.approx(brute_force(room(), 10.0, 10.0, angles), abs=1e-9)


# Noise.


def noisy(**more: Any) -> Engine:
    noise = {"lidar_sigma": 0.1, "gyro_density": 0.01, "accel_density": 0.01}
    engine = Engine(map=room(), **{"seed": 3, **noise, **more})
    engine.reset_base((10, 10, 0))
    engine.set_base_control(0.5, 0.3)
    engine.advance(0.5)
    return engine


def test_the_original_read_another_value_at_every_call() -> None:
    engine = noisy()
    one, two = engine.state(), engine.state()
    assert (one.lidar_ranges == two.lidar_ranges).all()  # type: ignore[union-attr]
    assert (one.accel_linear_acceleration == two.accel_linear_acceleration).all()
    assert (one.gyro_angular_velocity == two.gyro_angular_velocity).all()
    engine.advance(0.001)
    assert (engine.state().gyro_angular_velocity != one.gyro_angular_velocity).any()
    # A state does not change with what happens afterwards.
    before = engine.state()
    engine.reset_base((3, 3, 1))
    engine.erase_map()
    assert before.odom_base_pose.x > 10.0
    assert np.isfinite(before.lidar_ranges).all()  # type: ignore[arg-type]


def test_noise_is_seeded_and_of_one_sensor_only() -> None:
    engine, same, other = noisy(), noisy(), noisy(seed=4)
    quiet = noisy(lidar_sigma=0.0)
    gyro = engine.state().gyro_angular_velocity
    assert (gyro == same.state().gyro_angular_velocity).all()
    assert (gyro != other.state().gyro_angular_velocity).all()
    assert (gyro == quiet.state().gyro_angular_velocity).all()
    off = engine.state().lidar_ranges - quiet.state().lidar_ranges  # type: ignore[operator]
    assert np.std(off) == pytest.approx(0.1, rel=0.05)
    assert np.mean(off) == pytest.approx(0.0, abs=0.01)


# Many worlds, and belief.


def test_engines_do_not_know_each_other() -> None:
    alone, one, two = Engine(map=room()), Engine(map=room()), Engine(map=room(5.0, 5.0))
    for engine in (alone, one, two):
        engine.reset_base((2, 2, 0.1))
        engine.set_base_control(0.6, 0.2)
    for _ in range(30):
        one.advance(0.1)
        two.advance(0.1)
    alone.advance(3.0)
    assert one.sim.truth.tobytes() == alone.sim.truth.tobytes()
    assert two.state().lidar_ranges.max() < 8.0  # type: ignore[union-attr]


def test_many_worlds_are_each_as_one_alone() -> None:
    speeds, curvatures = np.array([0.8, -0.4, 0.2]), np.array([0.0, 0.9, -1.6])
    many = Engine(map=room(6.0, 6.0), worlds=3, seed=5, lidar_sigma=0.05)
    many.reset_base((3.0, 3.0, [0.0, 1.0, 2.0]), steering=0.0, velocity=0.0)
    many.set_base_control(speeds, curvatures)
    many.advance(5.0)
    states = many.state()
    assert states.lidar_ranges.shape == (3, 3200)  # type: ignore[union-attr]
    assert states.status.tolist() == [Status.COLLISION, Status.IN_PROGRESS, Status.IN_PROGRESS]
    for k in range(3):
        one = Engine(map=room(6.0, 6.0), seed=5)
        one.reset_base((3.0, 3.0, float(k)))
        one.set_base_control(speeds[k], curvatures[k])
        one.advance(5.0)
        state = one.state()
        assert tuple(part[k] for part in states.rear_state) == tuple(state.rear_state)
        assert (states.time[k], states.status[k]) == (state.time, state.status)
        assert (states.odom_base_linear_velocity[k] == state.odom_base_linear_velocity).all()
        assert (states.accel_linear_acceleration[k] == state.accel_linear_acceleration).all()


def test_some_worlds_may_start_over() -> None:
    many = Engine(worlds=3)
    many.set_base_control(0.5, 0.0)
    many.advance(1.0)
    before = many.state()
    many.reset_base((7.0, [8.0, 9.0], 0.0), worlds=[True, False, True])
    state = many.state()
    assert state.time.tolist() == [0.0, before.time[1], 0.0]
    assert state.odom_base_pose.y.tolist() == [8.0, 0.0, 9.0]
    assert state.odom_base_pose.x[1] == before.odom_base_pose.x[1]
    many.advance(0.5)
    assert many.state().time == pytest.approx([0.5, 1.5, 0.5])


def test_an_estimator_gives_the_truck_a_belief() -> None:
    assert Engine().state().belief is None
    wheels = {"kind": "wheels", "rate": 100, "radius_sd": 0.002, "slip_density": 0.01}
    engine = Engine(estimator="odometry", sensors=[wheels], seed=1)
    engine.reset_base((5, 5, 1.0))
    engine.set_base_control(0.8, 0.2)
    engine.advance(10.0)
    state = engine.state()
    assert state.belief is not None
    assert state.belief.time == state.time
    off = np.hypot(*np.subtract(state.belief.odom_base_pose[:2], state.odom_base_pose[:2]))
    assert 1e-4 < off < 1.0
    assert np.linalg.eigvalsh(state.belief.covariance).min() >= -1e-12


# Bad calls.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: e.advance(-1), "advance: -1 is not a length of time"),
        (lambda e: e.advance(math.nan), "advance: nan is not a length of time"),
        (lambda e: e.advance(math.inf), "advance: inf is not a length of time"),
        (lambda e: e.advance("a while"), "advance: a while is not a length of time"),
        (lambda e: e.reset_base(3), "a pose is x, y and yaw, not 1 numbers"),
        (lambda e: Engine(worlds=0), "worlds must be one or more"),
        (lambda e: e.set_base_control(math.nan, 0.0), "velocity is nan: it must be finite"),
        (lambda e: e.set_base_control(0.1, math.inf), "curvature is inf: it must be finite"),
        (lambda e: e.set_base_control(0.1, -0.5, 0.1), "acceleration is -0.5: it must be 0 or"),
        (lambda e: e.set_base_control(0.1), "are (velocity, curvature) or (velocity, accel"),
        (lambda e: e.set_base_control(0.1, 0.2, 0.3, 0.4), "are (velocity, curvature) or"),
        (lambda e: e.set_base_control(0.1, 0.2, curvature=0.3), "are (velocity, curvature) or"),
        (lambda e: e.set_base_control("fast", 0.0), "velocity: one number is needed"),
        (lambda e: e.set_base_control([0.1, 0.2], 0.0), "velocity: one number is needed"),
        (lambda e: e.reset_base((0, 0)), "a pose is x, y and yaw, not 2 numbers"),
        (lambda e: e.reset_base((0, math.nan, 0)), "y is nan: it must be finite"),
        (lambda e: e.reset_base((0, 0, 0), 1.0), "steering is 1.0: it must be ±0.602232 rad"),
        (lambda e: e.reset_base((0, 0, 0), 0, 2.0), "velocity is 2.0: it must be -0.5 to 0.8"),
        (lambda e: e.reset_base((0, 0, 0), worlds=[3]), "worlds are numbered from 0 to 0"),
        (lambda e: e.reset_map("nowhere.geojson"), "nowhere.geojson"),
    ],
)
def test_bad_calls_are_refused_and_change_nothing(call: Any, message: str) -> None:
    engine = Engine(map=room())
    engine.reset_base((10, 10, 0))
    engine.set_base_control(0.5, 0.5)
    engine.advance(0.1005)
    before = engine.sim.digest()
    with pytest.raises(astray.WrongInput) as error:
        call(engine)
    assert message in str(error.value)
    assert engine.sim.digest() == before
    other = Engine(map=room())
    other.reset_base((10, 10, 0))
    other.set_base_control(0.5, 0.5)
    other.advance(0.2)
    engine.advance(0.0995)
    assert engine.state().rear_state == other.state().rear_state
    assert isinstance(engine.state().odom_base_pose, Pose)
