"""A run that `--record` wrote to an MCAP file, as a recording for the page.

Times are those of the file: stamps begin at 0 again where a world starts over.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from astray.errors import ScenarioError, WrongInput
from astray.recording import TRUTH_TOPIC, RecordedRobot, read_recording
from astray.recording import Recording as Recorded
from astray.recording.mcap import COLLISIONS, EVENTS
from astray.ros.publishers import TRACKS_TOPIC as TRACKS
from astray.ros.publishers import Topic
from astray.scenario import GroupPlan, load_scenario
from astray.tables import Array, Table
from astray.viewer.page.sources.run_folder import PLOTTED, make_recording
from astray.viewer.page.sources.source import ReplaySource
from astray.viewer.page.tracks import NEEDED
from astray.world import Map

KEPT = (*PLOTTED, "stamp", "cov")
LATE = 1.5  # periods without a word after which a robot is taken to be gone


def read_recorded(file: Path) -> ReplaySource:
    """The first world of a recording."""
    source = read_recording(file)
    try:
        scenario = load_scenario(source.scenario)
    except ScenarioError as problem:
        raise WrongInput(f"{file}: its scenario does not load here:\n{problem}") from None
    world = source.worlds[0]
    tracks = {(t.group, t.number): t for t in source.robots.values() if t.world == world}
    told = [track.times(TRUTH_TOPIC) for track in tracks.values()]
    times = np.unique(np.concatenate([np.zeros(0), *told]))
    if not len(times):
        raise WrongInput(f"{file}: nothing of any robot was recorded")
    log: dict[str, Array] = {"time": times}
    for plan in scenario.robots:
        of_group = [tracks.get((plan.name, number)) for number in range(plan.capacity)]
        log |= _group(plan, of_group, times)
    ran = {"seed": source.seed, "worlds": [world]}
    came = zip(_times(source, EVENTS), source.events, strict=True)
    events = [{"time": time, "kind": event.kind} for time, event in came]
    hits = _hits(source, scenario.robots, world)
    return make_recording(scenario, ran, source.map or Map(), log, (hits, events))


def _group(plan: GroupPlan, tracks: list[RecordedRobot | None], times: Array) -> dict[str, Array]:
    """The series of one group as a folder's log has them: a row per time, a column per robot."""
    log: dict[str, Array] = {}
    there = np.zeros((len(times), len(tracks)), bool)
    for k, track in enumerate(tracks):
        if track is None or not len(track.truth):
            continue
        told = track.times(TRUTH_TOPIC)
        period = np.median(np.diff(told)) if len(told) > 1 else np.inf
        row = _newest(told, times)
        there[:, k] = (row >= 0) & (times - told[row] <= LATE * period)
        _put(log, f"{plan.name}/truth", track.truth, row, (k, len(tracks)))
        for who, topic in track.belief_topics.items():
            row = _newest(track.times(topic), times)
            _put(log, f"{plan.name}/{who}", track.beliefs[who], row, (k, len(tracks)))
        if len(track.contacts.stamp):
            at = _newest(track.times(TRACKS), times)
            believed = track.contacts.tracks[at]
            believed["confirmed"] &= (at >= 0)[:, None]
            for column in NEEDED:
                _series(log, f"{plan.name}/tracks/{column}", believed[column], (k, len(tracks)))
        for sensor, reading in track.readings.items():
            if "ranges" in reading.arrays and len(reading.stamp):
                at = _newest(track.times(track.sensor_topics[sensor]), times)
                ranges = np.where((at >= 0)[:, None], reading.arrays["ranges"][at], 0.0)
                _column(log, f"{plan.name}/{sensor}/ranges", ranges, (k, len(tracks)))
    if f"{plan.name}/truth/x" not in log:  # they never woke up
        shape = (len(times), len(tracks))
        log |= {f"{plan.name}/truth/{column}": np.zeros(shape) for column in (*PLOTTED, "stamp")}
    log[f"{plan.name}/truth/alive"] = there
    return log


def _put(
    log: dict[str, Array], name: str, states: Table, newest: Array, place: tuple[int, int]
) -> None:
    """What was newest of some states at each time, in one column of each series."""
    if not len(states):
        return
    row = np.maximum(newest, 0)
    for column in KEPT:
        _column(log, f"{name}/{column}", states[column][row], place)


def _column(log: dict[str, Array], name: str, values: Array, place: tuple[int, int]) -> None:
    _series(log, name, np.nan_to_num(values, posinf=0.0, neginf=0.0), place)


def _series(log: dict[str, Array], name: str, values: Array, place: tuple[int, int]) -> None:
    column, count = place
    if name not in log:
        log[name] = np.zeros((len(values), count, *values.shape[1:]), values.dtype)
    log[name][:, column] = values


def _newest(told: Array, times: Array) -> Array:
    """Which of some times is the last that is not after each of the others; −1 for none."""
    return np.searchsorted(told, times + 1e-9, side="right") - 1


def _times(source: Recorded, topic: Topic) -> list[float]:
    """When it was told what happened, s."""
    said = source.news.get(topic.name)
    return [] if said is None else said.times.tolist()


def _hits(source: Recorded, plans: list[GroupPlan], world: int) -> list[list[float]]:
    first: dict[str, int] = {}
    count = 0
    for plan in plans:
        for number in range(plan.capacity):
            first[f"{plan.name}-{number}"] = count
            count += 1

    def number_of(who: Any) -> int:
        return first.get(str(who), -1)

    return [
        [
            time,
            number_of(hit["robot"]),
            number_of(hit["with"]),
            hit["x"],
            hit["y"],
            hit["speed"],
        ]
        for time, hit in zip(_times(source, COLLISIONS), source.collisions, strict=True)
        if hit["world"] == world
    ]
