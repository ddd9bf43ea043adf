"""Packets from the state of a robot: conversion from SI to mm, degrees and firmware units."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import IntEnum

from astray.pioneer.models import RobotModel, ServedRobot
from astray.pioneer.packets import (
    ERROR_FLAG,
    ESTOP_FLAG,
    GPS_FLAG,
    MOTORS_FLAG,
    NO_GPS,
    NO_TEMPERATURE,
    SONAR_FLAGS,
    STALL_BITS,
    TEMPERATURE_FAULT,
    Config,
    Device,
    ScanLayout,
    SimInfo,
    SimStat,
    Sip,
    encode_packet,
    wrap_i16,
)
from astray.pioneer.snapshot import CycleIntervals, GpsPosition, RobotSnapshot
from astray.version import __version__

SIMULATOR_NAME = "MobileSim"  # by which ARIA recognises that lasers are simulated
MOBILESIM_VERSION = "0.9.8"
MAX_SONARS = 32  # in one SIP


class Reporting(IntEnum):
    """How often an optional packet is sent."""

    OFF = 0
    ONCE = 1
    EVERY_CYCLE = 2

    def after_report(self) -> Reporting:
        """The setting when the packet has been sent."""
        return Reporting.EVERY_CYCLE if self is Reporting.EVERY_CYCLE else Reporting.OFF


class LaserFormat(IntEnum):
    """The laser packets that a client asks for."""

    OFF = 0
    PLAIN = 1
    REFLECTANCE = 2


@dataclass
class RobotSettings:
    """What a client has switched or set on its robot."""

    motors: bool = True
    estop: bool = False
    sonar: bool = True
    laser: LaserFormat = LaserFormat.OFF
    scan_layout: ScanLayout = field(default_factory=ScanLayout)
    simstat: Reporting = Reporting.OFF
    encoders: Reporting = Reporting.OFF
    inputs: Reporting = Reporting.OFF
    digital_out: int = 0xFF
    battery_dv: int | None = None
    temperature_deg: int | None = None
    overheated: bool = False


def build_sync2(model: RobotModel) -> bytes:
    """The answer to the last SYNC packet: name, class and subclass."""
    names = (SIMULATOR_NAME, model.robot_class, model.name)
    return encode_packet(2, b"".join(name.encode() + b"\0" for name in names))


def build_sip(model: RobotModel, snapshot: RobotSnapshot, settings: RobotSettings) -> Sip:
    """The SIP of a cycle: the belief and the readings."""
    x, y, yaw = snapshot.belief
    speed_mm_s, wheel_mm_s = snapshot.vx * 1000.0, snapshot.wz / model.wheel_factor
    battery = round(model.battery * 10) if settings.battery_dv is None else settings.battery_dv
    flags = (MOTORS_FLAG if settings.motors else 0) | (SONAR_FLAGS if settings.sonar else 0)
    ranges = snapshot.sonar_mm()[:MAX_SONARS] if settings.sonar else []
    temperature = settings.temperature_deg
    return Sip(
        x=wrap_i16(round(x * 1000.0 / model.distance_factor)),
        y=wrap_i16(round(y * 1000.0 / model.distance_factor)),
        heading=round(math.remainder(yaw, math.tau) / model.angle_factor),
        left_mm_s=round((speed_mm_s - wheel_mm_s) / model.speed_factor),
        right_mm_s=round((speed_mm_s + wheel_mm_s) / model.speed_factor),
        battery_dv=battery,
        stall=(STALL_BITS if snapshot.stalled else 0) | snapshot.bumper_bits,
        flags=flags | (ESTOP_FLAG if settings.estop else 0),
        sonars=tuple([(k, round(mm / model.range_factor)) for k, mm in enumerate(ranges)]),
        digital_out=settings.digital_out,
        wide_battery_dv=battery,
        turn_decideg_s=round(math.degrees(snapshot.wz) * 10.0),
        faults=TEMPERATURE_FAULT if settings.overheated else 0,
        lateral_mm_s=round(snapshot.vy * 1000.0) if model.lateral else 0,
        temperature_deg=NO_TEMPERATURE if temperature is None else temperature,
    )


def build_simstat(snapshot: RobotSnapshot, intervals: CycleIntervals) -> SimStat:
    """The SIMSTAT of a cycle: truth, timing of the run, position on Earth, odometry errors."""
    x, y, yaw = snapshot.truth
    gps, error = snapshot.gps, snapshot.odometry_error
    error_x, error_y, error_turn = error or (0.0, 0.0, 0.0)
    place = gps or GpsPosition()
    return SimStat(
        flags=(GPS_FLAG if gps else 0) | (ERROR_FLAG if error else 0),
        sim_interval_ms=intervals.simulated,
        real_interval_ms=intervals.real,
        last_interval_ms=intervals.last,
        x_mm=round(x * 1000.0),
        y_mm=round(y * 1000.0),
        heading_deg=round(math.degrees(yaw)),
        latitude_e7=round(place.latitude * 1e7),
        longitude_e7=round(place.longitude * 1e7),
        altitude_cm=round(place.altitude * 100.0),
        gps_quality=round(place.precision * 100.0) if gps else NO_GPS,
        error_x_e7=round(error_x * 1000.0 * 1e7),
        error_y_e7=round(error_y * 1000.0 * 1e7),
        error_heading_e7=round(math.degrees(error_turn) * 1e7),
    )


def odometry_pose(snapshot: RobotSnapshot) -> tuple[int, int, int]:
    """The belief as plain laser packets hold it, mm and degrees."""
    x, y, yaw = snapshot.belief
    return wrap_i16(round(x * 1000.0)), wrap_i16(round(y * 1000.0)), round(math.degrees(yaw))


def build_config(robot: ServedRobot) -> Config:
    """The configuration of a robot."""
    model = robot.model
    has_sonar, lateral = int(model.sonar is not None), int(model.lateral)
    front_bumpers, rear_bumpers = robot.bumpers
    return Config(
        robot_class=model.robot_class,
        subclass=model.name,
        front_sonar=has_sonar,
        rear_sonar=has_sonar,
        watchdog_ms=round(model.watchdog * 1000),
        turn_max=round(math.degrees(model.reported_turn)),
        speed_max=round(model.reported_speed * 1000),
        turn_accel=round(math.degrees(model.turn_accel)),
        turn_decel=round(math.degrees(model.turn_decel)),
        accel=round(model.accel * 1000),
        decel=round(model.reported_decel * 1000),
        front_bumpers=front_bumpers,
        rear_bumpers=rear_bumpers,
        lateral_max=lateral * round(model.reported_speed * 1000),
        lateral_accel=lateral * round(model.accel * 1000),
        lateral_decel=lateral * round(model.reported_decel * 1000),
    )


def build_siminfo(robot: ServedRobot, like_mobilesim: bool) -> SimInfo:
    """The simulator and the devices of a robot."""
    model, devices = robot.model, []
    if model.sonar is not None:
        devices.append(Device(f"{robot.name}.pioneerSonar:0", "pioneerSonar"))
    if model.laser is not None:
        devices.append(Device(f"{robot.name}.{model.laser_type}:0", model.laser_type))
    if like_mobilesim:
        return SimInfo(SIMULATOR_NAME, MOBILESIM_VERSION, devices=tuple(devices))
    return SimInfo("astray", __version__, devices=tuple(devices))
