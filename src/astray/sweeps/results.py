"""The results of a sweep: a tidy table, means over worlds with intervals, paired differences.

A case has one value per world: the rms over time of a robot's metric (or its mean, if the metric is
averaged so), averaged over the robots of the group. Worlds are independent, robots of one world are
not, so intervals are taken over worlds. All cases ran the same worlds with the same noise, so they
are compared world by world: a paired difference leaves out what they have in common.
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

from astray.errors import WrongInput, unknown_name
from astray.numerics import student_t_95
from astray.sweeps.cases import SweepPlan, SweepTask, yaml_text
from astray.sweeps.results_database import ResultRow, ResultsDatabase
from astray.tables import Array, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ("world", "group", "robot", "belief", "metric", "rms", "mean", "most", "last")
DTYPES: dict[str, Any] = {
    "case": "i8",
    "world": "i8",
    "place": "i8",
    "robot": "i8",
    **dict.fromkeys(("rms", "mean", "most", "last"), "f8"),
}
"""The types of columns of numbers; all others are text."""
quantile = cache(student_t_95)


class MetricKey(NamedTuple):
    """What is compared between cases: a metric of a belief of a group of robots."""

    group: str
    metric: str
    subject: str  # belief, contacts or the name of a rival


WorldValues = dict[int, float]
"""The value of each world."""


class Sweep:
    """The results of a sweep, finished or still running.

    `sweep["rms"]` is a column of the table.
    """

    def __init__(self, folder: Path, plan: SweepPlan, database: ResultsDatabase) -> None:
        self.folder, self.plan = folder, plan
        self.done = database.finished()
        """The number of finished worlds of each case, by its index."""
        self.failures: list[tuple[SweepTask, str]] = database.failures()
        """The worlds that failed, and why."""
        self._rows = _table_of(database.rows())
        self._world_values = _average_robots(plan, self._rows)
        self.table = _tidy_table(plan, self._rows)
        """One row per case, world, robot, belief and metric; NumPy records."""

    def __getitem__(self, column: str) -> Array:
        """A column of the table.

        Raises:
            UnknownName: There is no such column.
        """
        names = self.table.dtype.names or ()
        if column not in names:
            raise unknown_name("column", column, names)
        found: Array = self.table[column]
        return found

    def __repr__(self) -> str:
        """What it has, in one line."""
        cases, done = len(self.plan.cases), sum(self.done.values())
        varied = f" over {', '.join(self.plan.vary)}" if self.plan.vary else ""
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return (
            f"Sweep({self.plan.scenario!r}{varied}: {done} of {cases * self.plan.worlds} worlds "
            f"of {cases} case{'s' if cases > 1 else ''}{failed}; "
            f"columns: {', '.join(self.table.dtype.names or ())})"
        )

    def to_pandas(self) -> Any:
        """The table as a DataFrame.

        Raises:
            WrongInput: pandas is not installed.
        """
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

    def world_values(self) -> dict[int, dict[MetricKey, WorldValues]]:
        """The value of each world, by case and metric."""
        return self._world_values

    def belief_names(self) -> dict[tuple[int, MetricKey], str]:
        """The name of the estimator whose belief is measured; it may differ between cases."""
        found = np.unique(self._rows[["case", *MetricKey._fields, "belief"]])
        return {
            (int(case), MetricKey(*map(str, key))): str(belief)
            for case, *key, belief in found.tolist()
        }

    def summary(self) -> dict[str, Any]:
        """The mean of every metric with its 95 % interval, per case, and the failures.

        Returns:
            Plain data, as in `summary.json`.
        """
        plan, values, beliefs = self.plan, self.world_values(), self.belief_names()
        cases = []
        for case, varied in enumerate(plan.case_values()):
            robots: dict[str, Any] = {}
            for key, found in values.get(case, {}).items():
                entry: dict[str, Any] = {"belief": beliefs[case, key], **_units(plan, key.metric)}
                entry |= mean_interval(found)
                if case and key in values.get(0, {}):
                    entry["against_first"] = paired_difference(found, values[0][key])
                robots.setdefault(key.group, {}).setdefault(key.metric, {})[key.subject] = entry
            seed, duration = (plan.cases[case][key] for key in ("seed", "duration"))
            run = {"seed": seed, "duration": duration, "worlds": self.done.get(case, 0)}
            cases.append({"values": varied, **run, "robots": robots})
        return {
            "scenario": plan.scenario,
            "astray": plan.astray,
            "worlds": plan.worlds,
            "vary": plan.vary,
            "cases": cases,
            "failures": [
                {
                    "case": task.case,
                    "worlds": [task.first, task.first + task.count - 1],
                    "why": reason,
                }
                for task, reason in self.failures
            ],
        }

    def plot(self) -> Figure:
        """Plot each metric over what was varied, with intervals, as a matplotlib figure."""
        from astray.plots import with_png_repr
        from astray.sweeps.plot import plot_sweep

        return with_png_repr(plot_sweep(self))

    def files(self) -> Iterator[tuple[str, bytes]]:
        """The name and content of each file that is written when the sweep is finished."""
        yield "results.csv", self.to_csv().encode()
        yield "summary.json", (json.dumps(self.summary(), indent=2) + "\n").encode()
        png = io.BytesIO()
        self.plot().savefig(png, dpi=120, format="png")
        yield "summary.png", png.getvalue()


# Statistics.


def _units(plan: SweepPlan, metric: str) -> dict[str, str]:
    """The unit of a metric, and how it is averaged over time; collisions are in no plan."""
    return plan.metrics.get(metric, {"unit": "", "average": "mean"})


def mean_interval(values: Mapping[int, float]) -> dict[str, Any]:
    """The mean over worlds and its 95 % interval, whose ends are None for a single world."""
    return {
        "worlds": len(values),
        **_student_interval(np.array([values[world] for world in sorted(values)])),
    }


def paired_difference(values: Mapping[int, float], first: Mapping[int, float]) -> dict[str, Any]:
    """The mean difference from the first case over the worlds that both have, and its interval."""
    common = sorted(values.keys() & first.keys())
    differences = np.array([values[world] - first[world] for world in common])
    return {"worlds": len(common), **_student_interval(differences)}


def _student_interval(values: Array) -> dict[str, float | None]:
    """The mean of independent values and its 95 % interval by Student's t distribution."""
    if not len(values):
        return {"mean": None, "low": None, "high": None}
    mean = float(values.mean())
    if len(values) < 2:
        return {"mean": mean, "low": None, "high": None}
    half = quantile(len(values) - 1) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return {"mean": mean, "low": mean - half, "high": mean + half}


