"""A run that `--out` wrote to a folder, as a recording."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from astray.engine import read_events
from astray.errors import ScenarioError, WrongInput
from astray.recording import read_log, read_run_info, refuse_inconsistent_files
from astray.scenario import GroupPlan, Scenario, load_scenario
from astray.tables import STATE, Array, about
from astray.viewer.page.drawables import sight
from astray.viewer.page.frames import ALIVE, BELIEF, ROBOT
from astray.viewer.page.scene import beliefs_of, group_data, map_data
from astray.viewer.page.sources.source import ReplaySource, Shown
from astray.viewer.page.tracks import logged_tracks, page_numbers
from astray.world import Map
from astray.world.maps import read_map

UPPER = (0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2)  # of a symmetric matrix
PLOTTED = ("x", "y", "yaw", "vx", "vy", "wz")
DRAWN = ("scan", "sonar")  # the readings that a folder keeps whole


def read_folder(folder: Path) -> ReplaySource:
    """The first world of a run that was written to a folder."""
    ran, log = read_run_info(folder), read_log(folder)
    try:
        scenario = load_scenario(folder / "scenario.yaml")
    except ScenarioError as problem:
        raise WrongInput(f"{folder}: its scenario no longer loads:\n{problem}") from None
    map_file = folder / "map.geojson"
    around = read_map(str(map_file)) if map_file.exists() else Map()
    hits = _hits(folder / "collisions.csv", scenario.robots, ran["worlds"][0])
    happened = hits, _events(folder / "events.jsonl", scenario.dt)
    with refuse_inconsistent_files(folder):
        return make_recording(scenario, ran, around, log, happened)


def make_recording(
    scenario: Scenario,
    ran: Mapping[str, Any],
    around: Map,
    log: Mapping[str, Array],
    happened: tuple[list[list[float]], list[dict[str, Any]]],
) -> ReplaySource:
    """A recording of series by name, as a folder keeps them, and of hits and events."""
    plans = scenario.robots
    values = {plan.name: _values(plan, log) for plan in plans}
    robots = [_robots(plan, log) for plan in plans]
    beliefs = [_belief(plan, who, log) for plan in plans for who in beliefs_of(plan)]
    none = np.zeros((len(log["time"]), 0, BELIEF), np.float32)
    return ReplaySource(
        _scene(scenario, ran, around, values),
        log["time"],
        np.concatenate(robots, axis=1),
        np.concatenate([none, *beliefs], axis=1),
        _tracks(plans, log),
        _readings(plans, log),
        {group: {n: v for n, (_, v) in signals.items()} for group, signals in values.items()},
        *happened,
    )


def _scene(
    scenario: Scenario,
    ran: Mapping[str, Any],
    around: Map,
    values: Mapping[str, Mapping[str, tuple[str, Array]]],
) -> dict[str, Any]:
    groups = []
    for plan in scenario.robots:
        signals = [{"name": name, "unit": unit} for name, (unit, _) in values[plan.name].items()]
        groups.append(group_data(plan, around, signals))
    return {
        "serial": 1,
        "name": scenario.name,
        "dt": scenario.dt,
        "duration": scenario.duration,
        "seed": ran.get("seed", scenario.seed),
        "world": 0,
        "worlds": [ran["worlds"][0]],
        "phases": [],
        "resets": False,
        "map": map_data(around),
        "groups": groups,
    }


def _robots(plan: GroupPlan, log: Mapping[str, Array]) -> Array:
    """The truth of the first world, (moments, robots, ROBOT)."""
    n, name = plan.capacity, f"{plan.name}/truth"
    out = np.zeros((len(log["time"]), n, ROBOT), np.float32)
    for k, column in enumerate(PLOTTED):
        out[:, :, k] = log[f"{name}/{column}"][:, :n]
    alive = log.get(f"{name}/alive")
    out[:, :, 6] = ALIVE * (np.arange(n) < plan.count if alive is None else alive[:, :n])
    return out


def _belief(plan: GroupPlan, who: str, log: Mapping[str, Array]) -> Array:
    """What one estimator believed, (moments, robots, BELIEF)."""
    n, name = plan.capacity, f"{plan.name}/{who}"
    out = np.zeros((len(log["time"]), n, BELIEF), np.float32)
    for k, column in enumerate(("x", "y", "yaw")):
        out[:, :, k] = log[f"{name}/{column}"][:, :n]
    out[:, :, 3] = log[f"{plan.name}/truth/stamp"][:, :n] - log[f"{name}/stamp"][:, :n]
    if f"{name}/cov" in log:
        out[:, :, 4:] = log[f"{name}/cov"][:, :n, UPPER[0], UPPER[1]]
    return out


def _tracks(plans: list[GroupPlan], log: Mapping[str, Array]) -> Array:
    """What all robots believed of each other, (moments, tracks, TRACK)."""
    numbers, first, found = page_numbers(plans), 0, []
    for plan in plans:
        found.append(logged_tracks(plan, log, first, numbers))
        first += plan.capacity
    return np.concatenate(found, axis=1)


def _values(plan: GroupPlan, log: Mapping[str, Array]) -> dict[str, tuple[str, Array]]:
    """Units and numbers of all that can be plotted, by name."""
    n, found = plan.capacity, {}
    beliefs = beliefs_of(plan)
    for who in ("truth", *beliefs):
        for column in PLOTTED:
            key = f"{plan.name}/{who}/{column}"
            if key in log:
                found[f"{who}.{column}"] = (about(STATE)[column].unit, log[key][:, :n])
    taken = {"truth", *beliefs, *(sensor.name for sensor in plan.sensors)}
    for key, series in log.items():
        group, _, rest = key.partition("/")
        metric, _, who = rest.rpartition("/")
        if group == plan.name and metric and metric not in taken and who in ("belief", *beliefs):
            found[metric if who == "belief" else f"{metric} of {who}"] = ("", series[:, :n])
    return found


def _readings(plans: list[GroupPlan], log: Mapping[str, Array]) -> list[Shown]:
    found, first = [], 0
    for plan in plans:
        for k, sensor in enumerate(plan.sensors):
            ranges = log.get(f"{plan.name}/{sensor.name}/ranges")
            if ranges is not None and sight(sensor)["draws"] in DRAWN:
                found += [Shown(first + r, k, ranges[:, r]) for r in range(plan.capacity)]
        first += plan.capacity
    return found


def _hits(file: Path, plans: list[GroupPlan], world: int) -> list[list[float]]:
    if not file.exists():
        return []
    numbers: dict[str, int] = {}
    for plan in plans:
        for robot in range(plan.capacity):
            numbers[f"{plan.name}-{robot}"] = len(numbers)
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            return [
                [
                    float(hit["stamp"]),
                    numbers.get(hit["robot"], -1),
                    numbers.get(hit["with"], -1),
                    *(float(hit[column]) for column in ("x", "y", "speed")),
                ]
                for hit in csv.DictReader(lines)
                if int(hit["world"]) == world
            ]
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as problem:
        raise WrongInput(f"{file}: damaged: {problem}") from None


def _events(file: Path, dt: float) -> list[dict[str, Any]]:
    events = read_events(file) if file.exists() else []
    return [{"time": (event.step or 0) * dt, "kind": event.kind} for event in events]
