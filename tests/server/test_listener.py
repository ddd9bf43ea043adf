"""Listeners have a limit of connections, and leave descriptors for the run."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator

import pytest

from astray.server.listener import HTTP_BUSY, Listener

TIMEOUT = 30.0  # s, for what should come at once


@contextlib.contextmanager
def opened(limit: int | None = 2, busy: bytes = b"") -> Iterator[tuple[Listener, list[str]]]:
    logged: list[str] = []
    with Listener(limit=limit, busy=busy, log=logged.append) as listener:
        listener.open("127.0.0.1", 0)
        yield listener, logged


def connect(listener: Listener) -> socket.socket:
    return socket.create_connection(listener.getsockname(), TIMEOUT)


def accept(listener: Listener) -> socket.socket:
    """The next connection; the system may take a moment to pass it on."""
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        listener.settimeout(TIMEOUT)
        try:
            return listener.accept()[0]
        except BlockingIOError:
            continue
    raise AssertionError("no connection was accepted")


def expect_refusal(listener: Listener) -> None:
    listener.settimeout(TIMEOUT)
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_a_connection_beyond_the_limit_is_answered_and_closed() -> None:
    with opened(busy=HTTP_BUSY) as (listener, logged):
        clients = [connect(listener) for _ in range(4)]
        accepted = [accept(listener) for _ in range(2)]
        expect_refusal(listener)
        expect_refusal(listener)
        assert clients[2].recv(4096).startswith(b"HTTP/1.1 503 ")
        assert clients[2].recv(4096) == b""
        assert logged == [
            f"port {listener.getsockname()[1]} refuses further connections: 2 connections are open"
        ]
        for sock in (*clients, *accepted):
            sock.close()


@pytest.mark.parametrize("close", [socket.socket.close, socket.socket.detach])
def test_a_closed_connection_makes_space_for_another(
    close: Callable[[socket.socket], object],
) -> None:
    with opened(limit=1) as (listener, logged):
        for _ in range(3):
            with connect(listener), connect(listener) as second:
                connection = accept(listener)
                expect_refusal(listener)
                assert second.recv(1) == b""
                descriptor = close(connection)
                if isinstance(descriptor, int):
                    socket.close(descriptor)
        assert len(logged) == 3, "it was not full in between"


def test_without_descriptors_it_refuses_and_accepts_again_when_there_are_some() -> None:
    resource = pytest.importorskip("resource", reason="no limits of descriptors to set on Windows")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with (
        opened(limit=None) as (listener, logged),
        connect(listener) as first,
        connect(listener) as second,
    ):
        taken = socket.socket()
        resource.setrlimit(resource.RLIMIT_NOFILE, (taken.fileno() + 1, hard))
        sockets = [taken]
        try:
            with contextlib.suppress(OSError):
                while True:
                    sockets.append(socket.socket())
            for _ in range(2):
                expect_refusal(listener)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            for sock in sockets:
                sock.close()
        assert first.recv(1) == second.recv(1) == b""
        assert len(logged) == 1
        assert "no descriptors" in logged[0]
        with connect(listener), accept(listener) as connection:
            assert connection.fileno() >= 0
