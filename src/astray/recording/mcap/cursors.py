"""Cursors: what has changed in a run since they were last read."""

from __future__ import annotations

import json
from collections.abc import Iterator

from astray.engine import Event, Run
from astray.interactions.collisions import Collisions
from astray.ros import MAP_FRAME, RosRobot, world_frame
from astray.ros.messages import encode
from astray.ros.publishers import OCCUPANCY_GRID, PublisherSet, Topic, make_occupancy_grid


class EventCursor:
    """Reads the events and collisions of a run, each once."""

    def __init__(self, sim: Run) -> None:
        self.sim = sim
        self._log, self._events_read = sim.event_queue.log, 0
        self._interactions = [i for i in sim.environment.interactions if isinstance(i, Collisions)]
        self._collisions_read = [0] * len(self._interactions)
        self._names: list[str] = []
        for name, group in sim.robots.items():
            self._names += [f"{name}-{robot}" for robot in group.truth["robot"]]

    def skip(self) -> None:
        """Move behind all that there is."""
        self._events_read = len(self._log)
        self._collisions_read = [i.log.total for i in self._interactions]

    def has_changes(self) -> bool:
        """Whether there is anything to read, or the run was reset."""
        if self.sim.event_queue.log is not self._log or len(self._log) != self._events_read:
            return True
        return [interaction.log.total for interaction in self._interactions] != (
            self._collisions_read
        )

    def detect_reset(self) -> bool:
        """Whether the run was reset since the last call; if so, move to its new beginning."""
        if self.sim.event_queue.log is self._log:
            return False
        self._log, self._events_read = self.sim.event_queue.log, 0
        self._collisions_read = [0] * len(self._interactions)
        return True

    def read_events(self) -> list[Event]:
        """The events that took effect since the last call."""
        if len(self._log) == self._events_read:
            return []
        fresh = self._log[self._events_read :]
        self._events_read = len(self._log)
        return fresh

    def read_collisions(self) -> Iterator[str]:
        """The collisions that began since the last call, each as a line of JSON."""
        for k, interaction in enumerate(self._interactions):
            log, already = interaction.log, self._collisions_read[k]
            self._collisions_read[k] = log.total
            for hit in log.newest(log.total - already):
                other = int(hit["other"])
                yield json.dumps(
                    {
                        "stamp": float(hit["stamp"]),
                        "world": int(hit["world"]),
                        "robot": self._names[int(hit["row"])],
                        "with": "wall" if other < 0 else self._names[other],
                        "x": float(hit["x"]),
                        "y": float(hit["y"]),
                        "speed": float(hit["speed"]),
                    }
                )


class MapCursor:
    """Reads the maps of a run where they have changed. Each world has a topic for its map."""

    def __init__(self, sim: Run, publishers: PublisherSet) -> None:
        self.sim = sim
        robots = [robot for group in publishers.robots.values() for robot in group]
        first: dict[int, RosRobot] = {}
        for robot in robots:
            first.setdefault(robot.world, robot)
        self.frames = {world: world_frame(robot, MAP_FRAME) for world, robot in first.items()}
        self.topics = {
            world: Topic(f"/{frame}", OCCUPANCY_GRID, latched=True)
            for world, frame in self.frames.items()
        }
        self._digests: dict[int, str] = {world: "" for world in self.frames}

    def read(self) -> Iterator[tuple[Topic, bytes]]:
        """The maps that changed since the last call; at first, those that are not empty."""
        for world, topic in self.topics.items():
            found = self.sim.map(world)
            digest = found.digest()
            if digest != self._digests[world] and (len(found) or self._digests[world]):
                self._digests[world] = digest
                yield topic, make_occupancy_grid(found, self.frames[world], self.sim.time)


def text_message(text: str) -> bytes:
    """A std_msgs/String message."""
    return encode("std_msgs/msg/String", {"data": text})
