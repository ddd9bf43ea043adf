"""The state of one robot at the end of a cycle, copied from the tables of the run, in SI units."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from astray.engine import Robots, Run
from astray.pioneer.models import PoseTuple, ServedRobot
from astray.pioneer.packets import ScanLayout, clamp
from astray.tables import Array, Table
from astray.world import Georeference, Map

NO_RANGES: Array = np.zeros(0)
BAD_GPS_AREAS = ("BadGPSSector", "SimBadGPSSector")  # areas of a map without usable fixes
PRECISION = 1.0  # dilution of precision of a fix, as MobileSim has it


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
class GpsPosition:
    """Where a robot is on Earth by its GNSS receiver, or else by its true pose on the map."""

    latitude: float = 0.0  # degrees
    longitude: float = 0.0  # degrees
    altitude: float = 0.0  # m
    precision: float = 0.0
    """Dilution of precision; 0 without a usable fix."""


@runtime_checkable
class WheelSensor(Protocol):
    """A sensor of the wheels, which knows what is wrong with them."""

    def odometry_error(self, row: int) -> tuple[float, float, float]:
        """Relative errors of a row: of distances along x, along y, and of turns."""


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
    gps: GpsPosition | None = None
    """None where neither a receiver nor a georeference of the map is there."""
    odometry_error: tuple[float, float, float] | None = None
    """Relative errors of distances along x, along y, and of turns; None without wheels."""

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


def take_snapshot(run: Run, robot: ServedRobot, simstat: bool = True) -> RobotSnapshot:
    """Copy the present state of a robot from the tables of its group.

    What only a SIMSTAT reports takes as long as all the rest, so it is left out without `simstat`.
    """
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
        gps=_gps_position(run, group, row) if simstat else None,
        odometry_error=_odometry_error(group, row) if simstat else None,
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


def _gps_position(run: Run, group: Robots, row: int) -> GpsPosition | None:
    """Where the first receiver of a robot says it is; without one, where it is on the map."""
    map = run.map()
    receiver = next((n for n, p in group.pipelines.items() if p.sensor.kind == "gnss"), None)
    if receiver is None:
        if map.georeference is None:
            return None
        x, y, _ = _pose(group.truth, row)
        precision = 0.0 if _has_bad_gps(map, x, y) else PRECISION
    else:
        fix = group.readings[receiver]
        x, y = float(fix["x"][row]), float(fix["y"][row])
        if fix["lost"][row] or not math.isfinite(fix["stamp"][row] + x + y):
            return GpsPosition()
        precision = PRECISION
    origin = map.georeference or Georeference()  # as in ROS 2, a map is at 0° N 0° E by default
    return GpsPosition(*origin.locate(x, y), origin.altitude, precision)


def _has_bad_gps(map: Map, x: float, y: float) -> bool:
    areas = [place.points for place in map.places if place.kind in BAD_GPS_AREAS]
    return any(_is_inside(points, x, y) for points in areas)


def _is_inside(points: Sequence[tuple[float, float]], x: float, y: float) -> bool:
    """Whether a ray from a point crosses the sides of a polygon an odd number of times."""
    crossed = 0
    for (x1, y1), (x2, y2) in zip(points, [*points[1:], *points[:1]], strict=True):
        if (y1 > y) != (y2 > y) and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
            crossed += 1
    return crossed % 2 == 1


def _odometry_error(group: Robots, row: int) -> tuple[float, float, float] | None:
    sensors = (pipeline.sensor for pipeline in group.pipelines.values())
    wheels = next((sensor for sensor in sensors if isinstance(sensor, WheelSensor)), None)
    return None if wheels is None else wheels.odometry_error(row)
