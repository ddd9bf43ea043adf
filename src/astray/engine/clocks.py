"""The clocks of a run: the tick of every world, the time of every row.

Only this module writes them.

Time is an integer tick times dt, never a sum of steps. An episode is one start of a world; a row
may start several times within it. Both are part of the counter of the noise generator, so that
each start draws noise of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from astray.numerics import kernel
from astray.tables import Array, Rows, Table

STARTS_PER_EPISODE = 1024  # of one row
MOST_EPISODES = (
    2**31 // STARTS_PER_EPISODE
)  # the noise generator counts the starts of a row in 32 bits


class RowClocks(NamedTuple):
    """The clocks and counters of the rows of one group."""

    address: Table
    truth: Table
    time: Array
    """The time of each row, s."""
    starts: Array
    """The starts of each row in this episode."""
    start_counts: Array
    """The starts of each row in all."""
    world_of_row: Array
    """The index of each row's world in the batch."""


@kernel
def start_rows(own: RowClocks, episodes: Array, ticks: Array, rows: Rows, dt: float) -> bool:
    """Set the clocks of these rows to those of their worlds; whether some rows were inactive."""
    any_inactive = False
    for i in rows:
        world = own.world_of_row[i]
        own.starts[i] %= STARTS_PER_EPISODE
        own.start_counts[i] += 1
        own.time[i] = ticks[world] * dt
        own.address[i].episode = episodes[world] * STARTS_PER_EPISODE + own.starts[i]
        own.address[i].tick = ticks[world]
        any_inactive |= not own.truth[i].alive
    return any_inactive


@kernel
def advance_rows(truth: Table, address: Table, time: Array, steps: int, dt: float) -> None:
    """Advance the clocks of all rows, each its own, by some ticks."""
    for i in range(len(truth)):
        s, a = truth[i], address[i]
        a.tick += steps
        time[i] = a.tick * dt
        s.tick, s.stamp = a.tick, time[i]


@kernel
def all_equal(ticks: Array) -> bool:
    """Whether the clocks of all worlds show the same tick."""
    for tick in ticks:  # noqa: SIM110 - numba knows no all() of a generator
        if tick != ticks[0]:
            return False
    return True


class Clocks:
    """The clocks of all worlds and rows of a run."""

    def __init__(self, dt: float, worlds: int, truth: Table, address: Table) -> None:
        self.dt = dt  # s
        self.steps = 0  # ticks since the run began; a reset of single worlds does not change it
        self.ticks: Array = np.zeros(worlds, np.int64)  # of each world, in its episode
        self.episodes: Array = np.zeros(worlds, np.int64)
        self.tick: int | None = 0  # of every world; None while they differ
        self.time: Array = np.zeros(len(truth))  # of each row, s
        self._truth, self._address = truth, address
        self._ticks, self._stamps = truth["tick"], truth["stamp"]  # views
        self._row_ticks = address["tick"]

    def advance(self, steps: int) -> None:
        """Advance every world by some ticks."""
        self.steps += steps
        if self.tick is None:
            self.ticks += steps
            advance_rows(self._truth, self._address, self.time, steps, self.dt)
            return
        self.tick += steps
        now = self.tick * self.dt
        self.ticks.fill(self.tick)
        self._ticks.fill(self.tick)
        self._row_ticks.fill(self.tick)
        self._stamps.fill(now)
        self.time.fill(now)

    def restart(self, worlds: Array, episode: int | None) -> None:
        """Begin the next episode, or this one, of some worlds, given by their indices."""
        self.episodes[worlds] = self.episodes[worlds] + 1 if episode is None else episode
        self.ticks[worlds] = 0
        self._find_common_tick()

    def start_rows(self, own: RowClocks, rows: Rows) -> bool:
        """Set the clocks of these rows to those of their worlds; whether some were inactive."""
        return bool(start_rows(own, self.episodes, self.ticks, rows, self.dt))

    def restart_steps(self) -> None:
        """Set the steps of the run back to 0."""
        self.steps = 0

    def restore(self, steps: int) -> None:
        """Bring the rest up to date with ticks that a checkpoint has filled."""
        self.steps = steps
        self._find_common_tick()

    def _find_common_tick(self) -> None:
        self.tick = int(self.ticks[0]) if all_equal(self.ticks) else None
