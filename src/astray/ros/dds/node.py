"""A node of ROS 2: topics that it says and hears on the bus, under a name that tools can list."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from astray.errors import AstrayError
from astray.ros.arguments import Arguments
from astray.ros.dds.discovery import Discovery
from astray.ros.dds.distros import usual_distro
from astray.ros.dds.graph import NodeGraph
from astray.ros.dds.participant import DdsReader, DdsWriter, Participant
from astray.ros.messages import decode

Heard = Callable[[Any], None]
Tell = Callable[[str], None]
LOOK = 0.1  # s of real time after which a listening node looks whether it was stopped


class Node:
    """Publishes and subscribes by the names that its user gave."""

    def __init__(
        self,
        arguments: Arguments,
        discovery: Discovery | None = None,
        distro: str | None = None,
        tell: Tell = lambda text: None,
    ) -> None:
        self.arguments, self.tell = arguments, tell
        self.discovery = discovery or Discovery.of()
        self.bus = Participant(self.discovery)
        self._graph = NodeGraph(self.bus, distro or usual_distro())
        self._writers: dict[str, DdsWriter] = {}
        self._hearing: list[tuple[str, str, DdsReader, Heard]] = []
        self._complained: set[tuple[str, str]] = set()
        self._stopped = threading.Event()

    @property
    def publishes(self) -> list[str]:
        """The topics that it says, in order."""
        return sorted(self._writers)

    @property
    def hears(self) -> list[str]:
        """The topics that it hears, in order."""
        return sorted(topic for topic, _, _, _ in self._hearing)

    def publish(self, topic: str, type: str, *, latched: bool = False) -> DdsWriter:
        """Say a topic; asked again, the same writer."""
        name = self.arguments.topic(topic)
        if name not in self._writers:
            self._writers[name] = self.bus.writer(name, type, latched=latched)
        return self._writers[name]

    def hear(self, topic: str, type: str, heard: Heard, *, latched: bool = False) -> DdsReader:
        """Hear a topic: each message is handed over, decoded, by whoever listens."""
        name = self.arguments.topic(topic)
        reader = self.bus.reader(name, type, latched=latched)
        self._hearing.append((name, type, reader, heard))
        return reader

    def announce(self) -> None:
        """Tell tools of all that there is now."""
        self._graph.tell(
            self.arguments.namespace,
            self.arguments.node,
            [reader.gid for _, _, reader, _ in self._hearing],
            [writer.gid for writer in self._writers.values()],
        )

    def listen(self, seconds: float = LOOK) -> None:
        """Wait for messages, at most some seconds of real time, and hand over what has come."""
        self.bus.wait(seconds)
        for topic, type, reader, heard in self._hearing:
            for data in reader.take():
                try:
                    heard(decode(type, data))
                except AstrayError as problem:  # whatever others send, it goes on
                    self._complain(topic, str(problem))

    def _complain(self, topic: str, problem: str) -> None:
        """Say what was wrong with a message, once: a peer sends the same a hundred times."""
        kind = (topic, problem.split(":")[0])
        if kind not in self._complained:
            self._complained.add(kind)
            self.tell(f"{topic}: {problem}")

    def spin(self) -> None:
        """Listen until stopped."""
        while not self._stopped.is_set():
            self.listen()

    @property
    def stopped(self) -> bool:
        """Whether it was asked to end."""
        return self._stopped.is_set()

    def stop(self) -> None:
        """End listening; safe from any thread and from a signal's handler."""
        self._stopped.set()

    def close(self) -> None:
        """Leave the bus."""
        self.stop()
        self.bus.close()
