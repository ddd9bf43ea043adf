"""A ROS 2 node without rclpy: publishers, subscriptions and spinning, with remapped names."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from astray.errors import AstrayError
from astray.ros.arguments import Arguments
from astray.ros.dds.discovery import Discovery
from astray.ros.dds.node_graph import NodeGraph
from astray.ros.dds.participant import DdsReader, DdsWriter, Participant
from astray.ros.dds.settings import default_distro
from astray.ros.messages import decode

Callback = Callable[[Any], None]
POLL_PERIOD = 0.1  # s of real time after which a spinning node sees that it was stopped


class NodeSubscription(NamedTuple):
    """A topic that a node subscribes to."""

    topic: str
    type: str
    reader: DdsReader
    callback: Callback


class Node:
    """A node: it publishes and subscribes under a name that ROS 2 tools list.

    Args:
        arguments: Its name, namespace, remappings and parameters.
        discovery: The domain; what the environment asks for unless given.
        distro: The distribution of the other nodes; that of this shell unless given.
        report: Is given a line of text about each kind of message that is not valid.
    """

    def __init__(
        self,
        arguments: Arguments,
        discovery: Discovery | None = None,
        distro: str | None = None,
        report: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.arguments, self._report = arguments, report
        self.discovery = discovery or Discovery.from_environment()
        self.participant = Participant(self.discovery)
        self._graph = NodeGraph(self.participant, distro or default_distro())
        self._writers: dict[str, DdsWriter] = {}
        self._subscriptions: list[NodeSubscription] = []
        self._reported: set[tuple[str, str]] = set()
        self._stop = threading.Event()

    @property
    def published_topics(self) -> list[str]:
        """The full names of the topics that it publishes, in alphabetical order."""
        return sorted(self._writers)

    @property
    def subscribed_topics(self) -> list[str]:
        """The full names of the topics that it subscribes to, in alphabetical order."""
        return sorted(subscription.topic for subscription in self._subscriptions)

    def create_publisher(self, type: str, topic: str, *, latched: bool = False) -> DdsWriter:
        """Publish a topic.

        Args:
            type: The message type, such as "geometry_msgs/msg/Twist".
            topic: The topic, before remapping.
            latched: Whether late subscribers get the last messages (transient local).

        Returns:
            The writer; the same one if it exists already.
        """
        name = self.arguments.topic(topic)
        if name not in self._writers:
            self._writers[name] = self.participant.writer(name, type, latched=latched)
        return self._writers[name]

    def create_subscription(
        self, type: str, topic: str, callback: Callback, *, latched: bool = False
    ) -> DdsReader:
        """Subscribe to a topic.

        Args:
            type: The message type.
            topic: The topic, before remapping.
            callback: Is given each message, decoded, in the thread that spins.
            latched: Whether to get the last messages of latched publishers.

        Returns:
            The reader.
        """
        name = self.arguments.topic(topic)
        reader = self.participant.reader(name, type, latched=latched)
        self._subscriptions.append(NodeSubscription(name, type, reader, callback))
        return reader

    def announce(self) -> None:
        """Publish which topics there are now, for `ros2 node list` and `ros2 topic info`."""
        self._graph.publish(
            self.arguments.namespace,
            self.arguments.node,
            [subscription.reader.gid for subscription in self._subscriptions],
            [writer.gid for writer in self._writers.values()],
        )

    def spin_once(self, timeout: float = POLL_PERIOD) -> None:
        """Wait for messages and call the callbacks.

        Args:
            timeout: How long to wait for the first one, s of real time.
        """
        self.participant.wait(timeout)
        for subscription in self._subscriptions:
            for data in subscription.reader.take():
                try:
                    subscription.callback(decode(subscription.type, data))
                except AstrayError as problem:  # a bad message of a peer does not end the node
                    self._report_once(subscription.topic, str(problem))

    def _report_once(self, topic: str, problem: str) -> None:
        """Report a kind of problem once per topic: a peer repeats it with every message."""
        kind = (topic, problem.split(":")[0])
        if kind not in self._reported:
            self._reported.add(kind)
            self._report(f"{topic}: {problem}")

    def spin(self) -> None:
        """Call the callbacks until `stop` is called."""
        while not self._stop.is_set():
            self.spin_once()

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stop.is_set()

    def stop(self) -> None:
        """End spinning; may be called from any thread and from a signal handler."""
        self._stop.set()

    def close(self) -> None:
        """Stop, and leave the domain."""
        self.stop()
        self.participant.close()
