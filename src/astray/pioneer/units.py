"""From what is to the packets that tell it: SI becomes millimetres, degrees and robot units."""

from __future__ import annotations

import math
from dataclasses import dataclass

from astray.pioneer.model import RobotModel
from astray.pioneer.packets import Config, Device, SimInfo, SimStat, Sip, encode, sip, wrap16
from astray.pioneer.snapshot import Intervals, RobotSnapshot
from astray.version import __version__

SIMULATOR = "MobileSim"  # the name by which ARIA knows that lasers come in-band
MOST_SONARS = 32  # in one standard packet


@dataclass
class Panel:
    """What a client has switched, or made up, on a robot."""

    motors: bool = True
    sonar: bool = True
    estop: bool = False
    battery_dv: int | None = None
    temperature_deg: int | None = None
    hot: bool = False
    digital_out: int = 0xFF


def hello(model: RobotModel) -> bytes:
    """The answer to the last SYNC: name, class and subclass."""
    names = (SIMULATOR, model.robot_class, model.name)
    return encode(2, b"".join(name.encode() + b"\0" for name in names))


def sip_of(model: RobotModel, moment: RobotSnapshot, panel: Panel) -> Sip:
    """The standard packet of a moment."""
    x, y, yaw = moment.belief
    apart_mm_s = moment.wz / model.wheel_factor
    speed_mm_s = moment.vx * 1000.0
    battery = round(model.battery * 10) if panel.battery_dv is None else panel.battery_dv
    flags = (sip.MOTORS if panel.motors else 0) | (sip.SONARS if panel.sonar else 0)
    ranges = moment.sonar_mm()[:MOST_SONARS] if panel.sonar else []
    return Sip(
        x=wrap16(round(x * 1000.0 / model.distance_factor)),
        y=wrap16(round(y * 1000.0 / model.distance_factor)),
        heading=round(math.remainder(yaw, math.tau) / model.angle_factor),
        left_mm_s=round((speed_mm_s - apart_mm_s) / model.speed_factor),
        right_mm_s=round((speed_mm_s + apart_mm_s) / model.speed_factor),
        battery_dv=battery,
        stall=(sip.STALLED if moment.stalled else 0) | moment.bumped,
        flags=flags | (sip.ESTOP if panel.estop else 0),
        sonars=tuple([(k, round(mm / model.range_factor)) for k, mm in enumerate(ranges)]),
        digital_out=panel.digital_out,
        battery_tenfold_dv=battery,
        turn_decideg_s=round(math.degrees(moment.wz) * 10.0),
        faults=sip.TEMPERATURE_FAULT if panel.hot else 0,
        lateral_mm_s=round(moment.vy * 1000.0) if model.lateral else 0,
        temperature_deg=(
            sip.NO_TEMPERATURE if panel.temperature_deg is None else panel.temperature_deg
        ),
    )


def simstat_of(moment: RobotSnapshot, intervals: Intervals) -> SimStat:
    """The true pose of a moment."""
    x, y, yaw = moment.truth
    return SimStat(
        sim_interval_ms=intervals.simulated,
        real_interval_ms=intervals.real,
        last_interval_ms=intervals.last,
        x_mm=round(x * 1000.0),
        y_mm=round(y * 1000.0),
        heading_deg=round(math.degrees(yaw)),
    )


def odometer_of(moment: RobotSnapshot) -> tuple[int, int, int]:
    """The believed pose as plain scans carry it, mm and degrees."""
    x, y, yaw = moment.belief
    return wrap16(round(x * 1000.0)), wrap16(round(y * 1000.0)), round(math.degrees(yaw))


def config_of(model: RobotModel, bumpers: tuple[int, int]) -> Config:
    """What a robot tells of itself; ARIA takes the limits over as its own, and sends them back."""
    has_sonar, lateral = int(model.sonar is not None), int(model.lateral)
    return Config(
        robot_class=model.robot_class,
        subclass=model.name,
        front_sonar=has_sonar,
        rear_sonar=has_sonar,
        watchdog_ms=round(model.watchdog * 1000),
        turn_max=round(math.degrees(model.told_turn)),
        speed_max=round(model.told_speed * 1000),
        turn_accel=round(math.degrees(model.turn_accel)),
        turn_decel=round(math.degrees(model.turn_decel)),
        accel=round(model.accel * 1000),
        decel=round(model.told_decel * 1000),
        front_bumpers=bumpers[0],
        rear_bumpers=bumpers[1],
        lateral_max=lateral * round(model.told_speed * 1000),
        lateral_accel=lateral * round(model.accel * 1000),
        lateral_decel=lateral * round(model.told_decel * 1000),
    )


def siminfo_of(model: RobotModel, name: str, like_mobilesim: bool) -> SimInfo:
    """What simulates the robot, and its devices."""
    devices = []
    if model.sonar is not None:
        devices.append(Device(f"{name}.pioneerSonar:0", "pioneerSonar"))
    if model.laser is not None:
        devices.append(Device(f"{name}.{model.laser_type}:0", model.laser_type))
    maker = (SIMULATOR, "0.9.8") if like_mobilesim else ("astray", __version__)
    return SimInfo(*maker, devices=tuple(devices))
