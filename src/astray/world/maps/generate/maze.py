"""A maze: one path between any two cells, unless loops are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from astray.tables import Array
from astray.world.map import Map, Place
from astray.world.maps.generate.base import MapLayout, RandomStream, amount, distance_to_origin

STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))


@dataclass(kw_only=True)
class Maze(MapLayout):
    """Corridors one cell wide between walls without thickness; (0, 0) is the middle of a cell."""

    kind: ClassVar[str] = "maze"
    size: tuple[float, float] = amount((30.0, 22.0), 1.0, 20_000.0)  # m, made whole cells
    cell: float = amount(2.0, 0.1, 100.0)  # m, from wall to wall
    loops: float = amount(0.05, 0.0, 1.0)  # share of the inner walls that are removed again

    def columns_and_rows(self) -> tuple[int, int]:
        """The numbers of cells; odd, so that one cell is in the middle."""
        columns, rows = (max(1, 2 * round((s / self.cell - 1.0) / 2.0) + 1) for s in self.size)
        return columns, rows

    def parts(self) -> float:
        """The number of cells."""
        return self.size[0] * self.size[1] / self.cell**2

    def make(self, stream: RandomStream) -> Map:
        """Carve by depth-first search, then open loops and the free disc."""
        columns, rows = self.columns_and_rows()
        vertical = np.ones((rows, columns + 1), bool)  # walls left of a cell, the last one right
        horizontal = np.ones((rows + 1, columns), bool)  # walls below a cell, the last one above
        farthest = _carve(vertical, horizontal, stream)
        self._open(vertical, horizontal, stream)
        x, y = -0.5 * columns * self.cell, -0.5 * rows * self.cell
        walls = np.concatenate([_joined(horizontal), _joined(vertical.T)[:, [1, 0, 3, 2]]])
        segments = walls * self.cell + np.array([x, y, x, y])
        goal = (x + (farthest[0] + 0.5) * self.cell, y + (farthest[1] + 0.5) * self.cell)
        places = (Place("home", "start"), Place("goal", "end", *goal))
        return Map(segments, np.zeros(len(segments), bool), places)

    def _open(self, vertical: Array, horizontal: Array, stream: RandomStream) -> None:
        """Remove inner walls: a share of all, and those that reach into the free disc."""
        rows, columns = vertical.shape[0], horizontal.shape[1]
        x0, y0 = -0.5 * columns * self.cell, -0.5 * rows * self.cell
        for walls, direction in ((vertical, (0, 1)), (horizontal, (1, 0))):
            inner = walls[:, 1:-1] if walls is vertical else walls[1:-1, :]
            inner &= (stream.uniforms(inner.size) >= self.loops).reshape(inner.shape)
            y, x = np.indices(walls.shape)
            start = np.stack([x0 + x * self.cell, y0 + y * self.cell], axis=-1).reshape(-1, 2)
            ends = np.hstack([start, start + np.array(direction) * self.cell])
            near = distance_to_origin(ends) < self.clear - 1e-9
            near = near.reshape(walls.shape)
            inner &= ~(near[:, 1:-1] if walls is vertical else near[1:-1, :])


def _carve(vertical: Array, horizontal: Array, stream: RandomStream) -> tuple[int, int]:
    """Open a path to every cell from the middle one by depth-first search with backtracking.

    Returns the cell with the longest path.
    """
    rows, columns = vertical.shape[0], horizontal.shape[1]
    visited = [[False] * columns for _ in range(rows)]
    x, y = columns // 2, rows // 2
    visited[y][x] = True
    stack, longest, farthest = [(x, y)], 0, (x, y)
    uniforms = iter(stream.uniforms(2 * rows * columns + 1).tolist())
    while stack:
        x, y = stack[-1]
        open_steps = [
            (u, v)
            for u, v in STEPS
            if 0 <= x + u < columns and 0 <= y + v < rows and not visited[y + v][x + u]
        ]
        if not open_steps:
            stack.pop()
            continue
        u, v = open_steps[int(next(uniforms) * len(open_steps))]
        if u:
            vertical[y, x + (u > 0)] = False
        else:
            horizontal[y + (v > 0), x] = False
        x, y = x + u, y + v
        visited[y][x] = True
        stack.append((x, y))
        if len(stack) > longest:
            longest, farthest = len(stack), (x, y)
    return farthest


def _joined(walls: Array) -> Array:
    """Adjacent walls of a row as one, (n, 4) in cells: walls[y, x] is from (x, y) to (x + 1, y)."""
    change = np.diff(np.pad(walls, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    y, first = np.nonzero(change > 0)
    _, last = np.nonzero(change < 0)
    return np.stack([first, y, last, y], axis=1).astype(np.float64)
