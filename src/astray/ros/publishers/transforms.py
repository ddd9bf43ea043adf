"""tf2_msgs/TFMessage: the tree of frames of REP 105, and the truth beside it.

    world ─ map ─ odom ─ base_link ─ a frame for each sensor
      └── base_link_truth

`odom → base_link` is dead reckoning: it drifts and never jumps. `map → odom` is the difference from
dead reckoning to the belief (or to the truth), and jumps with it. A belief that is late is compared
with the dead reckoning of its own time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from astray.engine import Run
from astray.numerics import Schedule, compiled_for, cos, kernel, sin
from astray.ros.messages import (
    FieldSource,
    FromColumn,
    MessageLayout,
    MessageTemplate,
    RobotText,
    Stamp,
    YawQuaternion,
)
from astray.ros.names import (
    BASE_FRAME,
    MAP_FRAME,
    ODOM_FRAME,
    TRUTH_FRAME,
    WORLD_FRAME,
    RosRobot,
    world_frame,
)
from astray.ros.publishers.dead_reckoning import DeadReckoning, pose_at_time
from astray.ros.publishers.publisher import (
    NewStamps,
    PublishedStamps,
    Publisher,
    alive_rows,
    is_new_stamp,
)
from astray.ros.publishers.sensor_messages import FrameName
from astray.tables import Rows, Table, record_type

TF = "tf2_msgs/msg/TFMessage"
POSE = record_type([(name, "f8") for name in ("x", "y", "yaw")])


class MountPose(NamedTuple):
    """The pose of a sensor in the body: m and rad."""

    x: float
    y: float
    roll: float
    pitch: float
    yaw: float


class OdomState(NamedTuple):
    """Dead reckoning: its state, and its latest poses."""

    state: Table
    history: Table


@kernel
def map_to_odom_all(
    map_to_odom: Table, rows: Rows, poses: Table, odom: OdomState, published: PublishedStamps
) -> int:
    """The pose of `odom` in the map: pose in the map ⊖ dead reckoning at the time of that pose.

    Of the rows whose dead reckoning has a new stamp; their number.
    """
    count = 0
    for i in rows:
        if is_new_stamp(i, odom.state[i].stamp, published.stamps):
            published.new_rows[count] = i
            count += 1
            pose = poses[i]
            reckoned = pose_at_time(odom.history, i, odom.state[i], pose.stamp)
            turn = pose.yaw - reckoned.yaw
            s, c = sin(turn), cos(turn)
            out = map_to_odom[i]
            out.x = pose.x - (c * reckoned.x - s * reckoned.y)
            out.y = pose.y - (s * reckoned.x + c * reckoned.y)
            out.yaw = turn
    return count


class TransformSource(NamedTuple):
    """A transform: its frames, and the table that has its pose."""

    parent: FrameName
    child: FrameName
    table: str
    stamp_table: str


ODOM_TO_BASE = TransformSource(
    parent=lambda robot: robot.frame(ODOM_FRAME),
    child=lambda robot: robot.frame(BASE_FRAME),
    table="odom",
    stamp_table="odom",
)
WORLD_TO_TRUTH = TransformSource(
    parent=lambda robot: world_frame(robot, WORLD_FRAME),
    child=lambda robot: robot.frame(TRUTH_FRAME),
    table="truth",
    stamp_table="truth",
)
MAP_TO_ODOM = TransformSource(
    parent=lambda robot: world_frame(robot, MAP_FRAME),
    child=lambda robot: robot.frame(ODOM_FRAME),
    table="map_to_odom",
    stamp_table="odom",
)


def transform_template(transforms: Sequence[TransformSource]) -> MessageTemplate:
    """tf2_msgs/TFMessage with these transforms."""
    fields: dict[str, FieldSource] = {}
    for k, transform in enumerate(transforms):
        path = f"transforms.{k}"
        fields |= {
            f"{path}.header.stamp": Stamp(table=transform.stamp_table),
            f"{path}.header.frame_id": RobotText(transform.parent),
            f"{path}.child_frame_id": RobotText(transform.child),
            f"{path}.transform.translation.x": FromColumn("x", transform.table),
            f"{path}.transform.translation.y": FromColumn("y", transform.table),
            f"{path}.transform.rotation": YawQuaternion("yaw", transform.table),
        }
    return MessageTemplate(TF, fields, lengths={"transforms": len(transforms)})


class TransformPublisher(Publisher):
    """Publishes `odom → base_link`, the truth, and `map → odom` unless another node does.

    Args:
        robots: The robots, as ROS 2 names them.
        dead_reckoning: That of their group.
        truth: The truth of the group.
        map_from: The poses in the map that `map → odom` follows; None if another node publishes it.
        period: Ticks from message to message.
    """

    def __init__(
        self,
        robots: Sequence[RosRobot],
        dead_reckoning: DeadReckoning,
        truth: Table,
        map_from: Table | None,
        period: int,
    ) -> None:
        self._alive, self._map_from = truth["alive"], map_from
        self._new = NewStamps(dead_reckoning.state["stamp"])
        transforms, tables = [ODOM_TO_BASE, WORLD_TO_TRUTH], {"odom": dead_reckoning.state}
        tables["truth"] = truth
        if map_from is not None:
            transforms.append(MAP_TO_ODOM)
            self._map_to_odom = tables["map_to_odom"] = np.zeros(len(truth), POSE)
        template = transform_template(transforms)
        super().__init__(robots, "/tf", template, tables, Schedule(period))
        self._odom = OdomState(dead_reckoning.state, dead_reckoning.history.poses)
        if map_from is not None:
            given = self._map_to_odom, self.rows, map_from, self._odom, self._new.published
            self._update_map_to_odom = compiled_for(map_to_odom_all, *given)

    def fresh_rows(self, sim: Run) -> Rows:
        """The robots with a new dead reckoning: two transforms of one time would be ambiguous."""
        rows, new = alive_rows(self, sim, self._alive), self._new
        if self._map_from is None:
            return new.among(rows)
        given = self._map_to_odom, rows, self._map_from, self._odom, new.published
        return new.first(self._update_map_to_odom(*given), rows)


def static_transforms(robots: Sequence[RosRobot], mounts: dict[str, MountPose]) -> list[bytes]:
    """The static transforms of each robot: its sensors in the body, and the map in the world.

    Args:
        robots: Robots whose names have one length.
        mounts: The pose of each sensor's frame.

    Returns:
        A tf2_msgs/TFMessage for each robot, CDR bytes.
    """

    def frames(robot: RosRobot) -> dict[str, str]:
        texts = {
            "transforms.0.header.frame_id": world_frame(robot, WORLD_FRAME),
            "transforms.0.child_frame_id": world_frame(robot, MAP_FRAME),
        }
        for k, frame in enumerate(mounts, start=1):
            texts[f"transforms.{k}.header.frame_id"] = robot.frame(BASE_FRAME)
            texts[f"transforms.{k}.child_frame_id"] = robot.frame(frame)
        return texts

    layout = MessageLayout(TF, {"transforms": 1 + len(mounts)}, frames(robots[0]))
    out = layout.zeros(len(robots))
    for k, robot in enumerate(robots):
        for path, text in frames(robot).items():
            out[path][k] = text.encode()
    out["transforms.0.transform.rotation.w"] = 1.0
    for k, mount in enumerate(mounts.values(), start=1):
        path = f"transforms.{k}.transform"
        out[f"{path}.translation.x"], out[f"{path}.translation.y"] = mount.x, mount.y
        rotation = quaternion(mount.roll, mount.pitch, mount.yaw)
        for axis, value in zip("xyzw", rotation, strict=True):
            out[f"{path}.rotation.{axis}"] = value
    return [message.tobytes() for message in out]


def quaternion(roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]:
    """x, y, z and w of a rotation by yaw, then pitch, then roll, about the turned axes."""
    sr, cr = np.sin(roll / 2), np.cos(roll / 2)
    sp, cp = np.sin(pitch / 2), np.cos(pitch / 2)
    sy, cy = np.sin(yaw / 2), np.cos(yaw / 2)
    return (
        float(sr * cp * cy - cr * sp * sy),
        float(cr * sp * cy + sr * cp * sy),
        float(cr * cp * sy - sr * sp * cy),
        float(cr * cp * cy + sr * sp * sy),
    )
