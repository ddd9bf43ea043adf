"""What the packets of one robot tell of one moment, copied from the tables of the run in SI."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field

import numpy as np

from astray.pioneer.packets import ScanLayout, fit
from astray.tables import Array

Pose = tuple[float, float, float]
NO_RANGES: Array = np.zeros(0)


@dataclass(frozen=True)
class Beams:
    """Ranges of a laser, m: beam k points start + k step rad from the axis; inf is no hit."""

    ranges: Array = field(default_factory=lambda: NO_RANGES)
    start: float = 0.0
    step: float = 0.0
    max_range: float = 32.0

    def in_layout_mm(self, layout: ScanLayout) -> list[int]:
        """The beams nearest to those that a client wants, mm; outside the view there is no hit."""
        farthest = fit(round(self.max_range * 1000), "H")  # a packet has no room for more
        if not len(self.ranges):
            return [farthest] * layout.count
        beams, hidden = _nearest(layout, len(self.ranges), self.start, self.step)
        mm = np.rint(self.ranges[beams] * 1000.0).clip(0.0, farthest).astype(np.int64)
        mm[hidden] = farthest
        found: list[int] = mm.tolist()
        return found


@functools.lru_cache(maxsize=256)
def _nearest(layout: ScanLayout, count: int, start: float, step: float) -> tuple[Array, Array]:
    """The beam nearest to each ray that a client wants, and the rays that are outside the view."""
    angles = np.radians(layout.angles_deg())
    index = np.rint((angles - start) / (step or math.inf)).astype(np.int64)
    hidden = np.flatnonzero((index < 0) | (index >= count))
    return index.clip(0, count - 1), hidden


@dataclass(frozen=True)
class RobotSnapshot:
    """One robot at one moment."""

    time: float = 0.0
    truth: Pose = (0.0, 0.0, 0.0)
    belief: Pose = (0.0, 0.0, 0.0)
    vx: float = 0.0
    vy: float = 0.0
    wz: float = 0.0
    """Speeds as believed, m/s and rad/s."""
    stalled: bool = False
    bumped: int = 0
    """Bits of the bumpers that are pressed, as the standard packet has them."""
    sonar: Array = field(default_factory=lambda: NO_RANGES)
    """Ranges of the sonars, m; inf is no echo."""
    sonar_reach: tuple[float, float] = (0.1, 5.0)
    beams: Beams = Beams()
    wheels: tuple[int, int] = (0, 0)
    """Ticks of the left and the right wheel."""

    def sonar_mm(self) -> list[int]:
        """Ranges of the sonars, mm, within their reach."""
        nearest, farthest = self.sonar_reach
        found: list[int] = np.rint(self.sonar.clip(nearest, farthest) * 1000.0).astype(int).tolist()
        return found


@dataclass(frozen=True)
class Intervals:
    """How long a cycle takes, ms: simulated, in real time as configured, and as last measured."""

    simulated: int = 100
    real: int = 100
    last: int = 100
