"""The server and faulty clients: one that vanishes, floods or never reads affects no other."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator

import pytest

import astray
from astray.errors import WrongInput
from astray.pioneer import Client, NoAnswer, commands, serving
from astray.pioneer.bridge import PioneerBridge
from astray.pioneer.commands import PioneerCommand
from astray.pioneer.connection import MAX_UNSENT, ClientConnection, PseudoTerminal
from astray.pioneer.fleet import RobotSpec, plan_fleet
from astray.pioneer.packets.framing import Framer, encode_packet
from astray.pioneer.server import MAX_POSTED, MAX_WAITING
from astray.pioneer.session import ServedRobot, SessionOptions

SECONDS = 20.0  # of real time, after which a wait has failed
HELLO = (
    encode_packet(0)
    + encode_packet(1)
    + encode_packet(2)
    + commands.encode_int(PioneerCommand.OPEN, 1)
)


def until(holds: object, seconds: float = SECONDS) -> bool:
    """Wait until something holds."""
    assert callable(holds)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.01)
    return False


def open_socket(port: int, *sent: bytes) -> socket.socket:
    """A bare connection, on which some bytes were sent."""
    sock = socket.create_connection(("127.0.0.1", port), SECONDS)
    sock.sendall(b"".join(sent))
    return sock


def is_closed_by_server(sock: socket.socket) -> bool:
    """Whether the server closes the connection, whatever it sends before."""
    sock.settimeout(SECONDS)
    try:
        while sock.recv(4096):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


def clients(bridge: PioneerBridge) -> int:
    with bridge.server.lock:
        return len(list(bridge.server.connections()))


def speed(bridge: PioneerBridge, robot: int) -> float:
    return float(bridge.sim.robots["p3dx"].truth["vx"][robot])


@pytest.fixture(scope="module")
def pair() -> Iterator[PioneerBridge]:
    """Two robots at twenty times real time; tests leave them free."""
    with serving("p3dx", "p3dx:ben", speed=20.0) as bridge:
        yield bridge


@pytest.fixture
def bystander(pair: PioneerBridge) -> Iterator[Client]:
    """A correct client of the second robot, which must get every packet."""
    assert until(lambda: clients(pair) == 0)
    with Client(port=pair.ports[1]) as client:
        yield client
        before = client.cycles
        client.wait(1.0)
        assert client.cycles == before + 10


# Connecting and disconnecting.


def test_a_second_client_of_a_robot_is_refused_and_the_first_is_not_affected(
    pair: PioneerBridge,
) -> None:
    with Client(port=pair.ports[0]) as first:
        assert is_closed_by_server(open_socket(pair.ports[0], encode_packet(0)))
        with pytest.raises(NoAnswer):
            Client(port=pair.ports[0], timeout=2.0).connect()
        first.wait(0.5)


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HTTP/1.1\r\n\r\n", encode_packet(0), encode_packet(0) + encode_packet(1)],
    ids=["nothing", "another-protocol", "SYNC0", "SYNC0-and-SYNC1"],
)
def test_a_connection_without_a_session_keeps_no_client_away(
    pair: PioneerBridge, bystander: Client, sent: bytes
) -> None:
    before = open_socket(pair.ports[0], sent)
    assert until(lambda: clients(pair) == 2)
    begin = time.monotonic()
    with Client(port=pair.ports[0]) as client:
        assert time.monotonic() - begin < 2.0  # a handshake times out after 10 s
        client.velocity(0.4)
        client.wait_for(lambda c: c.speed > 0.3)
        before.sendall(HELLO)  # too late
        assert is_closed_by_server(before)
        client.wait(2.0)
        assert client.speed == pytest.approx(0.4, abs=0.01)


def test_any_number_of_silent_connections_keep_no_client_away(pair: PioneerBridge) -> None:
    assert until(lambda: clients(pair) == 0)
    silent = [open_socket(pair.ports[0]) for _ in range(3 * MAX_WAITING)]
    with Client(port=pair.ports[0]) as client:
        client.wait(0.5)
        assert clients(pair) <= MAX_WAITING + 1
    for sock in silent:
        sock.close()
    assert until(lambda: clients(pair) == 0)


def test_a_silent_connection_spawns_no_robot_of_its_own() -> None:
    with serving("p3dx", per_client=("amigo",), speed=20.0) as bridge:
        alive = bridge.sim.robots["amigo"].truth["alive"]
        with open_socket(bridge.ports[1]):
            assert until(lambda: clients(bridge) == 1)
            with Client(port=bridge.ports[1]) as client:
                client.wait(0.5)
                assert alive.sum() == 1
        assert until(lambda: clients(bridge) == 0 and not alive.any())


def test_a_robot_is_free_at_once_when_its_client_has_closed(pair: PioneerBridge) -> None:
    for _ in range(20):
        with Client(port=pair.ports[0]) as client:
            assert client.subclass == "p3dx"
        assert until(lambda: clients(pair) == 0)


def test_a_port_is_free_again_at_once_after_a_restart() -> None:
    with serving("p3dx", speed=20.0) as bridge:
        port = bridge.ports[0]
        client = Client(port=port).connect()
        client.wait(0.3)
    for _ in range(3):
        with serving("p3dx", speed=20.0, port=port), Client(port=port) as again:
            again.wait(0.3)
    with pytest.raises(NoAnswer):
        client.wait(1.0)


def test_a_port_in_use_is_reported_with_the_option_that_changes_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        with pytest.raises(WrongInput, match=f"port {taken} .*--port"), serving("p3dx", port=taken):
            pass
    with serving("p3dx", port=taken, speed=20.0) as bridge:
        assert bridge.ports == [taken]


def test_the_switch_interval_is_short_while_a_server_runs() -> None:
    before = sys.getswitchinterval()
    with serving("p3dx", speed=20.0):
        assert sys.getswitchinterval() == pytest.approx(0.0005)
    assert sys.getswitchinterval() == pytest.approx(before)


def test_threads_end_with_the_server() -> None:
    before = threading.active_count()
    with serving("p3dx", speed=20.0) as bridge, Client(port=bridge.ports[0]):
        assert threading.active_count() > before
    assert threading.active_count() == before


# Faulty clients.


def test_a_client_that_vanishes_stops_its_robot(pair: PioneerBridge, bystander: Client) -> None:
    sock = open_socket(pair.ports[0], HELLO, commands.encode_int(PioneerCommand.VEL, 500))
    assert until(lambda: speed(pair, 0) > 0.2)
    # A reset, as from a program that crashed, not an orderly end.
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()
    assert until(lambda: speed(pair, 0) == 0.0)


def test_a_partial_packet_is_completed_later_and_one_that_never_is_does_no_harm(
    pair: PioneerBridge, bystander: Client
) -> None:
    whole = commands.encode_int(PioneerCommand.VEL, 400)
    sock = open_socket(pair.ports[0], HELLO, whole[:5])
    time.sleep(0.05)
    assert speed(pair, 0) == 0.0
    sock.sendall(whole[5:] + whole[:4])
    assert until(lambda: speed(pair, 0) > 0.1)
    sock.close()
    assert until(lambda: clients(pair) == 1)


def test_a_packet_with_a_long_gap_inside_is_dropped(
    pair: PioneerBridge, bystander: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("astray.pioneer.connection.PACKET_TIMEOUT", 0.1)
    sock = open_socket(pair.ports[0], HELLO, encode_packet(PioneerCommand.VEL, bytes(200))[:100])
    assert until(lambda: clients(pair) == 2)
    time.sleep(0.3)
    sock.sendall(
        commands.encode_int(PioneerCommand.VEL, 400)
    )  # would be swallowed as the rest of it
    assert until(lambda: speed(pair, 0) > 0.1)
    sock.close()
    assert until(lambda: clients(pair) == 1)


def test_noise_is_ignored_and_a_handshake_after_it_succeeds(
    pair: PioneerBridge, bystander: Client
) -> None:
    chance = random.Random(3)
    for _ in range(30):
        noise = chance.randbytes(200).replace(b"\xfa\xfb", b"\xfa\xfa")
        sock = open_socket(pair.ports[0], noise, bytes(300), HELLO)
        sock.settimeout(SECONDS)
        framer, found = Framer(), []
        while not any(packet.id == 0x32 for packet in found):
            found += framer.feed(sock.recv(4096))
        sock.close()
        assert until(lambda: clients(pair) == 1)


def test_random_packets_over_a_socket_affect_no_other_client(
    pair: PioneerBridge, bystander: Client
) -> None:
    chance = random.Random(4)
    for _ in range(20):
        sent = b"".join(
            encode_packet(
                chance.choice([chance.randrange(256), 224, 236]),
                chance.randbytes(chance.randrange(14)),
            )
            for _ in range(100)
        )
        sock = open_socket(pair.ports[0], HELLO, sent)
        time.sleep(0.02)
        sock.close()
        assert until(lambda: clients(pair) == 1)
    with Client(port=pair.ports[0]) as client:
        client.set_pose(0.0, 0.0, 0.0)
        client.wait(0.5)


def test_a_flood_is_read_no_faster_than_a_cycle_allows(
    pair: PioneerBridge, bystander: Client
) -> None:
    sock = open_socket(pair.ports[0], HELLO)
    sock.settimeout(0.2)
    before = len(pair.sim.events)
    flood = 2000 * (
        commands.encode_int(PioneerCommand.VEL, 300) + commands.encode_int(PioneerCommand.VEL, 200)
    )
    steps, sent = pair.sim.steps, 0
    try:
        for _ in range(500):
            sent += sock.send(flood)
    except TimeoutError:
        pass
    cycles = (pair.sim.steps - steps) / 10 + 1
    posted = len(pair.sim.events) - before
    assert sent > 100_000
    assert posted < 10 * cycles + 50  # and not one for each of thousands of packets
    bystander.wait(1.0)
    sock.close()
    assert until(lambda: clients(pair) == 1)


def test_a_flood_does_not_accumulate_while_the_run_is_paused() -> None:
    with serving("p3dx", "p3dx:ben", speed=20.0) as bridge:
        sock = open_socket(bridge.ports[0], HELLO)
        assert until(lambda: clients(bridge) == 1)
        bridge.sim.pace.pause()
        sock.settimeout(1.0)
        flood = 3000 * commands.encode_empty(PioneerCommand.SETO)
        waiting = 0
        with contextlib.suppress(TimeoutError):  # it is read no further
            while waiting < 3 * MAX_POSTED:
                sock.send(flood)
                waiting = len(bridge.sim.event_queue.waiting())
        assert MAX_POSTED <= len(bridge.sim.event_queue.waiting()) < 2 * MAX_POSTED
        with open_socket(
            bridge.ports[1], encode_packet(0)
        ) as other:  # other clients are still served
            other.settimeout(SECONDS)
            assert other.recv(100) == encode_packet(0)
        bridge.sim.pace.play()
        sock.close()
        assert until(lambda: clients(bridge) == 0)


def test_a_client_that_stops_reading_is_disconnected(
    pair: PioneerBridge, bystander: Client
) -> None:
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.connect(("127.0.0.1", pair.ports[0]))
    laser = [commands.encode_int(c, v) for c, v in ((36, -180), (37, 180), (38, 13), (35, 2))]
    sock.sendall(HELLO + b"".join(laser) + commands.encode_int(PioneerCommand.VEL, 100))
    assert until(lambda: clients(pair) == 2)
    assert until(lambda: clients(pair) == 1)
    assert until(lambda: speed(pair, 0) == 0.0)
    sock.close()


def test_a_handshake_that_never_ends_times_out(
    pair: PioneerBridge, bystander: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("astray.pioneer.connection.HANDSHAKE_TIMEOUT", 0.3)
    assert is_closed_by_server(open_socket(pair.ports[0], encode_packet(0)))


def test_a_log_that_fails_does_not_stop_the_server() -> None:
    def closed(text: str) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    with serving("p3dx", speed=20.0, log=closed) as bridge:
        for _ in range(2):
            with Client(port=bridge.ports[0]) as client:
                client.wait(0.5)


def test_an_error_in_one_session_ends_that_session_alone(
    pair: PioneerBridge, bystander: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    sock = open_socket(pair.ports[0], HELLO)
    assert until(lambda: clients(pair) == 2)
    with pair.server.lock:
        (connection,) = [c for c in pair.server.connections() if c.robot.name == "p3dx"]
        monkeypatch.setattr(connection.session, "receive", lambda packets: 1 / 0)
    sock.sendall(encode_packet(0))
    assert is_closed_by_server(sock)


def test_a_connection_buffers_a_limited_number_of_bytes() -> None:
    class FullTransport:
        """A transport that takes no bytes."""

        def fileno(self) -> int:
            return -1

        def recv(self, size: int, /) -> bytes:
            raise BlockingIOError

        def send(self, data: bytes, /) -> int:
            raise BlockingIOError

        def close(self) -> None:
            pass

    fleet = plan_fleet([RobotSpec.parse("p3dx")])
    log_lines: list[str] = []
    connection = ClientConnection(
        FullTransport(),
        ServedRobot("anna", fleet.robots[0].model, "p3dx"),
        SessionOptions(),
        log_lines.append,
    )
    connection.enqueue(bytes(MAX_UNSENT))
    assert connection.flush()
    assert not connection.must_close
    connection.enqueue(b"x")
    assert connection.must_close
    assert len(log_lines) == 1


def test_a_client_that_never_answers_in_lockstep_is_disconnected_and_the_run_continues(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("astray.pioneer.bridge.LOCKSTEP_TIMEOUT", 0.3)
    with serving("p3dx", "p3dx:ben", lockstep=True, speed=None) as bridge:
        silent = open_socket(bridge.ports[0], HELLO)
        with Client(port=bridge.ports[1]) as other:
            other.wait(1.0)
        assert is_closed_by_server(silent)


# Exit and pseudo-terminals.


def test_a_client_ends_the_run_only_where_that_is_allowed() -> None:
    with serving("p3dx", speed=20.0, options=SessionOptions(allow_exit=True)) as bridge:
        with Client(port=bridge.ports[0]) as client:
            client.command(PioneerCommand.SIM_EXIT, 3)
            assert until(lambda: bridge.sim.pace.stopped)
        assert bridge.exit_code == 3


@pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")
def test_a_robot_answers_on_a_pseudo_terminal_again_and_again() -> None:
    fleet = plan_fleet([RobotSpec.parse("p3dx")], port=0)
    sim = astray.load(fleet.scenario)
    fleet.ports[0].terminal = PseudoTerminal()
    path = fleet.ports[0].terminal.path
    with PioneerBridge(sim, fleet.ports):
        for _ in range(2):
            serial = os.open(path, os.O_RDWR | os.O_NOCTTY)
            framer, found = Framer(), []
            try:
                for sent, wanted in (
                    (encode_packet(0), 0),
                    (encode_packet(1), 1),
                    (encode_packet(2), 2),
                ):
                    os.write(serial, sent)
                    found += framer.feed(os.read(serial, 4096))
                    assert found[-1].id == wanted
                os.write(serial, commands.encode_int(PioneerCommand.OPEN, 1))
                assert until(lambda: any(c.is_open for c in fleet.ports[0].connections))
                sim.step(10)
                assert framer.feed(os.read(serial, 4096))[0].id == 0x32
                os.write(serial, commands.encode_int(PioneerCommand.CLOSE, 1))
                assert until(lambda: not any(c.is_open for c in fleet.ports[0].connections))
            finally:
                os.close(serial)
        # Without a session on it, the pseudo-terminal leaves the robot to the port.
        with Client(port=fleet.ports[0].number).connect(wait=False):
            assert until(lambda: sum(c.is_open for c in fleet.ports[0].connections) == 1)
