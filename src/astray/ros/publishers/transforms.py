"""Where frames are in each other: the tree of REP 105, and the truth beside it.

    world ─ map ─ odom ─ base_link ─ one frame for each sensor
      └── base_link_truth

`odom → base_link` is dead reckoning: it drifts and never jumps. `map → odom` makes up for the
difference to what is believed (or, if that is asked for, to the truth), and jumps with it. A belief
is compared with the dead reckoning of its own time, however late it came.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from astray.engine import Run
from astray.numerics import compiled_for, cos, kernel, sin
from astray.ros.messages import MessageLayout
from astray.ros.names import BASE, MAP, ODOM, TRUTH, WORLD, RosRobot, world_frame
from astray.ros.publishers.dead_reckoning import DeadReckoning
from astray.ros.publishers.pose_history import was
from astray.ros.publishers.poses import NewStamps, PeriodicPublisher, is_unsaid
from astray.ros.publishers.publisher import Topic
from astray.tables import Array, Rows, Table

if TYPE_CHECKING:
    pass

TF = "tf2_msgs/msg/TFMessage"
Mount = tuple[float, float, float, float, float]
"""x, y, roll, pitch and yaw in the body."""


@kernel
def tie_all(odom: Array, rows: Rows, poses: Table, reckoned: Any, noted: Any) -> int:
    """Where `odom` is in the map: a pose, less dead reckoning at the time of that pose.

    Of those rows for which dead reckoning went on since it was noted; how many they are.
    """
    (state, past), (said, new) = reckoned, noted
    count = 0
    for i in rows:
        if is_unsaid(i, state[i].stamp, said):
            new[count] = i
            count += 1
            pose = poses[i]
            x, y, yaw = was(past, i, state[i], pose.stamp)
            turn = pose.yaw - yaw
            s, c = sin(turn), cos(turn)
            odom[i, 0], odom[i, 1] = pose.x - (c * x - s * y), pose.y - (s * x + c * y)
            odom[i, 2] = turn
    return count


class TransformPublisher(PeriodicPublisher):
    """Says where robots are in `odom` and, unless that is left to others, `odom` in the map."""

    def __init__(
        self,
        robots: Sequence[RosRobot],
        reckoning: DeadReckoning,
        truth: Table,
        map_from: Table | None,
        period: int,
    ) -> None:
        first = robots[0]
        pairs = self._pairs(first, map_from is not None)
        texts: dict[str, str] = {}
        for k, (parent, child) in enumerate(pairs):
            texts |= {f"transforms.{k}.header.frame_id": parent}
            texts |= {f"transforms.{k}.child_frame_id": child}
        layout = MessageLayout(TF, {"transforms": len(pairs)}, texts)
        self._unsaid, self._map_from = NewStamps(reckoning.state["stamp"]), map_from
        self._odom = np.zeros((len(truth), 3))  # where `odom` is in the map
        tables = [reckoning.state, truth, *([] if map_from is None else [self._odom])]
        super().__init__(robots, "tf", layout, tables, period=period, alive=truth["alive"])
        self.topics = {r.row: Topic("/tf", TF) for r in robots}
        self._reckoned = reckoning.state, reckoning.past.poses
        if map_from is not None:
            given = self._odom, self.rows, map_from, self._reckoned, self._unsaid.noted
            self._tie = compiled_for(tie_all, *given)
        for k in range(len(pairs)):
            self._say(k)

    def _say(self, k: int) -> None:
        """Let messages tell one transform: by dead reckoning, in truth, or the map's."""
        path, words, localised = f"transforms.{k}", self.words, self._map_from is not None
        words.text(f"{path}.header.frame_id", lambda robot: self._pairs(robot, localised)[k][0])
        words.text(f"{path}.child_frame_id", lambda robot: self._pairs(robot, localised)[k][1])
        words.stamp((0, 1, 0)[k], f"{path}.header.stamp")
        if k < 2:
            words.column(f"{path}.transform.translation.x", k, "x")
            words.column(f"{path}.transform.translation.y", k, "y")
            words.turn(f"{path}.transform.rotation", k)
        else:
            words.cell(f"{path}.transform.translation.x", k, at=0)
            words.cell(f"{path}.transform.translation.y", k, at=1)
            words.turn(f"{path}.transform.rotation", k, column="", at=2)

    @staticmethod
    def _pairs(robot: RosRobot, localised: bool) -> list[tuple[str, str]]:
        pairs = [
            (robot.frame(ODOM), robot.frame(BASE)),
            (world_frame(robot, WORLD), robot.frame(TRUTH)),
        ]
        return pairs + ([(world_frame(robot, MAP), robot.frame(ODOM))] if localised else [])

    def now(self, sim: Run) -> Rows:
        """Those whose wheels told something new: nobody wants two transforms of one time."""
        rows, unsaid = super().now(sim), self._unsaid
        if self._map_from is None:
            return unsaid.among(rows)
        count = self._tie(self._odom, rows, self._map_from, self._reckoned, unsaid.noted)
        return unsaid.first(count, rows)


def static_transforms(robots: Sequence[RosRobot], mounts: dict[str, Mount]) -> list[bytes]:
    """Messages that say where the sensors of each robot sit, and that the map is the world.

    Their names are of one length.
    """

    def frames(robot: RosRobot) -> dict[str, str]:
        made = {
            "transforms.0.header.frame_id": world_frame(robot, WORLD),
            "transforms.0.child_frame_id": world_frame(robot, MAP),
        }
        for k, frame in enumerate(mounts, start=1):
            made[f"transforms.{k}.header.frame_id"] = robot.frame(BASE)
            made[f"transforms.{k}.child_frame_id"] = robot.frame(frame)
        return made

    out = MessageLayout(TF, {"transforms": 1 + len(mounts)}, frames(robots[0])).blank(len(robots))
    for k, robot in enumerate(robots):
        for path, text in frames(robot).items():
            out[path][k] = text.encode()
    out["transforms.0.transform.rotation.w"] = 1.0
    for k, (x, y, roll, pitch, yaw) in enumerate(mounts.values(), start=1):
        path = f"transforms.{k}.transform"
        out[f"{path}.translation.x"], out[f"{path}.translation.y"] = x, y
        for axis, value in zip("xyzw", quaternion(roll, pitch, yaw), strict=True):
            out[f"{path}.rotation.{axis}"] = value
    return [message.tobytes() for message in out]


def quaternion(roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]:
    """x, y, z and w of a turn by yaw, then pitch, then roll."""
    sr, cr = np.sin(roll / 2), np.cos(roll / 2)
    sp, cp = np.sin(pitch / 2), np.cos(pitch / 2)
    sy, cy = np.sin(yaw / 2), np.cos(yaw / 2)
    return (
        float(sr * cp * cy - cr * sp * sy),
        float(cr * sp * cy + sr * cp * sy),
        float(cr * cp * sy - sr * sp * cy),
        float(cr * cp * cy + sr * sp * sy),
    )
