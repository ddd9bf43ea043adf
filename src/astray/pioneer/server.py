"""All bytes of all robots in one thread: a port each, one client at a time, no one harms another.

The thread reads, feeds sessions, posts what comes of it, and sends. The run hands it the packets of
each cycle. Whoever sends too much is read no further until the next cycle, and whoever reads too
little is cut off.
"""

from __future__ import annotations

import contextlib
import gc
import selectors
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from astray.engine import Event
from astray.pioneer.connection import ALLOWANCE, Connection, Log
from astray.pioneer.ports import Port, listen
from astray.pioneer.requests import Request, Say
from astray.pioneer.serial_terminal import PseudoTerminal
from astray.pioneer.session import HandshakeStage, ServedRobot, SessionOptions, SessionOutput
from astray.server import guarded_log, short_switch_interval

BREATH = 0.1  # s of real time after which the thread looks up by itself
NEAR = 0.0015  # s before a due time from which on it is slept for
SEND_BUFFER = 1 << 16  # bytes
MOST_POSTED = 1000  # events of one robot within a cycle, before its client is read no further


class PioneerServer:
    """Serves robots to clients, in a thread of its own."""

    def __init__(
        self,
        ports: Sequence[Port],
        post: Callable[[Event], None],
        options: SessionOptions,
        log: Log,
        log_packets: bool = False,
    ) -> None:
        self.ports, self.options, self.log = ports, options, guarded_log(log)
        self._post, self._posted = post, Counter[tuple[str, int]]()
        self.ask: Callable[[Connection, Request], None] = lambda line, request: None
        """Told of what a client wants that concerns more than its robot."""
        self.greet: Callable[[], None] = lambda: None
        """Told when a client has opened its session."""
        self.log_packets = log_packets
        self.changed = threading.Condition(threading.RLock())
        """Held by whoever touches lines; notified when no client owes an answer any more."""
        self.owing: set[Connection] = set()
        """The lines that were told something and have not answered."""
        self._selector = selectors.DefaultSelector()
        self._alarm, self._bell = socket.socketpair()
        self._thread: threading.Thread | None = None
        self._turns = contextlib.ExitStack()
        self._closing = False
        self._swept = time.monotonic()
        self._due: float | None = None  # when what is queued is to be sent

    # For whoever runs it.

    def open(self, address: str = "127.0.0.1") -> None:
        """Listen on every port, and begin to serve."""
        try:
            for port in self.ports:
                port.listener = listen(address, port.number, self.log)
                port.number = port.listener.getsockname()[1]
        except BaseException:
            self._close_ports()
            raise
        self._alarm.setblocking(False)
        self._bell.setblocking(False)
        self._selector.register(self._alarm, selectors.EVENT_READ)
        for port in self.ports:
            assert port.listener is not None
            self._selector.register(port.listener, selectors.EVENT_READ, port)
            if port.terminal is not None:
                self._seat(port, port.terminal, 0)
        self._turns.enter_context(short_switch_interval())
        # To look through all that was loaded takes the collector as long as a cycle.
        gc.freeze()
        self._thread = threading.Thread(target=self._serve, name="astray-pioneer", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Send everyone away and free the ports."""
        with self.changed:
            self._closing = True
            self.changed.notify_all()
        if self._thread is not None:
            self._ring()
            self._thread.join()
            self._thread = None
            self._turns.close()
            gc.unfreeze()
        self._close_ports()
        self._selector.close()
        self._alarm.close()
        self._bell.close()

    def lines(self) -> Iterator[Connection]:
        """The lines of all clients; hold `changed` meanwhile."""
        for port in self.ports:
            yield from list(port.lines.values())

    @property
    def closing(self) -> bool:
        """Whether it is about to end."""
        return self._closing

    def flush(self, at: float | None = None) -> None:
        """Let the thread send what is queued, and read on where it had enough.

        A time by `time.perf_counter` that is near may be given to send it at: an even beat then
        does not depend on how long a cycle took to work out.
        """
        at = at or 0.0
        self._due = at if self._due is None else min(self._due, at)
        self._posted.clear()
        self._refill()
        self._ring()

    def post(self, robot: ServedRobot, event: Event) -> None:
        """Let something happen to a robot, and count it: while a run rests, events pile up."""
        self._posted[robot.group, robot.number] += 1
        self._post(event)

    def do(self, line: Connection, outcome: SessionOutput) -> None:
        """Post, answer and pass on what comes of some packets."""
        for event in outcome.events:
            self.post(line.robot, event)
        if outcome.answer:
            line.queue(outcome.answer)
        for request in outcome.requests:
            if isinstance(request, Say):
                line.log(request.text)
            else:
                self.ask(line, request)

    # The thread.

    def _serve(self) -> None:
        while not self._closing:
            found = [key.data for key, _ in self._selector.select(self._patience())]
            with self.changed:
                if None in found:
                    self._silence()
                if self._is_due():
                    # Everyone is sent the new cycle before anyone's answer to it is looked at.
                    for line in self.lines():
                        line.send()
                        self._watch(line)
                if time.monotonic() - self._swept > BREATH:
                    self._refill()
                    self._swept = time.monotonic()
                    found += self.lines()
                # Clients before ports: who has just left makes room for who comes next.
                for one in found:
                    if isinstance(one, Connection):
                        self._attend(one)
                for one in found:
                    if isinstance(one, Port):
                        self._welcome(one)
                if not self.owing:
                    self.changed.notify_all()
        with self.changed:
            for line in self.lines():
                self._leave(line)

    def _patience(self) -> float:
        """For how long to wait for news: a selector is a millisecond late at worst."""
        if self._due is None:
            return BREATH
        return min(BREATH, max(0.0, self._due - time.perf_counter() - NEAR))

    def _is_due(self) -> bool:
        """Whether to send what is queued, now or after a nap."""
        if self._due is None or (wait := self._due - time.perf_counter()) > NEAR:
            return False
        if wait > 0.0:
            time.sleep(wait)
        self._due = None
        return True

    def _attend(self, line: Connection) -> None:
        """Read and send on one line; whatever goes wrong there is no one else's matter."""
        if line.gone:
            return
        try:
            was_open = line.is_open
            outcome = line.receive() if line.credit > 0 else SessionOutput()
            if outcome is not None:
                self.do(line, outcome)
            if not line.owes:
                self.owing.discard(line)
            if line.is_open and not was_open:
                self.greet()
            # What waits for its time is not sent with an answer that comes before it.
            sent = self._due is not None or line.send()
            stays = outcome is not None and sent and not line.cut and not line.is_late()
        except Exception as problem:  # noqa: BLE001 - no client may end the service of the others
            line.log(f"is cut off: {type(problem).__name__}: {problem}")
            stays = False
        if stays and line.session.stage is not HandshakeStage.LEFT:
            self._watch(line)
        else:
            self._leave(line)

    def _watch(self, line: Connection) -> None:
        """Wait for what the line is ready for: to be read while it may send, to be sent more."""
        mask = selectors.EVENT_READ if line.credit > 0 else 0
        mask |= selectors.EVENT_WRITE if line.wants_to_send else 0
        if mask == line.watched:
            return
        if not line.watched:
            self._selector.register(line.channel, mask, line)
        elif not mask:
            self._selector.unregister(line.channel)
        else:
            self._selector.modify(line.channel, mask, line)
        line.watched = mask

    def _welcome(self, port: Port) -> None:
        assert port.listener is not None
        with contextlib.suppress(OSError):  # who has gone again, or there is no descriptor for
            sock, _ = port.listener.accept()
            place = port.vacant()
            if place is None or not self._may_post(port.robots[place]):
                self.log(f"port {port.number}: a further client is refused")
                sock.close()
                return
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
            robot = port.robots[place]
            if port.robot_per_client:
                self.post(
                    robot, Event("spawn", robot.group, (self.options.world,), (robot.number,))
                )
            self._seat(port, sock, place)

    def _seat(self, port: Port, channel: socket.socket | PseudoTerminal, place: int) -> None:
        robot = port.robots[place]

        def log(text: str) -> None:
            self.log(f"{robot.name}: {text}")

        line = port.lines[place] = Connection(channel, robot, self.options, log)
        line.packets_logged = self.log_packets
        if not isinstance(channel, PseudoTerminal):
            log("a client comes")
        self._watch(line)

    def _leave(self, line: Connection) -> None:
        """Let a client go: its robot stops, and is free for the next one."""
        self.owing.discard(line)
        for event in line.session.end():
            self.post(line.robot, event)
        if isinstance(line.channel, PseudoTerminal) and not self._closing:
            line.greet()  # whoever opens the terminal next finds a robot that waits for SYNC
            line.cut = line.owes = False
            self._watch(line)
            return
        if not isinstance(line.channel, PseudoTerminal):
            line.log("the client goes")
        line.gone = True
        if line.watched:
            self._selector.unregister(line.channel)
        line.channel.close()
        for port in self.ports:
            for place, seated in list(port.lines.items()):
                if seated is line:
                    del port.lines[place]
                    if port.robot_per_client:
                        whom = (line.robot.number,)
                        removal = Event("remove", line.robot.group, (self.options.world,), whom)
                        self.post(line.robot, removal)

    def _refill(self) -> None:
        for line in self.lines():
            if self._may_post(line.robot):
                line.credit = ALLOWANCE

    def _may_post(self, robot: ServedRobot) -> bool:
        return self._posted[robot.group, robot.number] < MOST_POSTED

    def _ring(self) -> None:
        with contextlib.suppress(BlockingIOError, OSError):
            self._bell.send(b"\0")

    def _silence(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._alarm.recv(4096):
                pass

    def _close_ports(self) -> None:
        for port in self.ports:
            if port.listener is not None:
                port.listener.close()
                port.listener = None
