"""What happened since the last look: events and collisions, each as a line of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from astray.engine import Event, Run
from astray.interactions.collisions import Collisions
from astray.ros.messages import encode

if TYPE_CHECKING:
    pass


class EventCursor:
    """Looks at the logs of a run and tells what is new in them."""

    def __init__(self, sim: Run) -> None:
        self.sim = sim
        self._log, self._seen = sim.event_queue.log, 0
        self._interactions = [i for i in sim.environment.interactions if isinstance(i, Collisions)]
        self._hits = [0] * len(self._interactions)
        self._names: list[str] = []
        for name, group in sim.robots.items():
            self._names += [f"{name}-{robot}" for robot in group.truth["robot"]]

    def skip(self) -> None:
        """What has been so far is no news."""
        self._seen = len(self._log)
        self._hits = [i.log.total for i in self._interactions]

    def is_any(self) -> bool:
        """Whether anything has happened, or the run was set back to its beginning."""
        if self.sim.event_queue.log is not self._log or len(self._log) != self._seen:
            return True
        return [interaction.log.total for interaction in self._interactions] != self._hits

    def started_over(self) -> bool:
        """Whether the run was set back to its beginning since the last time this was asked."""
        if self.sim.event_queue.log is self._log:
            return False
        self._log, self._seen = self.sim.event_queue.log, 0
        self._hits = [0] * len(self._interactions)
        return True

    def events(self) -> list[Event]:
        """The events that took effect since the last time."""
        if len(self._log) == self._seen:
            return []
        fresh = self._log[self._seen :]
        self._seen = len(self._log)
        return fresh

    def collisions(self) -> Iterator[str]:
        """The contacts that have begun since the last time."""
        for k, interaction in enumerate(self._interactions):
            hits, seen = interaction.log, self._hits[k]
            self._hits[k] = hits.total
            for hit in hits.newest(hits.total - seen):
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


def text_message(text: str) -> bytes:
    """A text as a message."""
    return encode("std_msgs/msg/String", {"data": text})
