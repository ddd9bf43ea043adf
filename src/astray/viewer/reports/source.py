"""What a report tells: one run, whether it lies in a folder or in a recording.

A run has tales, one for each robot and each belief about it: belief and truth at the same stamps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
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
ROUNDING = 1e-12  # m or rad, of numbers that went through a message


@dataclass
class Tale:
    """One belief about one robot, beside the truth of the same stamps."""

    group: str
    robot: str
    who: str
    """Whose belief: "belief" is the robot's own, else a rival by its name."""
    truth: Table
    belief: Table

    @property
    def time(self) -> Array:
        """The stamps of the beliefs, s."""
        stamps: Array = self.belief["stamp"]
        return stamps

    @cached_property
    def distance(self) -> Array:
        """How far belief and truth are apart, m."""
        return Comparison(self.truth, self.belief).distance

    @cached_property
    def errors(self) -> Array:
        """Of x, y and yaw, (n, 3) m, m, rad."""
        apart = [self.belief[c] - self.truth[c] for c in ("x", "y", "yaw")]
        apart[2] = np.arctan2(np.sin(apart[2]), np.cos(apart[2]))
        found = np.stack(apart, axis=1)
        found[np.abs(found) < ROUNDING] = 0.0  # or a plot shows nothing but that, magnified
        return found

    @cached_property
    def sigmas(self) -> Array:
        """What the belief says of its own errors, (n, 3) m, m, rad; nan where it says nothing."""
        variances = np.diagonal(self.belief["cov"], axis1=1, axis2=2)
        return np.sqrt(np.where(variances > 0.0, variances, np.nan))

    @cached_property
    def nees(self) -> Array:
        """Normalised estimation error squared, (n,); nan where there is no covariance."""
        return measure(Nees(), Comparison(self.truth, self.belief))


@dataclass
class Story:
    """A run as a report tells it."""

    name: str
    seed: int
    worlds: list[int]
    version: str
    duration: float  # s
    scenario: str
    """As YAML."""
    events: list[Event]
    tales: list[Tale]
    map: Map | None = None
    collisions: int = 0
    estimators: dict[str, str | None] = field(default_factory=dict)
    """What each group believes by; None where it believes the truth."""
    files: dict[str, bytes] = field(default_factory=dict)
    """What the scenario names, by the names from it."""

    @property
    def groups(self) -> list[str]:
        """The groups of robots, in order."""
        return list(dict.fromkeys(tale.group for tale in self.tales))

    def of(self, group: str) -> dict[str, list[Tale]]:
        """The tales of a group by whose belief they tell."""
        found: dict[str, list[Tale]] = {}
        for tale in self.tales:
            if tale.group == group:
                found.setdefault(tale.who, []).append(tale)
        return found

    def called(self, group: str, who: str) -> str:
        """What a belief is called: by its estimator, if it is the robot's own."""
        own = self.estimators.get(group)
        return who if who != "belief" else (own or "the truth itself")


def read_story(path: Path) -> Story:
    """The run in a folder or in a recording; WrongInput if there is none."""
    if path.is_dir():
        return _from_folder(path)
    if not path.exists():
        raise WrongInput(f"{path}: there is no such file or folder")
    return _from_recording(path)


def _from_recording(path: Path) -> Story:
    recording = read_recording(path)
    return Story(
        recording.name,
        recording.seed,
        recording.worlds,
        recording.version,
        recording.duration,
        recording.scenario_text,
        recording.events,
        [tale for track in recording.robots.values() for tale in _tales_of(track)],
        recording.map,
        len(recording.collisions),
        {track.group: track.estimator for track in recording.robots.values()},
        recording.files,
    )


def _tales_of(track: RecordedRobot) -> Iterator[Tale]:
    for who, belief in track.beliefs.items():
        yield from _tale(track.group, track.name, who, track.truth, belief)


def _from_folder(folder: Path) -> Story:
    about, summary = read_run_info(folder), read_json_object(folder / "summary.json")
    arrays = read_log(folder)
    scenario = read_text(folder / "scenario.yaml")
    events = read_events(folder / "events.jsonl")
    files = read_scenario_files(folder)
    there = folder / "map.geojson"
    around = read_map(str(there)) if there.exists() else None
    with refuse_inconsistent_files(folder):
        groups: dict[str, Any] = summary["robots"]
        return Story(
            summary["scenario"],
            about["seed"],
            about["worlds"],
            about["astray"],
            summary["time"],
            scenario,
            events,
            [
                tale
                for name, group in groups.items()
                for tale in _logged(name, group, arrays, about)
            ],
            around,
            sum(group.get("collisions", 0) for group in groups.values()),
            {name: group["estimator"] for name, group in groups.items()},
            files,
        )


def _logged(group: str, about: Any, arrays: dict[str, Array], run: Any) -> Iterator[Tale]:
    """The tales of a group in a log, (times, rows)."""
    truth = _states(arrays, f"{group}/truth")
    rows, worlds = truth.shape[1], run["worlds"]
    each = rows // len(worlds)
    for row in range(rows):
        name = f"{group}_{row % each}" if each > 1 else group
        robot = f"world_{worlds[row // each]}/{name}" if len(worlds) > 1 else name
        for who in ("belief", *about["rivals"]):
            belief = _states(arrays, f"{group}/{who}")
            yield from _tale(group, robot, who, truth[:, row], belief[:, row])


def _states(arrays: dict[str, Array], name: str) -> Table:
    first = arrays[f"{name}/x"]
    made = table(STATE, first.size).reshape(first.shape)
    for column in ("stamp", "x", "y", "yaw", "vx", "vy", "wz", "cov"):
        if f"{name}/{column}" in arrays:
            made[column] = arrays[f"{name}/{column}"]
    return made


def _tale(group: str, robot: str, who: str, truth: Table, belief: Table) -> Iterator[Tale]:
    """Belief and truth at the stamps of the belief; nothing of a robot that never was there."""
    truth, belief = _last_life(truth), _last_life(belief)
    if len(truth) < 2 or len(belief) < 2:
        return
    known = (belief["stamp"] >= truth["stamp"][0]) & (belief["stamp"] <= truth["stamp"][-1])
    belief = belief[known]
    if len(belief) < 2:
        return
    reference = Reference(truth["stamp"], truth["x"], truth["y"], truth["yaw"])
    yield Tale(group, robot, who, reference.truth(belief["stamp"]), belief)


def _last_life(series: Table) -> Table:
    """The part of a series since its clock last went back, each stamp once."""
    gaps = np.diff(series["stamp"])
    back = np.flatnonzero(gaps < 0.0)
    start = int(back[-1]) + 1 if len(back) else 0
    kept = np.append(gaps[start:] > 0.0, True)
    return series[start:][kept] if len(series) else series
