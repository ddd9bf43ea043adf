"""A dataset: what a real robot measured, in the layouts of simulated sensors, and its reference.

Stamps begin at 0 where the log begins to be useful. The reference is the best known truth: a motion
capture system, the path of a mapping program, or a GNSS receiver.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from astray.errors import unknown_attribute
from astray.plugin import Datasheet, Datasheets, Motion, Reading, RowInitializer
from astray.tables import STATE, Array, Table, table
from astray.world import Map

MAX_GAP = 0.25  # s between two stamps of a reference for linear interpolation, by default
RENAMED = {"seeded": "with_seed", "made_up": "synthesize", "sheets": "datasheets"}


@dataclasses.dataclass(frozen=True)
class Stream:
    """The readings of one sensor in the order of their stamps, with its datasheet."""

    datasheet: Datasheet
    table: Table
    """The readings, in the layout of the sensor, (readings,)."""
    arrays: Mapping[str, Array] = dataclasses.field(default_factory=dict)
    """The arrays beside the columns, such as ranges, (readings, …)."""

    def __len__(self) -> int:
        return len(self.table)

    @property
    def stamp(self) -> Array:
        """The stamp of each reading, (readings,) s."""
        stamps: Array = self.table["stamp"]
        return stamps

    def reading(self, n: int) -> Reading:
        """An empty reading of this layout for n robots."""
        reading = Reading(self.table.dtype, n, {k: a.shape[1:] for k, a in self.arrays.items()})
        RowInitializer(reading.initial_values()).fill(np.arange(n))
        return reading

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_attribute(self, name, {"sheet": "datasheet"})


@dataclasses.dataclass(frozen=True)
class Reference:
    """The best known path of a point of the robot; yaw is nan where it is unknown."""

    stamp: Array
    """(n,) s."""
    x: Array
    """(n,) m."""
    y: Array
    """(n,) m."""
    yaw: Array
    """(n,) rad."""
    point: tuple[float, float] = (0.0, 0.0)
    """The point in the body frame, m: an antenna is not the origin of the body."""
    stream: str = ""
    """The stream that the reference is made of, if the robot reads it too."""
    max_gap: float = MAX_GAP
    """s between two stamps for linear interpolation; 0 where the path between them is unknown."""

    def covers(self, stamps: Array) -> Array:
        """Whether the reference is known at some stamps.

        Args:
            stamps: (n,) s.

        Returns:
            True at the reference's own stamps and between two that are close, (n,).
        """
        after = np.searchsorted(self.stamp, stamps).clip(1, len(self.stamp) - 1)
        before, later = self.stamp[after - 1], self.stamp[after]
        own = (stamps == before) | (stamps == later)
        between = (stamps > before) & (stamps < later) & (later - before <= self.max_gap)
        return np.asarray(own | between)

    def truth(self, stamps: Array) -> Table:
        """The reference at some stamps, by linear interpolation.

        Args:
            stamps: (n,) s.

        Returns:
            STATE (n,) with stamp and pose.
        """
        found = table(STATE, len(stamps))
        found["stamp"] = stamps
        for name in ("x", "y"):
            found[name] = np.interp(stamps, self.stamp, getattr(self, name))
        yaw = np.interp(stamps, self.stamp, np.unwrap(self.yaw))
        found["yaw"] = np.arctan2(np.sin(yaw), np.cos(yaw))
        return found

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_attribute(self, name, {"knows": "covers", "at": "point"})


@dataclasses.dataclass(frozen=True)
class Dataset:
    """The log of a real robot: its datasheets, its readings, its start and its reference."""

    name: str
    motion: Motion
    streams: Mapping[str, Stream]
    reference: Reference
    start: tuple[float, float, float]
    """The start pose that an estimator is given: x m, y m, yaw rad."""
    start_sd: tuple[float, float]
    """Its standard deviations: m, rad."""
    map: Map | None = None
    synthesize: Callable[[int], Mapping[str, Stream]] | None = None
    """Makes the streams that the log lacks, for a seed."""

    def with_seed(self, seed: int) -> Dataset:
        """The dataset with synthesised streams for this seed; itself if it has none."""
        if self.synthesize is None:
            return self
        return dataclasses.replace(self, streams={**self.streams, **self.synthesize(seed)})

    def datasheets(self) -> Datasheets:
        """The datasheets of the robot, as estimators get them: motion, and sensors by name."""
        sensors = {name: stream.datasheet for name, stream in self.streams.items()}
        return {"motion": self.motion.datasheet(), **sensors}

    def until(self, stamp: float) -> Dataset:
        """The beginning of the dataset, up to a stamp, s."""
        cut = {}
        for name, stream in self.streams.items():
            n = int(np.searchsorted(stream.stamp, stamp, "right"))
            arrays = {key: array[:n] for key, array in stream.arrays.items()}
            cut[name] = Stream(stream.datasheet, stream.table[:n], arrays)
        return dataclasses.replace(self, streams=cut, synthesize=None)

    @property
    def duration(self) -> float:
        """The last stamp of all streams, s."""
        return float(max(s.stamp[-1] for s in self.streams.values() if len(s)))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_attribute(self, name, RENAMED)
