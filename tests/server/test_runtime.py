"""Threads of servers: how they start, fail and stop, and logs that cannot end them."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import AsyncIterator

import pytest

from astray.errors import WrongInput
from astray.server import LOOPBACK, Listener, ServerThread, guarded_log


@contextlib.asynccontextmanager
async def serve_nothing(listener: Listener) -> AsyncIterator[None]:
    yield


def test_a_server_thread_calls_functions_until_it_is_closed() -> None:
    thread, called = ServerThread("test", print), threading.Event()
    thread.call(called.set)
    assert not called.is_set()
    thread.open(0, serve_nothing, "")
    name: list[str] = []
    thread.call(lambda: name.append(threading.current_thread().name))
    thread.call(called.set)
    assert called.wait(30.0)
    assert name == ["astray-test"]
    thread.close()
    thread.close()
    thread.call(called.clear)
    assert called.is_set()
    with socket.create_server((LOOPBACK, thread.port)):  # the port is free again
        pass


def test_a_port_in_use_is_refused_with_advice() -> None:
    with socket.create_server((LOOPBACK, 0)) as used:
        port = used.getsockname()[1]
        with pytest.raises(WrongInput, match=f"port {port} of 127.0.0.1 .*; take another"):
            ServerThread("test", print).open(port, serve_nothing, "take another")
    with pytest.raises(WrongInput, match="70000 is no port: they go up to 65535"):
        ServerThread("test", print).open(70_000, serve_nothing, "")


def test_an_error_at_the_start_is_raised_by_open_and_frees_the_port() -> None:
    @contextlib.asynccontextmanager
    async def fail(listener: Listener) -> AsyncIterator[None]:
        raise ZeroDivisionError("oh")
        yield

    thread = ServerThread("test", print)
    with pytest.raises(ZeroDivisionError, match="oh"):
        thread.open(0, fail, "")
    with socket.create_server((LOOPBACK, thread.port)):
        pass


def test_a_log_that_fails_ends_nobody() -> None:
    def fail(text: str) -> None:
        raise SystemExit(1)

    guarded_log(fail)("a line")
