"""The data of a report: one run, from a run folder or from a recording.

The run has one error series for each belief about each robot: belief and truth at the same stamps.
Each series gives one row of the metrics table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from astray.datasets import Comparison, Reference, measure
from astray.engine import Event, read_events
from astray.errors import WrongInput
from astray.metrics import Nees
from astray.recording import (
    RecordedRobot,
    read_json_object,
    read_log,
    read_recording,
    read_run_info,
    read_scenario_files,
    read_text,
    refuse_inconsistent_files,
)
from astray.tables import STATE, Array, Table, table
from astray.world import Map
from astray.world.maps import read_map

SIGMAS = 3.0
ROUNDING = 1e-12  # m or rad, of numbers that were converted to a message and back


@dataclass
class BeliefSeries:
    """One belief about one robot over time, with the truth at the same stamps."""

    group: str
    robot: str
    subject: str
    """Which belief: "belief" is the robot's own, any other name is that of a rival."""
    truth: Table
    belief: Table

    @property
    def time(self) -> Array:
        """The stamps of the belief, (n,) s."""
        stamps: Array = self.belief["stamp"]
        return stamps

    @cached_property
    def distance(self) -> Array:
        """The distance between belief and truth, (n,) m."""
        return Comparison(self.truth, self.belief).distance

    @cached_property
    def errors(self) -> Array:
        """The errors of x, y and yaw, (n, 3) m, m, rad."""
        x, y, yaw = (self.belief[c] - self.truth[c] for c in ("x", "y", "yaw"))
        errors = np.stack([x, y, np.arctan2(np.sin(yaw), np.cos(yaw))], axis=1)
        errors[np.abs(errors) < ROUNDING] = 0.0  # else a plot would magnify them
        return errors

    @cached_property
    def sigmas(self) -> Array:
        """The standard deviations that the belief claims, (n, 3) m, m, rad; nan without any."""
        variances = np.diagonal(self.belief["cov"], axis1=1, axis2=2)
        return np.sqrt(np.where(variances > 0.0, variances, np.nan))

    @cached_property
    def nees(self) -> Array:
        """The normalised estimation error squared, (n,); nan without a covariance."""
        return measure(Nees(), Comparison(self.truth, self.belief))


@dataclass
class ReportData:
    """What a report shows of a run."""

    name: str
    seed: int
    worlds: list[int]
    version: str
    duration: float  # s
    scenario: str
    """The effective scenario as YAML."""
    events: list[Event]
    series: list[BeliefSeries]
    map: Map | None = None
    collisions: int = 0
    estimators: dict[str, str | None] = field(default_factory=dict)
    """The kind of each group's estimator; None where the group believes the truth."""
    files: dict[str, bytes] = field(default_factory=dict)
    """The files that the scenario refers to, by their names in it."""

    @property
    def groups(self) -> list[str]:
        """The names of the groups, in order."""
        return list(dict.fromkeys(series.group for series in self.series))

    def series_of(self, group: str) -> dict[str, list[BeliefSeries]]:
        """The series of a group, by their subject."""
        found: dict[str, list[BeliefSeries]] = {}
        for series in self.series:
            if series.group == group:
                found.setdefault(series.subject, []).append(series)
        return found

    def belief_name(self, group: str, subject: str) -> str:
        """The name of a belief: that of its estimator, or that of the rival."""
        if subject != "belief":
            return subject
        return self.estimators.get(group) or "the truth itself"


# Reading.


def read_report_data(path: Path) -> ReportData:
    """Read the run in a folder or in a recording; WrongInput if there is none."""
    if path.is_dir():
        return _read_folder(path)
    if not path.exists():
        raise WrongInput(f"{path}: there is no such file or folder")
    return _read_recording(path)


def _read_recording(path: Path) -> ReportData:
    recording = read_recording(path)
    return ReportData(
        recording.name,
        recording.seed,
        recording.worlds,
        recording.version,
        recording.duration,
        recording.scenario_text,
        recording.events,
        [series for robot in recording.robots.values() for series in _recorded_series(robot)],
        recording.map,
        len(recording.collisions),
        {robot.group: robot.estimator for robot in recording.robots.values()},
        recording.files,
    )


def _recorded_series(robot: RecordedRobot) -> Iterator[BeliefSeries]:
    for subject, belief in robot.beliefs.items():
        yield from _aligned_series(robot.group, robot.name, subject, robot.truth, belief)


def _read_folder(folder: Path) -> ReportData:
    info, summary = read_run_info(folder), read_json_object(folder / "summary.json")
    arrays = read_log(folder)
    scenario = read_text(folder / "scenario.yaml")
    events = read_events(folder / "events.jsonl")
    files = read_scenario_files(folder)
    map_file = folder / "map.geojson"
    found = read_map(str(map_file)) if map_file.exists() else None
    with refuse_inconsistent_files(folder):
        groups: dict[str, Any] = summary["robots"]
        return ReportData(
            summary["scenario"],
            info["seed"],
            info["worlds"],
            info["astray"],
            summary["time"],
            scenario,
            events,
            [
                series
                for name, group in groups.items()
                for series in _logged_series(name, group["rivals"], arrays, info["worlds"])
            ],
            found,
            sum(group.get("collisions", 0) for group in groups.values()),
            {name: group["estimator"] for name, group in groups.items()},
            files,
        )


