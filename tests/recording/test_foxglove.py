"""A run published to Foxglove, and a client of its protocol over a real socket."""

from __future__ import annotations

import builtins
import contextlib
import importlib.util
import json
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from websockets.sync.client import ClientConnection, connect

from astray.cli import astray as commands
from astray.errors import WrongInput
from astray.recording.foxglove import Foxglove, check_package
from astray.ros.messages.types import decode
from astray.server import BackgroundRun
from support.rosbridge import TIMEOUT, load, twin_log

pytest.importorskip("foxglove", reason="foxglove-sdk is not installed")


@contextlib.contextmanager
def publishing(speed: float | None = 1.0) -> Iterator[Foxglove]:
    """A run in the background that is published to Foxglove."""
    sim = load()
    with Foxglove(sim) as foxglove, BackgroundRun(sim, speed=speed):
        yield foxglove


class FoxgloveClient:
    """A client of Foxglove's WebSocket protocol, as far as it is needed here."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket, self.channels = socket, dict[str, dict[str, Any]]()
        self._topics: dict[int, str] = {}

    def subscribe(self, *topics: str) -> None:
        """Subscribe, once all of them were advertised."""
        while not set(topics) <= set(self.channels):
            message = json.loads(self.socket.recv(timeout=TIMEOUT))
            if message["op"] == "advertise":
                self.channels |= {channel["topic"]: channel for channel in message["channels"]}
        wanted = []
        for k, topic in enumerate(topics, start=1):
            self._topics[k] = topic
            wanted.append({"id": k, "channelId": self.channels[topic]["id"]})
        self.socket.send(json.dumps({"op": "subscribe", "subscriptions": wanted}))

    def next(self) -> tuple[str, int, bytes]:
        """Topic, time in ns and bytes of the next message."""
        while True:
            message = self.socket.recv(timeout=TIMEOUT)
            if isinstance(message, bytes) and message[0] == 1:
                subscription, ns = struct.unpack_from("<IQ", message, 1)
                return self._topics[subscription], ns, message[13:]


def connect_to(foxglove: Foxglove) -> connect:
    protocols: Any = ["foxglove.sdk.v1"]
    url = f"ws://127.0.0.1:{foxglove.port}"
    return connect(url, subprotocols=protocols, max_size=None, close_timeout=0.5)


def test_foxglove_receives_the_types_and_the_messages_of_the_run() -> None:
    with publishing() as foxglove:
        with connect_to(foxglove) as socket:
            client = FoxgloveClient(socket)
            client.subscribe("/ground_truth/odom", "/scan", "/imu/data", "/tf", "/clock", "/odom")
            imu = client.channels["/imu/data"]
            assert (imu["encoding"], imu["schemaEncoding"]) == ("cdr", "ros2msg")
            assert imu["schemaName"] == "sensor_msgs/msg/Imu"
            assert "geometry_msgs/Vector3 linear_acceleration" in imu["schema"]
            foxglove.sim.robots["rover"].drive(0.5, 0.3)
            got = [client.next() for _ in range(200)]
        steps = foxglove.sim.steps
    rover = twin_log(foxglove.sim, steps)["rover"]
    seen: dict[str, int] = {}
    for topic, ns, data in got:
        k = round(ns / 1e7)
        message = decode(client.channels[topic]["schemaName"], data)
        if topic == "/ground_truth/odom":
            assert message.pose.pose.position.x == rover.truth["x"][k, 0]
        elif topic == "/imu/data":
            assert message.angular_velocity.z == rover.readings["imu"]["wz"][k, 0]
        elif topic == "/scan":
            ranges = rover.bulk["scan"]["ranges"][k, 0]
            near = ranges < 5.0
            assert np.array_equal(message.ranges[near], ranges[near].astype(np.float32))
        elif topic == "/clock":
            assert message.clock.sec * 10**9 + message.clock.nanosec == ns
        seen[topic] = seen.get(topic, 0) + 1
    assert len(seen) == 6


def test_a_late_client_receives_the_static_transforms_and_the_map_even_while_paused() -> None:
    with publishing() as foxglove:
        foxglove.sim.pace.pause()
        with connect_to(foxglove) as socket:
            client = FoxgloveClient(socket)
            client.subscribe("/tf_static", "/map")
            got = {topic: data for topic, _, data in (client.next(), client.next())}
    assert decode("tf2_msgs/msg/TFMessage", got["/tf_static"]).transforms
    assert decode("nav_msgs/msg/OccupancyGrid", got["/map"]).info.width > 100


def test_a_published_run_has_the_bytes_of_one_that_is_not() -> None:
    sim, alone = load(), load()
    with Foxglove(sim):
        sim.run(2.0)
    alone.run(2.0)
    assert sim.digest() == alone.digest()


def test_without_the_package_a_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None)
    with pytest.raises(WrongInput, match=r"pip install \"astray\[foxglove\]\""):
        check_package()
    done = CliRunner().invoke(commands, ["run", "drift", "--foxglove"])
    assert isinstance(done.exception, WrongInput)


def test_the_package_is_imported_only_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    late = builtins.__import__

    def refuse(name: str, *more: Any, **named: Any) -> Any:
        assert not name.startswith(("foxglove", "websockets"))
        return late(name, *more, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    done = CliRunner().invoke(commands, ["run", "--help"])
    assert done.exit_code == 0
    assert "--foxglove [PORT]" in done.output
