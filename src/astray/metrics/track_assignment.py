"""The assignment of tracks to robots with the least cost, near one observer.

The robots that count are those within a distance of the observer's true position; the tracks are
the confirmed ones within the same distance of it. The assignment minimises the sum of squared
distances, cut off at c². It is found by shortest augmenting paths: rows are added one by one, each
along the shortest path on which earlier rows change their columns; potentials u of the rows and v
of the columns keep all reduced costs a − u − v non-negative (Kuhn, 1955; Jonker and Volgenant,
1987).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from astray.numerics import kernel
from astray.plugin import Scene
from astray.tables import Array, Row, Rows, Table
from astray.world.geometry import cell_columns, cell_rows

# Assignment.

ASSIGNMENT_ROWS = 6
U, V, ROW, PREVIOUS, LEAST, VISITED = range(ASSIGNMENT_ROWS)
"""The rows of the workspace of an assignment: potentials of rows and columns, and of each column
the row that is assigned to it, the column before it on the path, its least reduced cost, and
whether it is on the path. Rows and columns count from 1; 0 stands for none."""


@kernel
def find_augmenting_path(w: Array, costs: Array, row: int, columns: int) -> int:
    """Find the shortest path from a row to a free column; the column where it ends."""
    for j in range(columns + 1):
        w[LEAST, j], w[VISITED, j] = math.inf, 0.0
    w[ROW, 0] = row
    column = 0
    while w[ROW, column] > 0.0:
        w[VISITED, column] = 1.0
        i, delta, nearest = int(w[ROW, column]), math.inf, 0
        for j in range(1, columns + 1):
            if w[VISITED, j] > 0.0:
                continue
            reduced = costs[i - 1, j - 1] - w[U, i] - w[V, j]
            if reduced < w[LEAST, j]:
                w[LEAST, j], w[PREVIOUS, j] = reduced, column
            if w[LEAST, j] < delta:
                delta, nearest = w[LEAST, j], j
        for j in range(columns + 1):
            if w[VISITED, j] > 0.0:
                w[U, int(w[ROW, j])] += delta
                w[V, j] -= delta
            else:
                w[LEAST, j] -= delta
        column = nearest
    return column


@kernel
def assign_rows(w: Array, costs: Array, rows: int, columns: int) -> None:
    """Assign a column to each row at least cost; there are as many columns as rows, or more.

    Afterwards w[ROW, j + 1] − 1 is the row of column j, −1 for none.
    """
    for k in range(max(rows, columns) + 1):
        w[U, k] = w[V, k] = w[ROW, k] = w[PREVIOUS, k] = 0.0
    for i in range(1, rows + 1):
        column = find_augmenting_path(w, costs, i, columns)
        while column != 0:  # each row on the path takes the next column
            previous = int(w[PREVIOUS, column])
            w[ROW, column] = w[ROW, previous]
            column = previous


# Tracks and robots.


class MatchWorkspace(NamedTuple):
    """Arrays for one observer."""

    robots: Array
    """Rows of the robots near it."""
    slots: Array
    """Slots of its tracks near it."""
    costs: Array
    """(fewer, more) of the two."""
    assignment: Array
    """(ASSIGNMENT_ROWS, more + 1)."""
    pairs: Array
    """Row of the robot and slot of the track of each pair."""


class TrueRobots(NamedTuple):
    """All robots as they are, and the grid by which they are found."""

    states: Table
    bodies: Table
    starts: Array
    grids: Table


@kernel
def robots_near(out: Array, robots: TrueRobots, observer: int, world: int, within: float) -> int:
    """List the rows of the robots within a distance of an observer, a row; how many they are."""
    bodies, starts = robots.bodies, robots.starts
    g, s = robots.grids[world], robots.states[observer]
    left, right = cell_columns(g, s.x, within)
    low, high = cell_rows(g, s.y, within)
    n = 0
    for row in range(low, high + 1 if left <= right else low):
        cell = g.first + row * g.width
        for k in range(starts[cell + left], starts[cell + right + 1]):
            dx, dy = bodies[k].x - s.x, bodies[k].y - s.y
            if bodies[k].row != observer and dx * dx + dy * dy <= within * within:
                out[n] = bodies[k].row
                n += 1
    return n


@kernel
def tracks_near(out: Array, tracks: Table, s: Row, within: float) -> int:
    """List the slots of the confirmed tracks within a distance of a state; how many they are."""
    n = 0
    for k in range(len(tracks)):
        dx, dy = tracks[k].x - s.x, tracks[k].y - s.y
        if tracks[k].confirmed and dx * dx + dy * dy <= within * within:
            out[n] = k
            n += 1
    return n


@kernel
def match_tracks(
    w: MatchWorkspace,
    robots: TrueRobots,
    tracks: Table,
    observer: int,
    world: int,
    within: float,
    cutoff: float,
) -> tuple[int, int, int]:
    """Pair the tracks of an observer, a row, with robots; the numbers of pairs, robots and tracks.

    Two that are as far apart as the cut-off or farther are no pair.
    """
    n = robots_near(w.robots, robots, observer, world, within)
    m = tracks_near(w.slots, tracks, robots.states[observer], within)
    fewer, more = min(n, m), max(n, m)
    for a in range(fewer):
        for b in range(more):
            s = robots.states[w.robots[a if n <= m else b]]
            t = tracks[w.slots[b if n <= m else a]]
            dx, dy = t.x - s.x, t.y - s.y
            w.costs[a, b] = min(dx * dx + dy * dy, cutoff * cutoff)
    assign_rows(w.assignment, w.costs, fewer, more)
    count = 0
    for b in range(more):
        a = int(w.assignment[ROW, b + 1]) - 1
        if a >= 0 and w.costs[a, b] < cutoff * cutoff:
            w.pairs[count, 0] = w.robots[a if n <= m else b]
            w.pairs[count, 1] = w.slots[b if n <= m else a]
            count += 1
    return count, n, m


def make_match_workspace(population: int, slots: int) -> MatchWorkspace:
    """Arrays for all robots of a world and the tracks of one observer."""
    more, fewer = max(population, slots), min(population, slots)
    return MatchWorkspace(
        np.zeros(population, np.int64),
        np.zeros(slots, np.int64),
        np.zeros((fewer, more)),
        np.zeros((ASSIGNMENT_ROWS, more + 1)),
        np.zeros((fewer, 2), np.int64),
    )


def true_robots(scene: Scene) -> TrueRobots:
    """The robots of a scene as kernels read them."""
    grid = scene.robot_grid
    return TrueRobots(scene.all_truth, grid.bodies, grid.starts, grid.grids)


def observers_of(rows: Rows, scene: Scene) -> Array:
    """Row among all robots, and world, of these rows, (len(rows), 2)."""
    return np.stack([scene.first_row + rows, scene.worlds[rows]], axis=1)
