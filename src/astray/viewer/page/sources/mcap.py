"""A run that `--record` wrote to an MCAP file, as a recording for the page.

Times are those of the file: stamps begin at 0 again where a world is reset.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from astray.errors import ScenarioError, WrongInput
from astray.recording import TRUTH_TOPIC, RecordedRobot, Recording, read_recording
from astray.recording.mcap import COLLISIONS, EVENTS
from astray.ros.publishers import TRACKS_TOPIC as TRACKS
from astray.ros.publishers import Topic
from astray.scenario import GroupPlan, load_scenario
from astray.tables import Array, Table
from astray.viewer.page.codec import ReplaySource
from astray.viewer.page.sources.run_folder import (
    STATE_COLUMNS,
    make_recording,
    page_numbers_by_name,
)
from astray.viewer.page.tracks import TRACK_COLUMNS
from astray.world import Map

SERIES_COLUMNS = (*STATE_COLUMNS, "stamp", "cov")
LATE = 1.5  # periods without a message after which a robot is taken to be removed


def read_recorded(file: Path) -> ReplaySource:
    """The first world of a recording.

    Args:
        file: The MCAP file.

    Returns:
        The recording.

    Raises:
        WrongInput: The file is no recording or damaged, or its scenario does not load.
    """
    recording = read_recording(file)
    try:
        scenario = load_scenario(recording.scenario)
    except ScenarioError as error:
        raise WrongInput(f"{file}: its scenario does not load here:\n{error}") from None
    world = recording.worlds[0]
    robots = {(t.group, t.number): t for t in recording.robots.values() if t.world == world}
    truth_times = [robot.times(TRUTH_TOPIC) for robot in robots.values()]
    times = np.unique(np.concatenate([np.zeros(0), *truth_times]))
    if not len(times):
        raise WrongInput(f"{file}: nothing of any robot was recorded")
    log: dict[str, Array] = {"time": times}
    for plan in scenario.robots:
        of_group = [robots.get((plan.name, number)) for number in range(plan.capacity)]
        log |= GroupSeries(plan, times).log(of_group)
    run = {"seed": recording.seed, "worlds": [world]}
    timed_events = zip(_times(recording, EVENTS), recording.events, strict=True)
    events = [{"time": time, "kind": event.kind} for time, event in timed_events]
    collisions = _collisions(recording, scenario.robots, world)
    return make_recording(scenario, run, recording.map or Map(), log, collisions, events)


class GroupSeries:
    """The series of one group as a folder's log has them: a row per time, a column per robot."""

    def __init__(self, plan: GroupPlan, times: Array) -> None:
        self.plan, self.times = plan, times
        self._log: dict[str, Array] = {}

    def log(self, robots: list[RecordedRobot | None]) -> dict[str, Array]:
        """The series of recorded robots, by name; None for a robot that was never recorded."""
        name, shape = self.plan.name, (len(self.times), len(robots))
        alive = np.zeros(shape, bool)
        for k, robot in enumerate(robots):
            if robot is not None and len(robot.truth):
                alive[:, k] = self._add_robot(k, robot)
        if f"{name}/truth/x" not in self._log:  # no robot of the group was ever alive
            columns = (*STATE_COLUMNS, "stamp")
            self._log |= {f"{name}/truth/{column}": np.zeros(shape) for column in columns}
        self._log[f"{name}/truth/alive"] = alive
        return self._log

    def _add_robot(self, k: int, robot: RecordedRobot) -> Array:
        """Add the series of one robot; whether it was alive at each time."""
        name, times = self.plan.name, self.times
        stamps = robot.times(TRUTH_TOPIC)
        period = np.median(np.diff(stamps)) if len(stamps) > 1 else np.inf
        newest = self._newest(stamps)
        self._add_states("truth", k, robot.truth, newest)
        for belief, topic in robot.belief_topics.items():
            states = robot.beliefs[belief]
            self._add_states(belief, k, states, self._newest(robot.times(topic)))
        if len(robot.contacts.stamp):
            newest_tracks = self._newest(robot.times(TRACKS))
            tracks = robot.contacts.tracks[newest_tracks]
            tracks["confirmed"] &= (newest_tracks >= 0)[:, None]
            for column in TRACK_COLUMNS:
                self._add(f"{name}/tracks/{column}", k, tracks[column])
        for sensor, reading in robot.readings.items():
            if "ranges" in reading.arrays and len(reading.stamp):
                newest_scan = self._newest(robot.times(robot.sensor_topics[sensor]))
                ranges = reading.arrays["ranges"][newest_scan]
                ranges = np.where((newest_scan >= 0)[:, None], ranges, 0.0)
                self._add_finite(f"{name}/{sensor}/ranges", k, ranges)
        is_alive: Array = (newest >= 0) & (times - stamps[newest] <= LATE * period)
        return is_alive

    def _newest(self, stamps: Array) -> Array:
        """The index of the last stamp that is not after each time; −1 for none."""
        return np.searchsorted(stamps, self.times + 1e-9, side="right") - 1

    def _add_states(self, subject: str, k: int, states: Table, newest: Array) -> None:
        """Add the newest state at each time."""
        if len(states):
            index = np.maximum(newest, 0)
            for column in SERIES_COLUMNS:
                name = f"{self.plan.name}/{subject}/{column}"
                self._add_finite(name, k, states[column][index])

    def _add_finite(self, name: str, k: int, values: Array) -> None:
        self._add(name, k, np.nan_to_num(values, posinf=0.0, neginf=0.0))

    def _add(self, name: str, k: int, values: Array) -> None:
        """Write one robot's column of a series."""
        if name not in self._log:
            shape = (len(values), self.plan.capacity, *values.shape[1:])
            self._log[name] = np.zeros(shape, values.dtype)
        self._log[name][:, k] = values


def _times(recording: Recording, topic: Topic) -> list[float]:
    """The times of a topic's messages, s."""
    news = recording.occurrences.get(topic.name)
    return [] if news is None else news.times.tolist()


def _collisions(recording: Recording, plans: list[GroupPlan], world: int) -> list[list[float]]:
    numbers = page_numbers_by_name(plans)
    times = _times(recording, COLLISIONS)
    return [
        [
            time,
            numbers.get(str(hit["robot"]), -1),
            numbers.get(str(hit["with"]), -1),
            hit["x"],
            hit["y"],
            hit["speed"],
        ]
        for time, hit in zip(times, recording.collisions, strict=True)
        if hit["world"] == world
    ]
