"""A row's life: which one it is, the state in which it begins, and how time passes in it."""

from __future__ import annotations

from astray.kernel import kernel
from astray.table import Array, Rows, Table

STARTS_PER_LIFE = 1024  # of one row within one life of its world
Counts = tuple[Array, Array, Array]
"""Of each row the starts in this life and in all, and the time by its clock, s."""


@kernel
def enter_lives(
    address: Table, counts: Counts, rows: Rows, lives: Array, ticks: Array, dt: float
) -> None:
    """Let these rows be in these lives of their worlds, at these ticks."""
    starts, begun, time = counts
    for j in range(len(rows)):
        i = rows[j]
        starts[i] %= STARTS_PER_LIFE
        begun[i] += 1
        time[i] = ticks[j] * dt
        address[i].life = lives[j] * STARTS_PER_LIFE + starts[i]
        address[i].tick = ticks[j]


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
    for ticks in clock:
        if ticks != clock[0]:
            return False
    return True
