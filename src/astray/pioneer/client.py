"""A client of a Pioneer robot, real or simulated, over TCP. Metres, seconds and radians.

    with Client("127.0.0.1", 8101) as robot:
        robot.velocity(0.3, 0.1)
        robot.wait(2.0)
        print(robot.odometry, min(robot.sonar), robot.true_pose())

It has no thread: packets are read while something is waited for. The odometer reads zero when a
session begins; where the robot really is only a simulator can tell.
"""

from __future__ import annotations

import contextlib
import math
import struct
from collections.abc import Callable
from contextlib import AbstractContextManager

from astray.pioneer import commands
from astray.pioneer.client_connection import Connection, NoAnswer, TooLate
from astray.pioneer.commands import ControlCommand, PioneerCommand
from astray.pioneer.packets import (
    CONFIG,
    MAP_CHANGED,
    PLAIN,
    SIMINFO,
    SIMSTAT,
    SIP,
    SIP_MOVING,
    STALLED,
    WITH_REFLECTANCE,
    BadPacket,
    Config,
    MapChanged,
    Packet,
    PlainScan,
    Scan,
    SimInfo,
    SimStat,
    Sip,
    encode,
    from_text,
)

Pose = tuple[float, float, float]
TURN = 0x8000  # counts after which the odometer starts anew
TRIES = 5  # of each SYNC


