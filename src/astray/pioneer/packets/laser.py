"""Laser packets: a scan in packets of up to 32 ranges, and the rays that a client asks for.

    0x60   odometry x, y, heading | total | first | n | n × range
    0x61   total | first | n | n × (range, reflectance, two reserved) | laser | flags

ARIA takes reading i to lie at min(start, end) + i · increment. It takes a scan as complete when
first + n reaches total.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from astray.pioneer.packets.fields import RobotPacket, counted_list, i16, u8, u16
from astray.pioneer.packets.framing import encode_packet

RANGES_PER_PACKET = 32
MAX_READINGS = 2880  # of a scan: 360° in steps of 0.125°


@dataclass(frozen=True)
class PlainLaserPacket(RobotPacket):
    """Consecutive ranges of a scan, mm, and the pose by odometry, mm and degrees."""

    ID = 0x60
    MIN_BYTES = 11

    x_mm: int = i16()  # 0
    y_mm: int = i16()  # 2
    heading_deg: int = i16()  # 4
    total: int = u16()  # 6: readings of the scan
    first: int = u16()  # 8: index of the first reading in this packet
    ranges: tuple[int, ...] = counted_list("B", "H")  # 10


@dataclass(frozen=True)
class ReflectanceLaserPacket(RobotPacket):
    """Consecutive readings of a scan: range in mm, reflectance and two reserved bytes each."""

    ID = 0x61
    MIN_BYTES = 5

    total: int = u16()  # 0: readings of the scan
    first: int = u16()  # 2: index of the first reading in this packet
    readings: tuple[tuple[int, int, int, int], ...] = counted_list("B", "HBBB")  # 4
    laser: int = u8()  # 5 + 5 n: index of the laser
    flags: int = u8()  # 6 + 5 n: bit 0: the robot was teleported since the last scan

    @property
    def ranges(self) -> tuple[int, ...]:
        """The ranges alone, mm."""
        return tuple(reading[0] for reading in self.readings)


@dataclass(frozen=True)
class ScanLayout:
    """The rays that a client asks for, from start to end; clockwise if the end is smaller."""

    start_deg: int = -90
    end_deg: int = 90
    increment_centideg: int = 100

    @property
    def count(self) -> int:
        """The number of readings in a scan."""
        degrees = abs(self.end_deg - self.start_deg)
        increment = max(self.increment_centideg, 1) / 100
        return min(math.ceil(degrees / increment) + 1, MAX_READINGS)

    def angles_deg(self) -> list[float]:
        """The angle of each reading."""
        increment = math.copysign(self.increment_centideg / 100, self.end_deg - self.start_deg)
        return [self.start_deg + k * increment for k in range(self.count)]


def encode_plain_scan(ranges_mm: Sequence[int], odometry_pose: tuple[int, int, int]) -> bytes:
    """A scan as plain packets, with the pose by odometry in mm and degrees."""
    parts = []
    for first in range(0, len(ranges_mm), RANGES_PER_PACKET):
        ranges = tuple(ranges_mm[first : first + RANGES_PER_PACKET])
        parts.append(PlainLaserPacket(*odometry_pose, len(ranges_mm), first, ranges).encode())
    return b"".join(parts)


def encode_reflectance_scan(ranges_mm: Sequence[int], teleported: bool = False) -> bytes:
    """A scan as packets with a reflectance of 0.

    The bytes are those of `ReflectanceLaserPacket.encode` in a tenth of the time: scans are most
    of what a server sends.
    """
    parts = []
    for first in range(0, len(ranges_mm), RANGES_PER_PACKET):
        ranges = ranges_mm[first : first + RANGES_PER_PACKET]
        codes = f"<HHB{'H3x' * len(ranges)}BB"
        data = struct.pack(codes, len(ranges_mm), first, len(ranges), *ranges, 0, int(teleported))
        parts.append(encode_packet(ReflectanceLaserPacket.ID, data))
    return b"".join(parts)
