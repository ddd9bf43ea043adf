"""A run on rosbridge: an observer that copies what clients subscribe to.

In a tick, new samples are copied of the topics that clients subscribe to. The thread of the server
encodes them, once for all clients. What it cannot keep up with is dropped, oldest first.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from astray.engine import FOREVER, Run
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
from astray.ros.rosbridge.compression import Encode, MessageEncoder, message_encoder
from astray.ros.rosbridge.operations import TopicGraph
from astray.ros.rosbridge.server import PORT, SEND_TIMEOUT, RosbridgeServer
from astray.ros.services import Services, read_between_ticks
from astray.ros.subscriptions import Subscriptions, SubscriptionSettings
from astray.server import BackgroundRun, LogLine
from astray.tables import Array
from astray.world import Map

MAX_SAMPLES = 2000  # that wait to be encoded
MAX_POSTED = 20_000  # messages of clients to the run between two ticks
ENCODE_BATCH = 50  # samples that are encoded before the thread serves its clients again


class RosbridgeBridge:
    """Serves a run to clients of rosbridge.

    Args:
        sim: The run.
        localization: Where the frame "odom" stands in "map": as the robot believes, or truly.
        origins: Web pages' origins that may connect beside those of this machine, "*" for all.
        send_timeout: s of real time that a client may take to read what it is sent.
        log: Is given a line for each client that is refused or disconnected.
    """

    def __init__(
        self,
        sim: Run,
        *,
        localization: Localization = "belief",
        origins: Sequence[str] = (),
        send_timeout: float = SEND_TIMEOUT,
        log: LogLine = lambda text: None,
    ) -> None:
        self.sim = sim
        self.publisher_set, self.clock = PublisherSet(sim, localization), ClockPublisher(sim)
        # The clock first: a client that waits for a time can then act at once.
        self._publishers = [self.clock, *self.publisher_set.publishers]
        self._topic_rows: dict[str, list[tuple[int, int]]] = {}
        for index, publisher in enumerate(self._publishers):
            for row, topic in publisher.topics.items():
                self._topic_rows.setdefault(topic.name, []).append((index, row))
        graph = graph_of(sim, self._publishers)
        graph.latched["/tf_static"] = self._static_transforms
        self.server = RosbridgeServer(
            graph, may_post=self._may_post, origins=origins, send_timeout=send_timeout, log=log
        )
        self.server.on_wake, self.server.operations.now = self._encode, lambda: sim.time
        self.lockstep = any(group.lockstep for group in sim.robots.values())
        self._samples: deque[tuple[Publisher, Sample]] = deque(maxlen=MAX_SAMPLES)
        self._encoders: dict[Publisher, MessageEncoder] = {}
        self._subscribed: frozenset[str] = frozenset()
        self._wanted_rows: dict[Publisher, Array] = {}
        self._posted = 0

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self.server.port

    def open(self, port: int = PORT) -> None:
        """Begin to serve, and observe the run.

        Args:
            port: Where to listen; a free port if it is 0.

        Raises:
            WrongInput: The port cannot be used.
        """
        if self.lockstep:
            # There is no client to wait for before the first tick: the first publisher of commands
            # starts the run.
            self.sim.pace.pause()
            self.server.operations.on_advertise = self._play_on_command
        self.server.open(port)
        self.sim.observers.append(self)

    def _play_on_command(self, topic: str) -> None:
        if topic.endswith("/cmd_vel"):
            self.server.operations.on_advertise = lambda topic: None
            self.sim.pace.play()

    def describe(self) -> str:
        """How many topics and services there are, as a text."""
        graph = self.server.operations.graph
        published, subscribed = len(graph.published), len(graph.subscribed)
        topics = f"publishes {published} topics, subscribes to {subscribed}"
        return f"{topics}, serves {len(graph.services)} services"

    def close(self) -> None:
        """Disconnect all clients, and observe the run no more."""
        self.sim.observers.remove(self)
        self.server.close()

    def __enter__(self) -> RosbridgeBridge:
        self.open(0)
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # The observer.

    def next_due(self, step: int) -> int:
        """When dead reckoning is updated, a publisher is due, or a subscription may be new."""
        if self.sim.tick is None:
            return step
        ahead = self.sim.tick - self.sim.steps
        dead_reckonings = self.publisher_set.dead_reckonings.values()
        schedules = [
            Schedule(self.publisher_set.period),
            *(dead_reckoning.schedule for dead_reckoning in dead_reckonings),
            *(publisher.schedule for publisher in self._wanted_rows),
        ]
        return first_due(schedules, step + ahead) - ahead

    def observe(self, sim: Run) -> None:
        """Copy new samples of the topics that clients subscribe to."""
        self._posted = 0
        if self._subscribed is not self.server.operations.subscribed:
            self._update_wanted_rows()
        self.publisher_set.update_dead_reckoning()
        for publisher, wanted in self._wanted_rows.items():
            rows = publisher.due_rows(sim)
            if len(rows):
                rows = rows[wanted[rows]]
                if len(rows):
                    self._samples.append((publisher, publisher.sample(rows)))
        if self._samples:
            self.server.wake()

    def _update_wanted_rows(self) -> None:
        """Find the rows of each publisher whose topics clients subscribe to."""
        self._subscribed = self.server.operations.subscribed
        self._wanted_rows = {}
        rows = [row for topic in self._subscribed for row in self._topic_rows.get(topic, ())]
        for index, row in sorted(rows):  # in the order of the publishers, the clock first
            publisher = self._publishers[index]
            if publisher not in self._wanted_rows:
                self._wanted_rows[publisher] = np.zeros(int(publisher.rows.max()) + 1, bool)
            self._wanted_rows[publisher][row] = True

    def _may_post(self) -> bool:
        """Whether the run can take a message: while it is paused, they pile up."""
        self._posted += 1
        return self._posted <= MAX_POSTED

    # In the thread of the server.

    def _encode(self) -> None:
        """Encode waiting samples, and publish them to clients."""
        samples: dict[Publisher, list[Sample]] = {}
        for _ in range(min(ENCODE_BATCH, len(self._samples))):
            publisher, sample = self._samples.popleft()
            samples.setdefault(publisher, []).append(sample)
        for publisher, several in samples.items():
            self._publish(publisher, concatenate_samples(several))
        if self._samples:
            self.server.wake()  # there is more, but clients must be served as well

    def _publish(self, publisher: Publisher, sample: Sample) -> None:
        encoder = self._encoders.get(publisher)
        if encoder is None:
            encoder = self._encoders[publisher] = MessageEncoder(publisher.layout)
        messages = publisher.serialize(sample)
        nth_encoder = encoder.encoders(messages, self.sim.time)
        for k, row in enumerate(messages.rows.tolist()):
            self.server.operations.publish(publisher.topics[row].name, nth_encoder(k))

    def _static_transforms(self) -> list[Encode]:
        transforms = self.publisher_set.static_transforms()
        return [message_encoder(TF, message, self.sim.time) for message in transforms]


def graph_of(sim: Run, publishers: Sequence[Publisher]) -> TopicGraph:
    """The topics and services of a run."""
    graph = TopicGraph()
    for publisher in publishers:
        graph.published |= {topic.name: topic.type for topic in publisher.topics.values()}
    graph.published["/tf_static"] = TF
    for map in map_topics(sim):
        graph.published[map.name] = OCCUPANCY_GRID
        graph.latched[map.name] = LatchedMap(sim, map).messages
    for stamped in (True, False):  # both are understood, and the plain one is the usual one
        settings = SubscriptionSettings(stamped_cmd_vel=stamped)
        for name, subscription in Subscriptions(sim, settings).topics.items():
            graph.callbacks[name, subscription.type] = subscription.callback
            graph.subscribed[name] = subscription.type
    graph.services |= Services(sim).table
    graph.services |= rosapi.services(graph, lambda: sim.time)
    return graph


class LatchedMap:
    """The message of a map topic, as the map is at the time of a call; each map is encoded once."""

    def __init__(self, sim: Run, topic: MapTopic) -> None:
        self._sim, self._topic = sim, topic
        self._map: Map | None = None
        self._time = 0.0
        self._encode: Encode

    def messages(self) -> list[Encode]:
        """The one message."""
        return [read_between_ticks(self._sim, self._present)]

    def _present(self) -> Encode:
        map, now = self._sim.map(self._topic.world), self._sim.time
        if self._map is not map or self._time > now:  # another map, or the run was reset
            message = self._topic.message(self._sim)
            self._map, self._time = map, now
            self._encode = cache(message_encoder(OCCUPANCY_GRID, message, now))
        return self._encode


@contextlib.contextmanager
def serving(
    sim: Run, *, speed: float | None = 1.0, port: int = 0, seconds: float = FOREVER, **more: Any
) -> Iterator[RosbridgeBridge]:
    """Run a simulation in the background and serve it, as long as the with block lasts.

    Args:
        sim: The run.
        speed: Simulated seconds per real second; None for as fast as possible.
        port: Where to listen; a free port if it is 0. It is then `bridge.port`.
        seconds: For how long to run, in simulated seconds.
        more: Arguments of `RosbridgeBridge`.

    Yields:
        The bridge.
    """
    bridge = RosbridgeBridge(sim, **more)
    bridge.open(port)
    try:
        with BackgroundRun(sim, seconds, speed):
            yield bridge
    finally:
        bridge.close()
