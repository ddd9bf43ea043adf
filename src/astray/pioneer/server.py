"""The server of all robots: one thread, a port per robot, one client at a time on each robot.

A connection gets its robot when it opens the session. Until then it keeps no other client away,
whatever it sends or does not send.

The thread runs a loop of its own over a selector, since packets must leave every 100 ± 5 ms. It
reads bytes, lets sessions process them, posts their events, and sends. The run hands it the packets
of each cycle (`PioneerBridge.observe`) and wakes it through a socket pair.

Back-pressure: a client is read until its quota of the cycle is used up or too many of its events
wait, and it is disconnected when it leaves too many bytes unread.
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
from dataclasses import dataclass, field

from astray.engine import Event
from astray.pioneer.commands import LogText, SessionRequest
from astray.pioneer.connection import READ_QUOTA, ClientConnection, PseudoTerminal
from astray.pioneer.models import ServedRobot
from astray.pioneer.session import SessionOptions, SessionOutput, SessionState
from astray.server import Listener, LogLine, guarded_log, short_switch_interval

MAX_WAIT = 0.1  # s of real time after which the loop checks timeouts and refills quotas
SLEEP_MARGIN = 0.0015  # s before a due time; a selector may be a millisecond late, sleep is not
SEND_BUFFER = 1 << 16  # bytes of a socket
MAX_POSTED = 1000  # events of one robot in a cycle, after which its client is not read
MAX_WAITING = 32  # connections at a port without a session; a further one replaces the oldest


@dataclass
class Port:
    """A port and its robots: one, or one per client that exists while the client is connected."""

    number: int
    robots: Sequence[ServedRobot]
    robot_per_client: bool = False
    connections: list[ClientConnection] = field(default_factory=list)
    """From the oldest to the newest, also those that have not opened a session."""
    listener: socket.socket | None = None
    terminal: PseudoTerminal | None = None

    def free_robot(self) -> ServedRobot | None:
        """A robot without a client, for which the fewest connections wait."""
        taken = {id(c.robot) for c in self.connections if c.has_robot}
        waited_for = Counter(id(c.robot) for c in self.connections)
        free = [robot for robot in self.robots if id(robot) not in taken]
        return min(free, key=lambda robot: waited_for[id(robot)], default=None)

    def waiting(self) -> list[ClientConnection]:
        """Sockets that have not opened a session, from the oldest on."""
        return [c for c in self.connections if not c.has_robot and c.transport is not self.terminal]

    def listen(self, address: str, log: LogLine) -> None:
        """Listen for clients. The robots limit their number, so the listener does not."""
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        listener = Listener(family, limit=None, log=log)
        advice = "choose another by --port, or another address by --bind-to-address"
        listener.open(address, self.number, advice)
        self.listener, self.number = listener, listener.getsockname()[1]

    def close(self) -> None:
        """Stop listening."""
        if self.listener is not None:
            self.listener.close()
            self.listener = None


class PioneerServer:
    """Serves robots to clients, in a thread of its own."""

    def __init__(
        self,
        ports: Sequence[Port],
        post: Callable[[Event], None],
        options: SessionOptions,
        log: LogLine,
        log_packets: bool = False,
    ) -> None:
        self.ports, self.options, self.log = ports, options, guarded_log(log)
        self._log_packets = log_packets
        self._post, self._posted = post, Counter[tuple[str, int]]()
        self.on_request: Callable[[ClientConnection, SessionRequest], None] = lambda *_: None
        """Called with a client's request that concerns more than its robot."""
        self.on_session_open: Callable[[], None] = lambda: None
        """Called when a client has opened its session."""
        self.lock = threading.Condition(threading.RLock())
        """Guards the connections; notified when no client has a cycle left to answer."""
        self.awaiting_reply: set[ClientConnection] = set()
        """Connections that were sent a cycle and have not answered."""
        self.is_closing = False
        self._selector = selectors.DefaultSelector()
        self._wakeup_receiver, self._wakeup_sender = socket.socketpair()
        self._thread: threading.Thread | None = None
        self._switch_interval = contextlib.ExitStack()
        self._checked_at = time.monotonic()
        self._send_at: float | None = None  # perf_counter when unsent bytes are due

    # Called by other threads.

    def open(self, address: str = "127.0.0.1") -> None:
        """Listen on every port and start the thread.

        Args:
            address: The address to listen on.

        Raises:
            WrongInput: A port or the address cannot be used.
        """
        try:
            for port in self.ports:
                port.listen(address, self.log)
        except BaseException:
            self._close_ports()
            raise
        self._wakeup_receiver.setblocking(False)
        self._wakeup_sender.setblocking(False)
        self._selector.register(self._wakeup_receiver, selectors.EVENT_READ)
        for port in self.ports:
            assert port.listener is not None
            self._selector.register(port.listener, selectors.EVENT_READ, port)
            if port.terminal is not None:
                self._add_connection(port, port.terminal, port.robots[0])
        self._switch_interval.enter_context(short_switch_interval())
        # A collection of all objects loaded so far would take as long as a cycle.
        gc.freeze()
        self._thread = threading.Thread(target=self._serve, name="astray-pioneer", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Disconnect all clients and free the ports."""
        with self.lock:
            self.is_closing = True
            self.lock.notify_all()
        if self._thread is not None:
            self._wake_up()
            self._thread.join()
            self._thread = None
            self._switch_interval.close()
            gc.unfreeze()
        self._close_ports()
        self._selector.close()
        self._wakeup_receiver.close()
        self._wakeup_sender.close()

    def connections(self) -> Iterator[ClientConnection]:
        """The connections of all clients; hold `lock` meanwhile."""
        for port in self.ports:
            yield from list(port.connections)

    def flush(self, at: float = 0.0) -> None:
        """Begin a new cycle: let the thread send what is enqueued, and read all clients again.

        With a time of `time.perf_counter` in the near future packets leave then, so that their
        cadence does not depend on how long the cycle took to compute.
        """
        self._send_at = at if self._send_at is None else min(self._send_at, at)
        self._posted.clear()
        self._refill_quotas()
        self._wake_up()

    def post(self, robot: ServedRobot, event: Event) -> None:
        """Post an event and count it: while a run is paused, events accumulate."""
        self._posted[robot.group, robot.index] += 1
        self._post(event)

    def process(self, connection: ClientConnection, output: SessionOutput) -> None:
        """Post the events of a session, enqueue its reply and pass its requests on."""
        for event in output.events:
            self.post(connection.robot, event)
        if output.reply:
            connection.enqueue(output.reply)
        for request in output.requests:
            if isinstance(request, LogText):
                connection.log(request.text)
            else:
                self.on_request(connection, request)

    # The thread.

    def _serve(self) -> None:
        while not self.is_closing:
            ready = [key.data for key, _ in self._selector.select(self._select_timeout())]
            with self.lock:
                if None in ready:
                    self._drain_wakeups()
                if self._wait_for_send_time():
                    # All clients get the new cycle before the reply of any client is processed.
                    for connection in self.connections():
                        connection.flush()
                        self._update_selector(connection)
                if time.monotonic() - self._checked_at > MAX_WAIT:
                    self._refill_quotas()
                    self._checked_at = time.monotonic()
                    ready += self.connections()
                # Connections before ports: a client that disconnects frees a robot for the next.
                for connection in (item for item in ready if isinstance(item, ClientConnection)):
                    self._transfer(connection)
                for port in (item for item in ready if isinstance(item, Port)):
                    self._accept(port)
                if not self.awaiting_reply:
                    self.lock.notify_all()
        with self.lock:
            for connection in self.connections():
                self._end_session(connection)

    def _select_timeout(self) -> float:
        if self._send_at is None:
            return MAX_WAIT
        return min(MAX_WAIT, max(0.0, self._send_at - time.perf_counter() - SLEEP_MARGIN))

    def _wait_for_send_time(self) -> bool:
        """Whether enqueued bytes are due, now or after a short sleep."""
        if self._send_at is None or (wait := self._send_at - time.perf_counter()) > SLEEP_MARGIN:
            return False
        if wait > 0.0:
            time.sleep(wait)
        self._send_at = None
        return True

    def _transfer(self, connection: ClientConnection) -> None:
        """Receive from and send to one client. A failure disconnects this client alone."""
        if connection.is_closed:
            return
        try:
            was_open = connection.is_open
            output = connection.receive() if connection.read_quota > 0 else SessionOutput()
            if output is not None:
                self.process(connection, output)
            if not connection.awaits_reply:
                self.awaiting_reply.discard(connection)
            if connection.is_open and not was_open:
                self.on_session_open()
            # The packets of a cycle wait for their send time, and replies behind them, too.
            sent = self._send_at is not None or connection.flush()
            is_sound = not connection.must_close and not connection.handshake_timed_out()
            stays = output is not None and sent and is_sound
        except Exception as problem:  # noqa: BLE001 - an error ends the session of this client alone
            connection.log(f"is disconnected: {type(problem).__name__}: {problem}")
            stays = False
        if stays and connection.session.state is not SessionState.CLOSED:
            self._update_selector(connection)
        else:
            self._end_session(connection)

    def _update_selector(self, connection: ClientConnection) -> None:
        """Watch a connection for reading while it has quota, for writing while bytes are unsent."""
        events = selectors.EVENT_READ if connection.read_quota > 0 else 0
        events |= selectors.EVENT_WRITE if connection.has_unsent else 0
        if events == connection.selector_events:
            return
        if not connection.selector_events:
            self._selector.register(connection.transport, events, connection)
        elif not events:
            self._selector.unregister(connection.transport)
        else:
            self._selector.modify(connection.transport, events, connection)
        connection.selector_events = events

    def _accept(self, port: Port) -> None:
        """Accept a client, or refuse it where every robot has one."""
        assert port.listener is not None
        with contextlib.suppress(OSError):  # the client has disconnected, or no descriptor is left
            sock, _ = port.listener.accept()
            robot = port.free_robot()
            if robot is None or not self._may_post(robot):
                self.log(f"port {port.number}: a further client is refused")
                sock.close()
                return
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
            for connection in port.waiting()[: 1 - MAX_WAITING]:
                self._end_session(connection)
            self._add_connection(port, sock, robot).log("client connected")

    def _add_connection(
        self, port: Port, transport: socket.socket | PseudoTerminal, robot: ServedRobot
    ) -> ClientConnection:
        def log(text: str) -> None:
            self.log(f"{robot.name}: {text}")

        def take_robot(connection: ClientConnection) -> bool:
            return self._take_robot(port, connection)

        connection = ClientConnection(
            transport, robot, self.options, log, self._log_packets, take_robot
        )
        port.connections.append(connection)
        self._update_selector(connection)
        return connection

    def _take_robot(self, port: Port, connection: ClientConnection) -> bool:
        """Give a client its robot, unless another one has opened a session with it."""
        robot = connection.robot
        if any(c.has_robot and c.robot is robot for c in port.connections):
            connection.log("another client has opened a session: is disconnected")
            return False
        connection.has_robot = True
        if port.robot_per_client:
            self._post_existence("spawn", robot)
        return True

    def _release_robot(self, connection: ClientConnection) -> None:
        """Free the robot of a client, and remove it where each client has its own."""
        if connection.has_robot:
            connection.has_robot = False
            if any(p.robot_per_client and connection in p.connections for p in self.ports):
                self._post_existence("remove", connection.robot)

    def _end_session(self, connection: ClientConnection) -> None:
        """Stop the robot and disconnect its client; a pseudo-terminal waits for the next one."""
        self.awaiting_reply.discard(connection)
        for event in connection.session.end():
            self.post(connection.robot, event)
        self._release_robot(connection)
        if isinstance(connection.transport, PseudoTerminal):
            if not self.is_closing:
                connection.restart()
                self._update_selector(connection)
                return
        else:
            connection.log("client disconnected")
        connection.is_closed = True
        if connection.selector_events:
            self._selector.unregister(connection.transport)
        connection.transport.close()
        for port in self.ports:
            if connection in port.connections:
                port.connections.remove(connection)

    def _post_existence(self, kind: str, robot: ServedRobot) -> None:
        """Post the event "spawn" or "remove" of a robot."""
        self.post(robot, Event(kind, robot.group, (self.options.world,), (robot.index,)))

    def _refill_quotas(self) -> None:
        for connection in self.connections():
            if self._may_post(connection.robot):
                connection.read_quota = READ_QUOTA

    def _may_post(self, robot: ServedRobot) -> bool:
        return self._posted[robot.group, robot.index] < MAX_POSTED

    def _wake_up(self) -> None:
        with contextlib.suppress(BlockingIOError, OSError):
            self._wakeup_sender.send(b"\0")

    def _drain_wakeups(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._wakeup_receiver.recv(4096):
                pass

    def _close_ports(self) -> None:
        for port in self.ports:
            port.close()
