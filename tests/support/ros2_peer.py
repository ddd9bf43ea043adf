"""A small client on the bus of ROS 2 for tests, in the process of the test."""

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

PATIENCE = 60.0  # s of real time after which something will not happen any more
DOMAIN = 1 + os.getpid() % 200  # so that tests at the same time do not hear each other


class Peer:
    """Says and hears topics; waits for events, not for seconds."""

    def __init__(self, domain: int = DOMAIN) -> None:
        self.bus = Participant(Discovery(domain))
        self.heard: dict[str, list[Any]] = {}
        self._readers: dict[str, tuple[str, DdsReader]] = {}
        self._writers: dict[str, tuple[str, DdsWriter]] = {}

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *problem: object) -> None:
        self.bus.close()

    def hear(self, topic: str, type: str, latched: bool = False) -> list[Any]:
        """Subscribe, and wait until someone publishes; the list grows while `until` waits."""
        reader = self.bus.reader(topic, type, latched=latched)
        self._readers[topic] = type, reader
        self.heard[topic] = []
        self.until(lambda: reader.writers > 0)
        return self.heard[topic]

    def say(self, topic: str, type: str, values: Any) -> None:
        """Publish, once someone listens."""
        self.writer(topic, type).write(
            values if isinstance(values, bytes) else encode(type, values)
        )

    def writer(self, topic: str, type: str) -> DdsWriter:
        """Whoever publishes a topic, once someone listens."""
        if topic not in self._writers:
            writer = self.bus.writer(topic, type)
            self._writers[topic] = type, writer
            self.until(lambda: writer.readers > 0)
        return self._writers[topic][1]

    def until(self, happened: Callable[[], object], what: str = "") -> None:
        """Listen until something has happened."""
        deadline = time.monotonic() + PATIENCE
        while not happened():
            assert time.monotonic() < deadline, what or "it never happened"
            self.bus.wait(0.01)
            for topic, (type, reader) in self._readers.items():
                self.heard[topic] += [decode(type, data) for data in reader.take()]
            time.sleep(0.001)


class Running:
    """A run on the bus as long as the with block lasts."""

    def __init__(self, sim: Any, speed: float | None = 1.0, **settings: Any) -> None:
        self.sim, self.speed = sim, speed
        self.complaints: list[str] = []
        node = Node(parse_arguments("astray"), Discovery(DOMAIN), tell=self.complaints.append)
        self.wire = DdsBridge(sim, node, DdsSettings(**settings))
        self._problems: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            self.sim.run(1e9 if self.speed else None, speed=self.speed)
        except BaseException as problem:  # noqa: BLE001 - raised again where the block ends
            self._problems.append(problem)

    def join(self) -> None:
        """Wait until the run has ended by itself."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def __enter__(self) -> Running:
        self.wire.open()
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        while self._thread.is_alive():  # it may not have begun yet, and forgets that it was stopped
            self.sim.pace.stop()
            self._thread.join(0.05)
        self.wire.close()
        if self._problems and problem[0] is None:
            raise self._problems[0]


def message(type: str, **values: Any) -> Any:
    """A message by its values."""
    return make_message(type, values)
