import contextlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from astray.errors import WrongInput
from astray.ros.messages.layout import MessageLayout
from astray.ros.messages.types import (
    BadMessage,
    decode,
    encode,
    full_name,
    make_message,
    message_definition,
    to_plain,
    type_hash,
    typestore,
)

CASES = [
    ("sensor_msgs/msg/Imu", {}, {"header.frame_id": "imu_link"}),
    ("sensor_msgs/msg/LaserScan", {"ranges": 1080}, {"header.frame_id": "laser"}),
    ("sensor_msgs/msg/JointState", {"name": 4, "position": 4}, {"name.0": "wheel_fl"}),
    ("sensor_msgs/msg/BatteryState", {"cell_voltage": 1}, {"location": "a"}),
    ("sensor_msgs/msg/NavSatFix", {}, {}),
    ("nav_msgs/msg/OccupancyGrid", {"data": 101}, {"header.frame_id": "map"}),
    ("nav_msgs/msg/Odometry", {}, {"header.frame_id": "odom", "child_frame_id": "base"}),
    ("geometry_msgs/msg/Pose2D", {}, {}),
    ("geometry_msgs/msg/PoseWithCovarianceStamped", {}, {}),
    ("rosgraph_msgs/msg/Clock", {}, {}),
    ("std_msgs/msg/String", {}, {"data": "ü"}),
    ("std_msgs/msg/Float64MultiArray", {"data": 4, "layout.dim": 1}, {"layout.dim.0.label": "w"}),
    ("tf2_msgs/msg/TFMessage", {"transforms": 2}, {"transforms.1.child_frame_id": "base"}),
]


@pytest.mark.parametrize(("kind", "lengths", "texts"), CASES, ids=[c[0] for c in CASES])
def test_columns_written_at_once_are_the_bytes_that_an_independent_encoder_makes(
    kind: str, lengths: dict[str, int], texts: dict[str, str]
) -> None:
    rng = np.random.default_rng(0)
    messages = MessageLayout(kind, lengths, texts).zeros(5)
    for name in messages.dtype.names or ():
        column = messages[name]
        if column.dtype.kind in "iuf?":
            messages[name] = rng.integers(0, 2, column.shape)
        if column.dtype.kind == "f":
            messages[name] = rng.standard_normal(column.shape)
    for message in messages:
        data = message.tobytes()
        read = typestore().deserialize_cdr(data, kind)
        assert bytes(typestore().serialize_cdr(read, kind)) == data


@given(st.lists(st.text(alphabet="abcü_/", min_size=0, max_size=9), min_size=1, max_size=4))
def test_texts_of_any_length_shift_what_follows_as_they_should(names: list[str]) -> None:
    texts = {f"name.{k}": name for k, name in enumerate(names)}
    lengths = {"name": len(names), "position": 2}
    out = MessageLayout("sensor_msgs/msg/JointState", lengths, texts).zeros(1)
    out["position"] = [[1.5, -2.5]]
    read = decode("sensor_msgs/msg/JointState", out[0].tobytes())
    assert list(read.name) == names
    assert read.position.tolist() == [1.5, -2.5]


def test_another_text_of_the_same_length_can_be_written() -> None:
    out = MessageLayout("std_msgs/msg/Header", texts={"frame_id": "rover_0"}).zeros(2)
    out["frame_id"] = [b"rover_1", b"rover_2"]
    read = [decode("std_msgs/msg/Header", m.tobytes()).frame_id for m in out]
    assert read == ["rover_1", "rover_2"]


def test_a_length_of_an_unknown_sequence_is_refused() -> None:
    with pytest.raises(WrongInput, match="'rays'"):
        MessageLayout("sensor_msgs/msg/LaserScan", {"rays": 3})


def test_hashes_are_those_that_ros_2_publishes() -> None:
    assert type_hash("sensor_msgs/msg/Imu").startswith("RIHS01_7d9a00ff13")
    assert type_hash("geometry_msgs/msg/Twist").startswith("RIHS01_9c45bf16fe")
    assert type_hash("rosgraph_msgs/msg/Clock").startswith("RIHS01_692f7a66e9")


def test_a_definition_holds_all_that_a_type_is_made_of() -> None:
    text = message_definition("sensor_msgs/msg/Imu")
    assert "MSG: std_msgs/Header" in text
    assert "MSG: geometry_msgs/Quaternion" in text


def test_both_spellings_of_a_type_are_one() -> None:
    assert full_name("sensor_msgs/Imu") == full_name("sensor_msgs/msg/Imu") == "sensor_msgs/msg/Imu"


def test_plain_values_become_a_message_and_come_back() -> None:
    values = {"linear": {"x": 0.5}, "angular": {"z": 1}}
    data = encode("geometry_msgs/msg/Twist", values)
    plain = to_plain(decode("geometry_msgs/msg/Twist", data))
    zero = {"x": 0.0, "y": 0.0, "z": 0.0}
    assert plain == {"linear": {**zero, "x": 0.5}, "angular": {**zero, "z": 1.0}}
    assert json.loads(json.dumps(plain)) == plain


@pytest.mark.parametrize(
    ("kind", "values", "why"),
    [
        ("geometry_msgs/msg/Twist", {"linear": {"a": 1}}, "no field 'a'"),
        ("geometry_msgs/msg/Twist", {"linear": 3}, "needs fields"),
        ("geometry_msgs/msg/Pose2D", {"x": "fast"}, "needs a number"),
        ("std_msgs/msg/String", {"data": 3}, "needs text"),
        ("std_msgs/msg/UInt8", {"data": 256}, "0 to 255"),
        ("sensor_msgs/msg/Imu", {"orientation_covariance": [0, 0]}, "9 values, not 2"),
        ("no_msgs/msg/Thing", {}, "unknown message type"),
    ],
)
def test_values_that_do_not_fit_are_refused_with_the_reason(
    kind: str, values: dict[str, object], why: str
) -> None:
    with pytest.raises(BadMessage, match=why):
        make_message(kind, values)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_refused(data: bytes) -> None:
    for kind in ("geometry_msgs/msg/Twist", "sensor_msgs/msg/JointState", "nav_msgs/msg/Odometry"):
        with contextlib.suppress(BadMessage):
            decode(kind, data)
