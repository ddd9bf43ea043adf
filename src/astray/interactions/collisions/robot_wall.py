"""What a robot runs into first among the walls near its path.

A robot that overlaps a wall from the start, since it was put there, is swept against that wall as
a smaller copy of itself, shrunk about a point well inside of it until it is clear. So it can drive
out, but the copy, and with it the robot's inner point, never gets past the wall.
"""

from __future__ import annotations

from astray.interactions.collisions.swept_motion import FOREVER, Stance, stance_at
from astray.interactions.collisions.time_of_impact import (
    FREE,
    NO_TOUCH,
    OVERLAP,
    Touch,
    around,
    line_at,
    meet,
    piece,
    pieces,
)
from astray.numerics import inlined_kernel, kernel
from astray.tables import Array, Row
from astray.world.geometry import Line, Piece, crossings, from_point, separation, squared_distance

HALVINGS = 24  # of the interval in which the scale of a shrunk copy is sought


@kernel
def contains(b: Stance, shape: Row, corners: Array, scale: float, at: tuple[float, float]) -> bool:
    """Whether a point lies inside a polygon that stands there."""
    odd = 0
    for k in range(shape.count):
        odd += crossings(line_at(b, piece(shape, corners, k, scale)), at[0], at[1])
    return odd % 2 == 1


@kernel
def covers(b: Stance, shape: Row, corners: Array, scale: float, wall: Line) -> bool:
    """Whether a footprint that stands there touches a wall, or holds it."""
    for k in range(pieces(shape)):
        a = piece(shape, corners, k, scale)
        if separation(line_at(b, a), wall)[0] <= a[4]:
            return True
    return contains(b, shape, corners, scale, (wall[0], wall[1]))


@kernel
def clear_scale(b: Stance, shape: Row, corners: Array, wall: Line) -> float:
    """How much of a footprint, shrunk about its inner point, is clear of a wall that it covers."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        scale = 0.5 * (low + high)
        if covers(b, shape, corners, scale, wall):
            high = scale
        else:
            low = scale
    return low


@kernel
def meet_wall(p: Row, shape: Row, corners: Array, q: Row, wall: Piece, end: float) -> Touch:
    """The first touch of a robot and a wall before `end`; OVERLAP if it covers it at the start."""
    best = meet(p, around(shape), q, wall, 0.0, end)
    if shape.count == 0 or best[0] == FREE:
        return best
    start = max(best[0], 0.0)
    best = NO_TOUCH
    for k in range(shape.count):
        found = meet(p, piece(shape, corners, k, 1.0), q, wall, start, end)
        if found[0] < best[0]:
            best = found
            end = max(found[0], 0.0)
        if found[0] == OVERLAP:
            return found
    return best


@kernel
def leave_wall(p: Row, shape: Row, corners: Array, q: Row, wall: Piece, end: float) -> Touch:
    """The first touch before `end` of a robot that covers a wall, as its smaller copy."""
    scale = clear_scale(stance_at(p, 0.0), shape, corners, (wall[0], wall[1], wall[2], wall[3]))
    best = NO_TOUCH
    if scale == 0.0:  # its inner point is on the wall: either side is as good
        return best
    for k in range(pieces(shape)):
        found = meet(p, piece(shape, corners, k, scale), q, wall, 0.0, end)
        if OVERLAP < found[0] < best[0]:
            best = found
            end = found[0]
    return best


@inlined_kernel
def note(p: Row, t: float, touch: Touch, sign: float, other: int) -> None:
    """Write down a touch as the contact of a robot."""
    p.when = t
    p.nx, p.ny = sign * touch[1], sign * touch[2]
    p.at_x, p.at_y = touch[3], touch[4]
    p.closing = max(touch[5] + touch[6], 0.0)
    p.other = other


@inlined_kernel
def note_cover(p: Row, wall: Line) -> None:
    """Write down that a robot covers a wall, unless it was stopped by one."""
    if not p.overlaps and not p.blocked:
        g = from_point(p.x, p.y, wall)
        note(p, FOREVER, (FOREVER, g[1], g[2], g[3], g[4], 0.0, 0.0), 1.0, -1)
    p.overlaps = True


@kernel
def resolve_wall_collisions(
    p: Row, shape: Row, corners: Array, q: Row, ends: Array, near: Array
) -> None:
    """Let a robot move until it meets one of the listed walls; q is the path of what stands still.

    The first number of `near` is how many segments are listed behind it.
    """
    for n in range(near[0]):
        k = near[n + 1]
        line = (ends[k, 0], ends[k, 1], ends[k, 2], ends[k, 3])
        if squared_distance(line, p.x, p.y) > p.reach * p.reach:
            continue
        wall = (line[0], line[1], line[2], line[3], 0.0)
        touch = NO_TOUCH
        covered = p.deep and covers(stance_at(p, 0.0), shape, corners, 1.0, line)
        if not covered:
            touch = meet_wall(p, shape, corners, q, wall, p.end)
            covered = touch[0] == OVERLAP
        if covered:
            note_cover(p, line)
            touch = leave_wall(p, shape, corners, q, wall, p.end)
        if touch[0] < p.end:
            note(p, touch[0], touch, 1.0, -1)
            p.end, p.wall = touch[0], k
            p.blocked = True
