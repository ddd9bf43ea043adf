"""The interface of a generator: its parameters, its random numbers, the map that it makes.

Every layout has a size and a free disc about (0, 0). Only `random()` of NumPy's generator is used,
since its values are guaranteed to stay the same between releases. Coordinates are rounded to whole
micrometres, so that the last digit of sine and cosine does not matter.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from astray.numerics import random
from astray.tables import Array
from astray.world.map import Map

MAX_PARTS = 1_000_000  # rooms, trees, cells or shelves of a map

OrientedBox = tuple[float, float, float, float, float]
"""Centre x and y, length, width, m; yaw, rad."""


def amount(default: Any, least: float, most: float) -> Any:
    """A dataclass field with its bounds."""
    return field(default=default, metadata={"least": least, "most": most})


class RandomStream:
    """Random numbers that are a function of seed, kind and world."""

    def __init__(self, seed: int, kind: str, world: int) -> None:
        key = int(random.key(seed, "map", kind, str(world)))
        self._generator = np.random.Generator(np.random.Philox(key=key))

    def uniform(self) -> float:
        """A number in [0, 1)."""
        return float(self._generator.random())

    def uniforms(self, n: int) -> Array:
        """N numbers in [0, 1), (n,)."""
        return self._generator.random(n)

    def between(self, low: float, high: float) -> float:
        """A number in [low, high)."""
        return low + (high - low) * self.uniform()

    def integer(self, n: int) -> int:
        """An integer from 0 to n - 1."""
        return int(self.uniform() * n)


@dataclass(kw_only=True)
class MapLayout(ABC):
    """A generator of maps; its fields are its parameters."""

    kind: ClassVar[str] = ""
    size: tuple[float, float] = amount((20.0, 20.0), 1.0, 20_000.0)  # m, width and height
    clear: float = amount(1.0, 0.0, 1000.0)  # m, radius of the disc about (0, 0) that is free

    def problem(self) -> str:
        """Why the parameters do not fit together; empty if they do."""
        if self.parts() > MAX_PARTS:
            return f"would have more than {MAX_PARTS} parts; make it smaller"
        if 2.0 * self.clear > min(self.size):
            return f"a free disc of {self.clear:g} m radius does not fit into the size"
        return ""

    @abstractmethod
    def parts(self) -> float:
        """The approximate number of parts, known before the map is made."""

    @abstractmethod
    def make(self, stream: RandomStream) -> Map:
        """Make the map."""


def distance_to_origin(segments: Array) -> Array:
    """The distance of each segment from (0, 0), (n,) m."""
    a, vectors = segments[:, :2], segments[:, 2:] - segments[:, :2]
    square = np.maximum((vectors * vectors).sum(axis=1), 1e-300)
    t = np.clip(-(a * vectors).sum(axis=1) / square, 0.0, 1.0)
    return np.sqrt(((a + t[:, None] * vectors) ** 2).sum(axis=1))  # type: ignore[no-any-return]
