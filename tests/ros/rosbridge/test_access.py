"""Clients of rosbridge that do not behave, or come from elsewhere: nobody else is harmed."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from astray.ros.publishers.maps import MapTopic
from websockets.exceptions import ConnectionClosed, InvalidStatus

from astray.errors import WrongInput
from astray.ros.messages.serializer import MessageLayout
from astray.ros.rosbridge import client as client_module
from astray.ros.rosbridge import server as server_module
from astray.ros.rosbridge.background import serving
from astray.ros.rosbridge.bridge import RosbridgeBridge
from astray.ros.rosbridge.json import JsonWriter
from astray.server.listener import MOST
from support.rosbridge import PATIENCE, load, receive, talking, until

HUGE = [1e308] * 36


@pytest.fixture
def wire() -> Iterator[RosbridgeBridge]:
    with serving(load()) as wire:
        yield wire


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
    wire: RosbridgeBridge, text: str
) -> None:
    with talking(wire) as line:
        line.send(text)
        assert receive(line, "status")["level"] == "error"
        line.send('{"op": "call_service", "id": "1", "service": "/rosapi/nodes"}')
        assert receive(line, "service_response")["values"] == {"nodes": ["/astray"]}
    assert not wire.sim.events


def test_a_message_that_is_too_long_ends_only_its_own_client(wire: RosbridgeBridge) -> None:
    with talking(wire) as good, talking(wire) as bad:
        with contextlib.suppress(ConnectionClosed):  # it may be cut off while it still sends
            bad.send(" " * (2 << 20))
        with pytest.raises(ConnectionClosed):
            bad.recv(timeout=PATIENCE)
        good.send('{"op": "call_service", "service": "/rosapi/nodes"}')
        assert receive(good, "service_response")["result"]


def test_bytes_that_are_no_websocket_do_no_harm(wire: RosbridgeBridge) -> None:
    with socket.create_connection(("127.0.0.1", wire.port)) as raw:
        raw.sendall(b"\x00\xff" * 5000)
    with talking(wire) as line:
        line.send('{"op": "call_service", "service": "/rosapi/nodes"}')
        assert receive(line, "service_response")["result"]


def test_connections_that_say_nothing_leave_descriptors_for_the_run(wire: RosbridgeBridge) -> None:
    with contextlib.ExitStack() as idle:
        for _ in range(MOST + 50):
            raw = socket.create_connection(("127.0.0.1", wire.port), PATIENCE)
            idle.enter_context(raw)
        assert raw.recv(4096).startswith(b"HTTP/1.1 503 ")
    until(lambda: not wire.server._door.inside())
    with talking(wire) as line:
        line.send('{"op": "call_service", "service": "/rosapi/nodes"}')
        assert receive(line, "service_response")["result"]


def test_who_connects_and_does_not_ask_for_a_websocket_is_sent_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_module, "HANDSHAKE", 0.2)
    with (
        serving(load()) as wire,
        socket.create_connection(("127.0.0.1", wire.port), PATIENCE) as raw,
    ):
        raw.sendall(b"GET / HTTP/1.1\r\n")
        with contextlib.suppress(ConnectionError):
            assert not raw.recv(1)


def test_a_client_that_stops_reading_is_cut_off_and_the_run_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client_module, "MOST_BYTES", 1 << 16)
    told: list[str] = []
    with (
        serving(load(), speed=None, patience=0.2, log=told.append) as wire,
        socket.create_connection(("127.0.0.1", wire.port)) as raw,
    ):
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        key = "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13\r\n"
        upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\n"
        raw.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n{upgrade}{key}\r\n".encode())
        assert b"101" in raw.recv(4096)
        for topic in ("/scan", "/odom", "/imu/data", "/tf"):
            raw.sendall(masked(json.dumps({"op": "subscribe", "topic": topic})))
        until(lambda: any("does not read" in text for text in told))
        steps = wire.sim.steps
        until(lambda: wire.sim.steps > steps + 1000)
        assert not wire.server.hub.clients


def masked(text: str) -> bytes:
    """A text frame of a client whose mask is zero."""
    data = text.encode()
    assert len(data) < 126
    return bytes([0x81, 0x80 | len(data), 0, 0, 0, 0]) + data


def test_calls_that_take_long_keep_nobody_from_other_services_and_end_with_their_caller() -> None:
    pause = {"op": "call_service", "service": "/set_simulation_state", "args": [{"state": 2}]}
    steps = {"op": "call_service", "service": "/step_simulation", "args": [10_000_000]}
    with serving(load()) as wire, talking(wire) as good:
        with talking(wire) as bad:
            bad.send(json.dumps(pause))
            assert receive(bad, "service_response")["result"]
            for _ in range(30):
                bad.send(json.dumps(steps))
            until(lambda: wire.sim.pace.granted_ticks > 0)
            good.send('{"op": "call_service", "service": "/get_simulation_state"}')
            assert receive(good, "service_response")["values"]["state"] == {"state": 2}
        until(lambda: wire.sim.pace.granted_ticks == 0)
        good.send(json.dumps({**steps, "args": [3]}))
        assert receive(good, "service_response")["values"]["result"]["result"] == 1


def test_a_map_is_put_into_words_once_however_often_it_is_asked_for(
    wire: RosbridgeBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[float] = []
    message = MapTopic.message

    def noted(topic: MapTopic, sim: Any) -> bytes:
        made.append(sim.time)
        return message(topic, sim)

    monkeypatch.setattr(MapTopic, "message", noted)
    with talking(wire) as line:
        for world in ({"walls": [[[0, 0], [1, 1]]]}, {"walls": [[[0, 0], [9, 9]]]}):
            wire.sim.replace_map(world)
            until(lambda: not wire.sim.event_queue.is_waiting)
            widths = []
            for _ in range(5):
                line.send('{"op": "subscribe", "topic": "/map"}')
                widths.append(receive(line, "publish")["msg"]["info"]["width"])
            assert len(set(widths)) == 1
    assert len(made) == 2


def test_a_client_that_vanishes_leaves_nothing_behind(wire: RosbridgeBridge) -> None:
    with talking(wire) as line:
        line.send('{"op": "subscribe", "topic": "/odom"}')
        receive(line, "publish")
        line.socket.shutdown(socket.SHUT_RDWR)
    until(lambda: not wire.server.hub.wanted)


@pytest.mark.parametrize(
    ("origin", "allowed", "let_in"),
    [
        ("https://evil.example", (), False),
        ("null", (), False),
        ("http://127.0.0.1.evil.example", (), False),
        ("http://localhost:3000", (), True),
        ("https://app.foxglove.dev", ("https://app.foxglove.dev",), True),
        ("https://evil.example", ("*",), True),
    ],
)
def test_pages_from_elsewhere_are_refused_unless_allowed(
    origin: str, allowed: tuple[str, ...], let_in: bool
) -> None:
    with serving(load(), origins=allowed) as wire:
        if let_in:
            with talking(wire, origin=origin) as line:
                line.send('{"op": "call_service", "service": "/rosapi/nodes"}')
                assert receive(line, "service_response")["result"]
        else:
            with pytest.raises(InvalidStatus, match="403"), talking(wire, origin=origin):
                pass


def test_a_name_that_was_made_to_point_here_is_refused(wire: RosbridgeBridge) -> None:
    with socket.create_connection(("127.0.0.1", wire.port)) as raw:
        raw.sendall(
            b"GET / HTTP/1.1\r\nHost: evil.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        assert b"403" in raw.recv(4096)


def test_a_port_that_is_taken_is_told(wire: RosbridgeBridge) -> None:
    with pytest.raises(WrongInput, match=f"port {wire.port} cannot be served"):
        RosbridgeBridge(load()).open(wire.port)


def test_a_run_that_is_watched_has_the_bytes_of_one_that_is_not() -> None:
    watched, alone = load(), load()
    with serving(watched, speed=None, seconds=3.0) as wire, talking(wire) as line:
        for topic in wire.server.hub.graph.said:
            line.send(json.dumps({"op": "subscribe", "topic": topic}))
        receive(line, "publish")
        until(lambda: watched.steps == 300)
    alone.run(3.0)
    assert watched.digest() == alone.digest()


def test_what_nobody_hears_is_not_encoded(
    wire: RosbridgeBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    make = MessageLayout.make

    def noted(layout: MessageLayout, *args: Any, **more: Any) -> Any:
        if threading.current_thread().name == "astray-rosbridge":
            made.append(layout.type)
        return make(layout, *args, **more)

    monkeypatch.setattr(MessageLayout, "make", noted)
    with talking(wire) as line:
        line.send('{"op": "subscribe", "topic": "/clock"}')
        for _ in range(10):
            receive(line, "publish")
    assert set(made) == {"rosgraph_msgs/msg/Clock"}


def test_a_message_becomes_text_once_however_many_hear_it(
    wire: RosbridgeBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    write = JsonWriter.write

    def noted(writer: JsonWriter, messages: Any) -> list[str]:
        texts = write(writer, messages)
        written.extend(texts)
        return texts

    monkeypatch.setattr(JsonWriter, "write", noted)
    with talking(wire) as one, talking(wire) as two, talking(wire) as three:
        lines = (one, two, three)
        for line in lines:
            line.send('{"op": "subscribe", "topic": "/clock"}')
        heard = [[receive(line, "publish")["msg"] for _ in range(30)] for line in lines]
    assert heard[0][-10] in heard[1]
    assert heard[0][-10] in heard[2]
    assert len(written) == len(set(written))


def test_a_run_with_a_new_seed_needs_another_wire() -> None:
    sim = load()
    with RosbridgeBridge(sim):
        sim.reset(seed=9)
        with pytest.raises(WrongInput, match="new seed needs new bridges"):
            sim.run(0.1)
    with RosbridgeBridge(sim):
        sim.run(0.1)
