"""A listening socket with a limit of connections.

Each connection takes one of the file descriptors that the whole program shares with its recordings.
Without a limit, a client that opens connections and sends nothing could end a recording or the run.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import time
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

from astray.errors import NO_DESCRIPTORS, WrongInput

LOOPBACK = "127.0.0.1"
MAX_CONNECTIONS = 100  # at a time
BACKLOG = 32  # connections that the system queues until they are accepted
REQUEST_TIMEOUT = 10.0  # s of real time that a new client may take to send its request
NO_DESCRIPTOR_DELAY = 0.01  # s to wait if a client cannot even be refused
_BUSY_TEXT = b"There is no room for more connections.\n"
HTTP_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_BUSY_TEXT), _BUSY_TEXT)
)
"""The answer of HTTP servers to a connection beyond the limit."""


class Listener(socket.socket):
    """A listening socket; connections beyond its limit are answered and closed at once.

    It overrides `accept`. Of the event loops of asyncio only `SelectorEventLoop` calls that.

    Args:
        family: AF_INET or AF_INET6.
        limit: The number of connections at a time; None for no limit.
        busy: The bytes that a connection beyond the limit is sent.
        log: Is given a line when connections begin to be refused.
    """

    def __init__(
        self,
        family: int = socket.AF_INET,
        *,
        limit: int | None = MAX_CONNECTIONS,
        busy: bytes = b"",
        log: Callable[[str], None] = lambda text: None,
    ) -> None:
        super().__init__(family, socket.SOCK_STREAM)
        self._limit, self._busy, self._log = limit, busy, log
        self._accepted: WeakSet[socket.socket] = WeakSet()
        self._is_full = False
        self._spare = socket.socket()  # gives up its descriptor to refuse a client without one

    def open(self, address: str, port: int, advice: str = "choose another by --port") -> None:
        """Listen on a port, any free one if it is 0.

        Raises:
            WrongInput: The port cannot be used; `advice` says what to do. The listener is closed.
        """
        try:
            if sys.platform != "win32":  # there it would let two servers share a port
                # A port in TIME_WAIT from an earlier run can be used again.
                self.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.bind((address, port))
            self.listen(BACKLOG)
            self.setblocking(False)
        except (OSError, OverflowError) as error:
            self.close()
            raise port_error(address, port, error, advice) from None

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection; BlockingIOError if there is none that can be accepted."""
        try:
            connection, address = super().accept()
        except OSError as error:
            if error.errno not in NO_DESCRIPTORS:
                raise
            self._log_full("there are no descriptors left")
            self._refuse_by_spare()
            raise BlockingIOError from None
        if self._limit is not None and len(self.connections()) >= self._limit:
            self._log_full(f"{self._limit} connections are open")
            self._refuse(connection)
            raise BlockingIOError
        self._accepted.add(connection)
        self._is_full = False
        return connection, address

    def connections(self) -> list[socket.socket]:
        """The connections that are open."""
        return [connection for connection in self._accepted if connection.fileno() >= 0]

    def close(self) -> None:
        """Stop listening; open connections stay."""
        super().close()
        self._spare.close()

    def _log_full(self, reason: str) -> None:
        """Log once that connections are refused, however many come."""
        if not self._is_full:
            self._is_full = True
            self._log(f"port {self.getsockname()[1]} refuses further connections: {reason}")

    def _refuse(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            connection.setblocking(False)
            if self._busy:
                connection.send(self._busy)

    def _refuse_by_spare(self) -> None:
        """Refuse a client with the descriptor of the spare socket."""
        self._spare.close()
        try:
            self._refuse(super().accept()[0])
        except OSError:  # another thread took the descriptor first
            time.sleep(NO_DESCRIPTOR_DELAY)
        with contextlib.suppress(OSError):
            self._spare = socket.socket()


def port_error(address: str, port: int, error: Exception, advice: str) -> WrongInput:
    """The error for a port that a server cannot listen on."""
    if isinstance(error, OverflowError):
        return WrongInput(f"{port} is no port: they go up to 65535")
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return WrongInput(f"port {port} of {address} cannot be used: {reason}; {advice}")
