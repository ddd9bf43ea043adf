"""The standalone nodes on DDS: simulated data, and positions estimated from it."""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import astray
from astray.cli.node import make_node, run_node
from astray.errors import AstrayError, ScenarioError, WrongInput
from astray.ros.dds.discovery import Discovery
from astray.ros.messages.types import BadMessage
from astray.ros.nodes.imu_position_approximator import ImuPositionSettings, InertialApproximator
from astray.ros.nodes.wheel_position_approximator import (
    WheelApproximator,
    WheelPositionSettings,
    by_wheel,
)
from astray.signals import Signals
from support.ros2_peer import DOMAIN, Peer, message
from support.signals import EXAMPLES

IMU, POSE, TWIST = "sensor_msgs/msg/Imu", "geometry_msgs/msg/Pose2D", "geometry_msgs/msg/Twist"
COURSE = """\
imu_data_simulator:
  ros__parameters:
    max_intervals: 5
    linear_x:
      num_intervals: 4
      interval_0: {type: constant, t_start: 0.5, t_end: 1.5, y_start: 1.0}
      interval_1: {type: constant, t_start: 1.5, t_end: 2.5, y_start: 0.0}
      interval_2: {type: constant, t_start: 2.5, t_end: 3.5, y_start: -1.0}
      interval_3: {type: constant, t_start: 3.5, t_end: 9.0, y_start: 0.0}
    angular_z:
      num_intervals: 2
      interval_0: {type: constant, t_start: 4.0, t_end: 5.0, y_start: 1.5707963267948966}
      interval_1: {type: constant, t_start: 5.0, t_end: 9.0, y_start: 0.0}
"""


