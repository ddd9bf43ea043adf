"""What a sweep came to: a tidy table, means over worlds with intervals, and pairs of cases.

A case has one value per world: the rms over time of a robot's metric (or its mean, if the metric is
judged by that), averaged over the robots of the group. Worlds are independent, robots of one world
are not, so intervals are taken over worlds. All cases ran the same worlds with the same noise: they
are compared world by world, which leaves out what all of them had in common.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from astray.errors import WrongInput
from astray.numerics import student_t_95
from astray.sweeps.cases import SweepPlan, SweepTask, as_text
from astray.sweeps.results_database import Ledger
from astray.sweeps.task import Row
from astray.tables import Array, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ("world", "group", "robot", "belief", "metric", "rms", "mean", "most", "last")
TYPES: dict[str, Any] = {
    "case": "i8",
    "world": "i8",
    "robot": "i8",
    **dict.fromkeys(("rms", "mean", "most", "last"), "f8"),
}
student = cache(student_t_95)


class Key(NamedTuple):
    """What is compared between cases: a metric of a belief of a group of robots."""

    group: str
    metric: str
    subject: str  # belief, contacts or the name of a rival


class Sweep:
    """What a sweep has found, or has found so far."""

    def __init__(self, folder: Path, plan: SweepPlan, ledger: Ledger) -> None:
        self.folder, self.plan = folder, plan
        self.done = ledger.done()
        """How many worlds of each case are done, by its number."""
        self.failures: list[tuple[SweepTask, str]] = ledger.failures()
        """What could not be done, and why."""
        self._rows = _table(ledger.rows())
        self._worlds = _by_world(plan, self._rows)
        self.table = _tidy(plan, self._rows)
        """A row per case, world, robot, belief and metric."""

    def to_pandas(self) -> Any:
        """The table as a DataFrame; needs pandas."""
        try:
            import pandas
        except ImportError:
            raise WrongInput("to_pandas needs pandas: pip install pandas") from None
        return pandas.DataFrame({name: self.table[name] for name in self.table.dtype.names or ()})

    def to_csv(self) -> str:
        """The table as CSV, in full precision."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.table.dtype.names or ())
        writer.writerows(self.table.tolist())
        return out.getvalue()

    def worlds(self) -> dict[int, dict[Key, dict[int, float]]]:
        """The value of each world, by case and by what is judged."""
        return self._worlds

    def names(self) -> dict[tuple[int, Key], str]:
        """What the estimator is called whose belief is judged: it may be another in each case."""
        found = np.unique(self._rows[["case", *Key._fields, "belief"]])
        return {(int(case), Key(*map(str, key))): str(who) for case, *key, who in found.tolist()}

    def summary(self) -> dict[str, Any]:
        """Everything that is told of the sweep, as plain data."""
        plan, worlds, names = self.plan, self.worlds(), self.names()
        cases = []
        for case, values in enumerate(plan.values()):
            robots: dict[str, Any] = {}
            for key, found in worlds.get(case, {}).items():
                about = {"belief": names[case, key], **_about(plan, key.metric), **interval(found)}
                if case and key in worlds.get(0, {}):
                    about["against_first"] = difference(found, worlds[0][key])
                robots.setdefault(key.group, {}).setdefault(key.metric, {})[key.subject] = about
            seed, duration = (plan.cases[case][key] for key in ("seed", "duration"))
            told = {"seed": seed, "duration": duration, "worlds": self.done.get(case, 0)}
            cases.append({"values": values, **told, "robots": robots})
        return {
            "scenario": plan.scenario,
            "astray": plan.astray,
            "worlds": plan.worlds,
            "vary": plan.vary,
            "cases": cases,
            "failures": [
                {"case": task.case, "worlds": [task.first, task.first + task.count - 1], "why": why}
                for task, why in self.failures
            ],
        }

    def plot(self) -> Figure:
        """Each metric over what was varied, with intervals, as a matplotlib figure."""
        from astray.plots import with_png_repr
        from astray.sweeps.plot import plot_sweep

        return with_png_repr(plot_sweep(self))

    def files(self) -> Iterator[tuple[str, bytes]]:
        """What is written when all is done, by name."""
        yield "results.csv", self.to_csv().encode()
        yield "summary.json", (json.dumps(self.summary(), indent=2) + "\n").encode()
        picture = io.BytesIO()
        self.plot().savefig(picture, dpi=120, format="png")
        yield "summary.png", picture.getvalue()


