"""Runs an estimator on a dataset: the object that runs in a simulation, fed in order of stamps.

All rows are the same robot. Some readings may be withheld from some rows: so one pass over a
dataset runs the filter without its GNSS in many time windows.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from astray.datasets.dataset import Dataset
from astray.errors import unknown_attribute
from astray.plugin import Estimator, Known, Reading
from astray.tables import ADDRESS, STATE, Array, Table, table
from astray.world.maps import MapSet

Delivered = Mapping[str, Array]
"""By the name of a stream: whether each row gets each reading, (readings, n) of bool."""
PROGRESS_INTERVAL = 2000  # stamps between two calls of `progress`


@dataclasses.dataclass(frozen=True)
class EstimatorResult:
    """The beliefs of an estimator on a dataset."""

    log: Dataset
    estimator: str
    """The kind of the estimator."""
    stamps: Array
    """The stamps at which beliefs were recorded, (stamps,) s."""
    priors: Table
    """STATE just before the readings of each stamp were given, (stamps, n)."""
    beliefs: Table
    """STATE after that, (stamps, n)."""
    updates: int
    """The number of calls of the estimator."""
    seconds: float
    """The duration of these calls, s of wall clock."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_attribute(self, name, {"moments": "stamps", "before": "priors"})


def run_on_log(
    log: Dataset,
    estimator: Estimator,
    *,
    seed: int = 0,
    n: int = 1,
    delivered: Delivered | None = None,
    start_known: bool = True,
    record_at: Array | None = None,
    progress: Callable[[float], None] | None = None,
) -> EstimatorResult:
    """Run an estimator on a dataset.

    Args:
        log: The dataset.
        estimator: The estimator.
        seed: The seed of the estimator's random numbers.
        n: The number of rows.
        delivered: The rows that get each reading of a stream; by default all rows get all readings.
        start_known: Whether the estimator is given the start pose.
        record_at: The stamps at which beliefs are recorded, s; by default whenever readings arrive.
        progress: Called with the share of the dataset that is done, from 0 to 1.

    Returns:
        The beliefs.
    """
    rows = np.arange(n)
    addresses = table(ADDRESS, n)
    addresses["robot"] = rows
    bound = estimator.attach(addresses, log.datasheets(), 0.0, seed, log.name)
    belief = table(STATE, n)
    belief["alive"] = True
    bound.begin(rows)
    if start_known:
        belief["x"], belief["y"], belief["yaw"] = log.start
        position_sd, yaw_sd = log.start_sd
        belief["cov"] = np.diag([position_sd**2, position_sd**2, yaw_sd**2])
    bound.start(rows, belief)
    if start_known:
        bound.believe(rows, belief)
    readings = {name: stream.reading(n) for name, stream in log.streams.items()}
    maps = MapSet([log.map] if log.map is not None else [])
    clock = np.zeros(n)
    known = Known(belief, readings, clock, maps, np.zeros(n, np.int64))
    stamps, deliveries = _deliveries(log)
    recorded = np.ones(len(stamps), bool) if record_at is None else np.isin(stamps, record_at)
    index = np.cumsum(recorded) - 1
    priors, beliefs = (table(STATE, int(recorded.sum()) * n).reshape(-1, n) for _ in range(2))
    started = time.perf_counter()
    for k, (stamp, arrivals) in enumerate(zip(stamps, deliveries, strict=True)):
        clock.fill(stamp)
        for name, number in arrivals:
            _deliver(readings[name], log, name, number, delivered)
        if recorded[k]:
            priors[index[k]] = belief
        bound.estimate(rows, known, belief)
        if recorded[k]:
            beliefs[index[k]] = belief
        for name, _ in arrivals:
            readings[name].fresh.fill(False)
        if progress is not None and k % PROGRESS_INTERVAL == 0:
            progress((k + 1) / len(stamps))
    return EstimatorResult(
        log=log,
        estimator=estimator.kind,
        stamps=stamps[recorded],
        priors=priors,
        beliefs=beliefs,
        updates=len(stamps),
        seconds=time.perf_counter() - started,
    )


def _deliver(
    reading: Reading, log: Dataset, name: str, number: int, delivered: Delivered | None
) -> None:
    """Copy one reading of a stream to all rows, and mark it as fresh for those that get it."""
    stream = log.streams[name]
    reading.table[:] = stream.table[number]
    for key, array in stream.arrays.items():
        reading.arrays[key][:] = array[number]
    by_row = delivered is not None and name in delivered
    reading.fresh[:] = delivered[name][number] if delivered is not None and by_row else True


def _deliveries(log: Dataset) -> tuple[Array, Iterator[list[tuple[str, int]]]]:
    """Every stamp once, (stamps,) s, and its readings: streams and indices in them."""
    names = list(log.streams)
    stamps = np.concatenate([log.streams[name].stamp for name in names])
    stream = np.repeat(np.arange(len(names)), [len(log.streams[name]) for name in names])
    number = np.concatenate([np.arange(len(log.streams[name])) for name in names])
    order = np.argsort(stamps, kind="stable")
    unique, first = np.unique(stamps[order], return_index=True)
    pairs = [(names[s], int(k)) for s, k in zip(stream[order], number[order], strict=True)]
    last = np.append(first[1:], len(pairs))
    return unique, (pairs[a:b] for a, b in zip(first, last, strict=True))