@contextlib.contextmanager
def node(name: str, *params: str, remaps: Any = (), file: Path | None = None) -> Iterator[Any]:
    """A node in a thread of its own."""
    files = [file] if file else []
    made = make_node(name, params=params, remaps=remaps, files=files, discovery=Discovery(DOMAIN))
    made.node.announce()
    thread = threading.Thread(target=made.run, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.node.stop()
        thread.join(30)
        assert not thread.is_alive()
        made.node.close()


def imu(seconds: float, **values: Any) -> dict[str, Any]:
    ns = round(seconds * 1e9)
    stamp = {"sec": ns // 10**9, "nanosec": ns % 10**9}
    force = {"x": values.get("ax", 0.0), "y": values.get("ay", 0.0), "z": values.get("az", 9.81)}
    return {
        "header": {"stamp": stamp},
        "angular_velocity": {"z": values.get("wz", 0.0)},
        "linear_acceleration": force,
    }


def test_the_approximator_follows_the_simulator_to_the_end_of_the_course(tmp_path: Path) -> None:
    """1 m/s² for a second, a metre on, and to a halt: 2 m; then a quarter turn."""
    file = tmp_path / "course.yaml"
    file.write_text(COURSE)
    with node("imu_position_approximator"), Peer() as peer:
        position = peer.subscribe("/estimated_position", POSE)
        velocity = peer.subscribe("/estimated_velocity", TWIST)
        with node("imu_data_simulator", "wait_for_subscriber:=true", file=file):
            fastest = 0.0
            peer.until(lambda: position and position[-1].theta > 1.5707)
            fastest = max(v.linear.x for v in velocity)
            end = position[-1]
            peer.publish("/position_reset", POSE, {"x": 5.0, "y": 6.0, "theta": -1.0})
            peer.until(lambda: position[-1].x > 4.9, "a reset in the middle of the run")
            count = len(position)
            peer.until(lambda: len(position) > count + 10 and len(velocity) > count + 10)
    assert fastest == pytest.approx(1.0, abs=1e-6)
    assert (end.x, end.y, end.theta) == pytest.approx((2.0, 0.0, math.pi / 2), abs=1e-3)
    assert (position[-1].x, position[-1].y) == pytest.approx((5.0, 6.0), abs=1e-6)
    assert velocity[-1].linear.x == pytest.approx(0.0, abs=1e-9)


def test_invalid_time_steps_are_skipped() -> None:
    times = [10.0, 10.5, 10.5, 10.4, 11.0, 13.0, 13.5]
    with node("imu_position_approximator", "initial_x:=1", "imu_topic:=imu"), Peer() as peer:
        velocity = peer.subscribe("/estimated_velocity", TWIST)
        for seconds in times:
            peer.publish("/imu", IMU, imu(seconds, ax=1.0))
        peer.until(lambda: len(velocity) >= 3)
        for seconds in (14.0, 14.5):
            peer.publish("/imu", IMU, imu(seconds))
        peer.until(lambda: len(velocity) >= 5)
    # 0.5, then 0.5, skip 2 s, 0.5; then the acceleration ends, on the way to the next message
    assert [v.linear.x for v in velocity] == pytest.approx([0.5, 1.0, 1.5, 1.75, 1.75])


def test_the_first_message_moves_nothing_and_neither_does_a_gap() -> None:
    made = InertialApproximator(ImuPositionSettings())
    moved = [
        made.update(message(IMU, **imu(t, ax=1.0)), 0) for t in (5.0, 5.1, 5.1, 7.0, 7.1, 1.0, 1.1)
    ]
    assert moved == [False, True, False, False, True, False, True]
    assert made.velocity["linear"]["x"] == pytest.approx(0.3)


def test_a_message_without_a_stamp_counts_when_it_is_received() -> None:
    made = InertialApproximator(ImuPositionSettings())
    start = 1_700_000_000_000_000_000
    for k in range(101):
        made.update(message(IMU, **imu(0.0, ax=1.0)), start + k * 10_000_000)
    assert made.velocity["linear"]["x"] == pytest.approx(1.0, abs=1e-12)  # no digit is lost


def test_velocity_is_in_the_map_frame_and_z_is_kept_by_a_reset() -> None:
    made = InertialApproximator(ImuPositionSettings(initial_theta=math.pi / 2, initial_z=3.0))
    for t in (1.0, 2.0):
        made.update(message(IMU, **imu(t, ax=1.0, az=10.81)), 0)
    assert made.velocity["linear"] == pytest.approx({"x": 0.0, "y": 1.0, "z": 1.0})
    assert made.belief["z"][0] == pytest.approx(3.5)
    made.reset(message(POSE, x=1.0, y=2.0, theta=7.0))
    assert made.velocity["linear"] == {"x": 0.0, "y": 0.0, "z": 0.0}
    assert made.position == pytest.approx({"x": 1.0, "y": 2.0, "theta": 7.0 - 2.0 * math.pi})
    assert made.belief["z"][0] == pytest.approx(3.5)


# The course of the documents' examples: 250 m in 10 s, which wind through three turns.

SECONDS = 10.0
RATES = pytest.mark.parametrize("rate", [50, 100, 1000])


def end_of_course() -> tuple[float, float]:
    """Where the course ends: (13.4, 57.5)."""
    signals = Signals.read(yaml.safe_load(EXAMPLES))
    t = np.linspace(0.0, SECONDS, 100_001)
    speed, yaw = signals["linear_x"].integral(t), signals["angular_z"].integral(t)
    return float(np.trapezoid(speed * np.cos(yaw), t)), float(np.trapezoid(speed * np.sin(yaw), t))


def error_at_the_end(made: InertialApproximator) -> float:
    """The distance from the end of the course, as a part of the distance from its start."""
    end = end_of_course()
    return math.dist((made.position["x"], made.position["y"]), end) / math.hypot(*end)


def take_course(made: InertialApproximator, rate: int, centripetal: bool) -> float:
    """Play the course with or without the centripetal term; the relative error at the end."""
    signals = Signals.read(yaml.safe_load(EXAMPLES))
    for k in range(round(SECONDS * rate) + 1):
        t = k / rate
        values = {"ax": signals["linear_x"](t), "wz": signals["angular_z"](t)}
        values["ay"] = signals["linear_x"].integral(t) * values["wz"] if centripetal else 0.0
        made.update(message(IMU, **imu(1.0 + t, **values)), 0)
    return error_at_the_end(made)


@RATES
def test_the_pair_of_documents_ends_where_its_course_ends(rate: int) -> None:
    """Its signals have no centripetal term, for which the approximator corrects by default."""
    assert take_course(InertialApproximator(ImuPositionSettings()), rate, False) < 2e-4


@RATES
def test_data_with_the_centripetal_term_is_taken_as_it_is_if_it_is_said(rate: int) -> None:
    measured = ImuPositionSettings(centripetal="measured")
    assert take_course(InertialApproximator(measured), rate, True) < 2e-4


def test_the_wrong_choice_about_the_centripetal_term_is_wrong_by_far() -> None:
    measured = ImuPositionSettings(centripetal="measured")
    assert take_course(InertialApproximator(measured), 100, False) > 0.5
    assert take_course(InertialApproximator(ImuPositionSettings()), 100, True) > 0.5


@RATES
@pytest.mark.parametrize("sampling", ["mean", "instant"])
def test_the_imu_of_a_run_is_followed_if_it_is_said_to_measure_the_term(
    sampling: str, rate: int
) -> None:
    """2 m/s in a curve of 0.5 rad/s, from standstill: 10 m; within 1 % of them at any rate."""
    motion = {"kind": "differential", "accel": 0.2, "max_speed": 5.0, "turn_accel": 1.0}
    robot = {"name": "a", "motion": motion, "autonomy": {"kind": "remote"}}
    robot["sensors"] = [{"kind": "imu", "rate": rate, "sampling": sampling}]
    sim = astray.load({"dt": 0.001, "robots": [robot]})
    one, made = sim.robots["a"], InertialApproximator(ImuPositionSettings(centripetal="measured"))
    one.drive(2.0, 0.5)
    for _ in range(rate * 10):
        sim.step(1000 // rate)
        reading = one.readings["imu"]
        values = {name: float(reading[name][0]) for name in ("wz", "ax", "ay", "az")}
        made.update(message(IMU, **imu(1.0 + float(reading["stamp"][0]), **values)), 0)
    off = math.hypot(one.truth["x"][0] - made.position["x"], one.truth["y"][0] - made.position["y"])
    assert off < 0.1


def test_the_formulas_of_the_document_to_the_letter_are_of_first_order() -> None:
    euler = ImuPositionSettings(integration="euler")
    assert take_course(InertialApproximator(euler), 100, False) > 0.1


def test_the_two_nodes_used_as_they_come_end_where_the_course_ends(tmp_path: Path) -> None:
    file, end = tmp_path / "course.yaml", end_of_course()
    file.write_text(EXAMPLES, encoding="utf-8")
    with node("imu_position_approximator"), Peer() as peer:
        position = peer.subscribe("/estimated_position", POSE)
        with node("imu_data_simulator", "use_sim_time:=true", file=file):
            for hundredths in range(5, round(SECONDS * 100) + 1, 5):
                now = {"sec": hundredths // 100, "nanosec": hundredths % 100 * 10**7}
                count = len(position)
                peer.publish("/clock", "rosgraph_msgs/msg/Clock", {"clock": now})
                peer.until(lambda count=count: len(position) > count)  # type: ignore[misc]
            goal = 0.01 * math.hypot(*end)
            peer.until(lambda: math.dist((position[-1].x, position[-1].y), end) < goal)


def test_values_that_are_not_finite_are_refused() -> None:
    made = InertialApproximator(ImuPositionSettings())
    with pytest.raises(BadMessage):
        made.update(message(IMU, **imu(1.0, ax=math.nan)), 0)
    with pytest.raises(BadMessage):
        made.reset(message(POSE, x=math.inf))


@pytest.mark.parametrize("kind", ["JointState", "Float64MultiArray"])
def test_wheel_nodes_agree_on_the_odometry_of_a_mecanum_robot(kind: str) -> None:
    """All wheels at 2 rad/s for a second of the clock: 0.4 m ahead."""
    signal = "{{num_intervals: 1, interval_0: {{type: constant, t_start: 0.0, t_end: 9.0, y_start: {}}}}}"
    params = [
        f"{wheel}:={signal.format(2.0)}"
        for wheel in ("wheel_fl", "wheel_fr", "wheel_rl", "wheel_rr")
    ]
    with (
        node("wheel_position_approximator", f"message_type:={kind}", "initial_y:=1.0"),
        Peer() as peer,
    ):
        odom = peer.subscribe("/odom", "nav_msgs/msg/Odometry")
        more = [f"message_type:={kind}", "wait_for_subscriber:=true", "rate:=50"]
        with node("wheel_data_simulator", *params, *more):
            peer.until(lambda: odom and odom[-1].pose.pose.position.x > 0.4)
    last = odom[-1]
    assert last.header.frame_id == "odom"
    assert last.pose.pose.position.y == pytest.approx(1.0)
    if kind == "JointState":  # it is stamped, so that no delay on the way matters
        for one in odom:
            assert one.twist.twist.linear.x == pytest.approx(0.4)
        first = odom[0].header.stamp
        elapsed = (
            last.header.stamp.sec - first.sec + (last.header.stamp.nanosec - first.nanosec) * 1e-9
        )
        moved = last.pose.pose.position.x - odom[0].pose.pose.position.x
        assert moved == pytest.approx(0.4 * elapsed, abs=1e-6)


def test_mecanum_wheels_move_sideways_and_turn_by_the_kinematics() -> None:
    side, turn = [-1.0, 1.0, 1.0, -1.0], [-1.0, 1.0, -1.0, 1.0]
    for rates, column, rate in ((side, "y", 0.2), (turn, "yaw", 0.2 / (0.3 + 0.6))):
        made = WheelApproximator(WheelPositionSettings())
        moved = [made.update(None, by_wheel([], rates), k * 10**8) for k in range(11)]
        assert moved == [False] + [True] * 10
        assert made.belief[column][0] == pytest.approx(rate)
        assert not made.update(None, by_wheel([], rates), 10**9)  # the same time again
        assert not made.update(None, by_wheel([], rates), 5 * 10**9)  # after a gap
        assert made.belief[column][0] == pytest.approx(rate)


def test_wheels_are_found_by_their_names_in_any_order() -> None:
    names = ["wheel_rr", "caster", "wheel_fl", "wheel_rl", "wheel_fr"]
    assert by_wheel(names, [4, 9, 1, 3, 2]).tolist() == [1, 2, 3, 4]
    with pytest.raises(BadMessage, match="wheel_fl"):
        by_wheel(["left", "right"], [1, 2])
    with pytest.raises(BadMessage):
        by_wheel(names, [1.0, math.nan, 1, 1, 1])


def test_with_sim_time_signals_follow_the_clock() -> None:
    ramp = "{num_intervals: 1, interval_0: {type: linear, t_start: 0.0, t_end: 10.0, y_start: 0.0, y_end: 10.0}}"
    with (
        node("imu_data_simulator", f"linear_x:={ramp}", "use_sim_time:=true", "rate:=10"),
        Peer() as peer,
    ):
        received = peer.subscribe("/imu_data", IMU)
        clock = "rosgraph_msgs/msg/Clock"
        for tenths in range(1, 20):
            peer.publish(
                "/clock", clock, {"clock": {"sec": tenths // 10, "nanosec": tenths % 10 * 10**8}}
            )
            peer.until(lambda tenths=tenths: len(received) > tenths)  # type: ignore[misc]
    assert len(received) == 20  # t = 0 as well
    for one in received:
        stamp = one.header.stamp.sec + one.header.stamp.nanosec * 1e-9
        assert one.linear_acceleration.x == pytest.approx(stamp)
        assert one.linear_acceleration.z == 9.81


def test_names_are_remapped_as_users_type_them() -> None:
    remaps = ["__ns:=/left", "__node:=mine", "imu_data:=/imu", "estimated_position:=pose"]
    with node("imu_position_approximator", remaps=remaps) as made:
        node_ = made.node
        assert node_.subscribed_topics == ["/imu", "/left/position_reset"]
        assert node_.published_topics == ["/left/estimated_velocity", "/left/pose"]
        assert node_.arguments.node == "mine"


@pytest.mark.parametrize(
    ("name", "params", "error", "words"),
    [
        ("imu_data_simulater", [], WrongInput, "did you mean 'imu_data_simulator'"),
        ("imu_data_simulator", ["rate:=0"], WrongInput, "above 0"),
        ("imu_data_simulator", ["linear_w:=1"], WrongInput, "unknown parameter 'linear_w'"),
        ("imu_data_simulator", ["linear_x.num_intervals:=1"], ScenarioError, "interval_0"),
        ("imu_position_approximator", ["initial_x:=left"], WrongInput, "needs a number"),
        ("imu_position_approximator", ["centripetal:=no"], WrongInput, "measured, synthesize"),
        ("wheel_position_approximator", ["lx:=-1.0"], WrongInput, "lx"),
    ],
)
def test_invalid_arguments_of_a_node_are_reported(
    name: str, params: list[str], error: type[AstrayError], words: str
) -> None:
    with pytest.raises(error, match=words):
        run_node(name, lambda text: None, params=params)
