"""What only a simulator can tell: the true pose (SIMSTAT), itself (SIMINFO), and a new map.

SIMSTAT is as MobileSim sends it, not as its manual has it: the GPS quality has four bytes, and
latitude and longitude are multiplied by 10⁷.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from astray.pioneer.packets.fields import (
    BadPacket,
    Coder,
    coded,
    from_text,
    i32,
    more,
    pack,
    text,
    to_text,
    u8,
    u16,
    u32,
    unpack,
)
from astray.pioneer.packets.framing import encode

SIMSTAT, SIMINFO, MAP_CHANGED = 0x62, 0x63, 0x66
NO_GPS = -1


@dataclass(frozen=True)
class SimStat:
    """The true pose of a robot, mm and degrees, and the timing of the run, ms."""

    reserved_1: int = u8()
    reserved_2: int = u8()
    flags: int = u32()
    sim_interval_ms: int = u16(100)
    real_interval_ms: int = u16(100)
    last_interval_ms: int = u16(100)
    x_mm: int = i32()
    y_mm: int = i32()
    z_mm: int = i32()
    heading_deg: int = i32()
    latitude_e7: int = i32()
    longitude_e7: int = i32()
    altitude_cm: int = i32()
    gps_quality: int = i32(NO_GPS)
    error_x_e7: int = i32()
    error_y_e7: int = i32()
    error_heading_e7: int = i32()
    later: bytes = more()

    def encode(self) -> bytes:
        """The whole packet as it is sent."""
        return encode(SIMSTAT, pack(self))

    @classmethod
    def decode(cls, data: bytes) -> SimStat:
        """Read the data of a packet; the pose has to be there."""
        return unpack(cls, data, needed=28)


@dataclass(frozen=True)
class Device:
    """A simulated device of the robot."""

    name: str
    type: str
    index: int = 0
    status: int = 0


def _write_devices(devices: tuple[Device, ...]) -> bytes:
    parts = [struct.pack("<I", len(devices))]
    for d in devices:
        parts.append(to_text(d.name) + to_text(d.type) + struct.pack("<BI", d.index, d.status))
    return b"".join(parts)


def _read_devices(data: bytes) -> tuple[Any, bytes]:
    if len(data) < 4:
        raise BadPacket("SimInfo: the number of devices is cut off")
    (count,), data = struct.unpack("<I", data[:4]), data[4:]
    devices = []
    for _ in range(count):
        name, data = from_text(data)
        kind, data = from_text(data)
        if len(data) < 5:
            raise BadPacket("SimInfo: a device is cut off")
        devices.append(Device(name, kind, *struct.unpack("<BI", data[:5])))
        data = data[5:]
    return tuple(devices), data


@dataclass(frozen=True)
class SimInfo:
    """What the simulator is, and which devices it simulates."""

    application: str = text()
    version: str = text()
    flags: int = u32()
    devices: tuple[Device, ...] = coded(Coder(_write_devices, _read_devices), ())

    def encode(self) -> bytes:
        """The whole packet as it is sent."""
        return encode(SIMINFO, pack(self))

    @classmethod
    def decode(cls, data: bytes) -> SimInfo:
        """Read the data of a packet."""
        return unpack(cls, data)


@dataclass(frozen=True)
class MapChanged:
    """Another map is in place, or was already (loaded = 0)."""

    by_user: int = u8()
    loaded: int = u8(1)
    file: str = text()

    def encode(self) -> bytes:
        """The whole packet as it is sent."""
        return encode(MAP_CHANGED, pack(self))

    @classmethod
    def decode(cls, data: bytes) -> MapChanged:
        """Read the data of a packet."""
        return unpack(cls, data, needed=3)
