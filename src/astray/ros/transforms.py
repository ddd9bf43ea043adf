"""Where frames are in each other: the tree of REP 105, and the truth beside it.

    world ─ map ─ odom ─ base_link ─ one frame for each sensor
      └── base_link_truth

`odom → base_link` is dead reckoning: it drifts and never jumps. `map → odom` makes up for the
difference to what is believed (or, if that is asked for, to the truth), and jumps with it. A belief
is compared with the dead reckoning of its own time, however late it came.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from astray.ros.layout import Layout
from astray.ros.names import BASE, MAP, ODOM, TRUTH, WORLD, Robot, world_frame
from astray.ros.poses import Paced
from astray.ros.reckoning import Reckoning
from astray.ros.speaker import Taken, Topic, stamp, turn
from astray.table import Array, Rows, Table

if TYPE_CHECKING:
    from astray.sim import Sim

TF = "tf2_msgs/msg/TFMessage"
Mount = tuple[float, float, float, float, float]
"""x, y, roll, pitch and yaw in the body."""


class Transforms(Paced):
    """Says where robots are in `odom` and, unless that is left to others, `odom` in the map."""

    def __init__(
        self,
        robots: Sequence[Robot],
        reckoning: Reckoning,
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
        layout = Layout(TF, {"transforms": len(pairs)}, texts)
        super().__init__(robots, "tf", layout, period, truth["alive"])
        self.topics = {r.row: Topic("/tf", TF) for r in robots}
        self.reckoning, self.truth, self.map_from = reckoning, truth, map_from
        self._said = np.full(len(truth), np.nan)
        self._names = [(self._texts_of(k, 0), self._texts_of(k, 1)) for k in range(len(pairs))]

    def _texts_of(self, k: int, side: int) -> Array:
        localised = self.map_from is not None
        return self.texts(lambda robot: self._pairs(robot, localised)[k][side])

    @staticmethod
    def _pairs(robot: Robot, localised: bool) -> list[tuple[str, str]]:
        pairs = [
            (robot.frame(ODOM), robot.frame(BASE)),
            (world_frame(robot, WORLD), robot.frame(TRUTH)),
        ]
        return pairs + ([(world_frame(robot, MAP), robot.frame(ODOM))] if localised else [])

    def due(self, sim: Sim) -> Rows:
        """Those whose wheels told something new: nobody wants two transforms of one time."""
        rows = super().due(sim)
        if len(rows):
            rows = rows[self.reckoning.state["stamp"][rows] != self._said[rows]]
            self._said[rows] = self.reckoning.state["stamp"][rows]
        return rows

    def take(self, rows: Rows) -> Taken:
        """Who is where: by dead reckoning, in truth, and as `map → odom` shall have it.

        That is a state, and where dead reckoning had the robot at the time of that state.
        """
        reckoned, truth = self.reckoning.state[rows], self.truth[rows]
        if self.map_from is None:
            return rows, reckoned, truth
        believed = truth if self.map_from is self.truth else self.map_from[rows]
        return rows, reckoned, truth, believed, self.reckoning.at(rows, believed["stamp"])

    def fill(self, out: Array, taken: Taken) -> None:
        """Write each transform."""
        rows, reckoned, truth = taken[:3]
        poses = [poses_of(reckoned), poses_of(truth)]
        if self.map_from is not None:
            poses.append(apart(poses_of(taken[3]), taken[4]))
        times = (reckoned["stamp"], truth["stamp"], reckoned["stamp"])
        for k, (parents, children) in enumerate(self._names):
            path = f"transforms.{k}"
            stamp(out, times[k], f"{path}.header.stamp")
            out[f"{path}.header.frame_id"] = parents[rows]
            out[f"{path}.child_frame_id"] = children[rows]
            place(out, poses[k], f"{path}.transform")


def poses_of(state: Table) -> Array:
    """x, y and yaw, (n, 3)."""
    return np.stack([state["x"], state["y"], state["yaw"]], axis=-1)


def apart(a: Array, b: Array) -> Array:
    """The pose from which b leads to a: a · b⁻¹, (n, 3)."""
    yaw = a[:, 2] - b[:, 2]
    s, c = np.sin(yaw), np.cos(yaw)
    x = a[:, 0] - (c * b[:, 0] - s * b[:, 1])
    y = a[:, 1] - (s * b[:, 0] + c * b[:, 1])
    return np.stack([x, y, yaw], axis=-1)


def place(out: Array, poses: Array, path: str) -> None:
    """Write planar poses as transforms."""
    out[f"{path}.translation.x"], out[f"{path}.translation.y"] = poses[:, 0], poses[:, 1]
    turn(out, poses[:, 2], f"{path}.rotation")


def static_transforms(robots: Sequence[Robot], mounts: dict[str, Mount]) -> list[bytes]:
    """Messages that say where the sensors of each robot sit, and that the map is the world."""
    return [_static(robot, mounts) for robot in robots]


def _static(robot: Robot, mounts: dict[str, Mount]) -> bytes:
    texts = {
        "transforms.0.header.frame_id": world_frame(robot, WORLD),
        "transforms.0.child_frame_id": world_frame(robot, MAP),
    }
    for k, frame in enumerate(mounts, start=1):
        texts[f"transforms.{k}.header.frame_id"] = robot.frame(BASE)
        texts[f"transforms.{k}.child_frame_id"] = robot.frame(frame)
    out = Layout(TF, {"transforms": 1 + len(mounts)}, texts).make(1)
    out["transforms.0.transform.rotation.w"] = 1.0
    for k, (x, y, roll, pitch, yaw) in enumerate(mounts.values(), start=1):
        path = f"transforms.{k}.transform"
        out[f"{path}.translation.x"], out[f"{path}.translation.y"] = x, y
        for axis, value in zip("xyzw", quaternion(roll, pitch, yaw), strict=True):
            out[f"{path}.rotation.{axis}"] = value
    return bytes(out.tobytes())


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
