"""Recordings read back: what was run, and the series of every robot as tables.

    recording = astray.read_recording("run.mcap")
    rover = recording.robots["rover"]
    rover.truth["x"], rover.belief["cov"], rover.readings["imu"]["wz"]

Poses are read at the first look at one of them, readings at the first look at one of those.
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from astray.engine import Event
from astray.errors import AstrayError, RecordingError
from astray.files import read_yaml
from astray.plugin import Reading
from astray.recording.mcap import (
    COLLISIONS,
    EVENTS,
    MAP_FILE,
    RUN,
    SCENARIO,
    McapReader,
    own_map_file,
    tables,
)
from astray.ros.messages import MessageColumns
from astray.ros.publishers import TRACKS_TOPIC as TRACKS
from astray.scenario import BUNDLED_NAME
from astray.tables import STATE, Array, Table, table
from astray.world import Map
from astray.world.maps import read_geojson

TRUTH_TOPIC, COMMAND_TOPIC = "ground_truth/odom", "command"


class ForeignRecording(RecordingError):
    """A whole MCAP file that somebody else has written."""


class RecordedRobot:
    """One robot of a recording: its series, one row per message, in the order of time."""

    def __init__(self, recording: Recording, group: str, about: dict[str, Any], who: Any) -> None:
        self.recording = recording
        self.group = group
        self.world, self.number = int(who["world"]), int(who["number"])
        self.namespace = str(who["namespace"])
        self.name = self.namespace[1:] or str(who["name"])
        self.estimator: str | None = about["estimator"]
        self.sensors: dict[str, str] = {k: s["kind"] for k, s in about["sensors"].items()}
        """The kind of each sensor by its name."""
        self.belief_topics: dict[str, str] = about["beliefs"]
        self.sensor_topics: dict[str, str] = {k: s["topic"] for k, s in about["sensors"].items()}

    def topic(self, name: str) -> str:
        """The full name of one of its topics."""
        return f"{self.namespace}/{name}"

    def pose_topics(self) -> list[str]:
        """The topics of truth, beliefs and commands."""
        return [
            self.topic(name) for name in (TRUTH_TOPIC, COMMAND_TOPIC, *self.belief_topics.values())
        ]

    def reading_topics(self) -> list[str]:
        """The topics of its sensors, of what is true of them, and of what it knows of others."""
        names = [*self.sensor_topics.values(), *(f"ground_truth/{name}" for name in self.sensors)]
        return [self.topic(name) for name in (*names, TRACKS)]

    def times(self, name: str) -> Array:
        """When each message of one of its topics was written, (times,) s.

        This goes on where a world starts over and stamps begin at 0 again.
        """
        topic, recording = self.topic(name), self.recording
        said = (recording.poses if topic in self.pose_topics() else recording.readings).get(topic)
        return np.zeros(0) if said is None else said.times

    @property
    def last_episode_start(self) -> float:
        """When the last life of its world began, s as `times` has it."""
        return float(self.times(TRUTH_TOPIC)[-1] - self.truth["stamp"][-1])

    def _state(self, name: str) -> Table:
        said = self.recording.poses.get(self.topic(name))
        return table(STATE, 0) if said is None else tables.states(said)

    @cached_property
    def truth(self) -> Table:
        """STATE of where it was, (times,)."""
        return self._state(TRUTH_TOPIC)

    @cached_property
    def beliefs(self) -> dict[str, Table]:
        """STATE of where it believed to be, (times,), and where its rivals did, by name."""
        return {name: self._state(topic) for name, topic in self.belief_topics.items()}

    @property
    def belief(self) -> Table:
        """STATE of where it believed to be, (times,), with the covariance."""
        return self.beliefs["belief"]

    @property
    def rivals(self) -> dict[str, Table]:
        """STATE of where its rivals believed to be, by name."""
        return {name: state for name, state in self.beliefs.items() if name != "belief"}

    @cached_property
    def commands(self) -> Table:
        """What its motion was asked for, (times,): stamp, vx, vy and wz."""
        said = self.recording.poses.get(self.topic(COMMAND_TOPIC))
        return table(tables.ASKED, 0) if said is None else tables.drives(said)

    @cached_property
    def readings(self) -> dict[str, Reading]:
        """What each sensor has read, by its name, one row per reading."""
        return self._read(self.sensor_topics)

    @cached_property
    def sensor_truth(self) -> dict[str, Reading]:
        """What was true of each sensor, by its name: biases, errors of scale, slip."""
        return self._read({name: f"ground_truth/{name}" for name in self.sensors})

    @cached_property
    def contacts(self) -> tables.TrackTable:
        """What it believed of others: TRACK, (times, slots), and of which times that is."""
        said = self.recording.readings.get(self.topic(TRACKS))
        return tables.TrackTable() if said is None else tables.contacts(said)

    def _read(self, topics: dict[str, str]) -> dict[str, Reading]:
        said = {name: self.recording.readings.get(self.topic(t)) for name, t in topics.items()}
        return {name: tables.reading(found) for name, found in said.items() if found is not None}


class Recording:
    """A run that was recorded."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.file = McapReader(self.path)
        if RUN not in self.file.attachments or SCENARIO not in self.file.attachments:
            raise ForeignRecording(
                f"{path}: not a recording of astray; `astray score` reads those of others"
            )
        about = json.loads(self.file.attachments[RUN].data)
        self.seed: int = about["seed"]
        self.worlds: list[int] = about["worlds"]
        self.dt: float = about["dt"]  # s
        self.version: str = about["astray"]
        self.name: str = about["scenario"]
        self.robots = {
            track.name: track
            for group, details in about["robots"].items()
            for track in (RecordedRobot(self, group, details, who) for who in details["robots"])
        }
        """Every robot by its name: `rover`, `rover_3`, `world_7/rover_3`."""
        self._maps: dict[str, Map] = {}

    @cached_property
    def scenario(self) -> dict[str, Any]:
        """The effective scenario, as plain data; `astray.load` makes the same run of it."""
        tree = read_yaml(self.scenario_text, SCENARIO, [])
        plain = None if tree is None else tree.plain()
        if not isinstance(plain, dict):
            return {}
        for holder in (plain.get("world") or {}, *plain.get("robots", ())):
            if isinstance(holder.get("map"), str) and holder["map"] in self.files:
                holder["map"] = json.loads(self.files[holder["map"]])
        return plain

    @cached_property
    def files(self) -> dict[str, bytes]:
        """The files that the scenario names, by their names from it, which lead nowhere else."""
        attached = self.file.attachments
        return {name: attached[name].data for name in attached if BUNDLED_NAME.fullmatch(name)}

    @property
    def scenario_text(self) -> str:
        """The effective scenario as YAML."""
        return self.file.attachments[SCENARIO].data.decode()

    @property
    def duration(self) -> float:
        """From the first message to the last, s."""
        first, last = self.file.span
        return (last - first) / 1e9  # rounded once: the float that is nearest

    @property
    def map(self) -> Map | None:
        """The map of the first world at the beginning; None if there was none."""
        return self.map_of(self.worlds[0])

    def map_of(self, world: int) -> Map | None:
        """The map of a world at the beginning; None if there was none."""
        own, attached = own_map_file(world), self.file.attachments
        name = own if own in attached else MAP_FILE
        if name in attached and name not in self._maps:
            self._maps[name] = read_geojson(attached[name].data, name)
        return self._maps.get(name)

    @cached_property
    def poses(self) -> dict[str, MessageColumns]:
        """Truth, beliefs and commands of all robots, by topic."""
        return self.file.columns({t for r in self.robots.values() for t in r.pose_topics()})

    @cached_property
    def readings(self) -> dict[str, MessageColumns]:
        """The readings of all robots, by topic."""
        return self.file.columns({t for r in self.robots.values() for t in r.reading_topics()})

    @cached_property
    def news(self) -> dict[str, MessageColumns]:
        """Events and collisions, by topic."""
        return self.file.columns([EVENTS.name, COLLISIONS.name])

    def _texts(self, topic: str) -> list[str]:
        said = self.news.get(topic)
        if said is None:
            return []
        return [t.decode() if isinstance(t, bytes) else str(t) for t in said["data"].tolist()]

    @cached_property
    def events(self) -> list[Event]:
        """What came in from outside; with scenario and seed it makes the run again."""
        return [Event.from_json(text) for text in self._texts(EVENTS.name)]

    @cached_property
    def collisions(self) -> list[dict[str, Any]]:
        """Who ran into what, where and how fast."""
        return [json.loads(text) for text in self._texts(COLLISIONS.name)]


def read_recording(path: str | Path) -> Recording:
    """Read a recording; RecordingError says what is wrong with it."""
    try:
        return Recording(path)
    except (KeyError, ValueError, TypeError) as problem:
        if isinstance(problem, AstrayError):
            raise
        raise RecordingError(f"{path}: what it says of its run makes no sense: {problem}") from None