def _logged_series(
    group: str, rivals: Any, arrays: dict[str, Array], worlds: Any
) -> Iterator[BeliefSeries]:
    """The series of a group in a log, whose arrays are (times, rows)."""
    truth = _logged_states(arrays, f"{group}/truth")
    rows = truth.shape[1]
    robots = rows // len(worlds)
    for row in range(rows):
        name = f"{group}_{row % robots}" if robots > 1 else group
        robot = f"world_{worlds[row // robots]}/{name}" if len(worlds) > 1 else name
        for subject in ("belief", *rivals):
            belief = _logged_states(arrays, f"{group}/{subject}")
            yield from _aligned_series(group, robot, subject, truth[:, row], belief[:, row])


def _logged_states(arrays: dict[str, Array], name: str) -> Table:
    first = arrays[f"{name}/x"]
    made = table(STATE, first.size).reshape(first.shape)
    for column in ("stamp", "x", "y", "yaw", "vx", "vy", "wz", "cov"):
        if f"{name}/{column}" in arrays:
            made[column] = arrays[f"{name}/{column}"]
    return made


def _aligned_series(
    group: str, robot: str, subject: str, truth: Table, belief: Table
) -> Iterator[BeliefSeries]:
    """Interpolate the truth at the stamps of the belief; nothing of a robot that never existed."""
    truth, belief = _last_episode(truth), _last_episode(belief)
    if len(truth) < 2 or len(belief) < 2:
        return
    within = (belief["stamp"] >= truth["stamp"][0]) & (belief["stamp"] <= truth["stamp"][-1])
    belief = belief[within]
    if len(belief) < 2:
        return
    reference = Reference(truth["stamp"], truth["x"], truth["y"], truth["yaw"])
    yield BeliefSeries(group, robot, subject, reference.truth(belief["stamp"]), belief)


def _last_episode(series: Table) -> Table:
    """The part of a series after its stamps last decreased, each stamp once."""
    gaps = np.diff(series["stamp"])
    restarts = np.flatnonzero(gaps < 0.0)
    start = int(restarts[-1]) + 1 if len(restarts) else 0
    kept = np.append(gaps[start:] > 0.0, True)
    return series[start:][kept] if len(series) else series


# Metrics.


@dataclass(frozen=True)
class MetricsRow:
    """The metrics of one belief about one robot; nan where there is nothing to measure."""

    robot: str
    belief: str
    travelled: float  # m
    rmse: float  # m
    largest: float  # m
    final: float  # m
    heading_rmse: float  # rad
    nees: float  # mean; 3 for a consistent belief
    outside: float  # share of beliefs with an error beyond three sigma in x, y or yaw


CSV_COLUMNS = ("robot", "who", "way", "rmse", "most", "final", "heading_rmse", "nees", "outside")
"""The columns of metrics.csv, in the order of the fields of a row."""
HEADINGS = (
    ("robot", ""),
    ("belief", ""),
    ("travelled", "m"),
    ("rms error", "m"),
    ("largest", "m"),
    ("at the end", "m"),
    ("heading rms", "rad"),
    ("mean NEES", ""),
    ("beyond 3σ", "%"),
)
"""The heading and the unit of each field of a row, for people."""


def compute_metrics(data: ReportData) -> list[MetricsRow]:
    """Compute the metrics of every series of a run."""
    return [_metrics_row(s, data.belief_name(s.group, s.subject)) for s in data.series]


def _metrics_row(series: BeliefSeries, belief: str) -> MetricsRow:
    steps = np.hypot(np.diff(series.truth["x"]), np.diff(series.truth["y"]))
    nees = series.nees[np.isfinite(series.nees)]
    claimed = np.isfinite(series.sigmas).all(axis=1)
    beyond = (np.abs(series.errors[claimed]) > SIGMAS * series.sigmas[claimed]).any(axis=1)
    return MetricsRow(
        series.robot,
        belief,
        float(steps.sum()),
        _rms(series.distance),
        float(series.distance.max()),
        float(series.distance[-1]),
        _rms(series.errors[:, 2]),
        float(nees.mean()) if len(nees) else float("nan"),
        float(beyond.mean()) if claimed.any() else float("nan"),
    )


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def format_row(row: MetricsRow) -> list[str]:
    """The fields of a row as text for people."""
    metres = (row.rmse, row.largest, row.final, row.heading_rmse)
    texts = [f"{row.travelled:.1f}", *(f"{value:.3f}" for value in metres)]
    texts.append("–" if np.isnan(row.nees) else f"{row.nees:.2f}")
    texts.append("–" if np.isnan(row.outside) else f"{100 * row.outside:.1f}")
    return [row.robot, row.belief, *texts]


def metrics_csv(rows: list[MetricsRow]) -> str:
    """All rows as CSV in full precision; a nan is an empty field."""
    lines = [",".join(CSV_COLUMNS)]
    for row in rows:
        values = [getattr(row, column.name) for column in fields(row)]
        lines.append(",".join("" if value != value else str(value) for value in values))
    return "\n".join(lines) + "\n"
