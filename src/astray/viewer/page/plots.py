"""Signals: every number of a robot that can be plotted, foreign readings and metrics included."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from astray.engine import Robots
from astray.tables import STATE, Array, Table, about

TRUTH = ("x", "y", "yaw", "vx", "vy", "wz", "ax", "ay", "alpha", "steer", "steer_rate")
MOST_ELEMENTS = 32  # of an array beside a reading that are offered one by one


class PlotSignal(NamedTuple):
    """A number of each row of a group."""

    name: str
    unit: str
    values: Array
    """A view into the live table, (n,)."""


@dataclass
class PlotSignals:
    """The signals of one group, in an order that the page refers to."""

    all: list[PlotSignal]

    def about(self) -> list[dict[str, str]]:
        """Their names and units, as plain data."""
        return [{"name": signal.name, "unit": signal.unit} for signal in self.all]

    def value(self, signal: int, row: int) -> float:
        """What one of them is for one row now."""
        return float(self.all[signal].values[row])


def signals_of(group: Robots) -> PlotSignals:
    """All that can be plotted of a group."""
    found = _of_table("truth", group.truth, TRUTH)
    for who, belief in group.beliefs().items():
        if belief is not group.truth:
            found += _of_table(who, belief, TRUTH)
    for judge in group.evaluators:
        name = judge.metric.name
        of = name if judge.subject == "belief" else f"{name} of {judge.subject}"
        found.append(PlotSignal(of, judge.metric.unit, judge.values))
    for sensor, reading in group.readings.items():
        columns = [c for c in reading.table.dtype.names or () if c not in ("fresh", "stamp")]
        found += _of_table(sensor, reading.table, columns)
        for array, values in reading.arrays.items():
            found += _elements(f"{sensor}.{array}", "", values)
    return PlotSignals(found)


def _of_table(owner: str, table: Table, columns: tuple[str, ...] | list[str]) -> list[PlotSignal]:
    known = about(STATE if table.dtype == STATE else table.dtype)
    found: list[PlotSignal] = []
    for column in columns:
        unit = known[column].unit if column in known else ""
        found += _elements(f"{owner}.{column}", unit, table[column])
    return found


def _elements(name: str, unit: str, values: Array) -> list[PlotSignal]:
    if values.ndim == 1:
        return [PlotSignal(name, unit, values)]
    flat = values.reshape(len(values), -1)
    if flat.shape[1] > MOST_ELEMENTS or not np.shares_memory(flat, values):
        return []
    return [PlotSignal(f"{name}[{k}]", unit, flat[:, k]) for k in range(flat.shape[1])]
