"""Packets that only a simulator sends: SIMSTAT (true pose), SIMINFO (itself) and MAP_CHANGED.

    id     packet       sent
    0x62   SimStat      before the SIP, after SIM_STAT (237)
    0x63   SimInfo      as the answer to SIM_CTRL (236) INFO
    0x66   MapChanged   to all clients when a map was loaded, or to the one whose request failed

The layouts are those that MobileSim 0.9.8 sends. Its manual differs in SIMSTAT: it gives the GPS
quality one byte and scales latitude and longitude by 10⁶.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from astray.pioneer.packets.fields import (
    BadPacket,
    FieldCodec,
    RobotPacket,
    c_string,
    decode_c_string,
    encode_c_string,
    i32,
    packet_field,
    trailing_bytes,
    u8,
    u16,
    u32,
)

NO_GPS = -1  # quality of a robot without a receiver
GPS_FLAG, ERROR_FLAG = 1 << 1, 1 << 2  # bits of SimStat.flags


@dataclass(frozen=True)
class SimStat(RobotPacket):
    """The true pose of a robot, the timing of the run, and fields of GPS and odometry error.

    Offsets count from the byte behind the id. GPS_FLAG marks latitude, longitude and altitude as
    valid, ERROR_FLAG the errors.
    """

    ID = 0x62
    MIN_BYTES = 28

    reserved_1: int = u8()  # 0
    reserved_2: int = u8()  # 1
    flags: int = u32()  # 2
    sim_interval_ms: int = u16(100)  # 6: simulated time of a cycle
    real_interval_ms: int = u16(100)  # 8: real time that a cycle is to take
    last_interval_ms: int = u16(100)  # 10: real time that the last cycle took
    x_mm: int = i32()  # 12: true pose in the map
    y_mm: int = i32()  # 16
    z_mm: int = i32()  # 20
    heading_deg: int = i32()  # 24
    latitude_e7: int = i32()  # 28: 10⁻⁷ °
    longitude_e7: int = i32()  # 32: 10⁻⁷ °
    altitude_cm: int = i32()  # 36
    gps_quality: int = i32(NO_GPS)  # 40: 100 × dilution of precision; 0 without a usable fix
    error_x_e7: int = i32()  # 44: odometry error, 10⁻⁷ mm per m
    error_y_e7: int = i32()  # 48
    error_heading_e7: int = i32()  # 52: 10⁻⁷ ° per rad
    trailing: bytes = trailing_bytes()  # 56


@dataclass(frozen=True)
class Device:
    """A simulated device of the robot."""

    name: str
    type: str
    index: int = 0
    status: int = 0


def _encode_devices(devices: tuple[Device, ...]) -> bytes:
    parts = [struct.pack("<I", len(devices))]
    for device in devices:
        parts.append(encode_c_string(device.name) + encode_c_string(device.type))
        parts.append(struct.pack("<BI", device.index, device.status))
    return b"".join(parts)


def _decode_devices(data: bytes) -> tuple[tuple[Device, ...], bytes]:
    if len(data) < 4:
        raise BadPacket("SimInfo: the number of devices is cut off")
    (count,), data = struct.unpack("<I", data[:4]), data[4:]
    devices = []
    for _ in range(count):
        name, data = decode_c_string(data)
        kind, data = decode_c_string(data)
        if len(data) < 5:
            raise BadPacket("SimInfo: a device is cut off")
        devices.append(Device(name, kind, *struct.unpack("<BI", data[:5])))
        data = data[5:]
    return tuple(devices), data


@dataclass(frozen=True)
class SimInfo(RobotPacket):
    """The simulator and the devices that it simulates on this robot.

    Devices are a u32 count, and for each its name and type (NUL-terminated), a u8 index and a u32
    status.
    """

    ID = 0x63

    application: str = c_string()
    version: str = c_string()
    flags: int = u32()
    devices: tuple[Device, ...] = packet_field(FieldCodec(_encode_devices, _decode_devices), ())


@dataclass(frozen=True)
class MapChanged(RobotPacket):
    """Answers a request for a map: loaded is 1 if it was loaded, 0 if not or if it was already."""

    ID = 0x66
    MIN_BYTES = 3

    by_user: int = u8()  # 0
    loaded: int = u8(1)  # 1
    file: str = c_string()  # 2
