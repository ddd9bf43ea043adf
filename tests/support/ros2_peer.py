"""A small ROS 2 client for tests, in the process of the test."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("cyclonedds", reason="needs the extra [ros2]")

from astray.ros.arguments import parse_arguments
from astray.ros.dds.bridge import DdsBridge
from astray.ros.dds.discovery import Discovery
from astray.ros.dds.node import Node
from astray.ros.dds.participant import DdsReader, DdsWriter, Participant
from astray.ros.dds.settings import DdsSettings
from astray.ros.messages.types import decode, encode, make_message

TIMEOUT = 60.0  # s of real time after which a test fails
DOMAIN = 1 + os.getpid() % 200  # so that simultaneous tests do not find each other


class Peer:
    """Publishes and subscribes; waits for events, not for seconds."""

    def __init__(self, domain: int = DOMAIN) -> None:
        self.participant = Participant(Discovery(domain))
        self.received: dict[str, list[Any]] = {}
        self._readers: dict[str, tuple[str, DdsReader]] = {}
        self._writers: dict[str, tuple[str, DdsWriter]] = {}

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *problem: object) -> None:
        self.participant.close()

    def subscribe(self, topic: str, type: str, latched: bool = False) -> list[Any]:
        """Subscribe and wait for a publisher; the list grows while `until` waits."""
        reader = self.participant.reader(topic, type, latched=latched)
        self._readers[topic] = type, reader
        self.received[topic] = []
        self.until(lambda: reader.writers > 0)
        return self.received[topic]

    def publish(self, topic: str, type: str, values: Any) -> None:
        """Publish, once there is a subscriber."""
        self.writer(topic, type).write(
            values if isinstance(values, bytes) else encode(type, values)
        )

    def writer(self, topic: str, type: str) -> DdsWriter:
        """The writer of a topic, once there is a subscriber."""
        if topic not in self._writers:
            writer = self.participant.writer(topic, type)
            self._writers[topic] = type, writer
            self.until(lambda: writer.readers > 0)
        return self._writers[topic][1]

    def until(self, happened: Callable[[], object], what: str = "") -> None:
        """Take messages until something has happened."""
        deadline = time.monotonic() + TIMEOUT
        while not happened():
            assert time.monotonic() < deadline, what or "it never happened"
            self.participant.wait(0.01)
            for topic, (type, reader) in self._readers.items():
                self.received[topic] += [decode(type, data) for data in reader.take()]
            time.sleep(0.001)


class Running:
    """A run in ROS 2 while the with block lasts."""

    def __init__(self, sim: Any, speed: float | None = 1.0, **settings: Any) -> None:
        self.sim, self.speed = sim, speed
        self.reports: list[str] = []
        node = Node(parse_arguments("astray"), Discovery(DOMAIN), report=self.reports.append)
        self.bridge = DdsBridge(sim, node, DdsSettings(**settings))
        self._problems: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            self.sim.run(1e9 if self.speed else None, speed=self.speed)
        except BaseException as problem:  # noqa: BLE001 - raised again where the block ends
            self._problems.append(problem)

    def join(self) -> None:
        """Wait until the run has ended by itself."""
        self._thread.join(TIMEOUT)
        assert not self._thread.is_alive()

    def __enter__(self) -> Running:
        self.bridge.open()
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        while self._thread.is_alive():  # it may not have begun yet, and forgets that it was stopped
            self.sim.pace.stop()
            self._thread.join(0.05)
        self.bridge.close()
        if self._problems and problem[0] is None:
            raise self._problems[0]


def message(type: str, **values: Any) -> Any:
    """A message by its values."""
    return make_message(type, values)
