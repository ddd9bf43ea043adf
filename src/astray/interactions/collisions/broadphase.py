"""Broadphase: finds the robots that may collide in a tick; usually few.

Each robot has a free disc, in which there is no wall. A new one is computed when the robot leaves
it. The swept disc of a motion has the reach of the robot plus the length of its path as its radius.
As long as it is within the free disc, no wall is tested. Two robots are a pair if their swept discs
overlap; pairs are found in the robot grid.

A lone robot at its top speed cannot leave its free disc before

    free distance / (top speed · dt)

ticks have passed. These ticks can be skipped. If they are few, a new free disc is computed.
"""

from __future__ import annotations

import math

from astray.interactions.collisions.context import (
    MARGIN,
    CollisionContext,
    clear_collision_state,
    list_walls,
)
from astray.interactions.collisions.swept_motion import trace_motion
from astray.numerics import inlined_kernel, kernel, wrap
from astray.tables import Row, Rows, Table
from astray.world.geometry import NearQuery, fill_robot_grid

ARC_EXCESS = 0.0579  # 1/rad²: an arc is at most 1 + ARC_EXCESS · turn² times as long as its chord
LONGEST_ARC = 1.0 + ARC_EXCESS * 10.0  # the same for the largest turn, π
AHEAD = 12.0  # motions like the present one for which a free disc should last
MOST_TICKS = 1_000_000_000  # that are skipped at once
SOON = 64.0  # ticks: a free disc that lasts no longer is computed anew
WIDE = 4.0  # times its own reach that a robot searches for walls


@inlined_kernel
def arc_length_bound(before: Row, after: Row) -> float:
    """The greatest possible length of the arc between two poses, m."""
    dx, dy, turn = after.x - before.x, after.y - before.y, wrap(after.yaw - before.yaw)
    return math.sqrt(dx * dx + dy * dy) * (1.0 + ARC_EXCESS * turn * turn)


# Robots and walls.


@inlined_kernel
def find_busy(ctx: CollisionContext, rows: Rows) -> int:
    """List the rows that may meet a wall, and count them; clear the collisions of the last tick."""
    truth, memory, shapes, busy = ctx.truth, ctx.memory, ctx.shapes.table, ctx.busy
    count = 0
    for i in rows:
        m, b, s = memory[i], ctx.before[i], truth[i]
        if m.touching or m.touched:
            clear_collision_state(ctx.collisions[i])
            m.touched, m.touching = m.touching, False
        dx, dy, far = b.x - b.free_x, b.y - b.free_y, shapes[s.footprint].reach + MARGIN
        # |dx| + |dy| is never less than the distance; this cheaper test suffices for most rows.
        at_most = LONGEST_ARC * (abs(s.x - b.x) + abs(s.y - b.y))
        if abs(dx) + abs(dy) + at_most + far <= b.free_radius:
            continue
        busy[count] = i
        swept = math.sqrt(dx * dx + dy * dy) + arc_length_bound(b, s) + far
        count += 0 if swept <= b.free_radius else 1
    return drop_free_rows(ctx, busy[:count])


@inlined_kernel
def drop_free_rows(ctx: CollisionContext, busy: Rows) -> int:
    """Keep those of the busy rows that are near a wall, and count them; renew the free discs.

    Most rows have only come to the edge of their free disc.
    """
    truth, memory, shapes = ctx.truth, ctx.memory, ctx.shapes.table
    left = 0
    for i in busy:
        b, reach = ctx.before[i], shapes[truth[i].footprint].reach
        step = arc_length_bound(b, truth[i])
        if not (memory[i].deep or memory[i].inside):
            far = reach + step + MARGIN
            free = list_walls(ctx, i, NearQuery(b.x, b.y, far, far + max(reach, AHEAD * step)))
            b.free_x, b.free_y, b.free_radius = b.x, b.y, free
        ctx.busy[left] = i
        left += 1 if memory[i].deep or memory[i].inside or ctx.nearest.found[0] > 0 else 0
    return left


# Pairs of robots.


@inlined_kernel
def comes_first(p: Row, q: Row) -> bool:
    """An order of robots by their pose, which does not depend on their rows."""
    if p.x != q.x:
        return bool(p.x < q.x)
    if p.y != q.y:
        return bool(p.y < q.y)
    return bool(p.yaw < q.yaw)


@kernel
def measure_reach(ctx: CollisionContext, rows: Rows, slides: bool) -> None:
    """Write how far from its final position a robot may sweep, and the most in each world."""
    truth, shapes, worlds, by_world = ctx.truth, ctx.shapes.table, ctx.worlds, ctx.by_world
    # A robot that slides may leave its planned path.
    spread = 1.0 if slides else 0.0
    for i in rows:
        by_world[worlds[i]].longest_reach = 0.0
    for i in rows:
        b, s = ctx.before[i], truth[i]
        reach = shapes[s.footprint].reach
        turn = abs(wrap(s.yaw - b.yaw))
        far = reach + (1.0 + spread) * arc_length_bound(b, s)
        far = far + 3.0 * spread * turn * reach + MARGIN
        ctx.motions[i].reach = far
        world = by_world[worlds[i]]
        world.longest_reach = max(world.longest_reach, far)


