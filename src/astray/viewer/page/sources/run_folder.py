"""A run that `--out` wrote to a folder, as a recording for the page."""

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
from astray.tables import STATE, Array, columns_of
from astray.viewer.page.codec import ReplayReadings, ReplaySource
from astray.viewer.page.frames import ALIVE, BELIEF, ROBOT, UPPER
from astray.viewer.page.scene import estimators_of, group_data, map_data, sensor_data
from astray.viewer.page.tracks import logged_tracks, page_numbers
from astray.world import Map
from astray.world.maps import read_map

STATE_COLUMNS = ("x", "y", "yaw", "vx", "vy", "wz")
WHOLE = ("scan", "sonar")  # the readings that a folder keeps whole


def read_folder(folder: Path) -> ReplaySource:
    """The first world of a run that was written to a folder.

    Args:
        folder: What `--out` or `sim.write` wrote.

    Returns:
        The recording.

    Raises:
        WrongInput: A file is missing or damaged, or the scenario no longer loads.
    """
    run, log = read_run_info(folder), read_log(folder)
    try:
        scenario = load_scenario(folder / "scenario.yaml")
    except ScenarioError as error:
        raise WrongInput(f"{folder}: its scenario no longer loads:\n{error}") from None
    map_file = folder / "map.geojson"
    map = read_map(str(map_file)) if map_file.exists() else Map()
    collisions = _collisions(folder / "collisions.csv", scenario.robots, run["worlds"][0])
    events = _events(folder / "events.jsonl", scenario.dt)
    with refuse_inconsistent_files(folder):
        return make_recording(scenario, run, map, log, collisions, events)


def make_recording(
    scenario: Scenario,
    run: Mapping[str, Any],
    map: Map,
    log: Mapping[str, Array],
    collisions: list[list[float]],
    events: list[dict[str, Any]],
) -> ReplaySource:
    """A recording from series by name, as a folder keeps them; `run` has seed and worlds."""
    plans = scenario.robots
    signals = {plan.name: _signals(plan, log) for plan in plans}
    robots = [_robots(plan, log) for plan in plans]
    beliefs = [_belief(plan, name, log) for plan in plans for name in estimators_of(plan)]
    no_belief = np.zeros((len(log["time"]), 0, BELIEF), np.float32)
    return ReplaySource(
        _scene(scenario, run, map, signals),
        log["time"],
        np.concatenate(robots, axis=1),
        np.concatenate([no_belief, *beliefs], axis=1),
        _tracks(plans, log),
        _readings(plans, log),
        {group: {name: v for name, (_, v) in of.items()} for group, of in signals.items()},
        collisions,
        events,
    )


def page_numbers_by_name(plans: list[GroupPlan]) -> dict[str, int]:
    """The numbers on the page of all robots, by their names in collisions."""
    names = [f"{plan.name}-{k}" for plan in plans for k in range(plan.capacity)]
    return {name: number for number, name in enumerate(names)}


def _scene(
    scenario: Scenario,
    run: Mapping[str, Any],
    map: Map,
    signals: Mapping[str, Mapping[str, tuple[str, Array]]],
) -> dict[str, Any]:
    groups = []
    for plan in scenario.robots:
        about_signals = [{"name": n, "unit": unit} for n, (unit, _) in signals[plan.name].items()]
        groups.append(group_data(plan, map, about_signals))
    return {
        "serial": 1,
        "name": scenario.name,
        "dt": scenario.dt,
        "duration": scenario.duration,
        "seed": run.get("seed", scenario.seed),
        "world": 0,
        "worlds": [run["worlds"][0]],
        "phases": [],
        "resets": False,
        "map": map_data(map),
        "groups": groups,
    }


def _robots(plan: GroupPlan, log: Mapping[str, Array]) -> Array:
    """The truth of a group, (moments, robots, ROBOT)."""
    n, prefix = plan.capacity, f"{plan.name}/truth"
    out = np.zeros((len(log["time"]), n, ROBOT), np.float32)
    for k, column in enumerate(STATE_COLUMNS):
        out[:, :, k] = log[f"{prefix}/{column}"][:, :n]
    alive = log.get(f"{prefix}/alive")
    out[:, :, 6] = ALIVE * (np.arange(n) < plan.count if alive is None else alive[:, :n])
    return out


def _belief(plan: GroupPlan, name: str, log: Mapping[str, Array]) -> Array:
    """The belief of one estimator of a group, (moments, robots, BELIEF)."""
    n, prefix = plan.capacity, f"{plan.name}/{name}"
    out = np.zeros((len(log["time"]), n, BELIEF), np.float32)
    for k, column in enumerate(("x", "y", "yaw")):
        out[:, :, k] = log[f"{prefix}/{column}"][:, :n]
    out[:, :, 3] = log[f"{plan.name}/truth/stamp"][:, :n] - log[f"{prefix}/stamp"][:, :n]
    if f"{prefix}/cov" in log:
        out[:, :, 4:] = log[f"{prefix}/cov"][:, :n, UPPER[0], UPPER[1]]
    return out


def _tracks(plans: list[GroupPlan], log: Mapping[str, Array]) -> Array:
    """The tracks of all robots, (moments, tracks, TRACK)."""
    numbers, first, tracks = page_numbers(plans), 0, []
    for plan in plans:
        tracks.append(logged_tracks(plan, log, first, numbers))
        first += plan.capacity
    return np.concatenate(tracks, axis=1)


def _signals(plan: GroupPlan, log: Mapping[str, Array]) -> dict[str, tuple[str, Array]]:
    """The units and values of all that can be plotted of a group, by name."""
    n, signals = plan.capacity, {}
    estimators = estimators_of(plan)
    for subject in ("truth", *estimators):
        for column in STATE_COLUMNS:
            key = f"{plan.name}/{subject}/{column}"
            if key in log:
                signals[f"{subject}.{column}"] = (columns_of(STATE)[column].unit, log[key][:, :n])
    no_metrics = {"truth", *estimators, *(sensor.name for sensor in plan.sensors)}
    for key, series in log.items():
        group, _, rest = key.partition("/")
        metric, _, subject = rest.rpartition("/")
        is_metric = metric and metric not in no_metrics and subject in ("belief", *estimators)
        if group == plan.name and is_metric:
            name = metric if subject == "belief" else f"{metric} of {subject}"
            signals[name] = ("", series[:, :n])
    return signals


def _readings(plans: list[GroupPlan], log: Mapping[str, Array]) -> list[ReplayReadings]:
    readings, first = [], 0
    for plan in plans:
        for k, sensor in enumerate(plan.sensors):
            ranges = log.get(f"{plan.name}/{sensor.name}/ranges")
            if ranges is not None and sensor_data(sensor)["draws"] in WHOLE:
                readings += [
                    ReplayReadings(first + r, k, ranges[:, r]) for r in range(plan.capacity)
                ]
        first += plan.capacity
    return readings


def _collisions(file: Path, plans: list[GroupPlan], world: int) -> list[list[float]]:
    if not file.exists():
        return []
    numbers = page_numbers_by_name(plans)
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
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        raise WrongInput(f"{file}: damaged: {error}") from None


def _events(file: Path, dt: float) -> list[dict[str, Any]]:
    events = read_events(file) if file.exists() else []
    return [{"time": (event.step or 0) * dt, "kind": event.kind} for event in events]
