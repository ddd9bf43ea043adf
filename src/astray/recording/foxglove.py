"""A run live in Foxglove: the same topics as elsewhere, as the CDR bytes of ROS 2.

It only shows: Foxglove connects from a page of the web, and whoever can connect can look. Nothing
that it sends reaches the run.
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
from astray.tables import Array

if TYPE_CHECKING:
    from foxglove import Channel
    from foxglove.websocket import ChannelView, ServerListener


PORT = 8765  # where Foxglove looks for it
ADDRESS = "127.0.0.1"


def check_package() -> None:
    """Refuse where the package of Foxglove is missing."""
    if importlib.util.find_spec("foxglove") is None:
        raise WrongInput('--foxglove needs a package: pip install "astray[foxglove]"')


class Foxglove:
    """A run, shown to Foxglove."""

    def __init__(self, sim: Run, localization: Localization = "belief") -> None:
        check_package()
        from foxglove import Context

        self.sim = sim
        self.feed, self.clock = PublisherSet(sim, localization), ClockPublisher(sim)
        self._context = Context()
        self._channels: dict[str, Channel] = {}
        for speaker in [*self.feed.publishers, self.clock]:
            for topic in speaker.topics.values():
                self._channel(topic.name, topic.type)
        self._lasting = {"/tf_static": self.feed.static_transforms}
        self._lasting |= {map.name: partial(_tell, sim, map) for map in map_topics(sim)}
        for name in self._lasting:
            self._channel(name, TF if name == "/tf_static" else OCCUPANCY_GRID)

    def _channel(self, topic: str, type: str) -> Channel:
        from foxglove import Channel, Schema

        if topic not in self._channels:
            schema = Schema(name=type, encoding="ros2msg", data=message_definition(type).encode())
            self._channels[topic] = Channel(
                topic, schema=schema, message_encoding="cdr", context=self._context
            )
        return self._channels[topic]

    def open(self, port: int = PORT) -> None:
        """Listen, and watch the run."""
        from foxglove import start_server

        try:
            self._server = start_server(
                name=f"astray: {self.sim.scenario.name}",
                host=ADDRESS,
                port=port,
                server_listener=_listener(self._looked_at),
                context=self._context,
            )
        except Exception as problem:  # noqa: BLE001 - the package has no kind of its own for it
            raise WrongInput(f"port {port} cannot be served: {problem}") from None
        self.port = int(self._server.port)
        self.sim.observers.append(self)

    def close(self) -> None:
        """Send everyone away; the run is watched no more."""
        self.sim.observers.remove(self)
        self._server.stop()
        for channel in self._channels.values():
            channel.close()

    def __enter__(self) -> Foxglove:
        self.open(0)
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    # The observer.

    def next_due(self, step: int) -> int:
        """When there may be something to say."""
        return min(self.feed.next_due(step), self.clock.schedule.from_(step))

    def observe(self, sim: Run) -> None:
        """Hand over what is fresh and looked at; what no one reads is dropped, oldest first."""
        now = self.clock.due_rows(sim)
        if len(now):
            self._say(self.clock, now)
        for speaker, rows in self.feed.due_publishers():
            self._say(speaker, rows)

    def _say(self, speaker: Publisher, rows: Array) -> None:
        looked_at = [self._channels[speaker.topics[int(r)].name].has_sinks() for r in rows]
        if any(looked_at):
            ns = round(self.sim.time * 1e9)
            for topic, data in speaker.messages(rows[looked_at]):
                self._channels[topic.name].log(data, log_time=ns)

    def _looked_at(self, topic: str) -> None:
        """Say again what stays as it is: who comes has not heard it."""
        lasting = self._lasting.get(topic)
        if lasting is not None:
            self.sim.pace.request(lambda: self._say_again(topic, lasting()))

    def _say_again(self, topic: str, messages: list[bytes]) -> None:
        for data in messages:
            self._channels[topic].log(data, log_time=round(self.sim.time * 1e9))


def _listener(looked_at: Callable[[str], None]) -> ServerListener:
    """Whoever Foxglove's server tells that someone looks at a topic."""
    from foxglove.websocket import ServerListener

    class Listener(ServerListener):
        def on_subscribe(self, client: object, channel: ChannelView) -> None:
            looked_at(channel.topic)

    return Listener()


def _tell(sim: Run, map: MapTopic) -> list[bytes]:
    return [map.message(sim)]


@contextlib.contextmanager
def on_foxglove(sim: Run, port: int, say: Callable[[str], None]) -> Iterator[object]:
    """A run that Foxglove shows as long as the with block lasts."""
    shown = Foxglove(sim)
    shown.open(port)
    try:
        say(f"Foxglove: ws://127.0.0.1:{shown.port}")
        yield shown
    finally:
        shown.close()
