"""The bridge between a run and the server: an observer that reports each robot ten times a second.

The bridge changes nothing in the run: what clients command reaches it as events. In lockstep it
stops the run after each cycle until every client has answered, so that runs are repeatable.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from astray.engine import Event, Run
from astray.pioneer.commands import ClearMaster, ExitSimulator, LoadMap, SessionRequest
from astray.pioneer.connection import ClientConnection
from astray.pioneer.fleet import RobotSpec, plan_fleet
from astray.pioneer.map_loading import MapLoader
from astray.pioneer.models import PoseTuple
from astray.pioneer.server import PioneerServer, Port
from astray.pioneer.session import SessionOptions
from astray.pioneer.snapshot import CycleIntervals, take_snapshot
from astray.server import BackgroundRun, LogLine
from astray.sim import Sim, load

CYCLE = 0.1  # s of simulated time from one SIP to the next
SEND_DELAY = 0.2  # of a cycle: packets leave late by a constant, however long a cycle takes
STOP_POLL = 0.1  # s of real time after which a run in lockstep checks whether it was stopped
LOCKSTEP_TIMEOUT = 60.0  # s of real time for a client to answer a cycle in lockstep


class PioneerBridge:
    """Serves the robots of a run to clients, from `open` to `close` or in a with block.

    Args:
        sim: The run.
        ports: The ports and the robots at each.
        options: What clients may do.
        lockstep: Stop the run after each cycle until every client has answered.
        map_folder: The folder from which clients may load maps; None to refuse all.
        log_packets: Log every packet that is received.
        log: Called with each line of the log.
    """

    def __init__(
        self,
        sim: Run,
        ports: Sequence[Port],
        options: SessionOptions | None = None,
        *,
        lockstep: bool = False,
        map_folder: Path | None = None,
        log_packets: bool = False,
        log: LogLine = lambda text: None,
    ) -> None:
        self.sim, self.options = sim, options or SessionOptions()
        self.lockstep = lockstep
        self.period = max(1, round(CYCLE / sim.dt))  # ticks
        self.exit_code: int | None = None
        """The exit code that a client asks for by SIM_EXIT."""
        self.server = PioneerServer(ports, sim.post, self.options, log, log_packets)
        self.server.on_request = self._process_request
        robots = [robot for port in ports for robot in port.robots]
        for robot in robots:
            truth = sim.robots[robot.group].truth
            if truth["alive"][robot.index]:  # the home of a robot with a random start is there
                x, y, yaw = (float(truth[c][robot.index]) for c in ("x", "y", "yaw"))
                robot.home = (x, y, yaw)
        self.maps = MapLoader(sim, robots, map_folder, self._send_packet)
        self._observed_at = time.perf_counter()

    @property
    def ports(self) -> list[int]:
        """The port numbers, in the order of the robots."""
        return [port.number for port in self.server.ports]

    def open(self, address: str = "127.0.0.1") -> None:
        """Listen on the ports and observe the run.

        Args:
            address: The address to listen on.

        Raises:
            WrongInput: A port or the address cannot be used.
        """
        if self.lockstep:
            # No client can be waited for before the first tick: the first session starts the run.
            self.sim.pace.pause()
            self.server.on_session_open = self.sim.pace.play
        self.server.open(address)
        self.sim.observers.append(self)

    def close(self) -> None:
        """Disconnect all clients and stop observing the run."""
        self.sim.observers.remove(self)
        self.server.close()

    def __enter__(self) -> PioneerBridge:
        self.open()
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    # The observer.

    def next_due(self, step: int) -> int:
        """The first step from this one on that ends a cycle."""
        return step + -step % self.period

    def observe(self, sim: Run) -> None:
        """Send the packets of a cycle to every client."""
        intervals = self._measure_intervals(sim)
        with self.server.lock:
            for connection in self.server.connections():
                robot = connection.robot
                # A robot per client exists only from the tick after its session was opened.
                if connection.is_open and sim.robots[robot.group].truth["alive"][robot.index]:
                    snapshot = take_snapshot(sim, robot, connection.session.wants_simstat)
                    output = connection.session.report_cycle(snapshot, intervals)
                    self.server.process(connection, output)
                    connection.expect_reply()
                    self.server.awaiting_reply.add(connection)
            delay = self.period * SEND_DELAY  # ticks
            send_at = None if self.lockstep else sim.pace.due_at((sim.steps + delay) * sim.dt)
            self.server.flush(send_at or 0.0)
            if self.lockstep:
                self._await_replies(sim)

    def _measure_intervals(self, sim: Run) -> CycleIntervals:
        now = time.perf_counter()
        last_ms, self._observed_at = (now - self._observed_at) * 1000.0, now
        simulated_ms = self.period * sim.dt * 1000.0
        real_ms = simulated_ms / sim.pace.speed if sim.pace.speed else last_ms
        return CycleIntervals(round(simulated_ms), round(real_ms), round(last_ms))

    def _await_replies(self, sim: Run) -> None:
        """Wait until every client has answered; disconnect those that do not in time."""
        server = self.server
        while not server.is_closing and not sim.pace.stopped:
            if not server.awaiting_reply and any(c.is_open for c in server.connections()):
                return
            for connection in server.awaiting_reply:
                overdue = time.monotonic() - connection.cycle_sent_at > LOCKSTEP_TIMEOUT
                if overdue and not connection.must_close:
                    connection.must_close = True
                    connection.log(f"no reply for {LOCKSTEP_TIMEOUT:g} s: is disconnected")
            server.lock.wait(STOP_POLL)

    # Requests that concern more than one robot.

    def _process_request(self, connection: ClientConnection, request: SessionRequest) -> None:
        if isinstance(request, ExitSimulator):
            self.exit_code = request.code
            connection.log(f"ends the simulator with code {request.code}")
            self.sim.pace.stop()
        elif isinstance(request, LoadMap):
            self.maps.load(connection, request)
        elif isinstance(request, ClearMaster):
            self.maps.master = None

    def _send_packet(self, packet: bytes, receiver: ClientConnection | None) -> None:
        """Send a packet to one client, or to all."""
        with self.server.lock:
            for connection in self.server.connections():
                if connection.is_open and receiver in (None, connection):
                    connection.enqueue(packet)
            self.server.flush()


def warm_up(sim: Sim) -> None:
    """Compile the kernels of a session and reset the run, so that no client waits for them.

    Args:
        sim: The run, before anything observes it.
    """
    targets = {"mode": "servo", "distance": 1.0, "heading": 1.0}
    events = []
    for name, group in sim.robots.items():
        if not group.plan.count:
            events.append(Event("spawn", name, (0,), (0,)))
        events.append(Event("command", name, values=targets))
        events.append(Event("believe", name, values={"x": 0.0, "y": 0.0, "yaw": 0.0}))
        events.append(Event("place", name, values={"yaw": 0.0}))
    sim.warm_up(events, max(1, round(CYCLE / sim.dt)))


@contextlib.contextmanager
def serving(
    *robots: str,
    map: str | Mapping[str, Any] | None = None,
    start: PoseTuple | str | None = None,
    odometry: str | None = None,
    port: int = 0,
    speed: float | None = 1.0,
    lockstep: bool = False,
    seed: int | None = None,
    options: SessionOptions | None = None,
    map_folder: Path | None = None,
    per_client: tuple[str, ...] = (),
    log: LogLine = lambda text: None,
) -> Iterator[PioneerBridge]:
    """Serve robots in the background of a with block: for tests, notebooks and examples.

    Args:
        *robots: "model" or "model:name" of each robot.
        map: A map file, a bundled map, or a mapping; None for an empty world.
        start: The start of the robots, as for `plan_fleet`.
        odometry: A mode of odometry errors, as for `odometry_errors`; None for the models'.
        port: The number of the first port; 0 for free ports.
        speed: Simulated seconds per second; None for as fast as possible.
        lockstep: Stop the run after each cycle until every client has answered.
        seed: The random seed of the run.
        options: What clients may do.
        map_folder: The folder from which clients may load maps; None to refuse all.
        per_client: Models of which each client gets a robot of its own.
        log: Called with each line of the log.

    Yields:
        The bridge: `ports` has the port numbers, `sim` is the run.

    Raises:
        WrongInput: A model, the map, a mode or a port is wrong.
    """
    options = options or SessionOptions()
    mobilesim = options.like_mobilesim
    fleet = plan_fleet(
        [RobotSpec.parse(text, odometry, mobilesim) for text in robots],
        map=map,
        start=start,
        port=port,
        watchdog=options.watchdog,
        per_client=[RobotSpec.parse(text, odometry, mobilesim) for text in per_client],
    )
    sim = load(fleet.scenario, seed=seed)
    warm_up(sim)
    bridge = PioneerBridge(
        sim, fleet.ports, options, lockstep=lockstep, map_folder=map_folder, log=log
    )
    with bridge, BackgroundRun(sim, speed=speed):
        yield bridge
