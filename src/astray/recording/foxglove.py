"""A run live in Foxglove: the same topics as elsewhere, as the CDR bytes of ROS 2.

Foxglove connects from a web page, and any page can: so it only reads. Nothing that a client sends
reaches the run. The server is that of Foxglove's SDK.
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from astray.engine import Run
from astray.errors import WrongInput
from astray.ros.messages import message_definition
from astray.ros.publishers import (
    OCCUPANCY_GRID,
    TF,
    ClockPublisher,
    Localization,
    MapTopic,
    Publisher,
    PublisherSet,
    map_topics,
)
from astray.server import LOOPBACK, LogLine, port_error
from astray.tables import Array

if TYPE_CHECKING:
    from foxglove import Channel
    from foxglove.websocket import ChannelView, ServerListener

PORT = 8765  # the usual port of Foxglove


def check_package() -> None:
    """Refuse `--foxglove` without Foxglove's package.

    Raises:
        WrongInput: The package is not installed.
    """
    if importlib.util.find_spec("foxglove") is None:
        raise WrongInput('--foxglove needs a package: pip install "astray[foxglove]"')


class Foxglove:
    """Publishes a run to Foxglove.

    Args:
        sim: The run.
        localization: Where the frame "odom" stands in "map": as the robot believes, or truly.
    """

    def __init__(self, sim: Run, localization: Localization = "belief") -> None:
        check_package()
        from foxglove import Context

        self.sim = sim
        self.publisher_set, self.clock = PublisherSet(sim, localization), ClockPublisher(sim)
        self._context = Context()
        self._channels: dict[str, Channel] = {}
        for publisher in [*self.publisher_set.publishers, self.clock]:
            for topic in publisher.topics.values():
                self._add_channel(topic.name, topic.type)
        self._latched: dict[str, Callable[[], list[bytes]]] = {}
        self._add_latched("/tf_static", TF, self.publisher_set.static_transforms)
        for map in map_topics(sim):
            self._add_latched(map.name, OCCUPANCY_GRID, partial(_map_messages, sim, map))

    def _add_channel(self, topic: str, type: str) -> None:
        from foxglove import Channel, Schema

        if topic not in self._channels:
            schema = Schema(name=type, encoding="ros2msg", data=message_definition(type).encode())
            self._channels[topic] = Channel(
                topic, schema=schema, message_encoding="cdr", context=self._context
            )

    def _add_latched(self, topic: str, type: str, messages: Callable[[], list[bytes]]) -> None:
        self._add_channel(topic, type)
        self._latched[topic] = messages

    def open(self, port: int = PORT) -> None:
        """Begin to serve, and observe the run.

        Args:
            port: Where to listen; a free port if it is 0.

        Raises:
            WrongInput: The port cannot be used.
        """
        from foxglove import start_server

        try:
            self._server = start_server(
                name=f"astray: {self.sim.scenario.name}",
                host=LOOPBACK,
                port=port,
                server_listener=_server_listener(self._publish_latched),
                context=self._context,
            )
        except Exception as error:  # noqa: BLE001 - the package has no class of its own for it
            advice = "choose another by --foxglove PORT"
            raise port_error(LOOPBACK, port, error, advice) from None
        self.port = int(self._server.port)
        self.sim.observers.append(self)

    def close(self) -> None:
        """Disconnect all clients, and observe the run no more."""
        self.sim.observers.remove(self)
        self._server.stop()
        for channel in self._channels.values():
            channel.close()

    def __enter__(self) -> Foxglove:
        self.open(0)
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # The observer.

    def next_due(self, step: int) -> int:
        """The next step at which a publisher is due."""
        return min(self.publisher_set.next_due(step), self.clock.schedule.next_due(step))

    def observe(self, sim: Run) -> None:
        """Publish what is due and subscribed to; the SDK drops what clients do not read in time."""
        clock_rows = self.clock.due_rows(sim)
        if len(clock_rows):
            self._publish(self.clock, clock_rows)
        for publisher, rows in self.publisher_set.due_publishers():
            self._publish(publisher, rows)

    def _publish(self, publisher: Publisher, rows: Array) -> None:
        topics = [publisher.topics[int(row)].name for row in rows]
        is_subscribed = [self._channels[topic].has_sinks() for topic in topics]
        if any(is_subscribed):
            ns = round(self.sim.time * 1e9)
            for topic, data in publisher.messages(rows[is_subscribed]):
                self._channels[topic.name].log(data, log_time=ns)

    # In the thread of the server.

    def _publish_latched(self, topic: str) -> None:
        """Publish a latched topic again, between two ticks: a new subscriber does not have it."""
        if topic in self._latched:
            self.sim.pace.request(partial(self._log_latched, topic))

    def _log_latched(self, topic: str) -> None:
        for data in self._latched[topic]():
            self._channels[topic].log(data, log_time=round(self.sim.time * 1e9))


def _map_messages(sim: Run, topic: MapTopic) -> list[bytes]:
    return [topic.message(sim)]


def _server_listener(on_subscribe: Callable[[str], None]) -> ServerListener:
    """A listener that is called with the topic of each new subscription."""
    from foxglove.websocket import ServerListener

    class SubscribeListener(ServerListener):
        def on_subscribe(self, client: object, channel: ChannelView) -> None:
            on_subscribe(channel.topic)

    return SubscribeListener()


@contextlib.contextmanager
def on_foxglove(sim: Run, port: int, log: LogLine) -> Iterator[object]:
    """Publish a run to Foxglove as long as the with block lasts.

    Args:
        sim: The run.
        port: Where to listen; a free port if it is 0.
        log: Is given the address.

    Raises:
        WrongInput: The port cannot be used.
    """
    foxglove = Foxglove(sim)
    foxglove.open(port)
    try:
        log(f"Foxglove: ws://{LOOPBACK}:{foxglove.port}")
        yield foxglove
    finally:
        foxglove.close()
