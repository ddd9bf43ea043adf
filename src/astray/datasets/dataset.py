"""A log: what a real robot read, in the layouts that simulated sensors use, and where it was.

Stamps begin at 0 where the log begins to be of use. The reference is the truth as far as anyone
knows it: a motion capture system, the path of a mapping program, or a GPS.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from astray.plugin import Datasheet, Datasheets, Motion, Reading, RowInitializer
from astray.tables import STATE, Array, Table, table
from astray.world import Map

CLOSE = 0.25  # s between two stamps of a reference, if straight lines between them are the truth


@dataclasses.dataclass(frozen=True)
class Stream:
    """The readings of one sensor in the order of their stamps, with its datasheet."""

    sheet: Datasheet
    table: Table
    """In the layout that the sensor measures, (readings,)."""
    arrays: Mapping[str, Array] = dataclasses.field(default_factory=dict)
    """What lies beside the columns, (readings, …)."""

    def __len__(self) -> int:
        return len(self.table)

    @property
    def stamp(self) -> Array:
        """When each reading was taken, (readings,) s."""
        stamps: Array = self.table["stamp"]
        return stamps

    def reading(self, n: int) -> Reading:
        """A reading of this layout for n robots, of which none has arrived."""
        made = Reading(self.table.dtype, n, {k: a.shape[1:] for k, a in self.arrays.items()})
        RowInitializer(made.initial_values()).fill(np.arange(n))
        return made


@dataclasses.dataclass(frozen=True)
class Reference:
    """Where a point of the robot was, as well as anyone knows; yaw is nan where nobody does."""

    stamp: Array
    x: Array
    y: Array
    yaw: Array
    at: tuple[float, float] = (0.0, 0.0)
    """The point, m in the body frame: an antenna is not where the robot is."""
    stream: str = ""
    """The stream that the reference is made of, if the robot reads it too."""

    def knows(self, stamps: Array) -> Array:
        """Whether the reference can tell of these stamps, (n,): its own, or such as are close."""
        after = np.searchsorted(self.stamp, stamps).clip(1, len(self.stamp) - 1)
        before, later = self.stamp[after - 1], self.stamp[after]
        own = (stamps == before) | (stamps == later)
        between = (stamps > before) & (stamps < later) & (later - before <= CLOSE)
        return np.asarray(own | between)

    def truth(self, stamps: Array) -> Table:
        """The reference at other stamps, on straight lines between its own, as STATE."""
        made = table(STATE, len(stamps))
        made["stamp"] = stamps
        for name in ("x", "y"):
            made[name] = np.interp(stamps, self.stamp, getattr(self, name))
        yaw = np.interp(stamps, self.stamp, np.unwrap(self.yaw))
        made["yaw"] = np.arctan2(np.sin(yaw), np.cos(yaw))
        return made


@dataclasses.dataclass(frozen=True)
class Dataset:
    """A robot's log: its datasheets, what it read, what it was given, where it was."""

    name: str
    motion: Motion
    streams: Mapping[str, Stream]
    reference: Reference
    start: tuple[float, float, float]
    """Where the robot is told that it starts: x m, y m, yaw rad."""
    start_sd: tuple[float, float]
    """How well that is known: m, rad."""
    map: Map | None = None
    made_up: Callable[[int], Mapping[str, Stream]] | None = None
    """The streams that a log lacks and that are made up, for a seed."""

    def seeded(self, seed: int) -> Dataset:
        """The log with what is made up for this seed; itself if nothing is."""
        if self.made_up is None:
            return self
        return dataclasses.replace(self, streams={**self.streams, **self.made_up(seed)})

    def sheets(self) -> Datasheets:
        """The datasheets of the robot, as estimators get them."""
        sensors = {name: stream.sheet for name, stream in self.streams.items()}
        return {"motion": self.motion.datasheet(), **sensors}

    def until(self, stamp: float) -> Dataset:
        """The beginning of the log, up to a stamp, s."""
        cut = {}
        for name, stream in self.streams.items():
            n = int(np.searchsorted(stream.stamp, stamp, "right"))
            arrays = {key: array[:n] for key, array in stream.arrays.items()}
            cut[name] = Stream(stream.sheet, stream.table[:n], arrays)
        return dataclasses.replace(self, streams=cut, made_up=None)

    @property
    def duration(self) -> float:
        """From the first stamp to the last, s."""
        return float(max(s.stamp[-1] for s in self.streams.values() if len(s)))
