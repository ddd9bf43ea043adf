"""The client's end of a connection: a TCP socket that sends packets and waits for packets."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator

from astray.errors import AstrayError
from astray.pioneer.packets import Framer, Packet

RECEIVE_SIZE = 1 << 16  # bytes


class NoAnswer(AstrayError):
    """The robot disconnected, cannot be reached, or did not do what was waited for."""


class AnswerTimeout(NoAnswer):
    """The robot did not answer in time."""


class PacketSocket:
    """A TCP connection on which packets are read while a call waits for one."""

    def __init__(self, host: str, port: int, timeout: float) -> None:
        self.peer, self.timeout = f"{host}:{port}", timeout
        with self._errors_as_no_answer():
            self._sock = socket.create_connection((host, port), timeout)
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._framer = Framer()
        self._packets: list[Packet] = []
        self._batch: list[bytes] | None = None

    def fileno(self) -> int:
        """The descriptor that a selector watches."""
        return self._sock.fileno()

    def receive(self) -> bytes:
        """Receive the bytes that are there."""
        return self._sock.recv(RECEIVE_SIZE)

    def close(self) -> None:
        """Close the connection."""
        self._sock.close()

    def send(self, data: bytes) -> None:
        """Send bytes, at once or at the end of `batch`."""
        if self._batch is not None:
            self._batch.append(data)
            return
        with self._errors_as_no_answer():
            self._sock.settimeout(self.timeout)
            self._sock.sendall(data)

    @contextlib.contextmanager
    def batch(self) -> Iterator[None]:
        """Send the bytes of a with block at once."""
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
        self, matches: Callable[[Packet], bool], process: Callable[[Packet], None], seconds: float
    ) -> Packet:
        """The next packet that matches. It and the packets before it are processed."""
        deadline = time.monotonic() + seconds
        while True:
            while self._packets:
                packet = self._packets.pop(0)
                process(packet)
                if matches(packet):
                    return packet
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise AnswerTimeout(f"{self.peer} does not answer")
            self._sock.settimeout(remaining)
            with contextlib.suppress(TimeoutError), self._errors_as_no_answer():
                received = self.receive()
                if not received:
                    raise NoAnswer(f"{self.peer} disconnected")
                self._packets += self._framer.feed(received)

    @contextlib.contextmanager
    def _errors_as_no_answer(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            raise
        except OSError as problem:
            raise NoAnswer(f"{self.peer}: {problem.strerror or problem}") from None
