"""A row's life: which one it is, the state in which it begins, and how time passes in it."""

from __future__ import annotations

from astray.numerics.kernels import kernel
from astray.tables import Array, Rows, Table

STARTS_PER_LIFE = 1024  # of one row within one life of its world
LIVES = 2**31 // STARTS_PER_LIFE  # of a world: noise counts the starts of all in 32 bits
Counts = tuple[Array, Array, Array]
"""Of each row the starts in this life and in all, and the time by its clock, s."""
Worlds = tuple[Array, Array, Array]
"""The world of each row, by its place in the batch; of each world its life and its clock, ticks."""


@kernel
def enter_lives(
    address: Table, truth: Table, counts: Counts, worlds: Worlds, rows: Rows, dt: float
) -> bool:
    """Let these rows be in the lives of their worlds, at their ticks; whether some were asleep."""
    starts, begun, time = counts
    world_of_row, lives, clock = worlds
    slept = False
    for i in rows:
        life, tick = lives[world_of_row[i]], clock[world_of_row[i]]
        starts[i] %= STARTS_PER_LIFE
        begun[i] += 1
        time[i] = tick * dt
        address[i].life = life * STARTS_PER_LIFE + starts[i]
        address[i].tick = tick
        slept |= not truth[i].alive
    return slept


@kernel
def newborn(
    state: Table, address: Table, time: Array, rows: Rows, poses: Array, footprint: int
) -> None:
    """Fill in the states, blank so far, in which these rows begin."""
    for j in range(len(rows)):
        i = rows[j]
        s, a = state[i], address[i]
        s.world, s.robot, s.life, s.tick = a.world, a.robot, a.life, a.tick
        s.stamp, s.alive, s.footprint = time[i], True, footprint
        s.x, s.y, s.yaw = poses[j, 0], poses[j, 1], poses[j, 2]


@kernel
def pass_time(truth: Table, address: Table, time: Array, steps: int, dt: float) -> None:
    """Turn the clocks of all rows, each its own, by some ticks."""
    for i in range(len(truth)):
        s, a = truth[i], address[i]
        a.tick += steps
        time[i] = a.tick * dt
        s.tick, s.stamp = a.tick, time[i]


@kernel
def in_step(clock: Array) -> bool:
    """Whether the clocks of all worlds show the same."""
    for ticks in clock:  # noqa: SIM110 - numba knows no all() of a generator
        if ticks != clock[0]:
            return False
    return True
