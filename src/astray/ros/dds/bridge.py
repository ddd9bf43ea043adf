"""A run as a node of ROS 2: an observer that says all that happens, and posts what it hears.

It changes nothing by itself: what others send reaches the run as events. In lockstep nothing that
is said gets lost, and the run begins when every robot that waits for commands can be given some.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from astray.engine import Run
from astray.ros.dds.batch_publishing import Said, serialize_batch
from astray.ros.dds.node import Node
from astray.ros.dds.participant import DdsError, DdsReader, DdsWriter
from astray.ros.dds.publish_queue import PublishQueue
from astray.ros.dds.settings import DdsSettings
from astray.ros.messages import OWN_PACKAGE, MessageLayout, decode, typestore
from astray.ros.publishers import (
    CLOCK,
    OCCUPANCY_GRID,
    TF,
    PublisherSet,
    clock_schedule,
    map_topics,
)
from astray.ros.subscriptions import Subscriptions, SubscriptionSettings
from astray.server import short_switch_interval

if TYPE_CHECKING:
    pass

ROOM = 256  # moments that may wait to be published
SETTLE = 0.5  # s of real time for a client to find the other topics, once it is there
Moment = tuple[int, Said, list[tuple[int, bytes]]]
"""A time in ns, what is to be said, and maps that are new, by world."""


class DdsBridge:
    """All robots of a run on the bus of ROS 2."""

    def __init__(self, sim: Run, node: Node, settings: DdsSettings | None = None) -> None:
        self.sim, self.node = sim, node
        settings = settings or DdsSettings()
        self.feed = PublisherSet(sim, settings.localization, settings.rate)
        self._clock_beat = clock_schedule(sim.dt)
        self._clock = MessageLayout(CLOCK).blank(1)
        self._clock_writer = node.publish("/clock", CLOCK)
        self._writers: dict[int, dict[int, DdsWriter]] = {}
        for speaker in self.feed.publishers:
            if settings.own_types or not speaker.layout.type.startswith(OWN_PACKAGE):
                self._writers[id(speaker)] = {
                    row: node.publish(topic.name, topic.type)
                    for row, topic in speaker.topics.items()
                }
        self._map_topics = map_topics(sim)
        self._map_writers = {
            topic.world: node.publish(topic.name, OCCUPANCY_GRID, latched=True)
            for topic in self._map_topics
        }
        self._maps: dict[int, Any] = {}
        self._hear(settings)
        self.lockstep = any(group.lockstep for group in sim.robots.values())
        self.outbox: PublishQueue[Moment] = PublishQueue(self._publish, ROOM, self._waits)
        self._turns = contextlib.ExitStack()
        self._closing = False
        self._listening = threading.Thread(
            target=self._listen, name="astray-ros2-hear", daemon=True
        )

    def _hear(self, settings: DdsSettings) -> None:
        hearing = SubscriptionSettings(
            settings.stamped_cmd_vel, settings.belief_from, settings.belief_heard_at
        )
        ears = Subscriptions(self.sim, hearing, self.feed.dead_reckonings)
        self._commanders: list[DdsReader] = []
        waiting = {
            robot.topic("cmd_vel")
            for name, group in self.sim.robots.items()
            for robot in self.feed.robots[name]
            if group.lockstep and group.truth["alive"][robot.row]
        }
        for topic, heard in ears.topics.items():
            reader = self.node.hear(topic, heard.type, heard.callback)
            if topic in waiting:
                self._commanders.append(reader)

    def _waits(self) -> bool:
        """Whether nothing may get lost: not even lockstep waits for a reader when all is over."""
        return self.lockstep and not self._closing and not self.sim.pace.stopped

    @property
    def dropped(self) -> int:
        """Moments that were not published since the bus was slower than the run."""
        return self.outbox.dropped

    def open(self) -> None:
        """Join in, and watch the run."""
        self._turns.enter_context(short_switch_interval())
        self.node.publish("/tf_static", TF, latched=True).write(static_frames(self.feed))
        self.node.announce()
        if self.lockstep:
            self.sim.pace.pause()
        self.outbox.open()
        self.observe(self.sim)
        self.sim.observers.append(self)
        self._listening.start()

    def close(self) -> None:
        """Leave; the run is watched no more."""
        self._closing = True
        self.sim.observers.remove(self)
        self.outbox.close()
        self.node.stop()
        self._listening.join()
        self.node.close()
        self._turns.close()

    def __enter__(self) -> DdsBridge:
        self.open()
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    # The observer.

    def next_due(self, step: int) -> int:
        """When there is something to say, or the clock to be told."""
        return min(self.feed.next_due(step), self._clock_beat.from_(step))

    def observe(self, sim: Run) -> None:
        """Copy what is to be said now."""
        said = [
            (speaker, speaker.sample(rows))
            for speaker, rows in self.feed.due_publishers()
            if id(speaker) in self._writers
        ]
        ns = round(sim.time * 1e9)
        self.outbox.put((ns, said, self._new_maps(sim)))

    def _new_maps(self, sim: Run) -> list[tuple[int, bytes]]:
        new = []
        for topic in self._map_topics:
            found = sim.map(topic.world)
            if found is not self._maps.get(topic.world):
                self._maps[topic.world] = found
                new.append((topic.world, topic.message(sim)))
        return new

    # The thread that says.

    def _publish(self, moments: Sequence[Moment]) -> None:
        every = serialize_batch([said for _, said, _ in moments])
        for (ns, _, maps), messages in zip(moments, every, strict=True):
            for world, message in maps:
                self._write(self._map_writers[world], message)
            for speaker, row, message in messages:
                self._write(self._writers[id(speaker)][row], message)
            # The clock comes last: who hears it may rely on all of that time having been said.
            self._clock["clock.sec"], self._clock["clock.nanosec"] = divmod(ns, 1_000_000_000)
            self._write(self._clock_writer, self._clock.tobytes())

    def _write(self, writer: DdsWriter, message: bytes) -> None:
        while True:
            try:
                writer.write(message)
            except DdsError:  # a reader that does not get on; who is live drops what it missed
                if self._waits():
                    continue
                self.outbox.dropped += 1
            return

    # The thread that hears.

    def _listen(self) -> None:
        try:
            if self.lockstep:
                self._await_commanders()
            self.node.spin()
        except Exception as problem:  # noqa: BLE001 - told to the run, which ends with it
            self.outbox.fail(problem)

    def _await_commanders(self) -> None:
        """Hold the run until someone can command every robot; what it says would reach no one."""
        while not self.node.stopped and not all(reader.writers for reader in self._commanders):
            self.node.listen(0.01)
        settled = time.monotonic() + SETTLE
        while not self.node.stopped and time.monotonic() < settled:
            self.node.listen(0.01)
        self.sim.pace.play()


def static_frames(feed: PublisherSet) -> bytes:
    """All frames that stay where they are, in one message: late comers are told the last one."""
    frames: dict[str, Any] = {}
    for message in feed.static_transforms():
        for transform in decode(TF, message).transforms:
            frames[transform.child_frame_id] = transform
    store = typestore()
    return bytes(store.serialize_cdr(store.types[TF](transforms=list(frames.values())), TF))
