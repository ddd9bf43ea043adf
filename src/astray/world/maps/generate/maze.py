"""A maze: one way between any two cells, unless loops are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from astray.tables import Array
from astray.world.map import Map, Place
from astray.world.maps.generate.base import Chance, MapLayout, amount, distance_to_origin

STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))


@dataclass(kw_only=True)
class Maze(MapLayout):
    """Corridors one cell wide between walls without thickness; (0, 0) is the middle of a cell."""

    kind: ClassVar[str] = "maze"
    size: tuple[float, float] = amount((30.0, 22.0), 1.0, 20_000.0)  # m, made whole cells
    cell: float = amount(2.0, 0.1, 100.0)  # m, from wall to wall
    loops: float = amount(0.05, 0.0, 1.0)  # share of the inner walls that are taken away again

    def columns_and_rows(self) -> tuple[int, int]:
        """How many cells there are; odd numbers, so that one is in the middle."""
        columns, rows = (max(1, 2 * round((s / self.cell - 1.0) / 2.0) + 1) for s in self.size)
        return columns, rows

    def parts(self) -> float:
        """The number of cells."""
        return self.size[0] * self.size[1] / self.cell**2

    def make(self, chance: Chance) -> Map:
        """Walk until there is no way on, go back to where there is one, and so on."""
        columns, rows = self.columns_and_rows()
        upright = np.ones((rows, columns + 1), bool)  # walls left of a cell, and the last right
        level = np.ones((rows + 1, columns), bool)  # walls below a cell, and the last above
        far = _carve(upright, level, chance)
        self._open(upright, level, chance)
        x, y = -0.5 * columns * self.cell, -0.5 * rows * self.cell
        runs = np.concatenate([_runs(level), _runs(upright.T)[:, [1, 0, 3, 2]]])
        segments = runs * self.cell + np.array([x, y, x, y])
        goal = (x + (far[0] + 0.5) * self.cell, y + (far[1] + 0.5) * self.cell)
        places = (Place("home", "start"), Place("goal", "end", *goal))
        return Map(segments, np.zeros(len(segments), bool), places)

    def _open(self, upright: Array, level: Array, chance: Chance) -> None:
        """Take away inner walls: a share of all, and those that reach into the free disc."""
        rows, columns = upright.shape[0], level.shape[1]
        x0, y0 = -0.5 * columns * self.cell, -0.5 * rows * self.cell
        for walls, ways in ((upright, (0, 1)), (level, (1, 0))):
            inner = walls[:, 1:-1] if walls is upright else walls[1:-1, :]
            inner &= (chance.shares(inner.size) >= self.loops).reshape(inner.shape)
            y, x = np.indices(walls.shape)
            begin = np.stack([x0 + x * self.cell, y0 + y * self.cell], axis=-1).reshape(-1, 2)
            ends = np.hstack([begin, begin + np.array(ways) * self.cell])
            near = distance_to_origin(ends) < self.clear - 1e-9
            near = near.reshape(walls.shape)
            inner &= ~(near[:, 1:-1] if walls is upright else near[1:-1, :])


def _carve(upright: Array, level: Array, chance: Chance) -> tuple[int, int]:
    """Open a way to every cell from the one in the middle; returns the cell that is farthest."""
    rows, columns = upright.shape[0], level.shape[1]
    seen = [[False] * columns for _ in range(rows)]
    x, y = columns // 2, rows // 2
    seen[y][x] = True
    trail, longest, far = [(x, y)], 0, (x, y)
    luck = iter(chance.shares(2 * rows * columns + 1).tolist())
    while trail:
        x, y = trail[-1]
        ways = [
            (u, v)
            for u, v in STEPS
            if 0 <= x + u < columns and 0 <= y + v < rows and not seen[y + v][x + u]
        ]
        if not ways:
            trail.pop()
            continue
        u, v = ways[int(next(luck) * len(ways))]
        if u:
            upright[y, x + (u > 0)] = False
        else:
            level[y + (v > 0), x] = False
        x, y = x + u, y + v
        seen[y][x] = True
        trail.append((x, y))
        if len(trail) > longest:
            longest, far = len(trail), (x, y)
    return far


def _runs(walls: Array) -> Array:
    """Walls in a row as one, (n, 4) in cells: walls[y, x] goes from (x, y) to (x + 1, y)."""
    change = np.diff(np.pad(walls, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    y, begin = np.nonzero(change > 0)
    _, end = np.nonzero(change < 0)
    return np.stack([begin, y, end, y], axis=1).astype(np.float64)
