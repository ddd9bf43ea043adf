"""Time series of a run: every table at regular times, as arrays (times, rows)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from astray.engine.robots import RunState
from astray.errors import WrongInput, unknown_name
from astray.tables import Array, Table


@dataclass
class GroupLog:
    """The series of one group: each table is (times, rows), each column of it alike."""

    name: str
    truth: Table
    belief: Table
    rivals: dict[str, Table]
    readings: dict[str, Table]
    metrics: dict[str, dict[str, Array]]
    """By metric, then by the belief that it evaluates: "belief" or a rival's name."""
    bulk: dict[str, dict[str, Array]] = field(default_factory=dict)
    """Arrays beside the readings, (times, rows, …), by sensor and name."""
    contacts: Table | None = None
    """TRACK of other robots, (times, rows, slots); None without a tracker."""


class Log:
    """The log of a run: `log["rover"].truth["x"]` is an array (times, rows).

    Attributes:
        time: The times of the entries, s.
        groups: The log of each group of robots, by name.
    """

    def __init__(self, time: Array, groups: dict[str, GroupLog]) -> None:
        self.time = time
        self.groups = groups

    def __getitem__(self, name: str) -> GroupLog:
        if name not in self.groups:
            raise unknown_name("robot", name, self.groups)
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
        """The series so far."""
        groups = {}
        for name, entries in self.entries.items():
            evaluators = self.run.robots[name].evaluators
            metrics: dict[str, dict[str, Array]] = {}
            for k, evaluator in enumerate(evaluators):
                values = np.stack([m["metrics"][k] for m in entries])
                metrics.setdefault(evaluator.metric.name, {})[evaluator.subject] = values
            groups[name] = GroupLog(
                name,
                np.stack([m["truth"] for m in entries]),
                np.stack([m["belief"] for m in entries]),
                {k: np.stack([m["rivals"][k] for m in entries]) for k in entries[0]["rivals"]},
                {k: np.stack([m["readings"][k] for m in entries]) for k in entries[0]["readings"]},
                metrics,
                {
                    k: {a: np.stack([m["bulk"][k][a] for m in entries]) for a in arrays}
                    for k, arrays in entries[0]["bulk"].items()
                },
                np.stack([m["contacts"] for m in entries])
                if self.run.robots[name].tracker
                else None,
            )
        return Log(np.array(self.times), groups)
