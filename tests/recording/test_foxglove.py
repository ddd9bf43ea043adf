"""A run shown to Foxglove, heard by a client of its protocol over a real socket."""

from __future__ import annotations

import builtins
import contextlib
import importlib.util
import json
import struct
import threading
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
from support.rosbridge import PATIENCE, load, twin_log

pytest.importorskip("foxglove", reason="foxglove-sdk is not installed")


@contextlib.contextmanager
def showing(speed: float | None = 1.0) -> Iterator[Foxglove]:
    """A run in the background that Foxglove may look at."""
    sim = load()
    with Foxglove(sim) as shown:
        thread = threading.Thread(target=lambda: sim.run(1e9, speed=speed), daemon=True)
        thread.start()
        yield shown
        while thread.is_alive():
            sim.pace.stop()
            thread.join(0.05)


class Viewer:
    """A client of Foxglove's WebSocket protocol, as far as it is needed here."""

    def __init__(self, line: ClientConnection) -> None:
        self.line, self.channels = line, dict[str, dict[str, Any]]()
        self._topics: dict[int, str] = {}

    def look_at(self, *topics: str) -> None:
        """Subscribe, once all of them were advertised."""
        while not set(topics) <= set(self.channels):
            said = json.loads(self.line.recv(timeout=PATIENCE))
            if said["op"] == "advertise":
                self.channels |= {channel["topic"]: channel for channel in said["channels"]}
        wanted = []
        for k, topic in enumerate(topics, start=1):
            self._topics[k] = topic
            wanted.append({"id": k, "channelId": self.channels[topic]["id"]})
        self.line.send(json.dumps({"op": "subscribe", "subscriptions": wanted}))

    def next(self) -> tuple[str, int, bytes]:
        """Topic, time in ns and bytes of the next message."""
        while True:
            said = self.line.recv(timeout=PATIENCE)
            if isinstance(said, bytes) and said[0] == 1:
                subscription, ns = struct.unpack_from("<IQ", said, 1)
                return self._topics[subscription], ns, said[13:]


def viewing(shown: Foxglove) -> connect:
    kind: Any = ["foxglove.sdk.v1"]
    where = f"ws://127.0.0.1:{shown.port}"
    return connect(where, subprotocols=kind, max_size=None, close_timeout=0.5)


def test_foxglove_is_told_the_types_and_shown_what_the_run_is() -> None:
    with showing() as shown:
        with viewing(shown) as line:
            viewer = Viewer(line)
            viewer.look_at("/ground_truth/odom", "/scan", "/imu/data", "/tf", "/clock", "/odom")
            imu = viewer.channels["/imu/data"]
            assert (imu["encoding"], imu["schemaEncoding"]) == ("cdr", "ros2msg")
            assert imu["schemaName"] == "sensor_msgs/msg/Imu"
            assert "geometry_msgs/Vector3 linear_acceleration" in imu["schema"]
            shown.sim.robots["rover"].drive(0.5, 0.3)
            got = [viewer.next() for _ in range(200)]
        steps = shown.sim.steps
    rover = twin_log(shown.sim, steps)["rover"]
    seen: dict[str, int] = {}
    for topic, ns, data in got:
        k = round(ns / 1e7)
        message = decode(viewer.channels[topic]["schemaName"], data)
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


def test_who_comes_late_is_told_where_sensors_sit_and_the_map_even_in_a_pause() -> None:
    with showing() as shown:
        shown.sim.pace.pause()
        with viewing(shown) as line:
            viewer = Viewer(line)
            viewer.look_at("/tf_static", "/map")
            got = {topic: data for topic, _, data in (viewer.next(), viewer.next())}
    assert decode("tf2_msgs/msg/TFMessage", got["/tf_static"]).transforms
    assert decode("nav_msgs/msg/OccupancyGrid", got["/map"]).info.width > 100


def test_a_run_that_is_shown_has_the_bytes_of_one_that_is_not() -> None:
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
