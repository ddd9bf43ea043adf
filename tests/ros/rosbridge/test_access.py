"""Clients that break the rules, or come from elsewhere, harm neither the run nor other clients."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from astray.errors import WrongInput
from astray.ros.messages.serializer import MessageLayout
from astray.ros.publishers import MapTopic
from astray.ros.rosbridge import RosbridgeBridge, serving
from astray.ros.rosbridge import client as client_module
from astray.ros.rosbridge import server as server_module
from astray.ros.rosbridge.json import JsonWriter
from astray.server.listener import MAX_CONNECTIONS
from support.rosbridge import TIMEOUT, connect_to, load, receive, until

HUGE = [1e308] * 36


@pytest.fixture
def bridge() -> Iterator[RosbridgeBridge]:
    with serving(load()) as bridge:
        yield bridge


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[" * 100_000,
        "null",
        '{"op": 7}',
        '{"op": "fly"}',
        '{"op": "publish"}',
        '{"op": "publish", "topic": "/cmd_vel"}',
        '{"op": "publish", "topic": "/cmd_vel", "msg": {"linear": 3}}',
        '{"op": "publish", "topic": "/cmd_vel", "msg": {"linear": {"x": "fast"}}}',
        '{"op": "publish", "topic": "/cmd_vel", "msg": {"linear": {"x": NaN}}}',
        '{"op": "publish", "topic": "/cmd_vel", "msg": {"sideways": 1}}',
        '{"op": "publish", "topic": "/nowhere", "msg": {}}',
        f'{{"op": "publish", "topic": "/initialpose", "msg": {{"pose": {{"covariance": {HUGE}}}}}}}',
        '{"op": "advertise", "topic": "/cmd_vel", "type": "std_msgs/String"}',
        '{"op": "advertise", "topic": "/x", "type": "no_msgs/Type"}',
        '{"op": "subscribe", "topic": "a topic"}',
        '{"op": "subscribe", "topic": "/odom", "type": "sensor_msgs/Imu"}',
        '{"op": "subscribe", "topic": "/odom", "throttle_rate": -5}',
        '{"op": "fragment", "id": "a", "data": "", "num": 4, "total": 3}',
        '{"op": "set_level", "level": "shout"}',
        '{"op": "call_service"}',
    ],
    ids=lambda text: text[:60] or "empty",
)
def test_a_bad_message_gets_a_status_and_nothing_else_happens(
    bridge: RosbridgeBridge, text: str
) -> None:
    with connect_to(bridge) as client:
        client.send(text)
        assert receive(client, "status")["level"] == "error"
        client.send('{"op": "call_service", "id": "1", "service": "/rosapi/nodes"}')
        assert receive(client, "service_response")["values"] == {"nodes": ["/astray"]}
    assert not bridge.sim.events


def test_a_message_that_is_too_long_ends_only_its_own_client(bridge: RosbridgeBridge) -> None:
    with connect_to(bridge) as good, connect_to(bridge) as bad:
        with contextlib.suppress(ConnectionClosed):  # it may be cut off while it still sends
            bad.send(" " * (2 << 20))
        with pytest.raises(ConnectionClosed):
            bad.recv(timeout=TIMEOUT)
        good.send('{"op": "call_service", "service": "/rosapi/nodes"}')
        assert receive(good, "service_response")["result"]


def test_bytes_that_are_no_websocket_do_no_harm(bridge: RosbridgeBridge) -> None:
    with socket.create_connection(("127.0.0.1", bridge.port)) as raw:
        raw.sendall(b"\x00\xff" * 5000)
    with connect_to(bridge) as client:
        client.send('{"op": "call_service", "service": "/rosapi/nodes"}')
        assert receive(client, "service_response")["result"]


def test_idle_connections_leave_descriptors_for_the_run(bridge: RosbridgeBridge) -> None:
    with contextlib.ExitStack() as idle:
        for _ in range(MAX_CONNECTIONS + 50):
            raw = socket.create_connection(("127.0.0.1", bridge.port), TIMEOUT)
            idle.enter_context(raw)
        assert raw.recv(4096).startswith(b"HTTP/1.1 503 ")
    until(lambda: not bridge.server.thread.listener.connections())
    with connect_to(bridge) as client:
        client.send('{"op": "call_service", "service": "/rosapi/nodes"}')
        assert receive(client, "service_response")["result"]


def test_a_connection_without_a_whole_request_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_module, "REQUEST_TIMEOUT", 0.2)
    with (
        serving(load()) as bridge,
        socket.create_connection(("127.0.0.1", bridge.port), TIMEOUT) as raw,
    ):
        raw.sendall(b"GET / HTTP/1.1\r\n")
        with contextlib.suppress(ConnectionError):
            assert not raw.recv(1)


def test_a_client_that_stops_reading_is_disconnected_and_the_run_continues(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client_module, "MAX_BYTES", 1 << 16)
    logged: list[str] = []
    with (
        serving(load(), speed=None, send_timeout=0.2, log=logged.append) as bridge,
        socket.create_connection(("127.0.0.1", bridge.port)) as raw,
    ):
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        key = "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13\r\n"
        upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\n"
        raw.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n{upgrade}{key}\r\n".encode())
        assert b"101" in raw.recv(4096)
        for topic in ("/scan", "/odom", "/imu/data", "/tf"):
            raw.sendall(masked(json.dumps({"op": "subscribe", "topic": topic})))
        until(lambda: any("does not read" in text for text in logged))
        steps = bridge.sim.steps
        until(lambda: bridge.sim.steps > steps + 1000)
        assert not bridge.server.operations.clients


def masked(text: str) -> bytes:
    """A text frame of a client whose mask is zero."""
    data = text.encode()
    assert len(data) < 126
    return bytes([0x81, 0x80 | len(data), 0, 0, 0, 0]) + data


def test_long_calls_delay_no_other_service_and_end_with_their_client() -> None:
    pause = {"op": "call_service", "service": "/set_simulation_state", "args": [{"state": 2}]}
    steps = {"op": "call_service", "service": "/step_simulation", "args": [10_000_000]}
    with serving(load()) as bridge, connect_to(bridge) as good:
        with connect_to(bridge) as bad:
            bad.send(json.dumps(pause))
            assert receive(bad, "service_response")["result"]
            for _ in range(30):
                bad.send(json.dumps(steps))
            until(lambda: bridge.sim.pace.granted_ticks > 0)
            good.send('{"op": "call_service", "service": "/get_simulation_state"}')
            assert receive(good, "service_response")["values"]["state"] == {"state": 2}
        until(lambda: bridge.sim.pace.granted_ticks == 0)
        good.send(json.dumps({**steps, "args": [3]}))
        assert receive(good, "service_response")["values"]["result"]["result"] == 1


def test_a_map_is_encoded_once_however_often_it_is_subscribed_to(
    bridge: RosbridgeBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[float] = []
    message = MapTopic.message

    def recorded(topic: MapTopic, sim: Any) -> bytes:
        encoded.append(sim.time)
        return message(topic, sim)

    monkeypatch.setattr(MapTopic, "message", recorded)
    with connect_to(bridge) as client:
        for world in ({"walls": [[[0, 0], [1, 1]]]}, {"walls": [[[0, 0], [9, 9]]]}):
            bridge.sim.replace_map(world)
            until(lambda: not bridge.sim.event_queue.has_events)
            widths = []
            for _ in range(5):
                client.send('{"op": "subscribe", "topic": "/map"}')
                widths.append(receive(client, "publish")["msg"]["info"]["width"])
            assert len(set(widths)) == 1
    assert len(encoded) == 2


def test_the_subscriptions_of_a_lost_connection_end(bridge: RosbridgeBridge) -> None:
    with connect_to(bridge) as client:
        client.send('{"op": "subscribe", "topic": "/odom"}')
        receive(client, "publish")
        client.socket.shutdown(socket.SHUT_RDWR)
    until(lambda: not bridge.server.operations.subscribed)


@pytest.mark.parametrize(
    ("origin", "allowed", "is_accepted"),
    [
        ("https://evil.example", (), False),
        ("null", (), False),
        ("http://127.0.0.1.evil.example", (), False),
        ("http://localhost:3000", (), True),
        ("https://app.foxglove.dev", ("https://app.foxglove.dev",), True),
        ("https://evil.example", ("*",), True),
    ],
)
def test_foreign_origins_are_refused_unless_allowed(
    origin: str, allowed: tuple[str, ...], is_accepted: bool
) -> None:
    with serving(load(), origins=allowed) as bridge:
        if is_accepted:
            with connect_to(bridge, origin=origin) as client:
                client.send('{"op": "call_service", "service": "/rosapi/nodes"}')
                assert receive(client, "service_response")["result"]
        else:
            with pytest.raises(InvalidStatus, match="403"), connect_to(bridge, origin=origin):
                pass


def test_a_foreign_host_is_refused(bridge: RosbridgeBridge) -> None:
    with socket.create_connection(("127.0.0.1", bridge.port)) as raw:
        raw.sendall(
            b"GET / HTTP/1.1\r\nHost: evil.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        assert b"403" in raw.recv(4096)


def test_a_port_that_is_in_use_is_refused(bridge: RosbridgeBridge) -> None:
    with pytest.raises(WrongInput, match=f"port {bridge.port} of 127.0.0.1 cannot be used"):
        RosbridgeBridge(load()).open(bridge.port)


def test_a_served_run_has_the_bytes_of_one_that_is_not() -> None:
    served, alone = load(), load()
    with serving(served, speed=None, seconds=3.0) as bridge, connect_to(bridge) as client:
        for topic in bridge.server.operations.graph.published:
            client.send(json.dumps({"op": "subscribe", "topic": topic}))
        receive(client, "publish")
        until(lambda: served.steps == 300)
    alone.run(3.0)
    assert served.digest() == alone.digest()


def test_a_topic_without_subscribers_is_not_encoded(
    bridge: RosbridgeBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[str] = []
    zeros = MessageLayout.zeros

    def recorded(layout: MessageLayout, *args: Any, **more: Any) -> Any:
        if threading.current_thread().name == "astray-rosbridge":
            encoded.append(layout.type)
        return zeros(layout, *args, **more)

    monkeypatch.setattr(MessageLayout, "zeros", recorded)
    with connect_to(bridge) as client:
        client.send('{"op": "subscribe", "topic": "/clock"}')
        for _ in range(10):
            receive(client, "publish")
    assert set(encoded) == {"rosgraph_msgs/msg/Clock"}


def test_a_message_is_encoded_once_for_all_subscribers(
    bridge: RosbridgeBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []
    write = JsonWriter.write

    def recorded(writer: JsonWriter, messages: Any) -> list[str]:
        new = write(writer, messages)
        texts.extend(new)
        return new

    monkeypatch.setattr(JsonWriter, "write", recorded)
    with connect_to(bridge) as one, connect_to(bridge) as two, connect_to(bridge) as three:
        clients = (one, two, three)
        for client in clients:
            client.send('{"op": "subscribe", "topic": "/clock"}')
        received = [[receive(client, "publish")["msg"] for _ in range(30)] for client in clients]
    assert received[0][-10] in received[1]
    assert received[0][-10] in received[2]
    assert len(texts) == len(set(texts))


def test_a_run_with_a_new_seed_needs_another_bridge() -> None:
    sim = load()
    with RosbridgeBridge(sim):
        sim.reset(seed=9)
        with pytest.raises(WrongInput, match="new seed needs new bridges"):
            sim.run(0.1)
    with RosbridgeBridge(sim):
        sim.run(0.1)
