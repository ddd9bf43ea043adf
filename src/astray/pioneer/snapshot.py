"""The state of one robot at the end of a cycle, copied from the tables of the run, in SI units."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from astray.engine import Robots, Run
from astray.pioneer.models import PoseTuple, ServedRobot
from astray.pioneer.packets import ScanLayout, clamp
from astray.tables import Array, Table

NO_RANGES: Array = np.zeros(0)


@dataclass(frozen=True)
class LaserRanges:
    """Ranges of a laser, m: ray k lies at start + k · step rad from the axis; inf is no hit."""

    ranges: Array = field(default_factory=lambda: NO_RANGES)
    start: float = 0.0
    step: float = 0.0
    max_range: float = 32.0

    def resample_mm(self, layout: ScanLayout) -> list[int]:
        """The range nearest to each ray of a layout, mm; no hit outside the field of view."""
        max_mm = clamp(round(self.max_range * 1000), "H")  # the largest that a packet can hold
        if not len(self.ranges):
            return [max_mm] * layout.count
        rays, outside = _nearest_rays(layout, len(self.ranges), self.start, self.step)
        mm = np.rint(self.ranges[rays] * 1000.0).clip(0.0, max_mm).astype(np.int64)
        mm[outside] = max_mm
        resampled: list[int] = mm.tolist()
        return resampled


@functools.lru_cache(maxsize=256)
def _nearest_rays(layout: ScanLayout, count: int, start: float, step: float) -> tuple[Array, Array]:
    """The index of the ray nearest to each angle of a layout, and the angles outside the view."""
    angles = np.radians(layout.angles_deg())
    index = np.rint((angles - start) / (step or math.inf)).astype(np.int64)
    outside = np.flatnonzero((index < 0) | (index >= count))
    return index.clip(0, count - 1), outside


@dataclass(frozen=True)
class RobotSnapshot:
    """The state of one robot."""

    time: float = 0.0
    truth: PoseTuple = (0.0, 0.0, 0.0)
    belief: PoseTuple = (0.0, 0.0, 0.0)
    vx: float = 0.0
    vy: float = 0.0
    wz: float = 0.0
    """Speeds of the belief, m/s and rad/s."""
    stalled: bool = False
    bumper_bits: int = 0
    """The bits of `Sip.stall` of the bumpers that are pressed."""
    sonar: Array = field(default_factory=lambda: NO_RANGES)
    """Ranges of the sonars, m; inf is no hit."""
    sonar_limits: tuple[float, float] = (0.1, 5.0)
    """The smallest and the largest range of the sonars, m."""
    laser: LaserRanges = LaserRanges()
    encoder_ticks: tuple[int, int] = (0, 0)
    """Of the left and the right wheel."""

    def sonar_mm(self) -> list[int]:
        """Ranges of the sonars, mm, clipped to their limits."""
        min_range, max_range = self.sonar_limits
        mm: list[int] = np.rint(self.sonar.clip(min_range, max_range) * 1000.0).astype(int).tolist()
        return mm


@dataclass(frozen=True)
class CycleIntervals:
    """The duration of a cycle, ms: simulated, in real time as configured, and as last measured."""

    simulated: int = 100
    real: int = 100
    last: int = 100


def take_snapshot(run: Run, robot: ServedRobot) -> RobotSnapshot:
    """Copy the present state of a robot from the tables of its group."""
    group, model, row = run.robots[robot.group], robot.model, robot.index
    truth, belief = group.truth, group.belief
    sensed: dict[str, Any] = {}
    if model.sonar is not None:
        sonar = group.readings[model.sonar]
        sensed["sonar"] = sonar["ranges"][row].copy()
        limits = float(sonar["min_range"][row]), float(sonar["max_range"][row])
        sensed["sonar_limits"] = limits
    if model.laser is not None:
        scan = group.readings[model.laser]
        start, step = float(scan["start"][row]), float(scan["step"][row])
        max_range = float(scan["max_range"][row])
        sensed["laser"] = LaserRanges(scan["ranges"][row].copy(), start, step, max_range)
    if model.bumper is not None:
        pressed = np.flatnonzero(group.readings[model.bumper]["arcs"][row])
        sensed["bumper_bits"] = sum(robot.bumper_bits[k] for k in pressed)
    return RobotSnapshot(
        time=float(truth["stamp"][row]),
        truth=_pose(truth, row),
        belief=_pose(belief, row),
        vx=float(belief["vx"][row]),
        vy=float(belief["vy"][row]),
        wz=float(belief["wz"][row]),
        stalled=bool(group.scene.collisions["stalled"][row]),
        encoder_ticks=_encoder_ticks(group, row),
        **sensed,
    )


def _pose(states: Table, row: int) -> PoseTuple:
    return float(states["x"][row]), float(states["y"][row]), float(states["yaw"][row])


def _encoder_ticks(group: Robots, row: int) -> tuple[int, int]:
    """Ticks of the left and the right wheel; 0 for a robot without encoders."""
    reading = group.readings.get("wheels")
    if reading is None or "count" not in (reading.table.dtype.names or ()):
        return 0, 0
    return int(reading["count"][row][0]), int(reading["count"][row][1])
