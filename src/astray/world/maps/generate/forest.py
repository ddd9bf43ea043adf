"""A forest: trunks scattered by chance, never closer than a gap, within a fence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from astray.tables import Array
from astray.world.map import Map, Place, wall
from astray.world.maps.generate.base import Chance, MapLayout, amount

SIDES = 10  # of a trunk
BUMPS = 0.12  # how far a trunk is from round, of its radius
PATIENCE = 30  # tries per tree


@dataclass(kw_only=True)
class Forest(MapLayout):
    """Trunks, most of them thin, each a solid polygon."""

    kind: ClassVar[str] = "forest"
    size: tuple[float, float] = amount((30.0, 22.0), 1.0, 20_000.0)  # m
    density: float = amount(0.2, 0.0, 10.0)  # trees per m²
    radius: tuple[float, float] = amount((0.08, 0.4), 0.01, 20.0)  # m, thinnest and thickest
    gap: float = amount(0.9, 0.0, 100.0)  # m between trunks, and between trunk and fence
    fence: bool = True  # a wall around it

    def parts(self) -> float:
        """The number of trees."""
        return self.size[0] * self.size[1] * self.density

    def problem(self) -> str:
        """What does not fit together."""
        if self.radius[0] > self.radius[1]:
            return "radius is [thinnest, thickest]"
        return super().problem()

    def make(self, chance: Chance) -> Map:
        """Throw trees; keep those that are far enough from all before them."""
        wanted = round(self.parts())
        trees = self._throw(wanted, chance)
        angle = 2.0 * math.pi * (np.arange(SIDES) / SIDES + chance.shares(len(trees))[:, None])
        bumps = 1.0 - BUMPS * chance.shares(len(trees) * SIDES).reshape(-1, SIDES)
        reach = trees[:, 2:3] * bumps
        x = trees[:, 0:1] + reach * np.cos(angle)
        y = trees[:, 1:2] + reach * np.sin(angle)
        ends = np.stack([x, y, np.roll(x, -1, axis=1), np.roll(y, -1, axis=1)], axis=-1)
        segments = ends.reshape(-1, 4)
        solid = np.ones(len(segments), bool)
        if self.fence:
            w, h = 0.5 * self.size[0], 0.5 * self.size[1]
            around = wall([[-w, -h], [w, -h], [w, h], [-w, h]], closed=True).segments
            segments = np.vstack([around, segments])
            solid = np.concatenate([np.zeros(len(around), bool), solid])
        return Map(segments, solid, (Place("home", "clearing"),))

    def _throw(self, wanted: int, chance: Chance) -> Array:
        """Trees as x, y and radius, (n, 3) m; fewer than wanted where there is no room."""
        thin, thick = self.radius
        width, height = self.size
        bin_size = 2.0 * thick + self.gap  # trees that touch are in bins that touch
        bins: dict[tuple[int, int], list[tuple[float, float, float]]] = {}
        made: list[tuple[float, float, float]] = []
        for _ in range(PATIENCE):
            left = wanted - len(made)
            if left <= 0:
                break
            for a, b, c in chance.shares(3 * left).reshape(-1, 3).tolist():
                r = thin + (thick - thin) * c * c  # thin trees are many
                room_x, room_y = width - 2.0 * (r + self.gap), height - 2.0 * (r + self.gap)
                if room_x <= 0.0 or room_y <= 0.0:
                    continue
                x, y = (a - 0.5) * room_x, (b - 0.5) * room_y
                i, j = math.floor(x / bin_size), math.floor(y / bin_size)
                if x * x + y * y < (self.clear + r) ** 2:
                    continue
                if not self._crowded((x, y, r), (i, j), bins):
                    bins.setdefault((i, j), []).append((x, y, r))
                    made.append((x, y, r))
        return np.array(made).reshape(-1, 3)

    def _crowded(
        self,
        tree: tuple[float, float, float],
        at: tuple[int, int],
        bins: dict[tuple[int, int], list[tuple[float, float, float]]],
    ) -> bool:
        x, y, r = tree
        for i in (at[0] - 1, at[0], at[0] + 1):
            for j in (at[1] - 1, at[1], at[1] + 1):
                for u, v, s in bins.get((i, j), ()):
                    if (x - u) ** 2 + (y - v) ** 2 < (r + s + self.gap) ** 2:
                        return True
        return False
