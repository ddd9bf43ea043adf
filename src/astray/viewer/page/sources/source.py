"""A recording: every moment of a run as arrays, from wherever it was kept; the page plays it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from astray.tables import Array


@dataclass
class Shown:
    """The readings of one robot by one of its sensors, of those that can be drawn."""

    robot: int
    """By its number on the page."""
    sensor: int
    """Which of its group's sensors it is."""
    numbers: Array
    """(moments, numbers)."""


@dataclass
class ReplaySource:
    """One world of a run. Its scene is that of `scene.py`, its tables are those of `frames.py`."""

    scene: dict[str, Any]
    times: Array
    """(moments,) s."""
    robots: Array
    """(moments, robots, ROBOT)."""
    beliefs: Array
    """(moments, beliefs, BELIEF)."""
    tracks: Array
    """(moments, tracks, TRACK); a number of 0 where there is none."""
    readings: list[Shown] = field(default_factory=list)
    values: Mapping[str, Mapping[str, Array]] = field(default_factory=dict)
    """Signals by group and name, (moments, robots of the group)."""
    hits: list[list[float]] = field(default_factory=list)
    """Collisions: time, robot, the other robot or −1, x, y, speed."""
    events: list[dict[str, Any]] = field(default_factory=list)
    """What came in from outside: `time` and `kind`."""

    def thinned(self, stride: int) -> ReplaySource:
        """Every so-manieth moment."""
        some = slice(None, None, stride)
        return ReplaySource(
            self.scene,
            self.times[some],
            self.robots[some],
            self.beliefs[some],
            self.tracks[some],
            [Shown(one.robot, one.sensor, one.numbers[some]) for one in self.readings],
            {g: {name: v[some] for name, v in of.items()} for g, of in self.values.items()},
            self.hits,
            self.events,
        )

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        plotted = sum(v.size for of in self.values.values() for v in of.values())
        drawn = sum(one.numbers.size for one in self.readings)
        return int(self.robots.size + self.beliefs.size + self.tracks.size + plotted + drawn)
