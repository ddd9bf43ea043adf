"""Where robots start: a pose, a step from one robot to the next, and a spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from astray import noise
from astray.draw import values_of
from astray.maths import wrap
from astray.plugin import NonNegative
from astray.table import Array, Table


@dataclass(kw_only=True)
class Start:
    """The start of a group's robots; each number may be drawn, per world, life and robot."""

    x: float = 0.0  # m
    y: float = 0.0  # m
    yaw: float = 0.0  # rad
    step: tuple[float, float] = (0.0, 0.0)  # m in x and y from one robot to the next
    spread: NonNegative = 0.0  # m, standard deviation of x and of y
    yaw_spread: NonNegative = 0.0  # rad, standard deviation

    def poses(self, who: Table, seed: int, group: str) -> Array:
        """The start poses of these robots, (len(who), 3); robot k's whatever the count."""
        who = who.copy()
        who["tick"] = 0
        rows = np.arange(len(who))
        pose = np.empty((len(who), 3))
        for k, (name, value) in enumerate((("x", self.x), ("y", self.y), ("yaw", self.yaw))):
            pose[:, k] = values_of(value, who, rows, noise.key(seed, group, "start", name))
        pose[:, :2] += np.outer(who["robot"], self.step)
        error = np.empty((len(who), 3))
        noise.normals_all(error, who, rows, noise.key(seed, group, "start"))
        for k, name in ((0, "spread"), (1, "spread"), (2, "yaw_spread")):
            sd = values_of(getattr(self, name), who, rows, noise.key(seed, group, "start", name))
            pose[:, k] += sd * error[:, k]
        pose[:, 2] = [wrap(yaw) for yaw in pose[:, 2]]
        return pose
