"""The beginning of a row's life: which one it is, and its state before anything has happened."""

from __future__ import annotations

from astray.kernel import kernel
from astray.table import Array, Rows, Table

STARTS_PER_LIFE = 1024  # of one row within one life of its world


@kernel
def enter_lives(address: Table, starts: Array, rows: Rows, lives: Array, ticks: Array) -> None:
    """Let these rows be in these lives of their worlds, at these ticks."""
    for j in range(len(rows)):
        i = rows[j]
        starts[i] %= STARTS_PER_LIFE
        address[i].life = lives[j] * STARTS_PER_LIFE + starts[i]
        address[i].tick = ticks[j]


@kernel
def newborn(
    fresh: Table, address: Table, time: Array, rows: Rows, poses: Array, footprint: int
) -> None:
    """Fill in the states, zero so far, in which these rows begin."""
    for j in range(len(rows)):
        s, a = fresh[j], address[rows[j]]
        s.world, s.robot, s.life, s.tick = a.world, a.robot, a.life, a.tick
        s.stamp, s.alive, s.footprint = time[rows[j]], True, footprint
        s.x, s.y, s.yaw = poses[j, 0], poses[j, 1], poses[j, 2]
