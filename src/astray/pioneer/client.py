"""A client of a Pioneer robot, real or simulated, over TCP, in metres, seconds and radians.

    with Client("127.0.0.1", 8101) as robot:
        robot.velocity(0.3, 0.1)
        robot.wait(2.0)
        print(robot.odometry, min(robot.sonar), robot.true_pose())

The client has no thread: it reads packets while a call waits for one. The odometry is zero when a
session begins. Only a simulator reports the true pose.
"""

from __future__ import annotations

import contextlib
import math
import struct
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

from astray.pioneer import commands
from astray.pioneer.commands import ControlCommand, PioneerCommand
from astray.pioneer.models import PoseTuple, find_model, model_names
from astray.pioneer.packet_socket import AnswerTimeout, NoAnswer, PacketSocket
from astray.pioneer.packets import (
    SIP_MOVING_ID,
    STALL_BITS,
    BadPacket,
    Config,
    MapChanged,
    Packet,
    PlainLaserPacket,
    ReflectanceLaserPacket,
    RobotPacket,
    SimInfo,
    SimStat,
    Sip,
    decode_c_string,
    encode_packet,
)

P = TypeVar("P", bound=RobotPacket)

ODOMETER_RANGE = 0x8000  # firmware units after which the odometer of a robot starts again
SYNC_ATTEMPTS = 5  # of each SYNC packet
CYCLE_RATE = 10  # Hz, of SIPs