def _about(plan: SweepPlan, metric: str) -> dict[str, str]:
    return plan.metrics.get(metric, {"unit": "", "average": "mean"})


def interval(values: Mapping[int, float]) -> dict[str, Any]:
    """The mean over worlds and its 95 % interval, None where one world has none to tell."""
    found = np.array([values[world] for world in sorted(values)])
    return {"worlds": len(found), **_mean(found)}


def difference(values: Mapping[int, float], first: Mapping[int, float]) -> dict[str, Any]:
    """How much larger values are than those of the first case, by the worlds that both have."""
    both = sorted(values.keys() & first.keys())
    return {"worlds": len(both), **_mean(np.array([values[w] - first[w] for w in both]))}


def _mean(values: Array) -> dict[str, float | None]:
    if not len(values):
        return {"mean": None, "low": None, "high": None}
    mean = float(values.mean())
    if len(values) < 2:
        return {"mean": mean, "low": None, "high": None}
    half = student(len(values) - 1) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return {"mean": mean, "low": mean - half, "high": mean + half}


def _table(rows: list[tuple[Any, ...]]) -> Table:
    """The rows of a ledger with their columns."""
    names = ("case", *Row._fields)
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    made = [
        np.array(column, TYPES.get(name, "i8" if name == "place" else "U"))
        for name, column in zip(names, columns, strict=True)
    ]
    return _joined(names, made)


def _joined(names: tuple[str, ...], columns: list[Array]) -> Table:
    layout = [(name, column.dtype) for name, column in zip(names, columns, strict=True)]
    table = np.zeros(len(columns[0]), layout)
    for name, column in zip(names, columns, strict=True):
        table[name] = column
    return table


def _tidy(plan: SweepPlan, rows: Table) -> Table:
    """A column per varied path, then what a row is about and its figures."""
    varied = plan.values()
    names, columns = [], []
    for path in plan.vary:
        names.append(f"scenario.{path}" if path in COLUMNS else path)
        values = [case[path] for case in varied]
        made = np.array(values if are_numbers(values) else [as_text(v) for v in values])
        columns.append(made[rows["case"]])
    return _joined((*names, *COLUMNS), [*columns, *(rows[name] for name in COLUMNS)])


def are_numbers(values: Sequence[Any]) -> bool:
    """Whether varied values have an axis, and not only names."""
    return all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)


def _by_world(plan: SweepPlan, rows: Table) -> dict[int, dict[Key, dict[int, float]]]:
    robots: dict[tuple[int, Key, int], list[float]] = {}
    fields = ("case", *Key._fields, "world", "rms", "mean")
    for case, *key, world, rms, mean in zip(*(rows[f].tolist() for f in fields), strict=True):
        what = Key(*key)
        value = rms if _about(plan, what.metric)["average"] == "rms" else mean
        robots.setdefault((case, what, world), []).append(value)
    found: dict[int, dict[Key, dict[int, float]]] = {}
    for (case, what, world), values in robots.items():
        mean = math.fsum(values) / len(values)
        found.setdefault(case, {}).setdefault(what, {})[world] = mean
    return found


def figure(value: float | None, about: Mapping[str, Any]) -> str:
    """A mean with its interval as people write it: 0.42 ± 0.03 m."""
    if value is None:
        return ""
    unit = f" {about['unit']}" if about.get("unit") else ""
    if about["low"] is None:
        return f"{value:.4g}{unit}"
    return f"{value:.4g} ± {(about['high'] - about['low']) / 2:.2g}{unit}"
