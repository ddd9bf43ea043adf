"""What becomes of each command: it changes the session, is answered, or is passed on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from astray.pioneer.commands import ControlCommand, PioneerCommand, number, numbers, signed, words
from astray.pioneer.packets import BatteryPacket, Packet, ScanLayout
from astray.pioneer.requests import ClearMaster, Exit, LoadMap, Say
from astray.pioneer.snapshot import Pose
from astray.pioneer.units import config_of, siminfo_of

if TYPE_CHECKING:
    from astray.pioneer.session import Session

FARTHEST = 1e5  # m, that a robot is put away from the origin
OFF, ALWAYS = 0, 2  # 1 is once


def _enable(session: Session, packet: Packet) -> None:
    session.panel.motors = number(packet) != 0
    if not session.panel.motors:
        _stop(session, packet)


def _stop(session: Session, packet: Packet) -> None:
    session.axes.halt()
    session.told = False


def _stop_at_once(session: Session, packet: Packet) -> None:
    session.axes.stop_at_once()
    session.panel.estop = True
    session.told = False


def _set_accel(session: Session, packet: Packet) -> None:
    session.axes.limit_accel(signed(packet) / 1000.0)
    session.told = False


def _set_turn_accel(session: Session, packet: Packet) -> None:
    session.axes.limit_turn_accel(math.radians(signed(packet)))
    session.told = False


def _set_speed(session: Session, packet: Packet) -> None:
    if number(packet) > 0:
        session.axes.speed = number(packet) / 1000.0
        session.told = False


def _set_turn(session: Session, packet: Packet) -> None:
    if number(packet) > 0:
        session.axes.turn = math.radians(number(packet))
        session.told = False


def _set_odometer(session: Session, packet: Packet) -> None:
    """Let the odometer read zero, or what is given; a heading to come to turns with it."""
    given = numbers(packet, "hhh", skip=len(packet.data) - 6) if len(packet.data) > 5 else None
    x_mm, y_mm, heading_deg = given or (0, 0, 0)
    heading = math.radians(heading_deg)
    if session.axes.heading is not None:
        session.axes.face(session.axes.heading + heading - session.heading)
        session.told = False
    session.heading = heading
    session.post("believe", {"x": x_mm / 1000.0, "y": y_mm / 1000.0, "yaw": heading})


def _set_pose(session: Session, packet: Packet) -> None:
    given = numbers(packet, "iii")
    if given is not None and max(abs(given[0]), abs(given[1])) < FARTHEST * 1000:
        x_mm, y_mm, heading_deg = given
        _place(session, (x_mm / 1000.0, y_mm / 1000.0, math.radians(heading_deg % 360)))


def _reset(session: Session, packet: Packet) -> None:
    _place(session, (0.0, 0.0, 0.0) if session.options.like_mobilesim else session.robot.home)
    session.heading = 0.0
    session.post("believe", {"x": 0.0, "y": 0.0, "yaw": 0.0})


def _place(session: Session, pose: Pose) -> None:
    session.teleported = True
    session.post("place", dict(zip(("x", "y", "yaw"), pose, strict=True)))


def _send_config(session: Session, packet: Packet) -> None:
    session.answer(config_of(session.model, session.robot.bumpers).encode())


def _send_battery(session: Session, packet: Packet) -> None:
    if number(packet) and not session.options.like_mobilesim:
        session.answer(BatteryPacket().encode())


def _switch_sonar(session: Session, packet: Packet) -> None:
    session.panel.sonar = bool(number(packet) & 1)


def _switch_outputs(session: Session, packet: Packet) -> None:
    word = number(packet) & 0xFFFF
    mask, states = word >> 8, word & 0xFF
    session.panel.digital_out = session.panel.digital_out & ~mask & 0xFF | states & mask


def _switch_encoders(session: Session, packet: Packet) -> None:
    session.encoders = number(packet) if 0 <= number(packet) <= ALWAYS else OFF


def _switch_inputs(session: Session, packet: Packet) -> None:
    session.inputs = number(packet) if 0 <= number(packet) <= ALWAYS else OFF


def _switch_laser(session: Session, packet: Packet) -> None:
    if _is_first_laser(packet):
        session.laser = number(packet) if 0 <= number(packet) <= 2 else OFF


def _lay_out_laser(session: Session, packet: Packet) -> None:
    if not _is_first_laser(packet):
        return
    start, end = session.layout.start_deg, session.layout.end_deg
    increment, value = session.layout.increment_centideg, signed(packet)
    if packet.id in (PioneerCommand.OLD_LASER_INCREMENT, PioneerCommand.SIM_LRF_INCREMENT):
        increment = max(value, 1)
    elif abs(value) > 360:
        return
    elif packet.id in (PioneerCommand.OLD_LASER_START, PioneerCommand.SIM_LRF_START):
        start = value
    else:
        end = value
    session.layout = ScanLayout(start, end, increment)


def _is_first_laser(packet: Packet) -> bool:
    return packet.id < PioneerCommand.SIM_LRF_ENABLE or len(packet.data) < 4 or packet.data[3] <= 1


def _switch_stat(session: Session, packet: Packet) -> None:
    session.stat = number(packet) if 0 <= number(packet) <= ALWAYS else OFF


def _spoof_battery(session: Session, packet: Packet) -> None:
    session.panel.battery_dv = number(packet) if 0 < number(packet) < 256 else None


def _spoof_heat(session: Session, packet: Packet) -> None:
    session.panel.hot = number(packet) != 0


def _spoof_temperature(session: Session, packet: Packet) -> None:
    value = signed(packet)
    session.panel.temperature_deg = value if -128 < value < 128 else None


def _say(session: Session, packet: Packet) -> None:
    session.ask(Say(words(packet)))


def _control(session: Session, packet: Packet) -> None:
    """Do what concerns the simulator as a whole."""
    given = numbers(packet, "h")
    what = given[0] if given else 0
    if what in (ControlCommand.LOAD_MAP, ControlCommand.MASTER_LOAD_MAP):
        length = numbers(packet, "H", skip=3)
        text = packet.data[5 : 5 + (length[0] if length else 0)].split(b"\0")[0]
        file = text.decode("utf-8", "surrogateescape")
        if file:
            session.ask(LoadMap(file, what == ControlCommand.MASTER_LOAD_MAP))
    elif what == ControlCommand.CLEAR_MASTER:
        session.ask(ClearMaster())
    elif what == ControlCommand.LOG_STATE:
        session.ask(Say(f"state: {session.axes.values()} {session.panel}"))
    elif what == ControlCommand.GHOST:
        session.post("ghost", {})
    elif what == ControlCommand.INFO:
        name = session.robot.name
        session.answer(siminfo_of(session.model, name, session.options.like_mobilesim).encode())


def _exit(session: Session, packet: Packet) -> None:
    if session.options.allow_exit:
        session.ask(Exit(number(packet) & 0xFF))
    else:
        session.ask(Say("SIM_EXIT is not allowed here"))


def _close(session: Session, packet: Packet) -> None:
    session.leave()


def _vel(session: Session, packet: Packet) -> None:
    session.axes.drive(signed(packet) / 1000.0)


def _rvel(session: Session, packet: Packet) -> None:
    session.axes.spin(math.radians(signed(packet)))


def _vel2(session: Session, packet: Packet) -> None:
    """Speeds of the two wheels; speed and turn rate are cut to whole mm/s and deg/s."""
    word = number(packet) & 0xFFFF
    left, right = (
        (byte - 256 if byte > 127 else byte) * session.model.vel2_divisor
        for byte in (word >> 8, word & 0xFF)
    )
    session.axes.drive(int((left + right) / 2) / 1000.0)
    turn_deg_s = int(math.degrees((right - left) / 2 * session.model.wheel_factor))
    session.axes.spin(math.radians(turn_deg_s))


def _latvel(session: Session, packet: Packet) -> None:
    session.axes.slide(signed(packet) / 1000.0)


def _move(session: Session, packet: Packet) -> None:
    session.axes.move(signed(packet) / 1000.0)


def _head(session: Session, packet: Packet) -> None:
    session.axes.face(math.radians(signed(packet)))


def _dhead(session: Session, packet: Packet) -> None:
    session.axes.face(session.heading + math.radians(signed(packet)))


def _nothing(session: Session, packet: Packet) -> None:
    """A sign of life is all that it is."""


C = PioneerCommand
MOTIONS: dict[int, Callable[[Session, Packet], None]] = {
    C.VEL: _vel,
    C.ROTATE: _rvel,
    C.RVEL: _rvel,
    C.VEL2: _vel2,
    C.LATVEL: _latvel,
    C.MOVE: _move,
    C.HEAD: _head,
    C.DHEAD: _dhead,
}
"""Commands that move the robot: ignored while its motors are off or it stops in an emergency."""

ORDERS: dict[int, Callable[[Session, Packet], None]] = {
    C.PULSE: _nothing,
    C.CLOSE: _close,
    C.ENABLE: _enable,
    C.SETA: _set_accel,
    C.SETV: _set_speed,
    C.SETO: _set_odometer,
    C.SETRV: _set_turn,
    C.CONFIG: _send_config,
    C.ENCODER: _switch_encoders,
    C.SETRA: _set_turn_accel,
    C.SONAR: _switch_sonar,
    C.STOP: _stop,
    C.DIGOUT: _switch_outputs,
    C.OLD_LASER_ENABLE: _switch_laser,
    C.OLD_LASER_START: _lay_out_laser,
    C.OLD_LASER_END: _lay_out_laser,
    C.OLD_LASER_INCREMENT: _lay_out_laser,
    C.IOREQUEST: _switch_inputs,
    C.ESTOP: _stop_at_once,
    C.QSTOP: _stop_at_once,
    C.MESSAGE: _say,
    C.BATTERYINFO: _send_battery,
    C.SIM_SET_POSE: _set_pose,
    C.SIM_RESET: _reset,
    C.SIM_LRF_ENABLE: _switch_laser,
    C.SIM_LRF_START: _lay_out_laser,
    C.SIM_LRF_END: _lay_out_laser,
    C.SIM_LRF_INCREMENT: _lay_out_laser,
    C.SIM_CTRL: _control,
    C.SIM_STAT: _switch_stat,
    C.SIM_MESSAGE: _say,
    C.SIM_EXIT: _exit,
    C.BATTEST: _spoof_battery,
    C.DIGTEMPTEST: _spoof_heat,
    C.SPOOFANALOGTEMP: _spoof_temperature,
}
"""All other commands; what is in neither table is ignored, as robots do."""
