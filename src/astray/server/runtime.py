"""The thread of a server: its event loop, how it starts, and how it stops."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

from astray.server.listener import HTTP_BUSY, LOOPBACK, Listener

SWITCH_INTERVAL = 0.0005  # s, so that a message does not wait for a whole tick

LogLine = Callable[[str], None]
Serve = Callable[[Listener], AbstractAsyncContextManager[Any]]
"""Accepts and serves the connections of a listener as long as its context lasts."""


class ServerThread:
    """A port of this machine, served by an event loop in a thread of its own.

    Args:
        name: Begins its log lines; the thread is named `astray-` and this.
        log: Is given a line for each thing worth knowing; may fail without harm.
        send_buffer: Size of the system's send buffer of each connection, bytes; None for the usual.
    """

    def __init__(self, name: str, log: LogLine, *, send_buffer: int | None = None) -> None:
        self.name, self.log = name, guarded_log(log)
        self.port = 0
        self._send_buffer = send_buffer
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._started = threading.Event()
        self._stop = asyncio.Event()
        self._error: Exception | None = None
        self._resources = contextlib.ExitStack()

    def open(self, port: int, serve: Serve, advice: str) -> None:
        """Serve a port, any free one if it is 0; return when connections are accepted.

        Raises:
            WrongInput: The port cannot be used; `advice` says what to do.
        """
        listener = Listener(busy=HTTP_BUSY, log=lambda text: self.log(f"{self.name}: {text}"))
        if self._send_buffer is not None:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self._send_buffer)
        listener.open(LOOPBACK, port, advice)
        self.port = listener.getsockname()[1]
        self.listener = listener
        self._resources.callback(listener.close)
        self._resources.enter_context(short_switch_interval())
        self._loop = asyncio.SelectorEventLoop()  # the only one that calls Listener.accept
        self._thread = threading.Thread(
            target=self._run, args=(self._loop, serve), name=f"astray-{self.name}", daemon=True
        )
        self._thread.start()
        self._started.wait()
        if self._error is not None:
            self.close()
            raise self._error

    def close(self) -> None:
        """End all connections and free the port."""
        if self._thread is not None:
            self.call(self._stop.set)
            self._thread.join()
            self._thread = None
        self._resources.close()

    def call(self, function: Callable[..., object], *arguments: Any) -> None:
        """Call a function on the event loop, from any thread; nothing happens once it is closed."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(function, *arguments)

    def _run(self, loop: asyncio.AbstractEventLoop, serve: Serve) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(self._serve(serve))
        except Exception as error:  # noqa: BLE001 - `open` raises it, or it is logged
            self._error = error
            if self._started.is_set():
                self.log(f"{self.name} has failed: {type(error).__name__}: {error}")
        finally:
            self._started.set()

    async def _serve(self, serve: Serve) -> None:
        async with serve(self.listener):
            self._started.set()
            await self._stop.wait()


def guarded_log(log: LogLine) -> LogLine:
    """A log that cannot end the thread that writes to it, whatever happens to its reader."""

    def write(text: str) -> None:
        with contextlib.suppress(Exception, SystemExit):  # the console of rich exits at EPIPE
            log(text)

    return write


_counting = threading.Lock()
_servers = 0
_usual_interval = 0.0


@contextlib.contextmanager
def short_switch_interval() -> Iterator[None]:
    """Let threads take short turns until the last of all such blocks ends, in whatever order."""
    global _servers, _usual_interval
    with _counting:
        if not _servers:
            _usual_interval = sys.getswitchinterval()
            sys.setswitchinterval(SWITCH_INTERVAL)
        _servers += 1
    try:
        yield
    finally:
        with _counting:
            _servers -= 1
            if not _servers:
                sys.setswitchinterval(_usual_interval)
