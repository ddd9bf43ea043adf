"""A run as a ROS 2 node: an observer that publishes, and subscriptions that post events.

The bridge itself changes nothing: messages of other nodes become events of the run. In lockstep no
message is dropped, and the run begins when every robot that waits for commands has a publisher.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from astray.engine import Run
from astray.ros.dds.node import Node
from astray.ros.dds.participant import DdsError, DdsReader, DdsWriter
from astray.ros.dds.publish_queue import PublishQueue, SampledMessages, serialize_batch
from astray.ros.dds.settings import DdsSettings
from astray.ros.messages import OWN_PACKAGE, MessageLayout, decode, typestore
from astray.ros.publishers import (
    CLOCK,
    OCCUPANCY_GRID,
    TF,
    Publisher,
    PublisherSet,
    clock_schedule,
    map_topics,
)
from astray.ros.subscriptions import Subscriptions, SubscriptionSettings
from astray.server import short_switch_interval

QUEUE_CAPACITY = 256  # ticks that may wait to be published
SETTLE_TIME = 0.5  # s of real time for a client, once it is found, to find the other topics
DISCOVERY_POLL = 0.01  # s of real time


class SampledTick(NamedTuple):
    """What is to be published of one tick."""

    ns: int
    """The time of the run."""
    messages: SampledMessages
    maps: list[tuple[int, bytes]]
    """New maps: the world and the message of each."""


class DdsBridge:
    """Publishes a run to ROS 2 and subscribes to commands.

    Args:
        sim: The run.
        node: The node of the run.
        settings: How the run appears in ROS 2.
    """

    def __init__(self, sim: Run, node: Node, settings: DdsSettings | None = None) -> None:
        self.sim, self.node = sim, node
        settings = settings or DdsSettings()
        self.publisher_set = PublisherSet(sim, settings.localization, settings.rate)
        self._clock_schedule = clock_schedule(sim.dt)
        self._clock = MessageLayout(CLOCK).zeros(1)
        self._clock_writer = node.create_publisher(CLOCK, "/clock")
        self._writers: dict[Publisher, dict[int, DdsWriter]] = {}
        """The writer of each row of each publisher."""
        for publisher in self.publisher_set.publishers:
            if settings.own_types or not publisher.layout.type.startswith(OWN_PACKAGE):
                self._writers[publisher] = {
                    row: node.create_publisher(topic.type, topic.name)
                    for row, topic in publisher.topics.items()
                }
        self._map_topics = map_topics(sim)
        self._map_writers = {
            topic.world: node.create_publisher(OCCUPANCY_GRID, topic.name, latched=True)
            for topic in self._map_topics
        }
        self._published_maps: dict[int, Any] = {}
        self._subscribe(settings)
        self.lockstep = any(group.lockstep for group in sim.robots.values())
        """Whether the run waits for commands."""
        self.queue: PublishQueue[SampledTick] = PublishQueue(
            self._publish, QUEUE_CAPACITY, self._must_wait
        )
        self._switch_interval = contextlib.ExitStack()
        self._is_closing = False
        self._spin_thread = threading.Thread(
            target=self._spin, name="astray-ros2-spin", daemon=True
        )

    def _subscribe(self, settings: DdsSettings) -> None:
        wanted = SubscriptionSettings(
            settings.stamped_cmd_vel, settings.belief_from, settings.filter_topic
        )
        subscriptions = Subscriptions(self.sim, wanted, self.publisher_set.dead_reckonings)
        in_lockstep = {
            robot.topic("cmd_vel")
            for name, group in self.sim.robots.items()
            for robot in self.publisher_set.robots[name]
            if group.lockstep and group.truth["alive"][robot.row]
        }
        self._lockstep_readers: list[DdsReader] = []
        for topic, subscription in subscriptions.topics.items():
            reader = self.node.create_subscription(subscription.type, topic, subscription.callback)
            if topic in in_lockstep:
                self._lockstep_readers.append(reader)

    def _must_wait(self) -> bool:
        """Whether no message may be dropped: in lockstep, while the run goes on."""
        return self.lockstep and not self._is_closing and not self.sim.pace.stopped

    @property
    def dropped(self) -> int:
        """Ticks whose messages were dropped, since DDS was slower than the run."""
        return self.queue.dropped

    def open(self) -> None:
        """Announce the node, and publish the run from now on."""
        self._switch_interval.enter_context(short_switch_interval())
        static_writer = self.node.create_publisher(TF, "/tf_static", latched=True)
        static_writer.write(static_transform_message(self.publisher_set))
        self.node.announce()
        if self.lockstep:
            self.sim.pace.pause()
        self.queue.open()
        self.observe(self.sim)
        self.sim.observers.append(self)
        self._spin_thread.start()

    def close(self) -> None:
        """Publish what waits, and leave the domain."""
        self._is_closing = True
        self.sim.observers.remove(self)
        self.queue.close()
        self.node.stop()
        self._spin_thread.join()
        self.node.close()
        self._switch_interval.close()

    def __enter__(self) -> DdsBridge:
        self.open()
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    # The observer, in the thread of the run.

    def next_due(self, step: int) -> int:
        """The first step from this one on at which messages or the clock may be due."""
        return min(self.publisher_set.next_due(step), self._clock_schedule.next_due(step))

    def observe(self, sim: Run) -> None:
        """Sample the messages that are due, and let them be published."""
        messages = [
            (publisher, publisher.sample(rows))
            for publisher, rows in self.publisher_set.due_publishers()
            if publisher in self._writers
        ]
        ns = round(sim.time * 1e9)
        self.queue.put(SampledTick(ns, messages, self._new_maps(sim)))

    def _new_maps(self, sim: Run) -> list[tuple[int, bytes]]:
        new = []
        for topic in self._map_topics:
            world_map = sim.map(topic.world)
            if world_map is not self._published_maps.get(topic.world):
                self._published_maps[topic.world] = world_map
                new.append((topic.world, topic.message(sim)))
        return new

    # The thread that publishes.

    def _publish(self, ticks: Sequence[SampledTick]) -> None:
        batch = serialize_batch([tick.messages for tick in ticks])
        for tick, messages in zip(ticks, batch, strict=True):
            for world, message in tick.maps:
                self._write(self._map_writers[world], message)
            for publisher, row, message in messages:
                self._write(self._writers[publisher][row], message)
            # The clock comes last: a node that gets it has had all messages of that time.
            sec, nanosec = divmod(tick.ns, 1_000_000_000)
            self._clock["clock.sec"], self._clock["clock.nanosec"] = sec, nanosec
            self._write(self._clock_writer, self._clock.tobytes())

    def _write(self, writer: DdsWriter, message: bytes) -> None:
        while True:
            try:
                writer.write(message)
            except DdsError:  # a reader does not keep up
                if self._must_wait():
                    continue
                self.queue.dropped += 1
            return

    # The thread that spins.

    def _spin(self) -> None:
        try:
            if self.lockstep:
                self._wait_for_commanders()
            self.node.spin()
        except Exception as problem:  # noqa: BLE001 - raised in the run, which ends with it
            self.queue.fail(problem)

    def _wait_for_commanders(self) -> None:
        """Hold the run until each robot in lockstep has a publisher of its commands."""
        while not self.node.is_stopped and not all(r.writers for r in self._lockstep_readers):
            self.node.spin_once(DISCOVERY_POLL)
        settled = time.monotonic() + SETTLE_TIME
        while not self.node.is_stopped and time.monotonic() < settled:
            self.node.spin_once(DISCOVERY_POLL)
        self.sim.pace.play()


def static_transform_message(publishers: PublisherSet) -> bytes:
    """All static transforms in one message: late subscribers get only the last message."""
    transforms: dict[str, Any] = {}
    for message in publishers.static_transforms():
        for transform in decode(TF, message).transforms:
            transforms[transform.child_frame_id] = transform
    store = typestore()
    together = store.types[TF](transforms=list(transforms.values()))
    return bytes(store.serialize_cdr(together, TF))
