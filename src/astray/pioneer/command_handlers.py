"""The commands of clients: `COMMANDS`, at the end, has the argument and the handler of each.

A handler changes the session, answers with a packet, posts an event, or makes a request that
concerns more than its robot. Arguments are converted to SI where they are decoded.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from astray.pioneer.commands import (
    ControlCommand,
    PioneerCommand,
    read_int,
    read_signed_int,
    read_struct,
    read_text,
)
from astray.pioneer.packet_builders import LaserFormat, Reporting, build_config, build_siminfo
from astray.pioneer.packets import BatteryPacket, Packet

if TYPE_CHECKING:
    from astray.pioneer.session import Session

MAX_COORDINATE = 1e5  # m from the origin to which a client may teleport its robot


@dataclass(frozen=True)
class LoadMap:
    """A request to load a map; a master keeps other clients from loading maps."""

    file: str
    master: bool = False


@dataclass(frozen=True)
class ClearMaster:
    """A request to let all clients load maps again."""


@dataclass(frozen=True)
class ExitSimulator:
    """A request to end the simulator."""

    code: int = 0


@dataclass(frozen=True)
class LogText:
    """A request to log a text."""

    text: str


SessionRequest = LoadMap | ClearMaster | ExitSimulator | LogText


# Handlers of commands whose effect takes more than a line.


def _enable_motors(session: Session, enabled: int) -> None:
    session.settings.motors = enabled != 0
    if not session.settings.motors:
        session.motion.stop()


def _emergency_stop(session: Session, _: None) -> None:
    session.motion.emergency_stop()
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
    C.SIM_STAT: Spec(read_int, lambda session, v: _set_reporting(session, "simstat", v)),
    # The simulator as a whole.
    C.SIM_CTRL: Spec(_raw, _control_simulator),
    C.SIM_EXIT: Spec(read_int, _exit_simulator),
    C.MESSAGE: Spec(read_text, lambda session, text: session.request(LogText(text))),
    C.SIM_MESSAGE: Spec(read_text, lambda session, text: session.request(LogText(text))),
}
"""Commands that are not listed are ignored, as robots do."""
