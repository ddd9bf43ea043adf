"""What every generator has: a size, a free disc in the middle, and its own stream of chance.

Only `random()` of NumPy's generator is used, since its values are promised to stay, and
coordinates are whole micrometres, so that a last digit of sine and cosine does not matter.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from astray.errors import MapError
from astray.numerics import random
from astray.tables import Array
from astray.world.map import Map

MOST_PARTS = 1_000_000  # rooms, trees, cells or shelves of a map
CLOSE_ENOUGH = 0.02  # of the segments that were asked for
FAR_OFF = 0.2
TRIES = 10
GRAIN = 6  # digits of a coordinate in metres


def amount(default: Any, least: float, most: float) -> Any:
    """A parameter with its default and its bounds."""
    return field(default=default, metadata={"least": least, "most": most})


class Chance:
    """Random numbers that are a function of seed, kind and world."""

    def __init__(self, seed: int, kind: str, world: int) -> None:
        key = int(random.key(seed, "map", kind, str(world)))
        self._stream = np.random.Generator(np.random.Philox(key=key))

    def share(self) -> float:
        """A number in [0, 1)."""
        return float(self._stream.random())

    def shares(self, n: int) -> Array:
        """So many of them, (n,)."""
        return self._stream.random(n)

    def between(self, low: float, high: float) -> float:
        """A number from low to high."""
        return low + (high - low) * self.share()

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        return int(self.share() * n)


@dataclass(kw_only=True)
class MapLayout(ABC):
    """A kind of map that is made up; its fields are its parameters."""

    kind: ClassVar[str] = ""
    size: tuple[float, float] = amount((20.0, 20.0), 1.0, 20_000.0)  # m, width and height
    clear: float = amount(1.0, 0.0, 1000.0)  # m, radius of the disc about (0, 0) that is free

    def problem(self) -> str:
        """What does not fit together; empty if all does."""
        if self.parts() > MOST_PARTS:
            return f"would have more than {MOST_PARTS} parts; make it smaller"
        if 2.0 * self.clear > min(self.size):
            return f"a free disc of {self.clear:g} m radius does not fit into the size"
        return ""

    @abstractmethod
    def parts(self) -> float:
        """About how many parts the map has, before any is made."""

    @abstractmethod
    def make(self, chance: Chance) -> Map:
        """The map."""


def make(layout: MapLayout, segments: int | None, seed: int, world: int) -> Map:
    """The map of a layout; of about so many segments, if that is asked for, whatever its size."""
    best = _make(layout, seed, world)
    if segments is None:
        return best
    grow, count = 1.0, len(best)
    small, large = 0.0, math.inf  # growths that gave too few and too many
    for _ in range(TRIES):
        if abs(len(best) - segments) <= CLOSE_ENOUGH * segments:
            break
        small, large = (max(small, grow), large) if count < segments else (small, min(large, grow))
        grow *= math.sqrt(segments / max(1, count))
        if not small < grow < large:
            grow = math.sqrt(small * large) if small else 0.7 * large
        tried = replace(layout, size=(layout.size[0] * grow, layout.size[1] * grow))
        if tried.problem():
            large = min(large, grow) if grow > 1.0 else large
            small = max(small, grow) if grow < 1.0 else small
            count = segments
            continue
        made = _make(tried, seed, world)
        count = len(made)
        if abs(count - segments) < abs(len(best) - segments):
            best = made
    if abs(len(best) - segments) > FAR_OFF * segments + 8:
        message = f"no size gives about {segments} segments; the nearest found has {len(best)}"
        raise MapError(f"{layout.kind}: {message}")
    return best


def _make(layout: MapLayout, seed: int, world: int) -> Map:
    if problem := layout.problem():
        raise MapError(f"{layout.kind}: {problem}")
    made = layout.make(Chance(seed, layout.kind, world))
    return Map(np.round(made.segments, GRAIN) + 0.0, made.solid, made.places, layout.kind)


def distance_to_origin(segments: Array) -> Array:
    """How far each segment is from (0, 0), (n,) m."""
    a, along = segments[:, :2], segments[:, 2:] - segments[:, :2]
    square = np.maximum((along * along).sum(axis=1), 1e-300)
    t = np.clip(-(a * along).sum(axis=1) / square, 0.0, 1.0)
    return np.sqrt(((a + t[:, None] * along) ** 2).sum(axis=1))  # type: ignore[no-any-return]
