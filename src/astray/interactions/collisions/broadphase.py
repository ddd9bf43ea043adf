"""Who has to be looked at in a tick: almost nobody.

Around each robot lies a disc in which there is no wall, found when the robot last left the one
before. As long as all that its motion can sweep, the disc of its reach plus its way, stays within,
no wall is looked at. Robots are pairs where such discs meet, found among the crowd.
"""

from __future__ import annotations

import math

from astray.interactions.collisions.collision_context import MARGIN, CollisionContext, forget
from astray.interactions.collisions.robot_robot import before
from astray.interactions.collisions.swept_motion import trace_motion
from astray.numerics import inlined_kernel, kernel, wrap
from astray.tables import Row, Rows, Table
from astray.world.geometry import Disc, list_near_segments

LONGER = 0.0579  # 1/rad²: an arc is at most 1 + LONGER · turn² times as long as its chord
LONGEST = 1.0 + LONGER * 10.0  # times its chord that an arc is, at most: it turns by π or less
AHEAD = 12.0  # motions as the present one for which a free disc is sought


@inlined_kernel
def way(m: Row, s: Row) -> float:
    """How far a motion leads, at most, along its arc."""
    dx, dy, turn = s.x - m.x, s.y - m.y, wrap(s.yaw - m.yaw)
    return math.sqrt(dx * dx + dy * dy) * (1.0 + LONGER * turn * turn)


@kernel
def watch(stage: CollisionContext, rows: Rows) -> int:
    """List the rows whose motion may meet a wall, and how many; clear the last tick's contacts."""
    truth, memory, last, shapes = stage.truth, stage.memory, stage.last, stage.shapes
    contacts, busy = stage.contacts, stage.busy
    count = 0
    for i in rows:
        m, b, s = memory[i], last[i], truth[i]
        if m.touching or m.touched:
            forget(contacts[i])
            m.touched, m.touching = m.touching, False
        dx, dy, far = b.x - b.free_x, b.y - b.free_y, shapes[s.footprint].reach + MARGIN
        # Sums of sides are never less than what they stand for, and do for almost everyone.
        at_most = LONGEST * (abs(s.x - b.x) + abs(s.y - b.y))
        if abs(dx) + abs(dy) + at_most + far <= b.free:
            continue
        busy[count] = i
        count += 0 if math.sqrt(dx * dx + dy * dy) + way(b, s) + far <= b.free else 1
    return without_company(stage, busy[:count])


@kernel
def without_company(stage: CollisionContext, busy: Rows) -> int:
    """Leave out of these rows those that no wall is near, and note how free they are.

    How many are left. Most rows have only used up the disc that was known to be free.
    """
    memory, last, truth, shapes = stage.memory, stage.last, stage.truth, stage.shapes
    left = 0
    for i in busy:
        b, reach, step = last[i], shapes[truth[i].footprint].reach, way(last[i], truth[i])
        if not (memory[i].deep or memory[i].inside):
            far = reach + step + MARGIN
            free = look_around(stage, i, (b.x, b.y, far, far + max(reach, AHEAD * step)))
            b.free_x, b.free_y, b.free = b.x, b.y, free
        stage.busy[left] = i
        left += 1 if memory[i].deep or memory[i].inside or stage.listing[0][0] > 0 else 0
    return left


@inlined_kernel
def look_around(stage: CollisionContext, i: int, disc: Disc) -> float:
    """List the walls near a row; how far the nearest is."""
    plan = stage.plans[stage.of_world[stage.worlds[i]]]
    return list_near_segments(stage.listing, stage.faces, stage.cells, stage.grids, plan, disc)


@kernel
def measure(stage: CollisionContext, rows: Rows, spread: float) -> None:
    """Note how far all that a robot may sweep lies from where it ends, and the most per world."""
    truth, last, shapes, paths = stage.truth, stage.last, stage.shapes, stage.paths
    worlds, fronts = stage.worlds, stage.fronts
    for i in rows:
        fronts[worlds[i]] = 0.0
    for i in rows:
        m, s = last[i], truth[i]
        reach = shapes[s.footprint].reach
        turn = abs(wrap(s.yaw - m.yaw))
        far = reach + (1.0 + spread) * way(m, s) + 3.0 * spread * turn * reach + MARGIN
        paths[i].reach = far
        fronts[worlds[i]] = max(fronts[worlds[i]], far)


@inlined_kernel
def pair_up(pair: Row, i: int, j: int, last: Table, world: int) -> None:
    """Write down a pair, in an order that does not depend on the rows."""
    if before(last[j], last[i]):
        i, j = j, i
    pair.first, pair.second, pair.world = i, j, world


@kernel
def find_pairs(stage: CollisionContext) -> int:
    """List the pairs of robots that may meet, as many as there is room for; how many there are."""
    bodies, starts, grids = stage.crowd.bodies, stage.crowd.starts, stage.crowd.grids
    pairs, paths, before_all, fronts = stage.pairs, stage.paths, stage.last, stage.fronts
    found = 0
    for w in range(len(grids)):
        g = grids[w]
        first, last = starts[g.first], starts[g.first + g.width * g.height]
        if last - first < 2:
            continue
        for b in range(first, last):
            body = bodies[b]
            mine = paths[body.row].reach
            far = mine + fronts[w]
            left = min(max(math.floor((body.x - far - g.x) / g.cell), 0), g.width - 1)
            right = min(max(math.floor((body.x + far - g.x) / g.cell), 0), g.width - 1)
            low = min(max(math.floor((body.y - far - g.y) / g.cell), 0), g.height - 1)
            high = min(max(math.floor((body.y + far - g.y) / g.cell), 0), g.height - 1)
            for row in range(low, high + 1):
                at = g.first + row * g.width
                for o in range(max(b + 1, starts[at + left]), starts[at + right + 1]):
                    other = bodies[o]
                    dx, dy = other.x - body.x, other.y - body.y
                    both = mine + paths[other.row].reach
                    if dx * dx + dy * dy <= both * both:
                        if found < len(pairs):
                            pair_up(pairs[found], body.row, other.row, before_all, w)
                        found += 1
    return found


@kernel
def enlist(stage: CollisionContext, busy: Rows, pairs: Table) -> int:
    """Lay the paths of all who may meet something, and list each once; how many are listed."""
    truth, memory, last = stage.truth, stage.memory, stage.last
    paths, active = stage.paths, stage.active
    count = 0
    for k in range(len(busy) + 2 * len(pairs)):
        if k < len(busy):
            i = busy[k]
        else:
            pair = pairs[(k - len(busy)) // 2]
            i = pair.first if (k - len(busy)) % 2 == 0 else pair.second
        active[count] = i
        count += 0 if paths[i].made else 1
        paths[i].made = True
    # In a loop of their own, as above: paths of a few among many come from memory slowly, and
    # processors fetch the next ones meanwhile only where little is done with each.
    for k in range(count):
        i = active[k]
        trace_motion(paths[i], last[i], truth[i])
        paths[i].deep = memory[i].deep
    return count
