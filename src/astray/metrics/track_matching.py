"""Which track is about whom: the tracks and the robots near one observer, paired as well as can be.

The robots that count are those within a distance of the observer as it really is; the tracks those
that are confirmed and lie within it, too. Pairs are chosen so that the sum of squared distances,
cut off at c², is least.
"""

from __future__ import annotations

import numpy as np

from astray.metrics.assignment import LINES, ROW, assign
from astray.numerics import kernel
from astray.plugin import Scene
from astray.tables import Array, Row, Rows, Table
from astray.world.geometry import cell_columns, cell_rows

Room = tuple[Array, Array, Array, Array, Array]
"""Rows of the robots near, slots of the tracks near, costs, lines of the assignment, pairs."""
Around = tuple[Table, Array, Table, Table]
"""The crowd's bodies, starts and grids, and everyone."""


@kernel
def robots_near(near: Array, around: Around, me: int, world: int, within: float) -> int:
    """List the rows of the robots within a distance of one; how many they are."""
    bodies, starts, grids, everyone = around
    g, s = grids[world], everyone[me]
    left, right = cell_columns(g, s.x, within)
    low, high = cell_rows(g, s.y, within)
    n = 0
    for row in range(low, high + 1 if left <= right else low):
        cell = g.first + row * g.width
        for k in range(starts[cell + left], starts[cell + right + 1]):
            dx, dy = bodies[k].x - s.x, bodies[k].y - s.y
            if bodies[k].row != me and dx * dx + dy * dy <= within * within:
                near[n] = bodies[k].row
                n += 1
    return n


@kernel
def tracks_near(near: Array, mine: Table, s: Row, within: float) -> int:
    """List the slots of the confirmed tracks within a distance of an observer."""
    n = 0
    for k in range(len(mine)):
        dx, dy = mine[k].x - s.x, mine[k].y - s.y
        if mine[k].confirmed and dx * dx + dy * dy <= within * within:
            near[n] = k
            n += 1
    return n


@kernel
def match(
    room: Room, around: Around, mine: Table, who: tuple[int, int], within: float, cut: float
) -> tuple[int, int, int]:
    """Pair the tracks of one observer, a row and a world, with those near; how many are of each.

    Pairs hold the row of a robot and the slot of a track, (pairs, 2); those that are as far apart
    as the cut-off or farther are no pairs.
    """
    robots, slots, costs, lines, pairs = room
    everyone = around[3]
    n = robots_near(robots, around, who[0], who[1], within)
    m = tracks_near(slots, mine, everyone[who[0]], within)
    fewer, more = min(n, m), max(n, m)
    for a in range(fewer):
        for b in range(more):
            s = everyone[robots[a if n <= m else b]]
            t = mine[slots[b if n <= m else a]]
            dx, dy = t.x - s.x, t.y - s.y
            costs[a, b] = min(dx * dx + dy * dy, cut * cut)
    assign(lines, costs, fewer, more)
    count = 0
    for b in range(more):
        a = int(lines[ROW, b + 1]) - 1
        if a >= 0 and costs[a, b] < cut * cut:
            pairs[count, 0] = robots[a if n <= m else b]
            pairs[count, 1] = slots[b if n <= m else a]
            count += 1
    return count, n, m


def make_room(population: int, slots: int) -> Room:
    """Room for all robots of a world and the tracks of one."""
    most = max(population, slots)
    return (
        np.zeros(population, np.int64),
        np.zeros(slots, np.int64),
        np.zeros((min(population, slots), most)),
        np.zeros((LINES, most + 1)),
        np.zeros((min(population, slots), 2), np.int64),
    )


def around(scene: Scene) -> Around:
    """The robots of a scene as kernels read them."""
    crowd = scene.crowd
    return crowd.bodies, crowd.starts, crowd.grids, scene.everyone


def observers(rows: Rows, scene: Scene) -> Array:
    """Row among everyone and world of these rows, (len(rows), 2)."""
    return np.stack([scene.first + rows, scene.worlds[rows]], axis=1)
