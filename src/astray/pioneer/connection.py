"""A client's connection: received bytes become packets for its session, sent bytes are buffered."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Protocol

from astray.errors import WrongInput
from astray.pioneer.commands import describe_command
from astray.pioneer.models import ServedRobot
from astray.pioneer.packets import Framer
from astray.pioneer.session import Session, SessionOptions, SessionOutput, SessionState
from astray.server import LogLine

HANDSHAKE_TIMEOUT = 10.0  # s of real time
PACKET_TIMEOUT = 1.0  # s of real time without a byte, after which a partial packet is dropped
READ_QUOTA = 4096  # bytes that are read from a client in one cycle
MAX_UNSENT = 1 << 16  # bytes that a client may leave unread before it is disconnected


class Transport(Protocol):
    """A non-blocking byte stream: a socket or a pseudo-terminal."""

    def fileno(self) -> int:
        """The descriptor that a selector watches."""

    def recv(self, size: int, /) -> bytes:
        """Receive up to so many bytes; none at the end of the stream."""

    def send(self, data: bytes, /) -> int:
        """Send some of the bytes; the number of bytes sent."""

    def close(self) -> None:
        """Close the stream."""


class PseudoTerminal:
    """A pseudo-terminal in place of a port, for programs that only know serial lines.

    Programs open the device `path`.

    Raises:
        WrongInput: The system has no pseudo-terminals.
    """

    def __init__(self) -> None:
        try:
            import pty
            import tty
        except ImportError:
            raise WrongInput("--pty: this system has no pseudo-terminals") from None
        self._controller, self._device = pty.openpty()
        # In raw mode the terminal neither echoes packets nor changes their bytes. The device stays
        # open here: reading the controller fails while no program has the device open.
        tty.setraw(self._device)
        os.set_blocking(self._controller, False)
        self.path = os.ttyname(self._device)

    def fileno(self) -> int:
        """The descriptor that a selector watches."""
        return self._controller

    def recv(self, size: int) -> bytes:
        """Receive up to so many bytes."""
        return os.read(self._controller, size)

    def send(self, data: bytes) -> int:
        """Send some of the bytes; the number of bytes sent."""
        return os.write(self._controller, data)

    def close(self) -> None:
        """Close both ends."""
        os.close(self._controller)
        os.close(self._device)


class ClientConnection:
    """The connection of a client and the session on it. It never blocks."""

    def __init__(
        self,
        transport: Transport,
        robot: ServedRobot,
        options: SessionOptions,
        log: LogLine,
        log_packets: bool = False,
        take_robot: Callable[[ClientConnection], bool] = lambda connection: True,
    ) -> None:
        self.transport, self.robot, self.options = transport, robot, options
        self.log, self._log_packets, self._take_robot = log, log_packets, take_robot
        self.has_robot = False
        """Whether the robot is this client's: it was when its session was opened."""
        self.read_quota = READ_QUOTA
        """Bytes that may still be read in this cycle."""
        self.selector_events = 0
        """The events that a selector watches the transport for."""
        self.is_closed = False
        self.restart()

    def restart(self) -> None:
        """Begin a new session on the same transport."""
        self.session = Session(self.robot, self.options, lambda: self._take_robot(self))
        self.awaits_reply = False
        """Whether the client was sent a cycle and has not answered since."""
        self.cycle_sent_at = 0.0
        self.must_close = False
        """Whether the client is to be disconnected."""
        self._framer = Framer()
        self._unsent = bytearray()
        self._opened_at = self._received_at = time.monotonic()

    @property
    def is_open(self) -> bool:
        """Whether the session is open, so that the client gets packets."""
        return self.session.state is SessionState.OPEN

    @property
    def has_unsent(self) -> bool:
        """Whether bytes wait to be sent."""
        return bool(self._unsent)

    def receive(self) -> SessionOutput | None:
        """Process the bytes that have arrived; None if the client has disconnected."""
        try:
            received = self.transport.recv(self.read_quota)
        except (BlockingIOError, InterruptedError):
            return SessionOutput()
        except OSError:
            return None
        if not received:
            return None
        self.read_quota -= len(received)
        now = time.monotonic()
        if self._framer.has_partial_packet and now - self._received_at > PACKET_TIMEOUT:
            self._framer.discard_partial_packet()
        self._received_at = now
        packets = self._framer.feed(received)
        if self._log_packets:
            for packet in packets:
                self.log(f"received {describe_command(packet)}")
        if packets:
            self.awaits_reply = False
        return self.session.receive(packets)

    def enqueue(self, data: bytes) -> None:
        """Add bytes to be sent. A client with too many unsent bytes is to be disconnected."""
        self._unsent += data
        if len(self._unsent) > MAX_UNSENT and not self.must_close:
            self.must_close = True
            self.log("reads too slowly and is disconnected")

    def expect_reply(self) -> None:
        """Record that the client was sent a cycle."""
        if not self.awaits_reply:
            self.awaits_reply, self.cycle_sent_at = True, time.monotonic()

    def flush(self) -> bool:
        """Send what the transport takes; False if the client has disconnected."""
        try:
            while self._unsent:
                del self._unsent[: self.transport.send(bytes(self._unsent[:MAX_UNSENT]))]
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            return False
        return True

    def handshake_timed_out(self) -> bool:
        """Whether the session is still not open after the timeout."""
        shaking_hands = self.session.state in (SessionState.SYNCING, SessionState.SYNCED)
        return shaking_hands and time.monotonic() - self._opened_at > HANDSHAKE_TIMEOUT