class Client:
    """A connection to one robot; `connect`, or the start of a with block, opens it."""

    def __init__(self, host: str = "127.0.0.1", port: int = 8101, *, timeout: float = 5.0) -> None:
        self.host, self.port, self.timeout = host, port, timeout
        self.name = self.robot_class = self.subclass = ""
        self.sip: Sip | None = None
        """The newest standard packet."""
        self.odometry: Pose = (0.0, 0.0, 0.0)
        """Where the robot believes to be, m and rad, from where it was when we came."""
        self.laser: list[float] = []
        """Ranges of the newest complete scan, m."""
        self.cycles = 0
        """Standard packets so far."""
        self.log: list[Packet] | None = None
        """All packets so far, if it is made a list."""
        self._scan: list[int] = []
        self._counts = (0, 0)
        self._connection: Connection | None = None
        self.distance_factor, self.angle_factor = 1.0, math.tau / 4096
        self.speed_factor = self.range_factor = 1.0
        self.vel2_divisor = 20

    # Coming and going.

    def connect(self, wait: bool = True) -> Client:
        """Shake hands and open the session; wait for the robot to tell of itself.

        A program with several robots in lockstep lets all of them in before it waits for any.
        """
        from astray.pioneer.model import find_model, model_names

        if self._connection is not None:
            return self
        self._connection = Connection(self.host, self.port, self.timeout)
        for step in range(3):
            answer = self._sync(step)
        names, rest = [], answer.data
        for _ in range(3):
            text, rest = from_text(rest)
            names.append(text)
        self.name, self.robot_class, self.subclass = names
        if self.subclass in model_names():
            model = find_model(self.subclass)
            self.distance_factor, self.angle_factor = model.distance_factor, model.angle_factor
            self.speed_factor, self.range_factor = model.speed_factor, model.range_factor
            self.vel2_divisor = model.vel2_divisor
        self._line.send(commands.with_number(PioneerCommand.OPEN, 1))
        if wait:
            self.read()
        return self

    def close(self) -> None:
        """End the session; the robot stops."""
        if self._connection is not None:
            with contextlib.suppress(OSError, NoAnswer):
                self._line.send(commands.with_number(PioneerCommand.CLOSE, 1))
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Client:
        return self if self._connection else self.connect()

    def __exit__(self, *problem: object) -> None:
        self.close()

    def _sync(self, step: int) -> Packet:
        for _ in range(TRIES):
            self._line.send(encode(step))
            with contextlib.suppress(TooLate):
                return self._await(lambda p: p.id == step, self.timeout / TRIES)
        raise NoAnswer(f"{self.host}:{self.port} does not answer SYNC{step}: is it a robot?")

    # Driving.

    def velocity(self, vx: float, wz: float = 0.0, vy: float | None = None) -> None:
        """Keep a speed along, m/s, a turn rate, rad/s, and where it can a speed aside, m/s."""
        with self.together():
            self._line.send(commands.with_number(PioneerCommand.VEL, vx * 1000.0))
            self._line.send(commands.with_number(PioneerCommand.RVEL, math.degrees(wz)))
            if vy is not None:
                self._line.send(commands.with_number(PioneerCommand.LATVEL, vy * 1000.0))

    def wheels(self, left: float, right: float) -> None:
        """Keep the speeds of the two wheels, m/s, in steps of 20 mm/s."""
        steps = [round(v * 1000.0 / self.vel2_divisor) for v in (left, right)]
        self._line.send(
            commands.with_word(PioneerCommand.VEL2, *(max(-128, min(s, 127)) for s in steps))
        )

    def move(self, distance: float) -> None:
        """Go some way and stop, m."""
        self._line.send(commands.with_number(PioneerCommand.MOVE, distance * 1000.0))

    def turn_to(self, heading: float) -> None:
        """Turn to a heading of the odometer, rad."""
        degrees = math.degrees(math.remainder(heading, math.tau))
        self._line.send(commands.with_number(PioneerCommand.HEAD, degrees))

    def turn_by(self, angle: float) -> None:
        """Turn by some angle, rad."""
        self._line.send(commands.with_number(PioneerCommand.DHEAD, math.degrees(angle)))

    def stop(self) -> None:
        """Stop by the usual deceleration."""
        self._line.send(commands.bare(PioneerCommand.STOP))

    def stop_at_once(self) -> None:
        """Stop as fast as can be."""
        self._line.send(commands.bare(PioneerCommand.ESTOP))

    def pulse(self) -> None:
        """Show that we are there: a robot that hears nothing for two seconds stops."""
        self._line.send(commands.bare(PioneerCommand.PULSE))

    def command(self, number: int, value: float | None = None) -> None:
        """Send any other command, with a whole number or without."""
        sent = commands.bare(number) if value is None else commands.with_number(number, value)
        self._line.send(sent)

    def raw(self, number: int, data: bytes) -> None:
        """Send any other command, with these bytes as its data."""
        self._line.send(encode(number, data))

    def together(self) -> AbstractContextManager[None]:
        """Send the commands within in one piece: a simulator in lockstep sees them at once."""
        return self._line.together()

    # Listening.

    def read(self, timeout: float | None = None) -> Sip:
        """The next standard packet; what came with it is known then, too."""
        self._await(lambda p: p.id in (SIP, SIP_MOVING), timeout)
        assert self.sip is not None
        return self.sip

    def wait(self, seconds: float) -> None:
        """Listen until so much time has passed by the robot's packets, ten of them a second."""
        for _ in range(round(seconds * 10)):
            self.pulse()
            self.read()

    def wait_for(self, reached: Callable[[Client], bool], cycles: int = 600) -> None:
        """Listen until something holds; NoAnswer if it does not within so many packets."""
        for _ in range(cycles):
            self.pulse()
            self.read()
            if reached(self):
                return
        raise NoAnswer(f"{cycles} packets came and it does not hold yet")

    @property
    def sonar(self) -> list[float]:
        """Ranges of the sonars, m, as the newest packet has them."""
        found = self.sip.sonars if self.sip else ()
        return [units * self.range_factor / 1000.0 for _, units in found]

    @property
    def speed(self) -> float:
        """The speed along by the newest packet, m/s."""
        units = self.sip.left_mm_s + self.sip.right_mm_s if self.sip else 0
        return units * self.speed_factor / 2000.0

    @property
    def turn_rate(self) -> float:
        """The turn rate by the newest packet, rad/s."""
        return math.radians(self.sip.turn_decideg_s / 10.0) if self.sip else 0.0

    @property
    def stalled(self) -> bool:
        """Whether the robot cannot go where it drives."""
        return bool(self.sip and self.sip.stall & STALLED)

    def scan(self, start_deg: int = -90, end_deg: int = 90, increment_deg: float = 1.0) -> None:
        """Switch the laser on; `laser` then has each complete scan."""
        with self.together():
            self.command(PioneerCommand.OLD_LASER_START, start_deg)
            self.command(PioneerCommand.OLD_LASER_END, end_deg)
            self.command(PioneerCommand.OLD_LASER_INCREMENT, increment_deg * 100.0)
            self.command(PioneerCommand.OLD_LASER_ENABLE, 2)

    def config(self) -> Config:
        """What the robot tells of itself."""
        self.command(PioneerCommand.CONFIG, 1)
        return Config.decode(self._await(lambda p: p.id == CONFIG).data)

    # What only simulators understand.

    def simstat(self) -> SimStat:
        """The true pose and the timing of the run."""
        self.command(PioneerCommand.SIM_STAT, 1)
        return SimStat.decode(self._await(lambda p: p.id == SIMSTAT).data)

    def true_pose(self) -> Pose:
        """Where the robot really is, m and rad, to the millimetre and degree."""
        stat = self.simstat()
        return stat.x_mm / 1000.0, stat.y_mm / 1000.0, math.radians(stat.heading_deg)

    def siminfo(self) -> SimInfo:
        """What simulates the robot."""
        self.raw(
            PioneerCommand.SIM_CTRL, struct.pack("<Bh", commands.POSITIVE, ControlCommand.INFO)
        )
        return SimInfo.decode(self._await(lambda p: p.id == SIMINFO).data)

    def set_pose(self, x: float, y: float, yaw: float) -> None:
        """Move the truth, m and rad; the odometer does not notice."""
        pose = (round(x * 1000.0), round(y * 1000.0), round(math.degrees(yaw)))
        self.raw(PioneerCommand.SIM_SET_POSE, struct.pack("<Biii", 0, *pose))

    def reset_odometry(self) -> None:
        """Let the robot take the place where it is for zero."""
        self._line.send(commands.bare(PioneerCommand.SETO))
        self.odometry, self._counts = (0.0, 0.0, 0.0), (0, 0)

    def load_map(self, file: str, timeout: float = 30.0) -> MapChanged:
        """Put another map in place; `loaded` of the answer tells whether it was."""
        name = file.encode("utf-8")
        head = struct.pack("<BhH", commands.TEXT, ControlCommand.LOAD_MAP, len(name))
        self.raw(PioneerCommand.SIM_CTRL, head + name + b"\0")
        return MapChanged.decode(self._await(lambda p: p.id == MAP_CHANGED, timeout).data)

    # Packets.

    @property
    def _line(self) -> Connection:
        if self._connection is None:
            raise NoAnswer("not connected")
        return self._connection

    def _await(self, wanted: Callable[[Packet], bool], timeout: float | None = None) -> Packet:
        seconds = self.timeout if timeout is None else timeout
        return self._line.wait(wanted, self._note, seconds)

    def _note(self, packet: Packet) -> None:
        if self.log is not None:
            self.log.append(packet)
        with contextlib.suppress(BadPacket):
            if packet.id in (SIP, SIP_MOVING):
                self.sip = Sip.decode(packet.data)
                self.cycles += 1
                self._count(self.sip)
            elif packet.id in (PLAIN, WITH_REFLECTANCE):
                kind = PlainScan if packet.id == PLAIN else Scan
                self._collect(kind.decode(packet.data))

    def _count(self, sip: Sip) -> None:
        """Follow the odometer, which starts anew every 32768 counts."""
        x, y, _ = self.odometry
        moved_x = math.remainder(sip.x - self._counts[0], TURN)
        moved_y = math.remainder(sip.y - self._counts[1], TURN)
        self._counts = (sip.x, sip.y)
        unit = self.distance_factor / 1000.0
        heading = math.remainder(sip.heading * self.angle_factor, math.tau)
        self.odometry = (x + moved_x * unit, y + moved_y * unit, heading)

    def _collect(self, part: PlainScan | Scan) -> None:
        """Put a scan together of its packets."""
        if part.first == 0:
            self._scan = []
        if part.first == len(self._scan):
            self._scan += part.ranges
            if len(self._scan) >= part.total:
                self.laser = [mm / 1000.0 for mm in self._scan]
