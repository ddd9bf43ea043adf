"""A client's end of the wire: packets are waited for, commands are sent one by one or at once."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator

from astray.errors import AstrayError
from astray.pioneer.packets import Framer, Packet


class NoAnswer(AstrayError):
    """The robot hung up, or is not there."""


class TooLate(NoAnswer):
    """The robot did not answer in time."""


class Connection:
    """A TCP connection that packets are read from while something is waited for."""

    def __init__(self, host: str, port: int, timeout: float) -> None:
        self.who, self.timeout = f"{host}:{port}", timeout
        with self._blaming():
            self._sock = socket.create_connection((host, port), timeout)
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._framer = Framer()
        self._packets: list[Packet] = []
        self._batch: list[bytes] | None = None

    def close(self) -> None:
        """Hang up."""
        self._sock.close()

    def send(self, data: bytes) -> None:
        """Send some bytes, at once or at the end of `together`."""
        if self._batch is not None:
            self._batch.append(data)
            return
        with self._blaming():
            self._sock.settimeout(self.timeout)
            self._sock.sendall(data)

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Send all that is sent within in one piece."""
        if self._batch is not None:  # within another one
            yield
            return
        self._batch = []
        try:
            yield
        finally:
            data, self._batch = b"".join(self._batch), None
        self.send(data)

    def wait(
        self, wanted: Callable[[Packet], bool], note: Callable[[Packet], None], seconds: float
    ) -> Packet:
        """The next packet that is wanted; it and those before it are noted."""
        deadline = time.monotonic() + seconds
        while True:
            while self._packets:
                packet = self._packets.pop(0)
                note(packet)
                if wanted(packet):
                    return packet
            left = deadline - time.monotonic()
            if left <= 0:
                raise TooLate(f"{self.who} does not answer")
            self._sock.settimeout(left)
            with contextlib.suppress(TimeoutError), self._blaming():
                piece = self._sock.recv(1 << 16)
                if not piece:
                    raise NoAnswer(f"{self.who} hung up")
                self._packets += self._framer.feed(piece)

    @contextlib.contextmanager
    def _blaming(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            raise
        except OSError as problem:
            raise NoAnswer(f"{self.who}: {problem.strerror or problem}") from None
