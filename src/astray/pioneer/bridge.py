"""A run on the wire: an observer that copies what packets tell, ten times per simulated second.

It changes nothing: whatever clients want reaches the run as events. In lockstep it holds the run
after each cycle until every client has answered it, so that a program and the run take turns.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from astray.engine import Robots, Run
from astray.pioneer.connection import Connection, Log
from astray.pioneer.map_access import MapLoader
from astray.pioneer.ports import Port
from astray.pioneer.requests import ClearMaster, Exit, LoadMap, Request
from astray.pioneer.server import PioneerServer
from astray.pioneer.session import ServedRobot, SessionOptions
from astray.pioneer.snapshot import Beams, Intervals, RobotSnapshot

if TYPE_CHECKING:
    from collections.abc import Sequence


CYCLE = 0.1  # s of simulated time from one standard packet to the next
LOOK = 0.1  # s of real time after which a waiting run looks whether it was stopped
HOLD = 0.2  # of a cycle, by which packets leave late so that all are evenly late
PATIENCE = 60.0  # s of real time that a client in lockstep may take to answer


class PioneerBridge:
    """The robots of a run, served to clients."""

    def __init__(
        self,
        sim: Run,
        ports: Sequence[Port],
        options: SessionOptions | None = None,
        *,
        lockstep: bool = False,
        map_folder: Path | None = None,
        log_packets: bool = False,
        log: Log = lambda text: None,
    ) -> None:
        self.sim, self.options = sim, options or SessionOptions()
        self.lockstep = lockstep
        self.period = max(1, round(CYCLE / sim.dt))
        self.exit_code: int | None = None
        """What a client wants the program to end with."""
        self.server = PioneerServer(ports, sim.post, self.options, log, log_packets)
        self.server.ask = self._ask
        robots = [robot for port in ports for robot in port.robots]
        for robot in robots:
            truth = sim.robots[robot.group].truth
            if truth["alive"][robot.number]:  # who starts anywhere is at home there
                x, y, yaw = (float(truth[c][robot.number]) for c in ("x", "y", "yaw"))
                robot.home = (x, y, yaw)
        self.maps = MapLoader(sim, robots, map_folder, self._announce)
        self._wall = time.perf_counter()

    @property
    def ports(self) -> list[int]:
        """The numbers of the ports, in the order of the robots."""
        return [port.number for port in self.server.ports]

    def open(self, address: str = "127.0.0.1") -> None:
        """Listen, and watch the run."""
        if self.lockstep:
            # No one is there to wait for before the first tick: the first client lets it go.
            self.sim.pace.pause()
            self.server.greet = self.sim.pace.play
        self.server.open(address)
        self.sim.observers.append(self)

    def close(self) -> None:
        """Send everyone away; the run is watched no more."""
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
        """Tell every client of its robot."""
        intervals = self._intervals(sim)
        with self.server.changed:
            for line in self.server.lines():
                if line.is_open:
                    moment = moment_of(sim, line.robot)
                    self.server.do(line, line.session.tell(moment, intervals))
                    line.owe()
                    self.server.owing.add(line)
            held = self.period * HOLD  # ticks
            self.server.flush(
                None if self.lockstep else sim.pace.due_at((sim.steps + held) * sim.dt)
            )
            if self.lockstep:
                self._await_clients(sim)

    def _intervals(self, sim: Run) -> Intervals:
        wall = time.perf_counter()
        last, self._wall = wall - self._wall, wall
        simulated = self.period * sim.dt * 1000.0
        real = simulated / sim.pace.speed if sim.pace.speed else last * 1000.0
        return Intervals(round(simulated), round(real), round(last * 1000.0))

    def _await_clients(self, sim: Run) -> None:
        while not self.server.closing and not sim.pace.stopped:
            if not self.server.owing and any(line.is_open for line in self.server.lines()):
                return
            for line in self.server.owing:
                if time.monotonic() - line.owes_since > PATIENCE and not line.cut:
                    line.cut = True
                    line.log(f"has not answered for {PATIENCE:g} s and is cut off")
            self.server.changed.wait(LOOK)

    # What concerns more than one robot.

    def _ask(self, line: Connection, request: Request) -> None:
        if isinstance(request, Exit):
            self.exit_code = request.code
            line.log(f"ends the simulator with code {request.code}")
            self.sim.pace.stop()
        elif isinstance(request, LoadMap):
            self.maps.load(line, request)
        elif isinstance(request, ClearMaster):
            self.maps.master = None

    def _announce(self, packet: bytes, to: Connection | None) -> None:
        """Send a packet to one client, or to all."""
        with self.server.changed:
            for line in self.server.lines():
                if line.is_open and to in (None, line):
                    line.queue(packet)
            self.server.flush()


def moment_of(sim: Run, robot: ServedRobot) -> RobotSnapshot:
    """What there is to tell of a robot now."""
    group, model = sim.robots[robot.group], robot.model
    row = robot.number
    truth, belief, contacts = group.truth, group.belief, group.scene.contacts
    more = {}
    if model.sonar is not None:
        reading = group.readings[model.sonar]
        more["sonar"] = reading["ranges"][row].copy()
        reach = float(reading["min_range"][row]), float(reading["max_range"][row])
        more["sonar_reach"] = reach
    if model.laser is not None:
        scan = group.readings[model.laser]
        start, step = float(scan["start"][row]), float(scan["step"][row])
        ranges = scan["ranges"][row].copy()
        more["beams"] = Beams(ranges, start, step, float(scan["max_range"][row]))
    if model.bumper is not None:
        pressed = np.flatnonzero(group.readings[model.bumper]["arcs"][row])
        more["bumped"] = sum(robot.bumper_bits[k] for k in pressed)
    return RobotSnapshot(
        time=float(truth["stamp"][row]),
        truth=(float(truth["x"][row]), float(truth["y"][row]), float(truth["yaw"][row])),
        belief=(float(belief["x"][row]), float(belief["y"][row]), float(belief["yaw"][row])),
        vx=float(belief["vx"][row]),
        vy=float(belief["vy"][row]),
        wz=float(belief["wz"][row]),
        stalled=bool(contacts["stalled"][row]),
        wheels=_wheels(group, row),
        **more,
    )


def _wheels(group: Robots, row: int) -> tuple[int, int]:
    """Ticks of the left and the right wheel, where the robot counts them."""
    reading = group.readings.get("wheels")
    if reading is None or "count" not in (reading.table.dtype.names or ()):
        return 0, 0
    return int(reading["count"][row][0]), int(reading["count"][row][1])
