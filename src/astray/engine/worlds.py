"""The worlds of a batch: their numbers, their indices, and whether they fit into memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from astray.errors import WrongInput
from astray.scenario import GroupPlan, Scenario
from astray.tables import ADDRESS, COLLISION_STATE, COMMAND, DRIVE, STATE, Array

MOST_WORLDS = 2**31
BYTES_PER_WORLD = 128  # at least, of its number, clock, episode and index
MEMINFO = Path("/proc/meminfo")  # of Linux
GIB = 1 << 30
Worlds = int | range | Sequence[int]


class WorldIndex:
    """Looks up the indices of worlds in the batch by their numbers."""

    def __init__(self, worlds: Array) -> None:
        self._indices = np.argsort(worlds)
        self._numbers = worlds[self._indices]

    def of(self, worlds: Sequence[int]) -> Array:
        """The indices of these worlds, in order and each once; KeyError names an unknown world.

        A caller may pass thousands at every tick, so they are looked up together.
        """
        asked = np.asarray(worlds)
        if not len(asked):
            return np.zeros(0, np.int64)
        if asked.dtype.kind not in "iu":  # no whole numbers, or too large ones
            raise KeyError(worlds[0])
        at = np.searchsorted(self._numbers, asked)
        missing = self._numbers.take(at, mode="clip") != asked
        if missing.any():
            raise KeyError(worlds[int(missing.argmax())])
        found = self._indices[at]
        in_order = len(found) < 2 or bool((found[1:] > found[:-1]).all())
        return found if in_order else np.unique(found)


def world_numbers(worlds: Worlds, scenario: Scenario) -> Array:
    """The numbers of the worlds; refused if they are invalid or cannot fit into memory."""
    if isinstance(worlds, (int, np.integer)):
        worlds = range(int(worlds))
    if isinstance(worlds, range) and worlds:  # it may be far too long for an array
        _check_numbers(min(worlds[0], worlds[-1]), max(worlds[0], worlds[-1]))
        _check_memory(len(worlds), scenario)
    several = np.array(worlds)
    if several.ndim != 1 or (len(several) and not np.issubdtype(several.dtype, np.integer)):
        raise WrongInput(f"worlds are so many, or their whole numbers, not {worlds!r}")
    numbers: Array = several.astype(np.int64)
    if not len(numbers) or len(set(numbers.tolist())) < len(numbers):
        raise WrongInput("worlds must be one or more different numbers")
    _check_numbers(int(numbers.min()), int(numbers.max()))
    return numbers


def _check_numbers(least: int, most: int) -> None:
    if least < 0 or most >= MOST_WORLDS:
        raise WrongInput(f"worlds are numbered from 0 to {MOST_WORLDS - 1}")


def _check_memory(worlds: int, scenario: Scenario) -> None:
    """Refuse worlds whose plain tables alone need more memory than the machine has."""
    each = BYTES_PER_WORLD + sum(plan.capacity * bytes_of_row(plan) for plan in scenario.robots)
    memory = memory_of_machine()
    if memory is not None and worlds * each > memory:
        raise WrongInput(
            f"{worlds} worlds need {worlds * each / GIB:,.1f} GiB of memory or more; this machine "
            f"has {memory / GIB:,.1f} GiB, for {memory // each} of them at the very most"
        )


def bytes_of_row(plan: GroupPlan) -> int:
    """The memory that a robot needs at least; plugins may need more."""
    beliefs = bool(plan.estimator) + len(plan.rivals)
    tables = [STATE] * (1 + beliefs) + [ADDRESS, COLLISION_STATE, COMMAND, DRIVE]
    return sum(kind.itemsize for kind in tables + [sensor.measures for sensor in plan.sensors])


def memory_of_machine() -> int | None:
    """The memory of the machine with its swap space, bytes; None if it is unknown."""
    try:
        lines = MEMINFO.read_text(encoding="ascii").splitlines()
        sizes = dict(line.split(":", 1) for line in lines)
        return sum(int(sizes[name].split()[0]) << 10 for name in ("MemTotal", "SwapTotal"))
    except (OSError, ValueError, LookupError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
