"""A forest: trunks at random positions, never closer than a gap, within a fence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from astray.tables import Array
from astray.world.map import Map, Place, wall
from astray.world.maps.generate.base import MapLayout, RandomStream, amount

SIDES = 10  # of a trunk
ROUGHNESS = 0.12  # the largest deviation of a trunk from a circle, of its radius
MAX_ROUNDS = 30  # of placing the trees that are missing

Tree = tuple[float, float, float]
"""x, y and radius, m."""
Cell = tuple[int, int]


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
        """Why the parameters do not fit together; empty if they do."""
        if self.radius[0] > self.radius[1]:
            return "radius is [thinnest, thickest]"
        return super().problem()

    def make(self, stream: RandomStream) -> Map:
        """Place trees and give each trunk an irregular outline."""
        trees = self._place_trees(round(self.parts()), stream)
        angle = 2.0 * math.pi * (np.arange(SIDES) / SIDES + stream.uniforms(len(trees))[:, None])
        roughness = 1.0 - ROUGHNESS * stream.uniforms(len(trees) * SIDES).reshape(-1, SIDES)
        radii = trees[:, 2:3] * roughness
        x = trees[:, 0:1] + radii * np.cos(angle)
        y = trees[:, 1:2] + radii * np.sin(angle)
        ends = np.stack([x, y, np.roll(x, -1, axis=1), np.roll(y, -1, axis=1)], axis=-1)
        segments = ends.reshape(-1, 4)
        solid = np.ones(len(segments), bool)
        if self.fence:
            w, h = 0.5 * self.size[0], 0.5 * self.size[1]
            outer = wall([[-w, -h], [w, -h], [w, h], [-w, h]], closed=True).segments
            segments = np.vstack([outer, segments])
            solid = np.concatenate([np.zeros(len(outer), bool), solid])
        return Map(segments, solid, (Place("home", "clearing"),))

    def _place_trees(self, wanted: int, stream: RandomStream) -> Array:
        """Random trees as x, y and radius, (n, 3) m; fewer than wanted where space runs out."""
        thin, thick = self.radius
        width, height = self.size
        cell_size = 2.0 * thick + self.gap  # trees closer than the gap are in adjacent cells
        cells: dict[Cell, list[Tree]] = {}
        trees: list[Tree] = []
        for _ in range(MAX_ROUNDS):
            missing = wanted - len(trees)
            if missing <= 0:
                break
            for a, b, c in stream.uniforms(3 * missing).reshape(-1, 3).tolist():
                r = thin + (thick - thin) * c * c  # most trees are thin
                space_x, space_y = width - 2.0 * (r + self.gap), height - 2.0 * (r + self.gap)
                if space_x <= 0.0 or space_y <= 0.0:
                    continue
                x, y = (a - 0.5) * space_x, (b - 0.5) * space_y
                cell = (math.floor(x / cell_size), math.floor(y / cell_size))
                if x * x + y * y < (self.clear + r) ** 2:
                    continue
                if not self._too_close((x, y, r), cell, cells):
                    cells.setdefault(cell, []).append((x, y, r))
                    trees.append((x, y, r))
        return np.array(trees).reshape(-1, 3)

    def _too_close(self, tree: Tree, cell: Cell, cells: dict[Cell, list[Tree]]) -> bool:
        """Whether a tree is closer to another one than the gap."""
        x, y, r = tree
        for i in (cell[0] - 1, cell[0], cell[0] + 1):
            for j in (cell[1] - 1, cell[1], cell[1] + 1):
                for u, v, s in cells.get((i, j), ()):
                    if (x - u) ** 2 + (y - v) ** 2 < (r + s + self.gap) ** 2:
                        return True
        return False
