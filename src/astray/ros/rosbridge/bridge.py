"""A run on rosbridge: an observer that copies what someone hears, and ears for what is said to it.

In the tick what is fresh is copied, and only if somebody subscribes to it; the server's thread
makes text of it, once however many hear it. What it cannot keep up with is dropped, oldest first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from astray.engine import Run
from astray.numerics import Schedule, first_due
from astray.ros.publishers import (
    OCCUPANCY_GRID,
    TF,
    ClockPublisher,
    Localization,
    MapTopic,
    Publisher,
    PublisherSet,
    Sample,
    concatenate_samples,
    map_topics,
)
from astray.ros.rosbridge import rosapi
from astray.ros.rosbridge.compression import Forms, Telling, said_by
from astray.ros.rosbridge.operations import TopicGraph
from astray.ros.rosbridge.server import PATIENCE, Log, RosbridgeServer
from astray.ros.services import Services, read_between_ticks
from astray.ros.subscriptions import Subscriptions, SubscriptionSettings
from astray.tables import Array
from astray.world import Map

if TYPE_CHECKING:
    pass

PORT = 9090  # where clients of rosbridge look for it
MOST_WAITING = 2000  # copies that wait to become text
MOST_POSTED = 20_000  # messages from clients between two looks at the run
AT_ONCE = 50  # copies that become text before the thread sees to its clients


class RosbridgeBridge:
    """A run, served to clients of rosbridge."""

    def __init__(
        self,
        sim: Run,
        *,
        localization: Localization = "belief",
        origins: Sequence[str] = (),
        patience: float = PATIENCE,
        log: Log = lambda text: None,
    ) -> None:
        self.sim = sim
        self.feed, self.clock = PublisherSet(sim, localization), ClockPublisher(sim)
        self._speakers = [self.clock, *self.feed.publishers]  # who waits for time may act at once
        self._spoken: dict[str, list[tuple[int, int]]] = {}
        for place, speaker in enumerate(self._speakers):
            for row, topic in speaker.topics.items():
                self._spoken.setdefault(topic.name, []).append((place, row))
        graph = graph_of(sim, self._speakers)
        graph.latched["/tf_static"] = self._static
        self.server = RosbridgeServer(
            graph, may_post=self._may_post, origins=origins, patience=patience, log=log
        )
        self.server.on_wake, self.server.hub.now = self._write, lambda: sim.time
        self.lockstep = any(group.lockstep for group in sim.robots.values())
        self._waiting: deque[tuple[Publisher, Sample]] = deque(maxlen=MOST_WAITING)
        self._forms: dict[Publisher, Forms] = {}
        self._wanted: frozenset[str] = frozenset()
        self._heard: dict[Publisher, Array] = {}
        self._posted = 0

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self.server.port

    def open(self, port: int = PORT) -> None:
        """Listen, and watch the run."""
        if self.lockstep:
            # No one is there to wait for before the first tick: the first to command lets it go.
            self.sim.pace.pause()
            self.server.hub.on_speaker = self._let_go
        self.server.open(port)
        self.sim.observers.append(self)

    def _let_go(self, topic: str) -> None:
        if topic.endswith("/cmd_vel"):
            self.server.hub.on_speaker = lambda topic: None
            self.sim.pace.play()

    def describe(self) -> str:
        """How much there is to hear and to ask for."""
        graph = self.server.hub.graph
        said, heard = len(graph.said), len(graph.heard)
        return f"says {said} topics, hears {heard}, serves {len(graph.services)} services"

    def close(self) -> None:
        """Send everyone away; the run is watched no more."""
        self.sim.observers.remove(self)
        self.server.close()

    def __enter__(self) -> RosbridgeBridge:
        self.open(0)
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    # The observer.

    def next_due(self, step: int) -> int:
        """When dead reckoning goes on, somebody hears something, or may have begun to."""
        if self.sim.tick is None:
            return step
        ahead = self.sim.tick - self.sim.steps
        beats = [
            Schedule(self.feed.period),
            *(r.schedule for r in self.feed.dead_reckonings.values()),
        ]
        beats += [speaker.schedule for speaker in self._heard]
        return first_due(beats, step + ahead) - ahead

    def observe(self, sim: Run) -> None:
        """Copy what is fresh and wanted."""
        self._posted = 0
        if self._wanted is not self.server.hub.wanted:
            self._note_wanted()
        self.feed.update_dead_reckoning()
        for speaker, heard in self._heard.items():
            rows = speaker.due_rows(sim)
            if len(rows):
                rows = rows[heard[rows]]
                if len(rows):
                    self._waiting.append((speaker, speaker.sample(rows)))
        if self._waiting:
            self.server.wake()

    def _note_wanted(self) -> None:
        """Find out for which rows of each speaker somebody listens."""
        self._wanted = self.server.hub.wanted
        self._heard = {}
        found = [one for topic in self._wanted for one in self._spoken.get(topic, ())]
        for place, row in sorted(found):  # in the order in which they speak, time first
            speaker = self._speakers[place]
            if speaker not in self._heard:
                self._heard[speaker] = np.zeros(int(speaker.rows.max()) + 1, bool)
            self._heard[speaker][row] = True

    def _may_post(self) -> bool:
        """Whether the run is not yet flooded: while it rests, what it is told piles up."""
        self._posted += 1
        return self._posted <= MOST_POSTED

    # In the thread of the server.

    def _write(self) -> None:
        """Make text of what waits, and give it to who wants it."""
        waiting: dict[Publisher, list[Sample]] = {}
        for _ in range(min(AT_ONCE, len(self._waiting))):
            speaker, taken = self._waiting.popleft()
            waiting.setdefault(speaker, []).append(taken)
        for speaker, moments in waiting.items():
            self._write_all(speaker, concatenate_samples(moments))
        if self._waiting:
            self.server.wake()  # there is more, but clients want to be heard as well

    def _write_all(self, speaker: Publisher, taken: Sample) -> None:
        forms = self._forms.get(speaker)
        if forms is None:
            forms = self._forms[speaker] = Forms(speaker.layout)
        messages = speaker.serialize(taken)
        nth = forms.of(messages, self.sim.time)
        for k, row in enumerate(messages.rows.tolist()):
            self.server.hub.publish(speaker.topics[row].name, nth(k))

    def _static(self) -> list[Telling]:
        return [said_by(TF, message, self.sim.time) for message in self.feed.static_transforms()]


def graph_of(sim: Run, speakers: Sequence[Publisher]) -> TopicGraph:
    """The topics and services of a run."""
    graph = TopicGraph()
    for speaker in speakers:
        graph.said |= {topic.name: topic.type for topic in speaker.topics.values()}
    graph.said["/tf_static"] = TF
    for map in map_topics(sim):
        graph.said[map.name], graph.latched[map.name] = OCCUPANCY_GRID, _told(sim, map)
    for stamped in (True, False):  # both are understood, and the plain one is the usual one
        for name, heard in Subscriptions(
            sim, SubscriptionSettings(stamped_cmd_vel=stamped)
        ).topics.items():
            graph.ears[name, heard.type] = heard.callback
            graph.heard[name] = heard.type
    graph.services |= Services(sim).table
    graph.services |= rosapi.services(graph, lambda: sim.time)
    return graph


def _told(sim: Run, topic: MapTopic) -> Callable[[], list[Telling]]:
    """What tells a map, as it is when that is asked for; it is put into words only once."""
    made: tuple[Map, float, Telling] | None = None

    def tell() -> Telling:
        nonlocal made
        known, now = sim.map(topic.world), sim.time
        if made is None or made[0] is not known or made[1] > now:  # or the run has begun anew
            made = known, now, cache(said_by(OCCUPANCY_GRID, topic.message(sim), now))
        return made[2]

    return lambda: [read_between_ticks(sim, tell)]
