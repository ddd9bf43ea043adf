"""The page's server: access, frames, requests, and that they change nothing in a run."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

import astray
from astray.errors import WrongInput
from astray.pioneer.server import PioneerServer as PioneerServer
from astray.pioneer.session import SessionOptions
from astray.ros.rosbridge.operations import TopicGraph
from astray.ros.rosbridge.server import RosbridgeServer as RosbridgeServer
from astray.server.listener import MAX_CONNECTIONS
from astray.viewer.page import server as server_module
from astray.viewer.page.commands import MAX_BYTES, ResetRequest
from astray.viewer.page.frames import BELIEF, HEADER, ROBOT, TRACK
from astray.viewer.page.server import PageServer
from astray.viewer.page.view import View

OFFICE: dict[str, Any] = {
    "seed": 5,
    "dt": 0.01,
    "duration": 30.0,
    "world": {"map": "office"},
    "metrics": [{"kind": "position_error"}],
    "robots": [
        {
            "name": "scout",
            "count": 2,
            "start": {"x": 2.0, "y": 2.0, "spread": 0.1},
            "sensors": [
                {"kind": "wheels", "rate": 50, "radius_sd": 0.01, "slip_density": 0.004},
                {"kind": "lidar", "name": "scan", "rate": 10, "rays": 720, "sigma": 0.01},
            ],
            "estimator": {"kind": "odometry"},
            "rivals": [{"kind": "odometry", "name": "other"}],
            "autonomy": {"kind": "waypoints", "points": [[6, 2], [6, 3]], "loop": True},
        },
        {"name": "box", "start": {"x": 15.0, "y": 7.6}, "autonomy": {"kind": "remote"}},
    ],
}


def until(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 120.0
    while not (found := condition()):
        assert time.monotonic() < deadline, "the condition never held"
        time.sleep(0.005)
    return found


class ServedRun:
    """A run with its page, and what was logged."""

    def __init__(self, **options: Any) -> None:
        self.sim = astray.load(OFFICE, **options)
        self.logged: list[str] = []
        self.view = View(self.sim, log=self.logged.append)
        self.port = self.view.server.port

    def connect(self, **headers: str) -> ClientConnection:
        origin = headers.pop("Origin", f"http://127.0.0.1:{self.port}")
        token = headers.pop("token", self.view.server.token)
        address = f"ws://127.0.0.1:{self.port}/ws?token={token}"
        return connect(
            address,
            origin=origin or None,  # type: ignore[arg-type]
            additional_headers=headers,
            compression=None,
            max_size=None,
        )

    def get(self, path: str, **headers: str) -> tuple[int, str, dict[str, str]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.putrequest("GET", path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, text, {k.lower(): v for k, v in response.getheaders()}


@pytest.fixture
def served() -> Iterator[ServedRun]:
    made = ServedRun()
    yield made
    made.view.close()


def messages(client: ClientConnection, kind: str) -> dict[str, Any]:
    """The next message of a kind."""
    while True:
        data = client.recv(timeout=20)
        if isinstance(data, str):
            found: dict[str, Any] = json.loads(data)
            if found["type"] == kind:
                return found


def frame(client: ClientConnection) -> dict[str, Any]:
    """The next frame, as numbers."""
    while True:
        data = client.recv(timeout=20)
        if isinstance(data, bytes):
            return decode(data)


def decode(data: bytes) -> dict[str, Any]:
    head = np.frombuffer(data, "<f8", HEADER)
    body = np.frombuffer(data, "<f4", offset=8 * HEADER)
    robots, beliefs, tracks, values, readings = (int(n) for n in head[7:12])
    sizes = [robots * ROBOT, beliefs * BELIEF, tracks * TRACK, values * 3]
    parts = np.split(body, np.cumsum(sizes))
    found, rest = [], parts[4]
    for _ in range(readings):
        robot, sensor, age, count = rest[:4]
        found.append((int(robot), int(sensor), float(age), rest[4 : 4 + int(count)]))
        rest = rest[4 + int(count) :]
    assert len(rest) == 0
    return {
        "serial": head[1],
        "step": int(head[2]),
        "time": head[3],
        "speed": head[5],
        "flags": int(head[6]),
        "robots": parts[0].reshape(-1, ROBOT),
        "beliefs": parts[1].reshape(-1, BELIEF),
        "values": parts[3].reshape(-1, 3),
        "readings": found,
    }


# Frames and the scene.


def test_a_frame_has_the_state_of_the_simulation(served: ServedRun) -> None:
    sim = served.sim
    with served.connect() as client:
        scene = messages(client, "scene")
        client.send(json.dumps({"do": "look", "robots": [1], "signals": [[1, 5]]}))
        sim.run(3.0)
        shown = until(lambda: (f := frame(client))["step"] == sim.steps and f["readings"] and f)
    scout = sim.robots["scout"]
    columns = ("x", "y", "yaw", "vx", "vy", "wz")
    truth = np.stack([sim.truth[c] for c in columns], 1).astype(np.float32)
    assert (shown["robots"][:, :6] == truth).all()
    believed = np.concatenate([scout.belief, scout.rivals["other"]])
    assert (shown["beliefs"][:, 0] == believed["x"].astype(np.float32)).all()
    assert (shown["beliefs"][:, 4] == believed["cov"][:, 0, 0].astype(np.float32)).all()
    assert (shown["beliefs"][:, 9] == believed["cov"][:, 2, 2].astype(np.float32)).all()
    assert shown["time"] == pytest.approx(3.0)
    [(robot, sensor, age, ranges)] = shown["readings"]
    assert (robot, scene["groups"][0]["sensors"][sensor]["name"]) == (1, "scan")
    assert age == pytest.approx(0.0)
    assert (ranges == scout.readings["scan"]["ranges"][1].astype(np.float32)).all()
    [(robot, signal, value)] = shown["values"]
    assert (robot, scene["groups"][0]["signals"][int(signal)]["name"]) == (1, "truth.wz")
    assert value == np.float32(scout.truth["wz"][1])


def test_the_scene_has_all_that_can_be_drawn(served: ServedRun) -> None:
    with served.connect() as client:
        scene = messages(client, "scene")
    scout, box = scene["groups"]
    assert (scout["name"], scout["count"], scout["beliefs"]) == ("scout", 2, ["belief", "other"])
    assert scout["path"] == [[6.0, 2.0], [6.0, 3.0]]
    assert box["beliefs"] == []
    assert len(scene["map"]["segments"]) == 4 * len(served.sim.map())
    assert scene["map"]["solid"] == served.sim.map().solid.sum()
    names = {signal["name"] for signal in scout["signals"]}
    assert {"truth.vx", "belief.x", "other.yaw", "position_error", "wheels.rate[0]"} <= names


def test_a_foreign_sensor_can_be_plotted_without_the_page_knowing_it() -> None:
    class Thermometer(astray.Sensor, kind="page_thermometer"):
        """Warmer to the right."""

        measures = astray.columns(astray.tables.READING, "warmth K")

        def sense(self, rows: Any, scene: Any, out: Any) -> None:
            out["warmth"][rows] = 300.0 + scene.truth["x"][rows]

    sim = astray.load(
        {"robots": [{"name": "r", "sensors": [{"kind": "page_thermometer"}]}], "duration": 1.0}
    )
    with View(sim) as view:
        scene = view.source.scene()
        names = [signal["name"] for signal in scene["groups"][0]["signals"]]
        assert "page_thermometer.warmth" in names
        assert scene["groups"][0]["sensors"][0]["draws"] == ""


def test_another_map_is_another_scene(served: ServedRun) -> None:
    with served.connect() as client:
        first = messages(client, "scene")
        served.sim.clear_map()
        served.sim.run(0.1)
        second = messages(client, "scene")
    assert second["serial"] > first["serial"]
    assert second["map"]["segments"] == []


def test_another_world_can_be_shown() -> None:
    served = ServedRun(worlds=[4, 7])
    with served.view, served.connect() as client:
        assert messages(client, "scene")["worlds"] == [4, 7]
        client.send(json.dumps({"do": "world", "place": 1}))
        served.sim.run(0.5)
        last = served.sim.steps
        shown = until(lambda: (f := frame(client))["serial"] == 2 and f["step"] == last and f)
    seventh = served.sim.robots["scout"].truth["x"][2:4].astype(np.float32)
    assert (shown["robots"][:2, 0] == seventh).all()


# Requests.


def act(client: ClientConnection, **message: Any) -> None:
    client.send(json.dumps(message))


@pytest.fixture
def running(served: ServedRun) -> ServedRun:
    """A run at real-time speed."""
    served.view.start(1e6, speed=1.0)
    until(lambda: served.sim.steps > 0)
    return served


def test_a_run_is_paused_stepped_sped_up_and_continued(running: ServedRun) -> None:
    sim = running.sim
    with running.connect() as client:
        act(client, do="pause")
        until(lambda: sim.pace.paused)
        paused_at = until(lambda: (f := frame(client))["flags"] & 1 and f)["step"]
        act(client, do="step", ticks=7)
        until(lambda: sim.steps == paused_at + 7)
        act(client, do="speed", value=50.0)
        until(lambda: sim.pace.speed == 50.0)
        act(client, do="play")
        until(lambda: sim.steps > paused_at + 500)
        act(client, do="speed", value=None)
        until(lambda: sim.pace.speed is None)


def test_requests_set_a_truth_and_the_belief_of_a_rival(running: ServedRun) -> None:
    sim = running.sim
    with running.connect() as client:
        act(client, do="pause")
        until(lambda: frame(client)["flags"] & 1)
        steps = sim.steps
        act(client, do="place", robot=1, x=8.5, y=4.0, yaw=1.0)
        shown = until(lambda: (f := frame(client))["robots"][1, 0] == 8.5 and f)
        assert shown["step"] == steps  # it is there at once, though time stands still
        act(client, do="believe", robot=0, who="other", x=3.0, y=3.5, yaw=0.5)
        shown = until(lambda: (f := frame(client))["beliefs"][2, 0] == 3.0 and f)
    assert shown["beliefs"][0, 0] != 3.0  # that of its own estimator
    assert [event.kind for event in sim.events] == ["place", "believe"]
    assert sim.robots["scout"].truth["x"][1] == 8.5
    assert sim.robots["scout"].rivals["other"]["cov"][0, 0, 0] == pytest.approx(0.01)


def test_a_robot_is_driven_manually_until_it_is_released(running: ServedRun) -> None:
    box = running.sim.robots["box"].truth
    with running.connect() as client:
        act(client, do="drive", robot=2, forward=1.0, turn=0.0)
        until(lambda: box["vx"][0] > 0.05)
        act(client, do="drive", robot=2, forward=0.0, turn=0.0)
        until(lambda: box["vx"][0] == 0.0)
    assert {event.kind for event in running.sim.events} == {"command"}


def test_a_driven_robot_stops_without_further_commands(running: ServedRun) -> None:
    box = running.sim.robots["box"].truth
    with running.connect() as client:
        act(client, do="drive", robot=2, forward=1.0, turn=0.0)
        until(lambda: box["vx"][0] > 0.05)
        until(lambda: box["vx"][0] == 0.0)  # with the page still there, but silent


def test_a_driven_robot_stops_when_its_page_disconnects(running: ServedRun) -> None:
    box = running.sim.robots["box"].truth
    with running.connect() as client:
        act(client, do="drive", robot=2, forward=1.0, turn=0.0)
        until(lambda: box["vx"][0] > 0.05)
    until(lambda: running.view.clients.commands.teleop.drives == {})
    until(lambda: box["vx"][0] == 0.0)


def test_a_reset_uses_another_seed(running: ServedRun) -> None:
    with running.connect() as client:
        first = messages(client, "scene")["serial"]
        until(lambda: running.sim.steps > 20)
        act(client, do="reset", seed=77)
        scene = until(lambda: (s := messages(client, "scene"))["serial"] > first and s)
        assert scene["seed"] == 77
        until(lambda: frame(client)["step"] < 2000)
    assert running.sim.seed == 77


def test_what_is_impossible_is_refused_and_logged(running: ServedRun) -> None:
    with running.connect() as client:
        act(client, do="believe", robot=2, who="belief", x=0.0, y=0.0, yaw=0.0)
        assert "believes the truth" in messages(client, "refused")["text"]
        act(client, do="drive", robot=99, forward=1.0, turn=0.0)
        assert "no such robot" in messages(client, "refused")["text"]
    assert running.sim.events == []
    assert len(running.logged) == 2


def test_a_run_that_nobody_steps_is_not_reset(served: ServedRun) -> None:
    served.sim.run(1.0)
    with served.connect() as client:
        act(client, do="reset", seed=77)
        assert "no one is running it" in messages(client, "refused")["text"]
    served.sim.run(0.5)
    assert (served.sim.seed, served.sim.steps) == (5, 150)


def test_a_run_with_clients_of_its_own_is_not_reset() -> None:
    sim = astray.load(OFFICE)
    with View(sim, can_reset=False, log=lambda text: None) as view:
        assert view.source.scene()["resets"] is False
        view.start(1e6)
        refused = view.clients.commands.execute(object(), ResetRequest(do="reset"))
        assert refused is not None
        assert "cannot be reset" in refused


# Access.


def test_the_page_is_served_with_its_token_and_a_strict_policy(served: ServedRun) -> None:
    status, text, headers = served.get(f"/?token={served.view.server.token}")
    assert status == 200
    assert 'data-mode="live"' in text
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert "http" not in text.replace("http-equiv", "")  # nothing from elsewhere
    for name in ("main.js", "style.css", "icon.svg"):
        assert served.get(f"/static/{name}")[0] == 200


@pytest.mark.parametrize("path", ["/", "/?token=", "/?token=wrong", "/ws", "/recording"])
def test_without_the_token_a_request_is_refused(served: ServedRun, path: str) -> None:
    status, text, _ = served.get(path)
    assert (status, "token" in text) == (403, True)
    until(lambda: served.logged)


@pytest.mark.parametrize("path", ["/static/../server.py", "/static/%2e%2e/server.py", "/static/x"])
def test_no_other_file_is_served(served: ServedRun, path: str) -> None:
    assert served.get(path)[0] in (403, 404)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", "127.0.0.1", ""])
def test_another_host_is_refused(served: ServedRun, host: str) -> None:
    status, text, _ = served.get(f"/?token={served.view.server.token}", Host=host)
    assert (status, "Host" in text) == (403, True)
    assert any("Host" in text for text in served.logged)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"token": "wrong"},
        {"token": ""},
    ],
)
def test_a_foreign_websocket_is_refused_and_logged(
    served: ServedRun, headers: dict[str, str]
) -> None:
    with pytest.raises(InvalidStatus) as refused, served.connect(**headers):
        pass
    assert refused.value.response.status_code == 403
    assert len(served.logged) == 1
    assert served.view.clients.pages == set()


MALFORMED = [
    "",
    "{",
    "[]",
    '"play"',
    '{"do": "explode"}',
    '{"do": "play", "more": 1}',
    '{"do": "step", "ticks": 0}',
    '{"do": "step", "ticks": 1e9}',
    '{"do": "speed", "value": -1}',
    '{"do": "speed", "value": NaN}',
    '{"do": "speed", "value": "fast"}',
    '{"do": "place", "robot": 0, "x": 1e999, "y": 0, "yaw": 0}',
    '{"do": "place", "robot": -1, "x": 0, "y": 0, "yaw": 0}',
    '{"do": "place", "robot": 0, "x": "0", "y": 0, "yaw": 0}',
    '{"do": "drive", "robot": 0, "forward": 2, "turn": 0}',
    '{"do": "look", "robots": "all"}',
    '{"do": "world", "place": -1}',
    '{"do": "reset", "seed": -1}',
    "x" * (MAX_BYTES + 1),
    '{"do": "pause", "why": "' + "x" * 10 * MAX_BYTES + '"}',
    b"\x00\x01\x02",
    "\ud800".encode("utf-8", "surrogatepass"),
]


@pytest.mark.parametrize("message", MALFORMED, ids=lambda m: repr(m)[:40])
def test_an_invalid_request_is_refused_and_nothing_else_happens(
    served: ServedRun, message: str | bytes
) -> None:
    before = served.sim.digest()
    with served.connect() as client:
        until(lambda: served.view.clients.pages)
        client.send(message)
        with pytest.raises(ConnectionClosed):
            messages(client, "never sent")
    until(lambda: not served.view.clients.pages)
    assert len(served.logged) == 1
    assert "refused a message" in served.logged[0]
    assert len(served.logged[0]) < 300
    assert (served.sim.events, served.sim.pace.paused, served.sim.pace.speed) == ([], False, None)
    assert served.sim.digest() == before
    with served.connect() as client:
        messages(client, "scene")  # and others are served


def test_a_port_that_is_in_use_is_wrong_input(served: ServedRun) -> None:
    with pytest.raises(WrongInput, match="choose another by --port"):
        View(served.sim, port=served.port)


def test_the_number_of_pages_is_limited(served: ServedRun) -> None:
    with contextlib.ExitStack() as clients:
        for _ in range(16):
            clients.enter_context(served.connect())
        until(lambda: len(served.view.clients.pages) == 16)
        with pytest.raises(InvalidStatus):
            clients.enter_context(served.connect())
    until(lambda: not served.view.clients.pages)


def test_idle_connections_leave_descriptors_for_the_run(served: ServedRun) -> None:
    with contextlib.ExitStack() as idle:
        for _ in range(MAX_CONNECTIONS + 50):
            raw = socket.create_connection(("127.0.0.1", served.port), 20)
            idle.enter_context(raw)
        assert raw.recv(4096).startswith(b"HTTP/1.1 503 ")
        assert any(f"{MAX_CONNECTIONS} connections are open" in text for text in served.logged)
    until(lambda: not served.view.server.thread.listener.connections())
    assert served.get(f"/?token={served.view.server.token}")[0] == 200


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HTTP/1.1\r\nHost: a"],
    ids=["nothing", "half a request"],
)
def test_a_connection_without_a_whole_request_is_closed(
    served: ServedRun, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(server_module, "REQUEST_TIMEOUT", 0.3)
    with (
        served.connect() as client,
        socket.create_connection(("127.0.0.1", served.port), 20) as raw,
    ):
        raw.sendall(sent)
        with contextlib.suppress(ConnectionError):
            while raw.recv(4096):
                pass
        messages(client, "scene")
        time.sleep(0.7)
        messages(client, "status")  # a page is not disconnected


# Nothing of it changes the run.


def test_a_viewed_run_has_the_bytes_of_one_without_a_page() -> None:
    served, alone = ServedRun(), astray.load(OFFICE)
    with served.view, served.connect() as client:
        messages(client, "scene")
        act(client, do="look", everyone=True, signals=[[0, 0]])
        seen = threading.Thread(target=lambda: [frame(client) for _ in range(5)], daemon=True)
        seen.start()
        seconds = 0
        while seen.is_alive() and seconds < 2000:  # as long as it takes a busy machine to show some
            served.sim.run(20.0, speed=40.0)
            seconds += 20
        assert not seen.is_alive()
    alone.run(seconds)
    assert served.sim.digest() == alone.digest()
    assert served.sim.events == []


def test_a_run_with_events_of_the_page_replays_from_them(running: ServedRun) -> None:
    with running.connect() as client:
        act(client, do="drive", robot=0, forward=-1.0, turn=0.3)
        until(lambda: running.sim.robots["scout"].truth["vx"][0] < 0.0)
        act(client, do="place", robot=1, x=3.0, y=2.0, yaw=2.0)
        act(client, do="believe", robot=0, who="belief", x=2.0, y=2.0, yaw=0.1)
        until(lambda: len(running.sim.events) >= 3)
        mark = running.sim.steps
        until(lambda: running.sim.steps > mark + 100)
    running.view.close()
    again = astray.load(OFFICE)
    again.replay(running.sim.events)
    again.step(running.sim.steps)
    assert again.digest() == running.sim.digest()


def test_a_page_that_stops_reading_misses_frames_and_delays_nobody(running: ServedRun) -> None:
    token = running.view.server.token
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.connect(("127.0.0.1", running.port))
    host = f"127.0.0.1:{running.port}"
    sock.sendall(
        f"GET /ws?token={token} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
    )
    request = b'{"do":"look","everyone":true}'
    mask = struct.pack("!I", 0)  # a mask of zeros leaves the text as it is
    sock.sendall(bytes([0x81, 0x80 | len(request)]) + mask + request)
    [slow] = until(lambda: list(running.view.clients.pages))
    until(lambda: len(slow.frames) == 2)  # it takes nothing any more
    with running.connect() as client:
        first = frame(client)["step"]
        until(lambda: frame(client)["step"] > first + 50)  # while another is served all the time
    assert len(slow.frames) <= 2
    sock.close()


def test_without_pages_the_run_is_not_asked_for_frames(running: ServedRun) -> None:
    with running.connect() as client:
        frame(client)
    until(lambda: not running.view.clients.pages and not running.sim.pace.requests)
    assert running.view.clients.subscription.robots == frozenset()
    frames = []
    running.view.source.frame = lambda subscription: frames.append(subscription) or b""  # type: ignore[method-assign,func-returns-value]
    mark = running.sim.steps
    until(lambda: running.sim.steps > mark + 20)
    assert frames == []


def test_a_view_can_be_closed_before_and_after_its_run(served: ServedRun) -> None:
    sim = served.sim
    served.view.start(1e6)
    served.view.close()
    steps = sim.steps
    sim.run(0.1)
    assert sim.steps > steps
    with View(sim, port=served.port, token="t") as again:
        assert again.url == f"http://127.0.0.1:{served.port}/?token=t"


def test_an_error_in_the_thread_of_the_run_is_raised_by_wait(served: ServedRun) -> None:
    def broken(*rest: object) -> None:
        raise ZeroDivisionError("oh")

    served.sim.robots["box"].motion.move = broken  # type: ignore[method-assign]
    with pytest.raises(ZeroDivisionError, match="oh"):
        served.view.start(1.0).wait()


def test_the_switch_interval_is_short_until_the_last_server_closes() -> None:
    before = sys.getswitchinterval()
    page = PageServer([], log=print)
    robots = PioneerServer([], lambda event: None, SessionOptions(), print)
    bridge = RosbridgeServer(TopicGraph())
    page.open()
    robots.open()
    bridge.open(port=0)
    for server in (page, robots, bridge):
        assert sys.getswitchinterval() == pytest.approx(0.0005)
        server.close()
    assert sys.getswitchinterval() == pytest.approx(before)
    bridge.close()  # a second time does nothing
    with View(astray.load("drift"), port=0):
        assert sys.getswitchinterval() == pytest.approx(0.0005)
    assert sys.getswitchinterval() == pytest.approx(before)
