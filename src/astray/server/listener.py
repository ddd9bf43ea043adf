"""A port that others come to, with room for so many at a time from when they connect.

Each connection takes one of the descriptors that the whole program shares with its files: without
a bound whoever connects often enough, and says nothing, ends a recording or the run itself.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import time
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

from astray.errors import NO_DESCRIPTORS

MOST = 100  # connections at a time
WAITING = 32  # connections that the system keeps until they are looked at
NAP = 0.01  # s, where not even a refusal can be had
_WORDS = b"There is no room for more connections.\n"
BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_WORDS), _WORDS)
)
"""What clients of HTTP are told at a door that is full."""


class Listener(socket.socket):
    """A socket that listens; who comes while it is full is told so and sent away at once.

    An event loop of asyncio that selects takes connections by `accept`, others may not.
    """

    def __init__(
        self,
        family: int = socket.AF_INET,
        *,
        most: int | None = MOST,
        busy: bytes = b"",
        log: Callable[[str], None] = lambda text: None,
    ) -> None:
        super().__init__(family, socket.SOCK_STREAM)
        self._most, self._busy, self._log = most, busy, log
        self._inside: WeakSet[socket.socket] = WeakSet()
        self._is_full = False
        self._spare = socket.socket()  # given up to refuse someone where there is no descriptor

    def open(self, address: str, port: int) -> None:
        """Listen; a port in TIME_WAIT from an earlier run does not matter."""
        if sys.platform != "win32":  # there it would let two servers share a port
            self.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.bind((address, port))
        self.listen(WAITING)
        self.setblocking(False)

    def accept(self) -> tuple[socket.socket, Any]:
        """The next one who comes; BlockingIOError if there is none that can be let in."""
        try:
            guest, address = super().accept()
        except OSError as problem:
            if problem.errno not in NO_DESCRIPTORS:
                raise
            self._tell("there are no descriptors left")
            self._refuse_by_spare()
            raise BlockingIOError from None
        if self._most is not None and len(self.inside()) >= self._most:
            self._tell(f"{self._most} connections are open")
            self._refuse(guest)
            raise BlockingIOError
        self._inside.add(guest)
        self._is_full = False
        return guest, address

    def inside(self) -> list[socket.socket]:
        """Those who have come and not left."""
        return [guest for guest in self._inside if guest.fileno() >= 0]

    def close(self) -> None:
        """Let nobody in any more."""
        super().close()
        self._spare.close()

    def _tell(self, why: str) -> None:
        """Say once that it is full, however many want to come in."""
        if not self._is_full:
            self._is_full = True
            self._log(f"port {self.getsockname()[1]} refuses further connections: {why}")

    def _refuse(self, guest: socket.socket) -> None:
        with contextlib.suppress(OSError), guest:
            guest.setblocking(False)
            if self._busy:
                guest.send(self._busy)

    def _refuse_by_spare(self) -> None:
        self._spare.close()
        try:
            self._refuse(super().accept()[0])
        except OSError:  # someone else was faster to take the descriptor
            time.sleep(NAP)
        with contextlib.suppress(OSError):
            self._spare = socket.socket()
