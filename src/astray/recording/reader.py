"""Recordings read back: what was run, and the series of every robot as tables.

    recording = astray.read_recording("run.mcap")
    rover = recording.robots["rover"]
    rover.truth["x"], rover.belief["cov"], rover.readings["imu"]["wz"]

All poses are read when the first one is asked for, and so are all readings.
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from astray.engine import Event
from astray.errors import AstrayError, NamedItems, RecordingError, unknown_name
from astray.files import read_yaml
from astray.plugin import Reading
from astray.recording import message_tables
from astray.recording.mcap import (
    COLLISIONS,
    EVENTS,
    MAP_FILE,
    RUN_FILE,
    SCENARIO_FILE,
    McapReader,
    world_map_file,
)
from astray.recording.message_tables import DEMAND, TrackTable
from astray.ros.messages import MessageColumns
from astray.ros.publishers import TRACKS_TOPIC
from astray.scenario import BUNDLED_NAME
from astray.tables import STATE, Array, Table, table
from astray.world import Map
from astray.world.maps.formats import read_geojson

TRUTH_TOPIC, COMMAND_TOPIC = "ground_truth/odom", "command"


class ForeignRecording(RecordingError):
    """A valid MCAP file that another program has written."""


class RecordedRobot:
    """One robot of a recording: its series, one row per message, in the order of time."""

    def __init__(
        self, recording: Recording, group: str, group_info: dict[str, Any], info: dict[str, Any]
    ) -> None:
        self.recording = recording
        self.group = group
        self.world, self.number = int(info["world"]), int(info["number"])
        self.namespace = str(info["namespace"])
        self.name = self.namespace[1:] or str(info["name"])
        self.estimator: str | None = group_info["estimator"]
        sensors = group_info["sensors"]
        self.sensors: dict[str, str] = {name: sensor["kind"] for name, sensor in sensors.items()}
        """The kind of each sensor by its name."""
        self.belief_topics: dict[str, str] = group_info["beliefs"]
        self.sensor_topics: dict[str, str] = {n: sensor["topic"] for n, sensor in sensors.items()}

    def __repr__(self) -> str:
        """Its name, estimators and sensors."""
        beliefs = ", ".join(self.belief_topics) or "none"
        sensors = ", ".join(self.sensors) or "none"
        return f"RecordedRobot({self.name!r}; beliefs: {beliefs}; sensors: {sensors})"

    def topic(self, name: str) -> str:
        """The full name of one of its topics."""
        return f"{self.namespace}/{name}"

    def _pose_names(self) -> list[str]:
        """The topics of truth, command and beliefs, without the namespace."""
        return [TRUTH_TOPIC, COMMAND_TOPIC, *self.belief_topics.values()]

    def _reading_names(self) -> list[str]:
        """The topics of its sensors, of their true errors and of tracks, without the namespace."""
        true_errors = [_sensor_truth_topic(name) for name in self.sensors]
        return [*self.sensor_topics.values(), *true_errors, TRACKS_TOPIC]

    def pose_topics(self) -> list[str]:
        """The full names of the topics of truth, command and beliefs."""
        return [self.topic(name) for name in self._pose_names()]

    def reading_topics(self) -> list[str]:
        """The full names of the topics of its sensors, of their true errors and of tracks."""
        return [self.topic(name) for name in self._reading_names()]

    def times(self, name: str) -> Array:
        """The time in the file of each message of a topic.

        It continues where a world is reset and stamps begin at 0 again.

        Args:
            name: The topic, without the namespace.

        Returns:
            (messages,) s.

        Raises:
            UnknownName: The robot has no such topic.
        """
        poses, readings = self._pose_names(), self._reading_names()
        if name not in poses and name not in readings:
            raise unknown_name("topic", name, [*poses, *readings])
        source = self.recording.poses if name in poses else self.recording.readings
        messages = source.get(self.topic(name))
        return np.zeros(0) if messages is None else messages.times

    @property
    def last_episode_start(self) -> float:
        """When the last episode of its world began, s in the time of `times`."""
        return float(self.times(TRUTH_TOPIC)[-1] - self.truth["stamp"][-1])

    def _states(self, name: str) -> Table:
        messages = self.recording.poses.get(self.topic(name))
        return table(STATE, 0) if messages is None else message_tables.odometry_states(messages)

    @cached_property
    def truth(self) -> Table:
        """STATE of its true poses, (times,)."""
        return self._states(TRUTH_TOPIC)

    @cached_property
    def beliefs(self) -> dict[str, Table]:
        """STATE of its belief and of its rivals, (times,), by name."""
        states = {name: self._states(topic) for name, topic in self.belief_topics.items()}
        return NamedItems("belief", states)

    @property
    def belief(self) -> Table:
        """STATE of its belief, (times,), with the covariance."""
        return self.beliefs["belief"]

    @property
    def rivals(self) -> dict[str, Table]:
        """STATE of its rivals, (times,), by name."""
        rivals = {name: states for name, states in self.beliefs.items() if name != "belief"}
        return NamedItems("rival", rivals)

    @cached_property
    def commands(self) -> Table:
        """The demanded velocity, (times,): stamp, vx, vy and wz."""
        messages = self.recording.poses.get(self.topic(COMMAND_TOPIC))
        return table(DEMAND, 0) if messages is None else message_tables.demands(messages)

    @cached_property
    def readings(self) -> dict[str, Reading]:
        """The readings of each sensor by its name, one row per reading."""
        return self._readings(self.sensor_topics)

    @cached_property
    def sensor_truth(self) -> dict[str, Reading]:
        """The true errors of each sensor by its name: biases, scale errors, slip."""
        return self._readings({name: _sensor_truth_topic(name) for name in self.sensors})

    def _readings(self, topics: dict[str, str]) -> dict[str, Reading]:
        source = self.recording.readings
        messages = {name: source.get(self.topic(topic)) for name, topic in topics.items()}
        return NamedItems(
            "sensor",
            {n: message_tables.read_readings(m) for n, m in messages.items() if m is not None},
        )

    @cached_property
    def contacts(self) -> TrackTable:
        """Its tracks of other robots, (times, slots)."""
        messages = self.recording.readings.get(self.topic(TRACKS_TOPIC))
        return TrackTable() if messages is None else message_tables.track_table(messages)


def _sensor_truth_topic(sensor: str) -> str:
    return f"ground_truth/{sensor}"


class Recording:
    """A recorded run.

    Args:
        path: The MCAP file.

    Raises:
        RecordingError: It cannot be read.
        ForeignRecording: Another program has written it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.file = McapReader(self.path)
        attached = self.file.attachments
        if RUN_FILE not in attached or SCENARIO_FILE not in attached:
            raise ForeignRecording(
                f"{path}: not a recording of astray; `astray score` reads those of others"
            )
        info = json.loads(attached[RUN_FILE].data)
        self.seed: int = info["seed"]
        self.worlds: list[int] = info["worlds"]
        self.dt: float = info["dt"]  # s
        self.version: str = info["astray"]
        self.name: str = info["scenario"]
        robots = [
            RecordedRobot(self, group, group_info, robot_info)
            for group, group_info in info["robots"].items()
            for robot_info in group_info["robots"]
        ]
        self.robots: dict[str, RecordedRobot] = NamedItems("robot", {r.name: r for r in robots})
        """Every robot by its name: `rover`, `rover_3`, `world_7/rover_3`."""
        self._maps: dict[str, Map] = {}

    def __repr__(self) -> str:
        """What it has, in one line."""
        worlds = f", {len(self.worlds)} worlds" if len(self.worlds) > 1 else ""
        return (
            f"Recording({str(self.path)!r}: {self.name!r}, {self.duration:g} s, seed {self.seed}"
            f"{worlds}; robots: {', '.join(self.robots) or 'none'})"
        )

    @cached_property
    def scenario(self) -> dict[str, Any]:
        """The effective scenario, as plain data; `astray.load` makes the same run of it."""
        tree = read_yaml(self.scenario_text, SCENARIO_FILE, [])
        plain = None if tree is None else tree.plain()
        if not isinstance(plain, dict):
            return {}
        for holder in (plain.get("world") or {}, *plain.get("robots", ())):
            if isinstance(holder.get("map"), str) and holder["map"] in self.files:
                holder["map"] = json.loads(self.files[holder["map"]])
        return plain

    @cached_property
    def files(self) -> dict[str, bytes]:
        """The files that the scenario refers to, by their names in it; safe as relative paths."""
        attached = self.file.attachments
        return {name: attached[name].data for name in attached if BUNDLED_NAME.fullmatch(name)}

    @property
    def scenario_text(self) -> str:
        """The effective scenario as YAML."""
        return self.file.attachments[SCENARIO_FILE].data.decode()

    @property
    def duration(self) -> float:
        """From the first message to the last, s."""
        first, last = self.file.time_span
        return (last - first) / 1e9  # one rounding: the nearest float

    @property
    def map(self) -> Map | None:
        """The map of the first world at the beginning; None if there was none."""
        return self.map_of(self.worlds[0])

    def map_of(self, world: int) -> Map | None:
        """The map of a world at the beginning.

        Args:
            world: The number of the world.

        Returns:
            The map; None if there was none.
        """
        own, attached = world_map_file(world), self.file.attachments
        name = own if own in attached else MAP_FILE
        if name in attached and name not in self._maps:
            self._maps[name] = read_geojson(attached[name].data, name)
        return self._maps.get(name)

    @cached_property
    def poses(self) -> dict[str, MessageColumns]:
        """Truth, beliefs and commands of all robots, by full topic."""
        return self.file.columns({t for r in self.robots.values() for t in r.pose_topics()})

    @cached_property
    def readings(self) -> dict[str, MessageColumns]:
        """Readings, true sensor errors and tracks of all robots, by full topic."""
        return self.file.columns({t for r in self.robots.values() for t in r.reading_topics()})

    @cached_property
    def occurrences(self) -> dict[str, MessageColumns]:
        """Events and collisions, by full topic."""
        return self.file.columns([EVENTS.name, COLLISIONS.name])

    def _texts(self, topic: str) -> list[str]:
        messages = self.occurrences.get(topic)
        if messages is None:
            return []
        texts = messages["data"].tolist()
        return [text.decode() if isinstance(text, bytes) else str(text) for text in texts]

    @cached_property
    def events(self) -> list[Event]:
        """The events of the run; with scenario and seed they make the same run again."""
        return [Event.from_json(text) for text in self._texts(EVENTS.name)]

    @cached_property
    def collisions(self) -> list[dict[str, Any]]:
        """Each collision: the robot, with what, where and how fast."""
        return [json.loads(text) for text in self._texts(COLLISIONS.name)]


def read_recording(path: str | Path) -> Recording:
    """Read a recording.

    Args:
        path: The MCAP file.

    Returns:
        The recording.

    Raises:
        RecordingError: It cannot be read, is damaged, or another program has written it.
    """
    try:
        return Recording(path)
    except (KeyError, ValueError, TypeError) as problem:
        if isinstance(problem, AstrayError):
            raise
        raise RecordingError(f"{path}: its description of the run is damaged: {problem}") from None
