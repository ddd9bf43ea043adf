"""One client's session: what it has set, and what becomes of each of its commands.

A session holds no socket and no simulation. It is fed packets; what comes of them are bytes to
answer, events to post and requests that concern more than this robot.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from astray.engine import Event
from astray.pioneer.command_handlers import ALWAYS, MOTIONS, OFF, ORDERS
from astray.pioneer.model import RobotModel
from astray.pioneer.motion_demand import Axes
from astray.pioneer.packets import (
    EncoderPacket,
    InputOutputPacket,
    Packet,
    ScanLayout,
    encode,
    plain_scan_packets,
    scan_packets,
)
from astray.pioneer.requests import Request, Say
from astray.pioneer.snapshot import Intervals, Pose, RobotSnapshot
from astray.pioneer.units import Panel, hello, odometer_of, simstat_of, sip_of

STANDING = 0.001  # m/s and rad/s: slower counts as standing still after an emergency stop


class HandshakeStage(Enum):
    """How far a client has come."""

    SYNCING = 0
    SYNCED = 1
    OPEN = 2
    LEFT = 3


@dataclass(frozen=True)
class SessionOptions:
    """What clients may do, and whose habits hold."""

    like_mobilesim: bool = False
    """Warn only of a silent client; be called MobileSim, reset to the origin, answer no more."""
    allow_exit: bool = False
    """Let a client end the simulator."""
    world: int = 0
    """The world of the run that the robots are in."""


@dataclass
class ServedRobot:
    """A robot as the wire knows it: its name, its model, and where its row is."""

    name: str
    model: RobotModel
    group: str
    number: int = 0
    home: Pose = (0.0, 0.0, 0.0)
    """Where SIM_RESET brings it; another map has another home."""
    bumpers: tuple[int, int] = (0, 0)
    """How many there are in front and behind."""
    bumper_bits: tuple[int, ...] = ()
    """The bit of the standard packet that each of them sets."""


@dataclass
class SessionOutput:
    """What comes of some packets."""

    answer: bytes = b""
    events: list[Event] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)


class Session:
    """What one client has set, from its first SYNC to its CLOSE."""

    def __init__(self, robot: ServedRobot, options: SessionOptions) -> None:
        self.robot, self.options = robot, options
        self.model = robot.model
        self.stage = HandshakeStage.SYNCING
        self.axes = Axes(robot.model)
        self.panel = Panel()
        self.layout = ScanLayout()
        self.laser = OFF  # or the kind of packets: 1 plain, 2 with reflectance
        self.stat = self.encoders = self.inputs = OFF
        self.heading = 0.0  # rad, of the odometer when it was last told
        self.time = self.heard = 0.0  # s of simulated time
        self.teleported = False
        self.warned = False
        self._begun = False  # whether it was told the time
        self._outcome = SessionOutput()
        self.told = True  # whether the run knows what the axes want
        self._kept_alive = False  # whether it heard of this client in the present cycle

    # What comes in.

    def feed(self, packets: list[Packet]) -> SessionOutput:
        """What comes of some packets that came together."""
        for packet in packets:
            if self.stage is HandshakeStage.LEFT:
                break
            if self.stage is HandshakeStage.OPEN:
                self._obey(packet)
            else:
                self._greet(packet)
        if packets and self.stage is HandshakeStage.OPEN:
            self._keep_alive()
        outcome, self._outcome = self._outcome, SessionOutput()
        return outcome

    def end(self) -> list[Event]:
        """What is to happen when the client has left: the robot stops."""
        was_open, self.stage = self.stage is HandshakeStage.OPEN, HandshakeStage.LEFT
        self.axes.halt()
        return [self._event("command", self.axes.values())] if was_open else []

    def _greet(self, packet: Packet) -> None:
        """Echo SYNC packets; the last is answered by who we are, and followed by OPEN."""
        if packet.id == 0:
            self.stage = HandshakeStage.SYNCING
            self.answer(encode(0))
        elif packet.id == 1 and self.stage is HandshakeStage.SYNCING:
            self.answer(encode(1))
        elif packet.id == 1:
            self.stage = HandshakeStage.OPEN
            self.post("believe", {"x": 0.0, "y": 0.0, "yaw": 0.0})
            self.told = False
        elif packet.id == 2 and packet.data:
            self.stage = HandshakeStage.LEFT  # CLOSE, of a client that has thought better of it
        elif packet.id == 2:
            self.stage = HandshakeStage.SYNCED
            self.answer(hello(self.model))

    def _obey(self, packet: Packet) -> None:
        self._wake_from_watchdog()
        if packet.id in MOTIONS:
            if self.panel.motors and not self.panel.estop:
                MOTIONS[packet.id](self, packet)
                self.told = False
        elif packet.id in ORDERS:
            ORDERS[packet.id](self, packet)

    def _wake_from_watchdog(self) -> None:
        """A MOVE that the watchdog has stopped is over; speeds and headings go on."""
        if self.time - self.heard >= self.model.watchdog and not self.options.like_mobilesim:
            self.axes.give_up_moving()
        self.heard, self.warned = self.time, False

    def _keep_alive(self) -> None:
        """Let the run know that the client lives, once a cycle, or at once if it wants a change."""
        if not self.told or not (self._kept_alive or self.options.like_mobilesim):
            self.post("command", self.axes.values())
            self.told = self._kept_alive = True

    # What goes out.

    def tell(self, moment: RobotSnapshot, intervals: Intervals) -> SessionOutput:
        """The packets of one cycle."""
        if not self._begun:
            self.heard, self._begun = moment.time, True
        self.time, self.heading = moment.time, moment.belief[2]
        self._kept_alive = False
        if self.panel.estop and max(abs(moment.vx), abs(moment.wz)) < STANDING:
            self.panel.estop = self.axes.emergency = False
            self.told = False
        self._watch()
        if self.stage is HandshakeStage.OPEN:
            if self.stat:
                self.answer(simstat_of(moment, intervals).encode())
                self.stat = ALWAYS if self.stat == ALWAYS else OFF
            self.answer(sip_of(self.model, moment, self.panel).encode())
            self._tell_laser(moment)
            if self.encoders:
                self.answer(EncoderPacket(*moment.wheels).encode())
                self.encoders = ALWAYS if self.encoders == ALWAYS else OFF
            if self.inputs:
                self.answer(InputOutputPacket((0xFF,), (self.panel.digital_out,), ()).encode())
                self.inputs = ALWAYS if self.inputs == ALWAYS else OFF
        outcome, self._outcome = self._outcome, SessionOutput()
        return outcome

    def _tell_laser(self, moment: RobotSnapshot) -> None:
        if not self.laser or self.model.laser is None:
            return
        ranges = moment.beams.in_layout_mm(self.layout)
        if self.laser == 1:
            self.answer(plain_scan_packets(ranges, odometer_of(moment)))
        else:
            self.answer(scan_packets(ranges, self.teleported))
        self.teleported = False

    def _watch(self) -> None:
        """Say it, once, when a client has been silent for too long; the run stops the robot."""
        silent = self.time - self.heard
        if self.stage is HandshakeStage.OPEN and silent > self.model.watchdog and not self.warned:
            self.warned = True
            what = "only a warning" if self.options.like_mobilesim else "the robot stops"
            self.ask(Say(f"nothing heard for {silent:.1f} s: {what}"))

    # What orders use.

    def answer(self, data: bytes) -> None:
        """Send bytes to the client."""
        self._outcome.answer += data

    def _event(self, kind: str, values: dict[str, object]) -> Event:
        who = (self.robot.number,)
        return Event(kind, self.robot.group, (self.options.world,), who, values)

    def post(self, kind: str, values: dict[str, object]) -> None:
        """Let something happen to the robot."""
        self._outcome.events.append(self._event(kind, values))

    def ask(self, request: Request) -> None:
        """Ask for something that concerns more than this robot."""
        self._outcome.requests.append(request)

    def leave(self) -> None:
        """End the session as the client wants."""
        self._outcome.events.extend(self.end())