def _average_robots(plan: SweepPlan, rows: Table) -> dict[int, dict[MetricKey, WorldValues]]:
    """The value of each world: the mean over the robots of a group."""
    of_robots: dict[tuple[int, MetricKey, int], list[float]] = {}
    columns = ("case", *MetricKey._fields, "world", "rms", "mean")
    for case, *fields, world, rms, mean in zip(*(rows[c].tolist() for c in columns), strict=True):
        key = MetricKey(*fields)
        value = rms if _units(plan, key.metric)["average"] == "rms" else mean
        of_robots.setdefault((case, key, world), []).append(value)
    found: dict[int, dict[MetricKey, WorldValues]] = {}
    for (case, key, world), values in of_robots.items():
        mean = math.fsum(values) / len(values)
        found.setdefault(case, {}).setdefault(key, {})[world] = mean
    return found


def format_interval(mean: float | None, entry: Mapping[str, Any]) -> str:
    """A mean with the half-width of its interval and its unit as text: 0.42 ± 0.03 m.

    Args:
        mean: The mean; None gives an empty text.
        entry: `low`, `high` and optionally `unit`, as in the summary.
    """
    if mean is None:
        return ""
    unit = f" {entry['unit']}" if entry.get("unit") else ""
    if entry["low"] is None:
        return f"{mean:.4g}{unit}"
    return f"{mean:.4g} ± {(entry['high'] - entry['low']) / 2:.2g}{unit}"


# Tables.


def _table_of(rows: list[tuple[Any, ...]]) -> Table:
    """The rows of the database as NumPy records."""
    names = ("case", *ResultRow._fields)
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    arrays = [
        np.array(column, DTYPES.get(name, "U")) for name, column in zip(names, columns, strict=True)
    ]
    return _join_columns(names, arrays)


def _tidy_table(plan: SweepPlan, rows: Table) -> Table:
    """A column per varied path, then the columns of the results."""
    case_values = plan.case_values()
    names, columns = [], []
    for path in plan.vary:
        names.append(f"scenario.{path}" if path in COLUMNS else path)
        values = [case[path] for case in case_values]
        column = np.array(values if are_numbers(values) else [yaml_text(v) for v in values])
        columns.append(column[rows["case"]])
    return _join_columns((*names, *COLUMNS), [*columns, *(rows[name] for name in COLUMNS)])


def _join_columns(names: tuple[str, ...], columns: list[Array]) -> Table:
    layout = [(name, column.dtype) for name, column in zip(names, columns, strict=True)]
    table = np.zeros(len(columns[0]), layout)
    for name, column in zip(names, columns, strict=True):
        table[name] = column
    return table


def are_numbers(values: Sequence[Any]) -> bool:
    """Whether varied values are numbers, which have an axis; truth values are not."""
    return all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
