"""Messages made of tables: every value arrives where it belongs, whatever stands before it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from astray.ros.messages import (
    ClippedRanges,
    Computed,
    Constant,
    FromColumn,
    MessageTemplate,
    Quotient,
    RobotText,
    Stamp,
    SteppedValue,
    TurnRate,
    YawQuaternion,
    planar_covariance,
    serializer,
    serializer_kernels,
)
from astray.ros.messages.serializer import MessageSerializer
from astray.ros.messages.serializer_kernels import (
    TABLE_PLACEMENT,
    MessageBuffer,
    RecordSelection,
    copy_constants_all,
    make_scratch,
    record_memory,
    write_fields_all,
)
from astray.ros.messages.types import decode
from astray.ros.names import RosRobot
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


ODOMETRY_TEMPLATE = MessageTemplate(
    ODOMETRY,
    {
        "header.stamp": Stamp(),
        "header.frame_id": RobotText(lambda robot: f"{robot.name}/odom"),
        "child_frame_id": Constant("base"),
        "pose.pose.position.x": FromColumn("x"),
        "pose.pose.position.y": FromColumn("y"),
        "pose.pose.orientation": YawQuaternion(),
        "pose.covariance": planar_covariance(),
        "twist.twist.linear.x": FromColumn("vx"),
        "twist.twist.linear.z": Constant(7.0),
    },
)


def compiled(
    template: MessageTemplate, tables: dict[str, Array], headers: Array | None = None
) -> MessageSerializer:
    rows = len(next(iter(tables.values())))
    layout = template.layout(ROBOTS[0])
    return MessageSerializer(template, layout, ROBOTS[:rows], tables, headers)


def odometry(states: Array, headers: Array | None = None) -> MessageSerializer:
    return compiled(ODOMETRY_TEMPLATE, {"state": states}, headers)


def read(serializer: MessageSerializer, raw: Array) -> list[Any]:
    return [decode(ODOMETRY, row[serializer.header_size :].tobytes()) for row in raw]


def test_columns_texts_and_constants_are_in_the_message() -> None:
    states, rows = made_states(3), np.array([2, 0, 1])
    compiled = odometry(states)
    messages = read(compiled, compiled.serialize(rows, [states[rows]]))
    for message, row in zip(messages, rows, strict=True):
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
def test_a_header_before_a_message_changes_nothing_in_it(length: int) -> None:
    states, rows = made_states(3), np.array([0, 2])
    headers = np.arange(3 * length, dtype=np.uint8).reshape(3, length)
    plain, with_headers = odometry(states), odometry(states, headers)
    a, b = (compiled.serialize(rows, [states[rows]]) for compiled in (plain, with_headers))
    assert np.array_equal(a, b[:, length:])
    assert np.array_equal(b[:, :length], headers[rows])


def test_rows_are_found_in_copies_of_a_table_at_several_times() -> None:
    samples = [made_states(3) for _ in range(4)]
    for k, states in enumerate(samples):
        states["x"] = 10.0 * k + np.arange(3)
    compiled = odometry(samples[0])
    gap = np.zeros(5)  # copies may begin anywhere in memory, as messages may
    kept = np.concatenate([gap.view(np.uint8), *(states.view(np.uint8) for states in samples)])
    raw = np.zeros(4 * compiled.size + 3, np.uint8)
    messages = MessageBuffer(raw, np.array([3, 2, 0]) * compiled.size + 3)
    records = RecordSelection(np.array([3, 0, 2]), np.array([1, 1, 0]))
    copy_constants_all(messages, compiled.constants, records.rows)
    placement = (gap.nbytes, samples[0].nbytes, samples[0].itemsize)
    placements, memory = np.array([placement], TABLE_PLACEMENT), record_memory(kept)
    write_fields_all(messages, compiled.instructions, memory, placements, records, make_scratch())
    found = read(compiled, raw[3:].reshape(4, -1)[[3, 2, 0]])
    assert [message.pose.pose.position.x for message in found] == [31.0, 1.0, 20.0]


@given(st.floats(-1e3, 4e9) | st.sampled_from([np.nan, np.inf * 0, -0.0, 0.1, 1e-10]))
def test_a_time_is_the_nearest_nanosecond_and_never_before_zero(seconds: float) -> None:
    states = made_states(1)
    if seconds < 2**31:
        states["stamp"] = seconds
        compiled = odometry(states)
        at = read(compiled, compiled.serialize(np.array([0]), [states]))[0].header.stamp
        wanted = seconds if seconds > 0.0 else 0.0
        assert abs(at.sec * 10**9 + at.nanosec - wanted * 1e9) <= max(0.5, wanted * 1e9 * 2e-16)
        assert 0 <= at.nanosec < 10**9


def test_values_are_converted_to_the_type_of_the_field() -> None:
    values = np.array([[1.0, 0.1, np.inf]])
    paths = ("radiation_type", "field_of_view", "range")
    fields = {path: Computed(lambda read: read("")) for path in paths}
    template = MessageTemplate(
        "sensor_msgs/msg/Range", {"header.frame_id": Constant("r_0"), **fields}
    )
    states = made_states(1)
    raw = compiled(template, {"state": states}).serialize(np.array([0]), [states, values])
    message = decode(template.type, raw[0].tobytes())
    assert (message.radiation_type, message.range) == (1, np.inf)
    assert message.field_of_view == np.float32(0.1)


def test_a_value_that_does_not_fit_is_refused_at_once() -> None:
    template = MessageTemplate("sensor_msgs/msg/NavSatFix", {"status.service": FromColumn()})
    with pytest.raises(TypeError, match=r"status\.service"):
        compiled(template, {"values": np.zeros((1, 1))})


def scan(rays: int) -> tuple[MessageSerializer, list[Array]]:
    readings = table(SCAN, 3)
    readings["start"], readings["step"], readings["duration"] = -1.0, 0.01, 0.2
    readings["min_range"], readings["max_range"] = 0.5, [4.0, 5.0, 6.0]
    ranges = np.random.default_rng(4).uniform(0.0, 8.0, (3, rays))
    ranges[0, 0], ranges[1, 0], ranges[2, 0] = np.inf, np.nan, 6.0
    template = MessageTemplate(
        SCANS,
        {
            "header.frame_id": Constant("r_0"),
            "angle_max": SteppedValue("start", "step", rays - 1),
            "time_increment": Quotient("duration", rays),
            "ranges": ClippedRanges("ranges", "min_range", "max_range"),
        },
        {"ranges": rays},
    )
    return compiled(template, {"readings": readings, "ranges": ranges}), [readings, ranges]


@pytest.mark.parametrize("rays", [1, 3, 511, 512, 513, 2000])
def test_ranges_beyond_their_limits_are_infinite(rays: int) -> None:
    compiled, (readings, ranges) = scan(rays)
    rows = np.array([2, 0, 1])
    raw = compiled.serialize(rows, [readings[rows], ranges[rows]])
    for message, row in zip(raw, rows, strict=True):
        found, far = decode(SCANS, message.tobytes()), readings["max_range"][row]
        wanted = [
            np.inf if r >= far else -np.inf if r < 0.5 else np.float32(r) for r in ranges[row]
        ]
        assert np.array_equal(found.ranges, np.array(wanted, np.float32), equal_nan=True)
        assert found.angle_max == np.float32(-1.0 + (rays - 1) * 0.01)
        assert found.time_increment == np.float32(0.2 / rays)


def test_a_curvature_is_published_as_the_yaw_rate_that_it_means() -> None:
    drives = table(DRIVE, 2)
    drives["vx"], drives["wz"], drives["curvature"] = 2.0, 0.3, [np.nan, 0.25]
    template = MessageTemplate(
        "geometry_msgs/msg/TwistStamped",
        {"header.frame_id": Constant("r_0"), "twist.angular.z": TurnRate("wz", "curvature", "vx")},
    )
    raw = compiled(template, {"drives": drives}).serialize(np.arange(2), [drives])
    assert [decode(template.type, m.tobytes()).twist.angular.z for m in raw] == [0.3, 0.5]


def test_compiled_and_plain_write_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    states, rows = made_states(3), np.arange(3)
    scans, tables = scan(600)
    cases = [(odometry(states), [states]), (scans, tables)]
    fast = [case.serialize(rows, given) for case, given in cases]
    for name in ("copy_constants_all", "write_fields_all"):
        monkeypatch.setattr(serializer, name, getattr(serializer_kernels, name).function)
    for name, found in list(vars(serializer_kernels).items()):
        if hasattr(found, "dispatcher") and found.__module__ == serializer_kernels.__name__:
            monkeypatch.setattr(serializer_kernels, name, found.function)
    with np.errstate(invalid="ignore"):
        plain = [case.serialize(rows, given) for case, given in cases]
    assert all(np.array_equal(a, b) for a, b in zip(plain, fast, strict=True))
