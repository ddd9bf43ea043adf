"""Messages made of tables: every value arrives where it belongs, whatever stands before it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from astray.ros.messages import serializer_steps as steps_module
from astray.ros.messages import templates as words_module
from astray.ros.messages.serializer import MessageLayout
from astray.ros.messages.serializer_steps import (
    copy_constants_all,
    copy_fields_all,
    make_scratch,
    octets,
)
from astray.ros.messages.templates import MessageTemplate, Words
from astray.ros.messages.types import decode
from astray.ros.names import RosRobot
from astray.ros.publishers.pose_history import PoseHistory
from astray.tables import DRIVE, SCAN, STATE, Array, table

ODOMETRY = "nav_msgs/msg/Odometry"
SCANS = "sensor_msgs/msg/LaserScan"
ROBOTS = [RosRobot("r", row, 0, row, f"r_{row}", f"/r_{row}") for row in (0, 1, 2)]


def made_states(n: int) -> Array:
    rng = np.random.default_rng(3)
    states = table(STATE, n)
    for column in ("stamp", "x", "y", "yaw", "vx", "wz", "cov"):
        states[column] = rng.uniform(0.0, 3.0, states[column].shape)
    return states


def odometry(states: Array) -> Words:
    layout = MessageLayout(
        ODOMETRY, texts={"header.frame_id": "r_0/odom", "child_frame_id": "base"}
    )
    words = Words(layout, ROBOTS, [states])
    words.text("header.frame_id", lambda robot: f"{robot.name}/odom")
    words.blank["twist.twist.linear.z"] = 7.0
    words.stamp(0)
    words.column("pose.pose.position.x", 0, "x")
    words.column("pose.pose.position.y", 0, "y")
    words.turn("pose.pose.orientation", 0)
    words.planar_covariance("pose.covariance", 0)
    words.column("twist.twist.linear.x", 0, "vx")
    return words


def read(form: MessageTemplate, raw: Array) -> list[Any]:
    return [decode(ODOMETRY, row[form.lead :].tobytes()) for row in raw]


def test_columns_texts_and_what_never_changes_are_in_the_message() -> None:
    states, rows = made_states(3), np.array([2, 0, 1])
    form = MessageTemplate(odometry(states))
    for message, row in zip(read(form, form.fill(rows, [states[rows]])), rows, strict=True):
        s = states[row]
        assert message.header.frame_id == f"r_{row}/odom"
        assert message.child_frame_id == "base"
        assert message.header.stamp.sec + message.header.stamp.nanosec * 1e-9 == pytest.approx(
            s["stamp"], abs=1e-9
        )
        assert (message.pose.pose.position.x, message.pose.pose.position.y) == (s["x"], s["y"])
        q = message.pose.pose.orientation
        assert 2.0 * np.arctan2(q.z, q.w) == pytest.approx(s["yaw"], abs=1e-12)
        cov = np.reshape(message.pose.covariance, (6, 6))
        assert np.array_equal(cov[np.ix_((0, 1, 5), (0, 1, 5))], s["cov"])
        assert np.count_nonzero(cov) == 9
        assert (message.twist.twist.linear.x, message.twist.twist.linear.z) == (s["vx"], 7.0)


@given(st.integers(0, 40))
def test_bytes_before_a_message_change_nothing_in_it(length: int) -> None:
    states, rows = made_states(3), np.array([0, 2])
    words = odometry(states)
    before = np.arange(3 * length, dtype=np.uint8).reshape(3, length)
    plain, behind = MessageTemplate(words), MessageTemplate(words, before)
    a, b = (form.fill(rows, [states[rows]]) for form in (plain, behind))
    assert np.array_equal(a, b[:, length:])
    assert np.array_equal(b[:, :length], before[rows])


def test_rows_at_moments_are_found_in_copies_one_behind_the_other() -> None:
    moments = [made_states(3) for _ in range(4)]
    for k, states in enumerate(moments):
        states["x"] = 10.0 * k + np.arange(3)
    form = MessageTemplate(odometry(moments[0]))
    before = np.zeros(5)  # copies may begin anywhere in memory, as messages may
    kept = np.concatenate([before.view(np.uint8), *(states.view(np.uint8) for states in moments)])
    raw, places = np.zeros(4 * form.size + 3, np.uint8), np.array([3, 2, 0]) * form.size + 3
    out, rows = (raw, places), np.array([1, 1, 0])
    copy_constants_all(out, form.rest, form.heads.reshape(-1), form.heads.shape[1], rows)
    tables = np.array([[before.nbytes, moments[0].nbytes, moments[0].itemsize]])
    which = np.array([3, 0, 2]), rows
    copy_fields_all(out, form.steps, octets(kept), tables, which, make_scratch())
    found = read(form, raw[3:].reshape(4, -1)[[3, 2, 0]])
    assert [message.pose.pose.position.x for message in found] == [31.0, 1.0, 20.0]


@given(st.floats(-1e3, 4e9) | st.sampled_from([np.nan, np.inf * 0, -0.0, 0.1, 1e-10]))
def test_a_time_is_the_nearest_nanosecond_and_never_before_zero(seconds: float) -> None:
    states = made_states(1)
    if seconds < 2**31:
        states["stamp"] = seconds
        words = odometry(states)
        form = MessageTemplate(words)
        at = read(form, form.fill(np.array([0]), [states]))[0].header.stamp
        wanted = seconds if seconds > 0.0 else 0.0
        assert abs(at.sec * 10**9 + at.nanosec - wanted * 1e9) <= max(0.5, wanted * 1e9 * 2e-16)
        assert 0 <= at.nanosec < 10**9


def test_values_are_narrowed_where_the_message_wants_that() -> None:
    layout = MessageLayout("sensor_msgs/msg/Range", texts={"header.frame_id": "r_0"})
    values = np.array([[1.0, 0.1, np.inf]])
    words = Words(layout, ROBOTS[:1], [values])
    for k, path in enumerate(("radiation_type", "field_of_view", "range")):
        words.cell(path, 0, at=k)
    form = MessageTemplate(words)
    raw = form.fill(np.array([0]), [values])
    message = decode(layout.type, raw[0].tobytes())
    assert (message.radiation_type, message.range) == (1, np.inf)
    assert message.field_of_view == np.float32(0.1)


def test_a_value_that_does_not_fit_is_refused_at_once() -> None:
    layout = MessageLayout("sensor_msgs/msg/NavSatFix", texts={"header.frame_id": "r_0"})
    words = Words(layout, ROBOTS[:1], [np.zeros((1, 1))])
    with pytest.raises(TypeError, match=r"status\.service"):
        words.column("status.service", 0)


def scan(rays: int) -> tuple[Words, list[Array]]:
    readings = table(SCAN, 3)
    readings["start"], readings["step"], readings["duration"] = -1.0, 0.01, 0.2
    readings["min_range"], readings["max_range"] = 0.5, [4.0, 5.0, 6.0]
    ranges = np.random.default_rng(4).uniform(0.0, 8.0, (3, rays))
    ranges[0, 0], ranges[1, 0], ranges[2, 0] = np.inf, np.nan, 6.0
    sizes, texts = {"ranges": rays}, {"header.frame_id": "r_0"}
    words = Words(MessageLayout(SCANS, sizes, texts), ROBOTS, [readings, ranges])
    words.line("angle_max", 0, "start", "step", rays - 1)
    words.share("time_increment", 0, "duration", rays)
    words.limited("ranges", 1, "min_range", "max_range")
    return words, [readings, ranges]


@pytest.mark.parametrize("rays", [1, 3, 511, 512, 513, 2000])
def test_ranges_beyond_their_limits_are_infinite(rays: int) -> None:
    words, (readings, ranges) = scan(rays)
    rows = np.array([2, 0, 1])
    raw = MessageTemplate(words).fill(rows, [readings[rows], ranges[rows]])
    for message, row in zip(raw, rows, strict=True):
        found, far = decode(SCANS, message.tobytes()), readings["max_range"][row]
        wanted = [
            np.inf if r >= far else -np.inf if r < 0.5 else np.float32(r) for r in ranges[row]
        ]
        assert np.array_equal(found.ranges, np.array(wanted, np.float32), equal_nan=True)
        assert found.angle_max == np.float32(-1.0 + (rays - 1) * 0.01)
        assert found.time_increment == np.float32(0.2 / rays)


def test_a_curvature_is_told_as_the_turn_that_it_means() -> None:
    drives = table(DRIVE, 2)
    drives["vx"], drives["wz"], drives["curvature"] = 2.0, 0.3, [np.nan, 0.25]
    layout = MessageLayout("geometry_msgs/msg/TwistStamped", texts={"header.frame_id": "r_0"})
    words = Words(layout, ROBOTS[:2], [drives])
    words.turn_rate("twist.angular.z", 0, "wz", "curvature", "vx")
    raw = MessageTemplate(words).fill(np.arange(2), [drives])
    assert [decode(layout.type, m.tobytes()).twist.angular.z for m in raw] == [0.3, 0.5]


def test_compiled_and_plain_write_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    states, rows = made_states(3), np.arange(3)
    words, tables = scan(600)
    forms = [(MessageTemplate(odometry(states)), [states]), (MessageTemplate(words), tables)]
    compiled = [form.fill(rows, given) for form, given in forms]
    for name in ("copy_constants_all", "copy_fields_all"):
        monkeypatch.setattr(words_module, name, getattr(steps_module, name).function)
    for name in ("copy_bytes", "time_of", "within", "limit_all"):
        monkeypatch.setattr(steps_module, name, getattr(steps_module, name).function)
    with np.errstate(invalid="ignore"):
        plain = [form.fill(rows, given) for form, given in forms]
    assert all(np.array_equal(a, b) for a, b in zip(plain, compiled, strict=True))


def test_where_a_robot_was_is_on_the_line_between_two_moments() -> None:
    state = table(STATE, 2)
    past = PoseHistory(state)
    for k in range(3):
        state["stamp"], state["x"], state["yaw"] = k, 10.0 * k, [0.0, 3.0 if k % 2 else -3.0]
        past.remember()
    state["vx"], state["yaw"][0] = 2.0, np.pi / 2
    out, stamps = np.zeros((2, 3)), np.array([0.25, 0.5])
    past.look(out, np.arange(2), stamps)
    assert out[0].tolist() == [2.5, 0.0, 0.0]
    assert abs(out[1, 2]) == pytest.approx(np.pi)  # the short way round, over the back
    past.look(out, np.arange(2), np.array([3.0, -5.0]))
    assert out[0] == pytest.approx([20.0, 2.0, np.pi / 2])  # ahead, with the speed that it has
    assert out[1].tolist() == [0.0, 0.0, -3.0]  # as far back as is known
    past.forget(np.array([1]))
    past.look(out, np.array([1]), np.array([0.0, 0.5]))
    assert out[1].tolist() == [20.0, 0.0, -3.0]  # nothing else is known
