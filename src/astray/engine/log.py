"""Time series of a run: every table at regular times, as arrays (times, rows)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from astray.errors import WrongInput
from astray.tables import Array, Table

if TYPE_CHECKING:
    from astray.sim import Sim


@dataclass
class GroupLog:
    """The series of one group: each table is (times, rows), each column of it alike."""

    name: str
    truth: Table
    belief: Table
    rivals: dict[str, Table]
    readings: dict[str, Table]
    metrics: dict[str, dict[str, Array]]
    """By metric, then by whose belief it judges: "belief" or a rival's name."""
    bulk: dict[str, dict[str, Array]] = field(default_factory=dict)
    """Arrays beside the readings, (times, rows, …), by sensor and name."""
    contacts: Table | None = None
    """TRACK of what was believed of others, (times, rows, slots); None without a tracker."""


class Log:
    """What a run has left: `log["rover"].truth["x"]` is an array (times, rows)."""

    def __init__(self, time: Array, groups: dict[str, GroupLog]) -> None:
        self.time = time
        self.groups = groups

    def __getitem__(self, name: str) -> GroupLog:
        return self.groups[name]

    def to_pandas(self) -> Any:
        """One long table, a row per time and robot; needs pandas."""
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
            for who, series in beliefs.items():
                for key in ("x", "y", "yaw", "vx", "vy", "wz"):
                    columns[f"{who}.{key}"] = series[key].ravel()
            for metric, values in group.metrics.items():
                for who, value in values.items():
                    columns[f"{metric}.{who}"] = value.ravel()
            frames.append(pandas.DataFrame(columns))
        return pandas.concat(frames, ignore_index=True)


class Logger:
    """Copies the tables of a run every so many seconds, the present moment first."""

    def __init__(self, sim: Sim, period: float) -> None:
        if not (math.isfinite(period) and period > 0.0):
            raise WrongInput(f"log: {period} s is not a length of time")
        self.period = round(period / sim.dt)
        if self.period < 1 or abs(self.period * sim.dt - period) > 1e-9 * period:
            near = max(1, self.period) * sim.dt
            raise WrongInput(
                f"log: {period:g} s is not a whole number of ticks of {sim.dt:g} s; {near:g} s is"
            )
        self.sim = sim
        self.forget()
        self.observe(sim)

    def forget(self) -> None:
        """Begin anew."""
        self.first = self.sim.steps
        self.times: list[float] = []
        self.moments: dict[str, list[dict[str, Any]]] = {name: [] for name in self.sim.robots}

    def next_due(self, step: int) -> int:
        """The first step from this one on that it wants to see."""
        return step + (self.first - step) % self.period

    def observe(self, sim: Sim) -> None:
        """Copy every table."""
        self.times.append(sim.steps * sim.dt)
        for name, group in sim.robots.items():
            self.moments[name].append(
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
                    "metrics": [judge.values.copy() for judge in group.judges],
                }
            )

    def log(self) -> Log:
        """The series so far."""
        groups = {}
        for name, moments in self.moments.items():
            judges = self.sim.robots[name].judges
            metrics: dict[str, dict[str, Array]] = {}
            for k, judge in enumerate(judges):
                values = np.stack([m["metrics"][k] for m in moments])
                metrics.setdefault(judge.metric.name, {})[judge.subject] = values
            groups[name] = GroupLog(
                name,
                np.stack([m["truth"] for m in moments]),
                np.stack([m["belief"] for m in moments]),
                {k: np.stack([m["rivals"][k] for m in moments]) for k in moments[0]["rivals"]},
                {k: np.stack([m["readings"][k] for m in moments]) for k in moments[0]["readings"]},
                metrics,
                {
                    k: {a: np.stack([m["bulk"][k][a] for m in moments]) for a in arrays}
                    for k, arrays in moments[0]["bulk"].items()
                },
                np.stack([m["contacts"] for m in moments])
                if self.sim.robots[name].tracker
                else None,
            )
        return Log(np.array(self.times), groups)
