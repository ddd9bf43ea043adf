"""Time series of a run: every table at regular times, as arrays (times, rows)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from astray.engine.robots import RunState
from astray.errors import NamedItems, WrongInput, unknown_name
from astray.tables import Array, Table


class LogTable(np.ndarray):
    """Records, (times, rows); `table["x"]` is a plain array, and an unknown column is refused."""

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key not in (self.dtype.names or ()):
            raise unknown_name("column", key, self.dtype.names or ())
        return self.view(np.ndarray)[key]


@dataclass(repr=False)
class GroupLog:
    """The log of one group of robots.

    Attributes:
        name: Of the group.
        truth: STATE, (times, rows).
        belief: STATE, (times, rows); the truth for robots without an estimator.
        rivals: STATE, (times, rows), of each rival estimator, by name.
        readings: The columns of the readings, (times, rows), by sensor.
        metrics: Values, (times, rows), by metric, then by "belief" or the name of a rival.
        bulk: Arrays of the readings, (times, rows, …), by sensor and name.
        contacts: TRACK of other robots, (times, rows, slots); None without a tracker.
    """

    name: str
    truth: Table
    belief: Table
    rivals: Mapping[str, Table]
    readings: Mapping[str, Table]
    metrics: Mapping[str, Mapping[str, Array]]
    bulk: Mapping[str, Mapping[str, Array]] = field(default_factory=dict)
    contacts: Table | None = None

    def __repr__(self) -> str:
        """Its size, sensors, rivals and metrics, in one line."""
        times, rows = self.truth.shape
        parts = {"rivals": self.rivals, "readings": self.readings, "metrics": self.metrics}
        have = "; ".join(f"{k}: {', '.join(names)}" for k, names in parts.items() if names)
        return f"GroupLog({self.name!r}: {times} times x {rows} rows; {have})"


class Log:
    """The log of a run: `log["rover"].truth["x"]` is an array (times, rows).

    Attributes:
        time: The times of the entries, s.
        groups: The log of each group of robots, by name.
    """

    def __init__(self, time: Array, groups: Mapping[str, GroupLog]) -> None:
        self.time = time
        self.groups = NamedItems("robot", groups)

    def __getitem__(self, name: str) -> GroupLog:
        return self.groups[name]

    def __repr__(self) -> str:
        """Its times and robots, in one line."""
        span = f"{self.time[0]:g} to {self.time[-1]:g} s" if len(self.time) else "no entries"
        return f"Log({len(self.time)} entries, {span}; robots: {', '.join(self.groups)})"

    def to_pandas(self) -> Any:
        """One long table with a line per time and robot.

        Returns:
            A pandas DataFrame.

        Raises:
            WrongInput: pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise WrongInput("to_pandas needs pandas: pip install pandas") from None
        frames = []
        for name, group in self.groups.items():
            times, rows = group.truth.shape
            columns: dict[str, Array] = {
                "time": np.repeat(self.time, rows),
                "group": np.repeat(name, times * rows),
                "world": group.truth["world"].ravel(),
                "robot": group.truth["robot"].ravel(),
            }
            beliefs = {"truth": group.truth, "belief": group.belief, **group.rivals}
            for subject, series in beliefs.items():
                for key in ("x", "y", "yaw", "vx", "vy", "wz"):
                    columns[f"{subject}.{key}"] = series[key].ravel()
            for metric, values in group.metrics.items():
                for subject, value in values.items():
                    columns[f"{metric}.{subject}"] = value.ravel()
            frames.append(pandas.DataFrame(columns))
        return pandas.concat(frames, ignore_index=True)


class Logger:
    """Copies the tables of a run at regular times, beginning now."""

    def __init__(self, run: RunState, period: float) -> None:
        if not (math.isfinite(period) and period > 0.0):
            raise WrongInput(f"log: {period} s is not a length of time")
        self.period = round(period / run.dt)
        if self.period < 1 or abs(self.period * run.dt - period) > 1e-9 * period:
            near = max(1, self.period) * run.dt
            raise WrongInput(
                f"log: {period:g} s is not a whole number of ticks of {run.dt:g} s; {near:g} s is"
            )
        self.run = run
        self.restart()
        self.observe(run)

    def restart(self) -> None:
        """Discard all entries and begin again."""
        self.first = self.run.clocks.steps
        self.times: list[float] = []
        self.entries: dict[str, list[dict[str, Any]]] = {name: [] for name in self.run.robots}

    def next_due(self, step: int) -> int:
        """The first step from this one on that is logged."""
        return step + (self.first - step) % self.period

    def observe(self, run: RunState) -> None:
        """Copy every table."""
        self.times.append(run.clocks.steps * run.dt)
        for name, group in run.robots.items():
            self.entries[name].append(
                {
                    "truth": group.truth.copy(),
                    "belief": group.belief.copy(),
                    "rivals": {k: t.copy() for k, t in group.rivals.items()},
                    "readings": {k: r.table.copy() for k, r in group.readings.items()},
                    "bulk": {
                        k: {a: v.copy() for a, v in r.arrays.items()}
                        for k, r in group.readings.items()
                    },
                    "contacts": group.contacts.tracks.copy(),
                    "metrics": [e.values.copy() for e in group.evaluators],
                }
            )

    def log(self) -> Log:
        """The log so far."""
        return Log(np.array(self.times), {name: self._group_log(name) for name in self.entries})

    def _group_log(self, name: str) -> GroupLog:
        entries, group = self.entries[name], self.run.robots[name]

        def stack(*path: str) -> Table:
            """The entries of one table, one behind the other."""
            found = []
            for entry in entries:
                value: Any = entry
                for key in path:
                    value = value[key]
                found.append(value)
            return np.stack(found)

        metrics: dict[str, NamedItems[Array]] = NamedItems("metric")
        for k, evaluator in enumerate(group.evaluators):
            values = np.stack([entry["metrics"][k] for entry in entries])
            of = metrics.setdefault(evaluator.metric.name, NamedItems("belief"))
            of[evaluator.subject] = values
        first = entries[0]
        return GroupLog(
            name,
            stack("truth").view(LogTable),
            stack("belief").view(LogTable),
            NamedItems("rival", {k: stack("rivals", k).view(LogTable) for k in first["rivals"]}),
            NamedItems(
                "sensor", {k: stack("readings", k).view(LogTable) for k in first["readings"]}
            ),
            metrics,
            NamedItems(
                "sensor",
                {
                    k: NamedItems("array", {a: stack("bulk", k, a) for a in arrays})
                    for k, arrays in first["bulk"].items()
                },
            ),
            stack("contacts").view(LogTable) if group.tracker else None,
        )
