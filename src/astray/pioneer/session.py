"""The session of one client with its robot: handshake, commands, and the packets of each cycle.

A session has no socket and no simulation. It is given packets and returns the bytes to send, the
events to post and the requests that concern more than its robot. `COMMANDS`, at the end, has each
command with its argument and its handler.

    state      packet                    reply                             next state
    SYNCING    SYNC0 (0), SYNC1 (1)      the same                          SYNCING
    SYNCING    SYNC2 (2)                 SYNC2, name, class and subclass   SYNCED
    SYNCED     SYNC0, SYNC2              as above                          SYNCING, SYNCED
    SYNCED     OPEN (1)                  from now on, a SIP every cycle    OPEN
    any        CLOSE (2, an argument)                                      CLOSED

OPEN closes the session where another client has the robot already.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from astray.engine import Event
from astray.pioneer.commands import (
    ClearMaster,
    ControlCommand,
    ExitSimulator,
    LoadMap,
    LogText,
    PioneerCommand,
    SessionRequest,
    read_int,
    read_signed_int,
    read_struct,
    read_text,
)
from astray.pioneer.models import PoseTuple, ServedRobot
from astray.pioneer.motion_demand import MotionDemand
from astray.pioneer.packet_builders import (
    LaserFormat,
    Reporting,
    RobotSettings,
    build_config,
    build_siminfo,
    build_simstat,
    build_sip,
    build_sync2,
    odometry_pose,
)
from astray.pioneer.packets import (
    BatteryPacket,
    EncoderPacket,
    InputOutputPacket,
    Packet,
    encode_packet,
    encode_plain_scan,
    encode_reflectance_scan,
)
from astray.pioneer.snapshot import CycleIntervals, RobotSnapshot

SYNC0, SYNC1, SYNC2 = 0, 1, 2  # of the handshake; in a session they are PULSE, OPEN and CLOSE
MAX_COORDINATE = 1e5  # m from the origin to which a client may teleport its robot
STANDSTILL = 0.001  # m/s and rad/s: a slower robot has completed its emergency stop


@dataclass(frozen=True)
class SessionOptions:
    """What clients may do, and whether their sessions behave like MobileSim's.

    Args:
        like_mobilesim: Identify as MobileSim; reset to the origin; do not answer commands that
            MobileSim ignores.
        allow_exit: Let clients end the simulator by SIM_EXIT.
        watchdog: Stop the robot of a client that is silent for as long as its model's watchdog, as
            a real robot does. MobileSim and we by default only warn of such a client.
        world: The world of the run in which the robots are.
    """

    like_mobilesim: bool = False
    allow_exit: bool = False
    watchdog: bool = False
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
    """The state of one client's session.

    Args:
        robot: The robot.
        options: What the client may do.
        take_robot: Called by OPEN; whether the robot is this client's from then on.
    """

    def __init__(
        self,
        robot: ServedRobot,
        options: SessionOptions,
        take_robot: Callable[[], bool] = lambda: True,
    ) -> None:
        self.robot, self.model, self.options = robot, robot.model, options
        self._take_robot = take_robot
        self.state = SessionState.SYNCING
        self.motion = MotionDemand(robot.model)
        self.settings = RobotSettings()
        self.odometry_heading = 0.0  # rad, in the last cycle
        self.speeds = (0.0, 0.0)  # m/s and rad/s, in the last cycle
        self.teleported = False  # since the last scan
        self._time = self._last_packet_time = 0.0  # s of simulated time
        self._has_time = False  # whether there was a cycle
        self._watchdog_warned = False
        self._kept_alive = False  # whether a command event was posted in this cycle
        self._output = SessionOutput()

    @property
    def wants_simstat(self) -> bool:
        """Whether the next cycle reports a SIMSTAT."""
        return bool(self.settings.simstat)

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
        elif packet.id == PioneerCommand.OPEN and not self._take_robot():
            self.state = SessionState.CLOSED
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
        if silence >= self.model.watchdog and self.options.watchdog:
            self.motion.cancel_move()
        self._last_packet_time, self._watchdog_warned = self._time, False

    def _post_motion(self) -> None:
        """Post the motion demand if it changed; with a watchdog also once a cycle."""
        if self.motion.changed or (self.options.watchdog and not self._kept_alive):
            self.post("command", self.motion.command_values())
            self.motion.changed, self._kept_alive = False, True

    # Output.

    def report_cycle(self, snapshot: RobotSnapshot, intervals: CycleIntervals) -> SessionOutput:
        """The packets of one cycle: SIMSTAT, SIP, laser, encoders, inputs and outputs."""
        if not self._has_time:
            self._last_packet_time, self._has_time = snapshot.time, True
        self._time, self.odometry_heading = snapshot.time, snapshot.belief[2]
        self.speeds = max(abs(snapshot.vx), abs(snapshot.vy)), snapshot.wz
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
        """Log once that a client is silent. With a watchdog the autonomy stops the robot."""
        silence = self._time - self._last_packet_time
        is_silent = self.state is SessionState.OPEN and silence > self.model.watchdog
        if is_silent and not self._watchdog_warned:
            self._watchdog_warned = True
            effect = "the robot stops" if self.options.watchdog else "only a warning"
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


# Handlers of commands whose effect takes more than a line. They convert arguments to SI.


def _enable_motors(session: Session, enabled: int) -> None:
    session.settings.motors = enabled != 0
    if not session.settings.motors:
        session.motion.stop()


def _emergency_stop(session: Session, _: None) -> None:
    session.motion.emergency_stop(*session.speeds)
    session.settings.estop = True


def _set_odometry(session: Session, packet: Packet) -> None:
    """Set the odometry to zero, or to the pose given; a target heading keeps its direction."""
    has_pose = len(packet.data) > 5
    pose = read_struct(packet, "hhh", offset=len(packet.data) - 6) if has_pose else None
    x_mm, y_mm, heading_deg = pose or (0, 0, 0)
    heading = math.radians(heading_deg)
    if session.motion.heading is not None:
        session.motion.turn_to(session.motion.heading + heading - session.odometry_heading)
    session.set_odometry(x_mm / 1000.0, y_mm / 1000.0, heading)


def _set_wheel_speeds(session: Session, word: int) -> None:
    """Set the speeds of both wheels. As in MobileSim, the results are cut to mm/s and °/s."""
    left_mm_s, right_mm_s = (
        (byte - 256 if byte > 127 else byte) * session.model.vel2_divisor
        for byte in (word >> 8 & 0xFF, word & 0xFF)
    )
    session.motion.set_speed(int((left_mm_s + right_mm_s) / 2) / 1000.0)
    turn_deg_s = int(math.degrees((right_mm_s - left_mm_s) / 2 * session.model.wheel_factor))
    session.motion.set_turn_rate(math.radians(turn_deg_s))


def _turn_by(session: Session, angle: float) -> None:
    session.motion.turn_to(session.odometry_heading + angle)


def _set_true_pose(session: Session, packet: Packet) -> None:
    pose = read_struct(packet, "iii")
    if pose is not None and max(abs(pose[0]), abs(pose[1])) < MAX_COORDINATE * 1000:
        x_mm, y_mm, heading_deg = pose
        session.place((x_mm / 1000.0, y_mm / 1000.0, math.radians(heading_deg % 360)))


def _reset_poses(session: Session, _: None) -> None:
    session.place((0.0, 0.0, 0.0) if session.options.like_mobilesim else session.robot.home)
    session.set_odometry(0.0, 0.0, 0.0)


def _enable_sonar(session: Session, arrays: int) -> None:
    session.settings.sonar = bool(arrays & 1)


def _set_digital_outputs(session: Session, word: int) -> None:
    """Set the outputs of the mask in the high byte to the states in the low byte."""
    mask, states = word >> 8 & 0xFF, word & 0xFF
    session.settings.digital_out = session.settings.digital_out & ~mask & 0xFF | states & mask


def _set_laser_format(session: Session, packet: Packet) -> None:
    if _is_first_laser(packet):
        known = read_int(packet) in tuple(LaserFormat)
        session.settings.laser = LaserFormat(read_int(packet)) if known else LaserFormat.OFF


def _set_scan_layout(session: Session, packet: Packet) -> None:
    layout, value = session.settings.scan_layout, read_signed_int(packet)
    if not _is_first_laser(packet):
        return
    if packet.id in (PioneerCommand.OLD_LASER_INCREMENT, PioneerCommand.SIM_LRF_INCREMENT):
        layout = dataclasses.replace(layout, increment_centideg=max(value, 1))
    elif abs(value) <= 360:
        is_start = packet.id in (PioneerCommand.OLD_LASER_START, PioneerCommand.SIM_LRF_START)
        layout = dataclasses.replace(layout, **{"start_deg" if is_start else "end_deg": value})
    session.settings.scan_layout = layout


def _is_first_laser(packet: Packet) -> bool:
    """Whether a laser command is for the first laser; only SIM_LRF_* name one."""
    return packet.id < PioneerCommand.SIM_LRF_ENABLE or len(packet.data) < 4 or packet.data[3] <= 1


def _send_battery(session: Session, wanted: int) -> None:
    if wanted and not session.options.like_mobilesim:
        session.send(BatteryPacket().encode())


def _set_battery(session: Session, decivolts: int) -> None:
    """Report this voltage; with 0, that of the model."""
    session.settings.battery_dv = decivolts if 0 < decivolts < 256 else None


def _set_overheated(session: Session, overheated: int) -> None:
    session.settings.overheated = overheated != 0


def _set_temperature(session: Session, degrees: int) -> None:
    """Report this temperature, °C; with −128, none."""
    session.settings.temperature_deg = degrees if -128 < degrees < 128 else None


def _control_simulator(session: Session, packet: Packet) -> None:
    """Execute a SIM_CTRL operation, which concerns the whole simulator."""
    (operation,) = read_struct(packet, "h") or (0,)
    if operation in (ControlCommand.LOAD_MAP, ControlCommand.MASTER_LOAD_MAP):
        (length,) = read_struct(packet, "H", offset=3) or (0,)
        file = packet.data[5 : 5 + length].split(b"\0")[0].decode("utf-8", "surrogateescape")
        if file:
            session.request(LoadMap(file, operation == ControlCommand.MASTER_LOAD_MAP))
    elif operation == ControlCommand.CLEAR_MASTER:
        session.request(ClearMaster())
    elif operation == ControlCommand.LOG_STATE:
        demand = session.motion.command_values()
        session.request(LogText(f"state: {demand} {session.settings}"))
    elif operation == ControlCommand.GHOST:
        session.post("ghost", {})
    elif operation == ControlCommand.INFO:
        session.send(build_siminfo(session.robot, session.options.like_mobilesim).encode())


def _exit_simulator(session: Session, code: int) -> None:
    if session.options.allow_exit:
        session.request(ExitSimulator(code & 0xFF))
    else:
        session.request(LogText("SIM_EXIT is not allowed here"))


def _send_config(session: Session, _: None) -> None:
    session.send(build_config(session.robot).encode())


def _set_reporting(session: Session, packet: str, value: int) -> None:
    """Set how often an optional packet is sent."""
    known = value in tuple(Reporting)
    setattr(session.settings, packet, Reporting(value) if known else Reporting.OFF)


def _send_gps(session: Session, value: int) -> None:
    """Send a SIMSTAT, which has the GPS, once or with 2 in every cycle; never stop a stream."""
    if value == Reporting.EVERY_CYCLE:
        session.settings.simstat = Reporting.EVERY_CYCLE
    elif not session.settings.simstat:
        session.settings.simstat = Reporting.ONCE


# The table of commands.


def _no_argument(packet: Packet) -> None:
    """No argument; one that is sent is ignored."""


def _raw(packet: Packet) -> Packet:
    """The packet itself, of which the handler decodes the data."""
    return packet


def _milli(packet: Packet) -> float:
    """Millimetres, mm/s or mm/s² as m, m/s or m/s²."""
    return read_signed_int(packet) / 1000.0


def _degrees(packet: Packet) -> float:
    """Degrees, °/s or °/s² as rad, rad/s or rad/s²."""
    return math.radians(read_signed_int(packet))


class CommandSpec(NamedTuple):
    """How a command is decoded and executed."""

    argument: Callable[[Packet], Any]
    handler: Callable[[Session, Any], None]
    moves: bool = False
    """Whether it is ignored while the motors are off or an emergency stop brakes."""


C, Spec = PioneerCommand, CommandSpec
COMMANDS: dict[int, CommandSpec] = {
    C.PULSE: Spec(_no_argument, lambda session, _: None),
    C.CLOSE: Spec(_no_argument, lambda session, _: session.close()),
    # Motion.
    C.VEL: Spec(_milli, lambda session, v: session.motion.set_speed(v), moves=True),
    C.MOVE: Spec(_milli, lambda session, d: session.motion.move_by(d), moves=True),
    C.LATVEL: Spec(_milli, lambda session, v: session.motion.set_lateral_speed(v), moves=True),
    C.ROTATE: Spec(_degrees, lambda session, w: session.motion.set_turn_rate(w), moves=True),
    C.RVEL: Spec(_degrees, lambda session, w: session.motion.set_turn_rate(w), moves=True),
    C.HEAD: Spec(_degrees, lambda session, a: session.motion.turn_to(a), moves=True),
    C.DHEAD: Spec(_degrees, _turn_by, moves=True),
    C.VEL2: Spec(read_int, _set_wheel_speeds, moves=True),
    C.STOP: Spec(_no_argument, lambda session, _: session.motion.stop()),
    C.ESTOP: Spec(_no_argument, _emergency_stop),
    C.QSTOP: Spec(_no_argument, _emergency_stop),
    # Motors, and limits of the motion.
    C.ENABLE: Spec(read_int, _enable_motors),
    C.SETA: Spec(_milli, lambda session, a: session.motion.set_accel(a)),
    C.SETRA: Spec(_degrees, lambda session, a: session.motion.set_turn_accel(a)),
    C.SETV: Spec(read_int, lambda session, v: session.motion.set_move_speed(v / 1000.0)),
    C.SETRV: Spec(read_int, lambda session, w: session.motion.set_heading_rate(math.radians(w))),
    # Poses.
    C.SETO: Spec(_raw, _set_odometry),
    C.SIM_SET_POSE: Spec(_raw, _set_true_pose),
    C.SIM_RESET: Spec(_no_argument, _reset_poses),
    # Devices.
    C.SONAR: Spec(read_int, _enable_sonar),
    C.DIGOUT: Spec(read_int, _set_digital_outputs),
    C.OLD_LASER_ENABLE: Spec(_raw, _set_laser_format),
    C.OLD_LASER_START: Spec(_raw, _set_scan_layout),
    C.OLD_LASER_END: Spec(_raw, _set_scan_layout),
    C.OLD_LASER_INCREMENT: Spec(_raw, _set_scan_layout),
    C.SIM_LRF_ENABLE: Spec(_raw, _set_laser_format),
    C.SIM_LRF_START: Spec(_raw, _set_scan_layout),
    C.SIM_LRF_END: Spec(_raw, _set_scan_layout),
    C.SIM_LRF_INCREMENT: Spec(_raw, _set_scan_layout),
    C.BATTEST: Spec(read_int, _set_battery),
    C.DIGTEMPTEST: Spec(read_int, _set_overheated),
    C.SPOOFANALOGTEMP: Spec(read_signed_int, _set_temperature),
    # Requests for packets.
    C.CONFIG: Spec(_no_argument, _send_config),
    C.BATTERYINFO: Spec(read_int, _send_battery),
    C.ENCODER: Spec(read_int, lambda session, v: _set_reporting(session, "encoders", v)),
    C.IOREQUEST: Spec(read_int, lambda session, v: _set_reporting(session, "inputs", v)),
    C.GPS: Spec(read_int, _send_gps),
    C.SIM_STAT: Spec(read_int, lambda session, v: _set_reporting(session, "simstat", v)),
    # The simulator as a whole.
    C.SIM_CTRL: Spec(_raw, _control_simulator),
    C.SIM_EXIT: Spec(read_int, _exit_simulator),
    C.MESSAGE: Spec(read_text, lambda session, text: session.request(LogText(text))),
    C.SIM_MESSAGE: Spec(read_text, lambda session, text: session.request(LogText(text))),
}
"""Commands that are not listed are ignored, as robots do."""
