"""One connection: bytes in, packets to a session, and bytes out that a client is slow to take."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from astray.pioneer.commands import describe
from astray.pioneer.packets import Framer
from astray.pioneer.session import (
    HandshakeStage,
    ServedRobot,
    Session,
    SessionOptions,
    SessionOutput,
)

PATIENCE = 10.0  # s of real time that a handshake may take
GAP = 1.0  # s of real time within one packet, after which it is dropped
ALLOWANCE = 4096  # bytes that a client may send in one cycle; the rest waits
BACKLOG = 1 << 16  # bytes that a client may leave unread before it is cut off

Log = Callable[[str], None]


class Transport(Protocol):
    """Whatever carries the bytes: a socket or a terminal, which never blocks."""

    def fileno(self) -> int:
        """What a selector watches."""
        ...

    def recv(self, most: int, /) -> bytes:
        """Some bytes; none at the end."""
        ...

    def send(self, data: bytes, /) -> int:
        """Send some bytes, and tell how many."""
        ...

    def close(self) -> None:
        """Be done."""
        ...


class Connection:
    """A client's connection, and the session on it."""

    def __init__(
        self, channel: Transport, robot: ServedRobot, options: SessionOptions, log: Log
    ) -> None:
        self.channel, self.robot, self.options, self.log = channel, robot, options, log
        self.credit = ALLOWANCE
        self.owes = False
        """Whether it was sent a cycle and has said nothing since."""
        self.owes_since = 0.0
        self.packets_logged = False
        self.watched = 0
        """What a selector watches it for."""
        self.cut = self.gone = False
        """Whether it is to be cut off, and whether it is."""
        self.greet()

    def greet(self) -> None:
        """Begin a session."""
        self.session = Session(self.robot, self.options)
        self._framer = Framer()
        self._out = bytearray()
        self._since = self._last = time.monotonic()

    @property
    def is_open(self) -> bool:
        """Whether the client wants to be told of its robot."""
        return self.session.stage is HandshakeStage.OPEN

    @property
    def wants_to_send(self) -> bool:
        """Whether bytes are waiting for the client."""
        return bool(self._out)

    def receive(self) -> SessionOutput | None:
        """What comes of the bytes that are there; None if the client is gone."""
        try:
            piece = self.channel.recv(self.credit)
        except (BlockingIOError, InterruptedError):
            return SessionOutput()
        except OSError:
            return None
        if not piece:
            return None
        self.credit -= len(piece)
        now = time.monotonic()
        if self._framer.waiting and now - self._last > GAP:
            self._framer.forget()
        self._last = now
        packets = self._framer.feed(piece)
        if self.packets_logged:
            for packet in packets:
                self.log(f"received {describe(packet)}")
        if packets:
            self.owes = False
        return self.session.feed(packets)

    def queue(self, data: bytes) -> None:
        """Let bytes be sent; a client that has left too many unread is to be cut off."""
        self._out += data
        if len(self._out) > BACKLOG and not self.cut:
            self.cut = True
            self.log("reads too slowly and is cut off")

    def owe(self) -> None:
        """Note that the client is to answer."""
        if not self.owes:
            self.owes, self.owes_since = True, time.monotonic()

    def send(self) -> bool:
        """Send what can be sent; False if the client is gone."""
        try:
            while self._out:
                del self._out[: self.channel.send(bytes(self._out[:BACKLOG]))]
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            return False
        return True

    def is_late(self) -> bool:
        """Whether the handshake takes too long."""
        fresh = self.session.stage in (HandshakeStage.SYNCING, HandshakeStage.SYNCED)
        return fresh and time.monotonic() - self._since > PATIENCE