class Client:
    """A connection to one robot, opened by `connect` or by a with block.

    Args:
        host: The address of the robot.
        port: The number of its port.
        timeout: The time to wait for an answer, s.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 8101, *, timeout: float = 5.0) -> None:
        self.host, self.port, self.timeout = host, port, timeout
        self.name = self.robot_class = self.subclass = ""
        self.sip: Sip | None = None
        """The last SIP."""
        self.odometry: PoseTuple = (0.0, 0.0, 0.0)
        """The believed pose relative to the start of the session, m and rad."""
        self.laser: list[float] = []
        """Ranges of the last complete scan, m."""
        self.cycles = 0
        """Number of SIPs so far."""
        self.log: list[Packet] | None = None
        """All packets so far, if set to a list."""
        self.distance_factor, self.angle_factor = 1.0, math.tau / 4096
        self.speed_factor = self.range_factor = 1.0
        self.vel2_divisor = 20
        self._partial_scan: list[int] = []
        self._odometer = (0, 0)  # x and y of the last SIP
        self._connected: PacketSocket | None = None

    # Connection.

    def connect(self, wait: bool = True) -> Client:
        """Shake hands and open the session.

        Args:
            wait: Wait for the first SIP. In lockstep a program with several robots connects all of
                them before it waits for any.

        Returns:
            The client.

        Raises:
            NoAnswer: The robot cannot be reached or does not answer.
        """
        if self._connected is not None:
            return self
        self._connected = PacketSocket(self.host, self.port, self.timeout)
        for step in range(3):
            answer = self._sync(step)
        self.name, data = decode_c_string(answer.data)
        self.robot_class, data = decode_c_string(data)
        self.subclass, _ = decode_c_string(data)
        if self.subclass in model_names():
            model = find_model(self.subclass)
            self.distance_factor, self.angle_factor = model.distance_factor, model.angle_factor
            self.speed_factor, self.range_factor = model.speed_factor, model.range_factor
            self.vel2_divisor = model.vel2_divisor
        self.command(PioneerCommand.OPEN, 1)
        if wait:
            self.read()
        return self

    def close(self) -> None:
        """End the session; the robot stops."""
        if self._connected is not None:
            with contextlib.suppress(OSError, NoAnswer):
                self.command(PioneerCommand.CLOSE, 1)
            self._connected.close()
            self._connected = None

    def __enter__(self) -> Client:
        return self if self._connected else self.connect()

    def __exit__(self, *problem: object) -> None:
        self.close()

    def _sync(self, step: int) -> Packet:
        for _ in range(SYNC_ATTEMPTS):
            self.raw(step)
            with contextlib.suppress(AnswerTimeout):
                return self._await(lambda p: p.id == step, self.timeout / SYNC_ATTEMPTS)
        raise NoAnswer(f"{self.host}:{self.port} does not answer SYNC{step}: is it a robot?")

    # Motion.

    def velocity(self, vx: float, wz: float = 0.0, vy: float | None = None) -> None:
        """Keep a velocity.

        Args:
            vx: Forward speed, m/s.
            wz: Turn rate, rad/s.
            vy: Lateral speed, m/s, for robots that can move sideways.
        """
        with self.together():
            self.command(PioneerCommand.VEL, vx * 1000.0)
            self.command(PioneerCommand.RVEL, math.degrees(wz))
            if vy is not None:
                self.command(PioneerCommand.LATVEL, vy * 1000.0)

    def wheels(self, left: float, right: float) -> None:
        """Keep the speeds of the two wheels, in steps of 20 mm/s.

        Args:
            left: The speed of the left wheel, m/s.
            right: The speed of the right wheel, m/s.
        """
        steps = [round(speed * 1000.0 / self.vel2_divisor) for speed in (left, right)]
        left_step, right_step = (max(-128, min(step, 127)) for step in steps)
        self._socket.send(commands.encode_byte_pair(PioneerCommand.VEL2, left_step, right_step))

    def move(self, distance: float) -> None:
        """Drive a distance and stop.

        Args:
            distance: The distance, m; negative backwards.
        """
        self.command(PioneerCommand.MOVE, distance * 1000.0)

    def turn_to(self, heading: float) -> None:
        """Turn to a heading.

        Args:
            heading: The heading by the odometry, rad.
        """
        self.command(PioneerCommand.HEAD, math.degrees(math.remainder(heading, math.tau)))

    def turn_by(self, angle: float) -> None:
        """Turn by an angle.

        Args:
            angle: The angle, rad; positive counter-clockwise.
        """
        self.command(PioneerCommand.DHEAD, math.degrees(angle))

    def stop(self) -> None:
        """Stop with the usual deceleration."""
        self.command(PioneerCommand.STOP)

    def stop_at_once(self) -> None:
        """Stop as fast as the robot can: an emergency stop."""
        self.command(PioneerCommand.ESTOP)

    def pulse(self) -> None:
        """Keep the robot alive: a real one stops when it receives nothing for two seconds."""
        self.command(PioneerCommand.PULSE)

    def command(self, number: int, value: float | None = None) -> None:
        """Send a command.

        Args:
            number: The number of the command.
            value: An integer argument; other numbers are rounded. None for no argument.
        """
        if value is None:
            self._socket.send(commands.encode_empty(number))
        else:
            self._socket.send(commands.encode_int(number, value))

    def raw(self, number: int, data: bytes = b"") -> None:
        """Send a command with raw data.

        Args:
            number: The number of the command.
            data: The bytes behind the number.
        """
        self._socket.send(encode_packet(number, data))

    def together(self) -> AbstractContextManager[None]:
        """Send the commands of a with block at once, so that a run in lockstep takes them all."""
        return self._socket.batch()

    # Waiting for packets.

    def read(self, timeout: float | None = None) -> Sip:
        """Wait for the next SIP.

        Args:
            timeout: The time to wait, s; None for that of the client.

        Returns:
            The SIP; `odometry` and `laser` are then up to date.

        Raises:
            NoAnswer: No SIP came in time.
        """
        self._await(lambda p: p.id in (Sip.ID, SIP_MOVING_ID), timeout)
        assert self.sip is not None
        return self.sip

    def wait(self, seconds: float) -> None:
        """Keep the robot alive and read packets for a time.

        Args:
            seconds: The time by the robot's SIPs, ten of them a second, s.

        Raises:
            NoAnswer: A SIP did not come in time.
        """
        for _ in range(round(seconds * CYCLE_RATE)):
            self.pulse()
            self.read()

    def wait_for(self, reached: Callable[[Client], bool], cycles: int = 600) -> None:
        """Keep the robot alive and read packets until a condition holds.

        Args:
            reached: The condition, which is given this client after each SIP.
            cycles: The number of SIPs to wait for.

        Raises:
            NoAnswer: The condition did not hold in time.
        """
        for _ in range(cycles):
            self.pulse()
            self.read()
            if reached(self):
                return
        raise NoAnswer(f"the condition does not hold after {cycles} packets")

    # Readings.

    @property
    def sonar(self) -> list[float]:
        """Ranges of the sonars in the last SIP, m."""
        ranges = self.sip.sonars if self.sip else ()
        return [units * self.range_factor / 1000.0 for _, units in ranges]

    @property
    def speed(self) -> float:
        """Forward speed in the last SIP, m/s."""
        units = self.sip.left_mm_s + self.sip.right_mm_s if self.sip else 0
        return units * self.speed_factor / 2000.0

    @property
    def turn_rate(self) -> float:
        """Turn rate in the last SIP, rad/s."""
        return math.radians(self.sip.turn_decideg_s / 10.0) if self.sip else 0.0

    @property
    def stalled(self) -> bool:
        """Whether an obstacle stops the wheels."""
        return bool(self.sip and self.sip.stall & STALL_BITS)

    def scan(self, start_deg: int = -90, end_deg: int = 90, increment_deg: float = 1.0) -> None:
        """Switch the laser on; `laser` then has the ranges of the last complete scan.

        Args:
            start_deg: The angle of the first ray, degrees.
            end_deg: The angle of the last ray, degrees.
            increment_deg: The angle between rays, degrees.
        """
        with self.together():
            self.command(PioneerCommand.OLD_LASER_START, start_deg)
            self.command(PioneerCommand.OLD_LASER_END, end_deg)
            self.command(PioneerCommand.OLD_LASER_INCREMENT, increment_deg * 100.0)
            self.command(PioneerCommand.OLD_LASER_ENABLE, 2)

    def config(self) -> Config:
        """Ask for the configuration of the robot.

        Returns:
            The packet.

        Raises:
            NoAnswer: The robot did not answer in time.
        """
        self.command(PioneerCommand.CONFIG, 1)
        return self._await_packet(Config)

    # Simulators only.

    def simstat(self) -> SimStat:
        """Ask for the true pose and the timing of the run.

        Returns:
            The packet, in mm, degrees and ms.

        Raises:
            NoAnswer: The robot did not answer in time: it may be a real one.
        """
        self.command(PioneerCommand.SIM_STAT, 1)
        return self._await_packet(SimStat)

    def true_pose(self) -> PoseTuple:
        """Ask for the true pose.

        Returns:
            x and y, m, and yaw, rad, rounded to a millimetre and a degree.

        Raises:
            NoAnswer: The robot did not answer in time: it may be a real one.
        """
        stat = self.simstat()
        return stat.x_mm / 1000.0, stat.y_mm / 1000.0, math.radians(stat.heading_deg)

    def siminfo(self) -> SimInfo:
        """Ask for the simulator and its devices.

        Returns:
            The packet.

        Raises:
            NoAnswer: The robot did not answer in time: it may be a real one.
        """
        operation = struct.pack("<Bh", commands.POSITIVE, ControlCommand.INFO)
        self.raw(PioneerCommand.SIM_CTRL, operation)
        return self._await_packet(SimInfo)

    def set_pose(self, x: float, y: float, yaw: float) -> None:
        """Set the true pose; the odometry stays as it is.

        Args:
            x: The coordinate in the map, m.
            y: The coordinate in the map, m.
            yaw: The heading in the map, rad.
        """
        pose = (round(x * 1000.0), round(y * 1000.0), round(math.degrees(yaw)))
        self.raw(PioneerCommand.SIM_SET_POSE, struct.pack("<Biii", 0, *pose))

    def reset_odometry(self) -> None:
        """Set the odometry to zero."""
        self.command(PioneerCommand.SETO)
        self.odometry, self._odometer = (0.0, 0.0, 0.0), (0, 0)

    def load_map(self, file: str, timeout: float = 30.0) -> MapChanged:
        """Load another map.

        Args:
            file: The file, in the folder that the simulator allows.
            timeout: The time to wait for the answer, s.

        Returns:
            The answer; `loaded` is 1 if the map was loaded.

        Raises:
            NoAnswer: The simulator did not answer in time.
        """
        name = file.encode("utf-8")
        head = struct.pack("<BhH", commands.TEXT, ControlCommand.LOAD_MAP, len(name))
        self.raw(PioneerCommand.SIM_CTRL, head + name + b"\0")
        return self._await_packet(MapChanged, timeout)

    # Received packets.

    @property
    def _socket(self) -> PacketSocket:
        if self._connected is None:
            raise NoAnswer("not connected")
        return self._connected

    def _await(self, matches: Callable[[Packet], bool], timeout: float | None = None) -> Packet:
        seconds = self.timeout if timeout is None else timeout
        return self._socket.wait(matches, self._process, seconds)

    def _await_packet(self, kind: type[P], timeout: float | None = None) -> P:
        return kind.decode(self._await(lambda p: p.id == kind.ID, timeout).data)

    def _process(self, packet: Packet) -> None:
        """Take the readings of a packet over; a malformed one is ignored."""
        if self.log is not None:
            self.log.append(packet)
        with contextlib.suppress(BadPacket):
            if packet.id in (Sip.ID, SIP_MOVING_ID):
                self.sip = Sip.decode(packet.data)
                self.cycles += 1
                self._update_odometry(self.sip)
            elif packet.id == PlainLaserPacket.ID:
                self._add_ranges(PlainLaserPacket.decode(packet.data))
            elif packet.id == ReflectanceLaserPacket.ID:
                self._add_ranges(ReflectanceLaserPacket.decode(packet.data))

    def _update_odometry(self, sip: Sip) -> None:
        """Integrate the odometer, which starts again every 32768 units."""
        x, y, _ = self.odometry
        dx = math.remainder(sip.x - self._odometer[0], ODOMETER_RANGE)
        dy = math.remainder(sip.y - self._odometer[1], ODOMETER_RANGE)
        self._odometer = (sip.x, sip.y)
        unit = self.distance_factor / 1000.0  # m
        heading = math.remainder(sip.heading * self.angle_factor, math.tau)
        self.odometry = (x + dx * unit, y + dy * unit, heading)

    def _add_ranges(self, part: PlainLaserPacket | ReflectanceLaserPacket) -> None:
        """Append the ranges of a packet to its scan."""
        if part.first == 0:
            self._partial_scan = []
        if part.first == len(self._partial_scan):
            self._partial_scan += part.ranges
            if len(self._partial_scan) >= part.total:
                self.laser = [mm / 1000.0 for mm in self._partial_scan]
