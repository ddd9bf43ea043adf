"""Ports that many come to: there is room for some, and descriptors are left for the run."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator

import pytest

from astray.server.listener import BUSY, Listener

PATIENCE = 30.0  # s, for what should come at once


@contextlib.contextmanager
def opened(most: int | None = 2, busy: bytes = b"") -> Iterator[tuple[Listener, list[str]]]:
    logged: list[str] = []
    with Listener(most=most, busy=busy, log=logged.append) as door:
        door.open("127.0.0.1", 0)
        yield door, logged


def knock(door: Listener) -> socket.socket:
    return socket.create_connection(door.getsockname(), PATIENCE)


def let_in(door: Listener) -> socket.socket:
    """Who has knocked; the system may take a moment to tell."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        door.settimeout(PATIENCE)
        try:
            return door.accept()[0]
        except BlockingIOError:
            continue
    raise AssertionError("nobody was let in")


def refused(door: Listener) -> None:
    door.settimeout(PATIENCE)
    with pytest.raises(BlockingIOError):
        door.accept()


def test_who_comes_while_it_is_full_is_told_and_sent_away() -> None:
    with opened(busy=BUSY) as (door, logged):
        outside = [knock(door) for _ in range(4)]
        inside = [let_in(door) for _ in range(2)]
        refused(door)
        refused(door)
        assert outside[2].recv(4096).startswith(b"HTTP/1.1 503 ")
        assert outside[2].recv(4096) == b""
        assert logged == [
            f"port {door.getsockname()[1]} refuses further connections: 2 connections are open"
        ]
        for sock in (*outside, *inside):
            sock.close()


@pytest.mark.parametrize("leave", [socket.socket.close, socket.socket.detach])
def test_who_leaves_makes_room(leave: Callable[[socket.socket], object]) -> None:
    with opened(most=1) as (door, logged):
        for _ in range(3):
            with knock(door), knock(door) as second:
                guest = let_in(door)
                refused(door)
                assert second.recv(1) == b""
                left = leave(guest)
                if isinstance(left, int):
                    socket.close(left)
        assert len(logged) == 3, "it was not full in between"


def test_without_descriptors_it_refuses_and_lets_in_again_when_there_are_some() -> None:
    resource = pytest.importorskip("resource", reason="no limits of descriptors to set on Windows")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with opened(most=None) as (door, logged), knock(door) as first, knock(door) as second:
        taken = socket.socket()
        resource.setrlimit(resource.RLIMIT_NOFILE, (taken.fileno() + 1, hard))
        held = [taken]
        try:
            with contextlib.suppress(OSError):
                while True:
                    held.append(socket.socket())
            for _ in range(2):
                refused(door)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            for sock in held:
                sock.close()
        assert first.recv(1) == second.recv(1) == b""
        assert len(logged) == 1
        assert "no descriptors" in logged[0]
        with knock(door), let_in(door) as guest:
            assert guest.fileno() >= 0
