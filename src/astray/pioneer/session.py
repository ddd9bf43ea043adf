"""The session of one client with its robot: handshake, commands, and the packets of each cycle.

A session has no socket and no simulation. It is given packets and returns the bytes to send, the
events to post and the requests that concern more than its robot. `command_handlers.COMMANDS` has
each command with its argument and its handler.

    state      packet                    reply                             next state
    SYNCING    SYNC0 (0), SYNC1 (1)      the same                          SYNCING
    SYNCING    SYNC2 (2)                 SYNC2, name, class and subclass   SYNCED
    SYNCED     SYNC0, SYNC2              as above                          SYNCING, SYNCED
    SYNCED     OPEN (1)                  from now on, a SIP every cycle    OPEN
    any        CLOSE (2, an argument)                                      CLOSED
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from astray.engine import Event
from astray.pioneer.command_handlers import COMMANDS, LogText, SessionRequest
from astray.pioneer.commands import PioneerCommand
from astray.pioneer.models import PoseTuple, ServedRobot
from astray.pioneer.motion_demand import MotionDemand
from astray.pioneer.packet_builders import (
    LaserFormat,
    RobotSettings,
    build_simstat,
    build_sip,
    build_sync2,
    odometry_pose,
)
from astray.pioneer.packets import (
    EncoderPacket,
    InputOutputPacket,
    Packet,
    encode_packet,
    encode_plain_scan,
    encode_reflectance_scan,
)
from astray.pioneer.snapshot import CycleIntervals, RobotSnapshot

SYNC0, SYNC1, SYNC2 = 0, 1, 2  # of the handshake; in a session they are PULSE, OPEN and CLOSE
STANDSTILL = 0.001  # m/s and rad/s: a slower robot has completed its emergency stop


@dataclass(frozen=True)
class SessionOptions:
    """What clients may do, and whether their sessions behave like MobileSim's.

    Args:
        like_mobilesim: Only warn of a silent client instead of stopping its robot; identify as
            MobileSim; reset to the origin; do not answer commands that MobileSim ignores.
        allow_exit: Let clients end the simulator by SIM_EXIT.
        world: The world of the run in which the robots are.
    """

    like_mobilesim: bool = False
    allow_exit: bool = False
    world: int = 0


class SessionState(Enum):
    """The progress of a session."""

    SYNCING = 0
    SYNCED = 1
    OPEN = 2
    CLOSED = 3


@dataclass
class SessionOutput:
    """Results of some packets or of a cycle."""

    reply: bytes = b""
    """Bytes for the client."""
    events: list[Event] = field(default_factory=list)
    """Events for the run."""
    requests: list[SessionRequest] = field(default_factory=list)
    """Requests that concern more than this robot."""


class Session:
    """The state of one client's session."""

    def __init__(self, robot: ServedRobot, options: SessionOptions) -> None:
        self.robot: ServedRobot = robot
        self.model = robot.model
        self.options = options
        self.state = SessionState.SYNCING
        self.motion: MotionDemand = MotionDemand(robot.model)
        self.settings: RobotSettings = RobotSettings()
        self.odometry_heading: float = 0.0  # rad, in the last cycle
        self.teleported = False  # since the last scan
        self._time = self._last_packet_time = 0.0  # s of simulated time
        self._has_time = False  # whether there was a cycle
        self._watchdog_warned = False
        self._kept_alive = False  # whether a command event was posted in this cycle
        self._output = SessionOutput()

    # Input.

    def receive(self, packets: list[Packet]) -> SessionOutput:
        """Process packets that arrived together. Their motion commands become one event."""
        for packet in packets:
            if self.state is SessionState.CLOSED:
                break
            if self.state is SessionState.OPEN:
                self._execute(packet)
            else:
                self._handshake(packet)
        if packets and self.state is SessionState.OPEN:
            self._post_motion()
        return self._take_output()

    def end(self) -> list[Event]:
        """End the session, and return the events that stop the robot."""
        was_open, self.state = self.state is SessionState.OPEN, SessionState.CLOSED
        self.motion.stop()
        return [self._event("command", self.motion.command_values())] if was_open else []

    def _handshake(self, packet: Packet) -> None:
        """Answer SYNC packets; after the last of them, OPEN opens the session."""
        if packet.id == SYNC0:
            self.state = SessionState.SYNCING
            self.send(encode_packet(SYNC0))
        elif packet.id == SYNC1 and self.state is SessionState.SYNCING:
            self.send(encode_packet(SYNC1))
        elif packet.id == PioneerCommand.OPEN:
            self.state = SessionState.OPEN
            self.post("believe", {"x": 0.0, "y": 0.0, "yaw": 0.0})
            self.motion.changed = True
        elif packet.id == PioneerCommand.CLOSE and packet.data:
            self.state = SessionState.CLOSED
        elif packet.id == SYNC2:
            self.state = SessionState.SYNCED
            self.send(build_sync2(self.model))

    def _execute(self, packet: Packet) -> None:
        """Execute a command; unknown ones are ignored, as robots do."""
        self._restart_watchdog()
        command = COMMANDS.get(packet.id)
        if command is None:
            return
        if not command.moves or (self.settings.motors and not self.settings.estop):
            command.handler(self, command.argument(packet))

    def _restart_watchdog(self) -> None:
        """Record that the client is alive. A MOVE that the watchdog stopped is cancelled."""
        silence = self._time - self._last_packet_time
        if silence >= self.model.watchdog and not self.options.like_mobilesim:
            self.motion.cancel_move()
        self._last_packet_time, self._watchdog_warned = self._time, False

    def _post_motion(self) -> None:
        """Post the motion demand if it changed, else once a cycle to keep the robot alive."""
        if self.motion.changed or not (self._kept_alive or self.options.like_mobilesim):
            self.post("command", self.motion.command_values())
            self.motion.changed, self._kept_alive = False, True

    # Output.

    def report_cycle(self, snapshot: RobotSnapshot, intervals: CycleIntervals) -> SessionOutput:
        """The packets of one cycle: SIMSTAT, SIP, laser, encoders, inputs and outputs."""
        if not self._has_time:
            self._last_packet_time, self._has_time = snapshot.time, True
        self._time, self.odometry_heading = snapshot.time, snapshot.belief[2]
        self._kept_alive = False
        settings = self.settings
        if settings.estop and max(abs(snapshot.vx), abs(snapshot.wz)) < STANDSTILL:
            settings.estop = False
            self.motion.end_emergency_stop()
        self._check_watchdog()
        if self.state is SessionState.OPEN:
            if settings.simstat:
                self.send(build_simstat(snapshot, intervals).encode())
                settings.simstat = settings.simstat.after_report()
            self.send(build_sip(self.model, snapshot, settings).encode())
            self._report_laser(snapshot)
            if settings.encoders:
                self.send(EncoderPacket(*snapshot.encoder_ticks).encode())
                settings.encoders = settings.encoders.after_report()
            if settings.inputs:
                self.send(InputOutputPacket((0xFF,), (settings.digital_out,), ()).encode())
                settings.inputs = settings.inputs.after_report()
        return self._take_output()

    def _report_laser(self, snapshot: RobotSnapshot) -> None:
        if self.settings.laser is LaserFormat.OFF or self.model.laser is None:
            return
        ranges = snapshot.laser.resample_mm(self.settings.scan_layout)
        if self.settings.laser is LaserFormat.PLAIN:
            self.send(encode_plain_scan(ranges, odometry_pose(snapshot)))
        else:
            self.send(encode_reflectance_scan(ranges, self.teleported))
        self.teleported = False

    def _check_watchdog(self) -> None:
        """Log once that a client is silent. The autonomy of the robot stops it by itself."""
        silence = self._time - self._last_packet_time
        is_silent = self.state is SessionState.OPEN and silence > self.model.watchdog
        if is_silent and not self._watchdog_warned:
            self._watchdog_warned = True
            effect = "only a warning" if self.options.like_mobilesim else "the robot stops"
            self.request(LogText(f"no packet received for {silence:.1f} s: {effect}"))

    def _take_output(self) -> SessionOutput:
        output, self._output = self._output, SessionOutput()
        return output

    # Used by the handlers.

    def send(self, data: bytes) -> None:
        """Send bytes to the client."""
        self._output.reply += data

    def post(self, kind: str, values: dict[str, object]) -> None:
        """Post an event for this robot."""
        self._output.events.append(self._event(kind, values))

    def request(self, request: SessionRequest) -> None:
        """Ask for something that concerns more than this robot."""
        self._output.requests.append(request)

    def close(self) -> None:
        """End the session at the client's request."""
        self._output.events.extend(self.end())

    def place(self, pose: PoseTuple) -> None:
        """Teleport the robot: set its true pose."""
        self.teleported = True
        self.post("place", dict(zip(("x", "y", "yaw"), pose, strict=True)))

    def set_odometry(self, x: float, y: float, heading: float) -> None:
        """Set the belief, m and rad."""
        self.odometry_heading = heading
        self.post("believe", {"x": x, "y": y, "yaw": heading})

    def _event(self, kind: str, values: dict[str, object]) -> Event:
        robots = (self.robot.index,)
        return Event(kind, self.robot.group, (self.options.world,), robots, values)
