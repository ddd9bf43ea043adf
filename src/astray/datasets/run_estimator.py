"""An estimator on a log: the same object that runs in a simulation, fed in the order of stamps.

Rows are the same robot several times over, of which some may be kept from some readings: that is
how one pass over a log tells what a filter does without its GPS, in many places at once.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from astray.datasets.dataset import Dataset
from astray.plugin import Estimator, Known, Reading
from astray.tables import ADDRESS, STATE, Array, Table, table
from astray.world.maps import MapSet

Kept = Mapping[str, Array]
"""By the name of a stream: which rows get which of its readings, (readings, n) of bool."""
EVERY = 2000  # moments between two tellings of progress


@dataclasses.dataclass(frozen=True)
class EstimatorResult:
    """What an estimator made of a log."""

    log: Dataset
    estimator: str
    moments: Array
    """When readings arrived, as far as it was noted, (moments,) s."""
    before: Table
    """STATE just before each of these moments, (moments, n)."""
    beliefs: Table
    """STATE after each of them, (moments, n)."""
    updates: int
    """How often the estimator was called."""
    seconds: float
    """How long that took."""


def run_on_log(
    log: Dataset,
    estimator: Estimator,
    *,
    seed: int = 0,
    n: int = 1,
    kept: Kept | None = None,
    told: bool = True,
    noted: Array | None = None,
    progress: Callable[[float], None] | None = None,
) -> EstimatorResult:
    """Feed a log to an estimator.

    `told` lets it know where the robot starts. Beliefs are noted whenever readings arrive, or only
    at the stamps `noted`.
    """
    rows = np.arange(n)
    who = table(ADDRESS, n)
    who["robot"] = rows
    bound = estimator.attach(who, log.sheets(), 0.0, seed, log.name)
    belief = table(STATE, n)
    belief["alive"] = True
    bound.begin(rows)
    if told:
        belief["x"], belief["y"], belief["yaw"] = log.start
        spread, yaw_spread = log.start_sd
        belief["cov"] = np.diag([spread**2, spread**2, yaw_spread**2])
    bound.start(rows, belief)
    if told:
        bound.believe(rows, belief)
    readings = {name: stream.reading(n) for name, stream in log.streams.items()}
    atlas = MapSet([log.map] if log.map is not None else [])
    clock = np.zeros(n)
    known = Known(belief, readings, clock, atlas, np.zeros(n, np.int64))
    stamps, deliveries = _in_order(log)
    note = np.isin(stamps, noted) if noted is not None else np.ones(len(stamps), bool)
    place = np.cumsum(note) - 1
    before, beliefs = (table(STATE, int(note.sum()) * n).reshape(-1, n) for _ in range(2))
    started = time.perf_counter()
    for k, (stamp, arrived) in enumerate(zip(stamps, deliveries, strict=True)):
        clock.fill(stamp)
        for name, number in arrived:
            _deliver(readings[name], log, name, number, kept)
        if note[k]:
            before[place[k]] = belief
        bound.estimate(rows, known, belief)
        if note[k]:
            beliefs[place[k]] = belief
        for name, _ in arrived:
            readings[name].fresh.fill(False)
        if progress is not None and k % EVERY == 0:
            progress((k + 1) / len(stamps))
    seconds = time.perf_counter() - started
    kind, moments = estimator.kind, stamps[note]
    return EstimatorResult(log, kind, moments, before, beliefs, len(stamps), seconds)


def _deliver(reading: Reading, log: Dataset, name: str, number: int, kept: Kept | None) -> None:
    """Put one reading of a stream before all rows that get it."""
    stream = log.streams[name]
    reading.table[:] = stream.table[number]
    for part, array in stream.arrays.items():
        reading.arrays[part][:] = array[number]
    reading.fresh[:] = kept[name][number] if kept is not None and name in kept else True


def _in_order(log: Dataset) -> tuple[Array, Iterator[list[tuple[str, int]]]]:
    """Every stamp once, (moments,) s, and what arrives then: streams and numbers of readings."""
    names = list(log.streams)
    stamps = np.concatenate([log.streams[name].stamp for name in names])
    which = np.repeat(np.arange(len(names)), [len(log.streams[name]) for name in names])
    number = np.concatenate([np.arange(len(log.streams[name])) for name in names])
    order = np.argsort(stamps, kind="stable")
    moments, first = np.unique(stamps[order], return_index=True)
    pairs = [(names[w], int(k)) for w, k in zip(which[order], number[order], strict=True)]
    last = np.append(first[1:], len(pairs))
    return moments, (pairs[a:b] for a, b in zip(first, last, strict=True))