@inlined_kernel
def write_pair(pair: Row, i: int, j: int, before: Table, world: int) -> None:
    """Write a pair, in an order that does not depend on the rows."""
    if comes_first(before[j], before[i]):
        i, j = j, i
    pair.first, pair.second, pair.world = i, j, world


@kernel
def list_pairs(ctx: CollisionContext) -> int:
    """List the pairs of robots that may meet, up to the capacity; how many there are."""
    bodies, starts, grids = ctx.robots.bodies, ctx.robots.starts, ctx.robots.grids
    pairs, motions = ctx.pairs, ctx.motions
    found = 0
    for w in range(len(grids)):
        g = grids[w]
        first, last = starts[g.first], starts[g.first + g.width * g.height]
        if last - first < 2:
            continue
        for b in range(first, last):
            body = bodies[b]
            reach = motions[body.row].reach
            far = reach + ctx.by_world[w].longest_reach
            left = min(max(math.floor((body.x - far - g.x) / g.cell), 0), g.width - 1)
            right = min(max(math.floor((body.x + far - g.x) / g.cell), 0), g.width - 1)
            low = min(max(math.floor((body.y - far - g.y) / g.cell), 0), g.height - 1)
            high = min(max(math.floor((body.y + far - g.y) / g.cell), 0), g.height - 1)
            for row in range(low, high + 1):
                cell = g.first + row * g.width
                for o in range(max(b + 1, starts[cell + left]), starts[cell + right + 1]):
                    other = bodies[o]
                    dx, dy = other.x - body.x, other.y - body.y
                    both = reach + motions[other.row].reach
                    if dx * dx + dy * dy <= both * both:
                        if found < len(pairs):
                            write_pair(pairs[found], body.row, other.row, ctx.before, w)
                        found += 1
    return found


@kernel
def find_pairs(ctx: CollisionContext, rows: Rows, slides: bool) -> int:
    """Sort these rows into cells and list the pairs that may meet; how many there are."""
    measure_reach(ctx, rows, slides)
    fill_robot_grid(ctx.robots, ctx.truth, ctx.shapes.table, rows, ctx.worlds)
    return list_pairs(ctx)


@kernel
def list_active(ctx: CollisionContext, busy: Rows, pairs: Table) -> int:
    """List each row that may meet anything once, trace its motion, and count them."""
    motions, active = ctx.motions, ctx.active
    count = 0
    for k in range(len(busy) + 2 * len(pairs)):
        if k < len(busy):
            i = busy[k]
        else:
            pair = pairs[(k - len(busy)) // 2]
            i = pair.first if (k - len(busy)) % 2 == 0 else pair.second
        active[count] = i
        count += 0 if motions[i].listed else 1
        motions[i].listed = True
    # A loop of its own, as in `find_busy`: a few records among many come from memory slowly, and
    # processors fetch the next ones ahead only if little is done with each.
    for k in range(count):
        i = active[k]
        trace_motion(motions[i], ctx.before[i], ctx.truth[i])
        motions[i].deep = ctx.memory[i].deep
    return count


# Ticks that can be skipped.


@inlined_kernel
def tick_distance(s: Row, top_speed: float, dt: float) -> float:
    """How far a robot can get in a tick, m."""
    speed = math.sqrt(s.vx * s.vx + s.vy * s.vy)
    if speed > top_speed:  # it was placed so: it slows down gradually, and may go sideways
        return (speed + top_speed) * dt
    return top_speed * dt


@inlined_kernel
def free_distance(b: Row, s: Row, reach: float) -> float:
    """How far a robot can go, at least, before it leaves its free disc, m."""
    dx, dy = s.x - b.free_x, s.y - b.free_y
    return float(b.free_radius - math.sqrt(dx * dx + dy * dy) - reach - MARGIN)


@kernel
def ticks_without_walls(ctx: CollisionContext, rows: Rows, dt: float) -> int:
    """How many ticks pass, at least, before one of these rows can meet a wall."""
    ticks = MOST_TICKS
    for i in rows:
        m, b, s = ctx.memory[i], ctx.before[i], ctx.truth[i]
        if m.touching or m.touched or m.deep or m.inside or math.isinf(b.top_speed):
            return 0
        reach, step = ctx.shapes.table[s.footprint].reach, tick_distance(s, b.top_speed, dt)
        free = free_distance(b, s, reach)
        if free < SOON * step:
            query = NearQuery(s.x, s.y, 0.0, (1.0 + WIDE) * reach + SOON * step)
            b.free_x, b.free_y = s.x, s.y
            b.free_radius = list_walls(ctx, i, query)
            free = free_distance(b, s, reach)
            if not free > 0.0:
                return 0
        if step * ticks > free:
            ticks = math.floor(free / step)
    return ticks
