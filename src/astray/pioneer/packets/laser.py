"""Laser scans: many ranges in packets of 32, and which rays a client has asked for.

    0x60   pose of the odometer | total | first | n | n × range
    0x61   total | first | n | n × (range, reflectance, two reserved) | laser | flags

ARIA takes reading i to lie at min(start, end) + i · increment, and a scan to be complete when the
last of its readings is there.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from astray.pioneer.packets.fields import i16, listed, pack, u8, u16, unpack
from astray.pioneer.packets.framing import encode

PLAIN, WITH_REFLECTANCE = 0x60, 0x61
PER_PACKET = 32
MOST_READINGS = 2880  # all round at an eighth of a degree


@dataclass(frozen=True)
class PlainScan:
    """Some ranges of a scan, mm, with the believed pose, mm and degrees."""

    x_mm: int = i16()
    y_mm: int = i16()
    heading_deg: int = i16()
    total: int = u16()
    first: int = u16()
    ranges: tuple[int, ...] = listed("B", "H")

    def encode(self) -> bytes:
        """The whole packet as it is sent."""
        return encode(PLAIN, pack(self))

    @classmethod
    def decode(cls, data: bytes) -> PlainScan:
        """Read the data of a packet."""
        return unpack(cls, data, needed=11)


@dataclass(frozen=True)
class Scan:
    """Some readings of a scan: range in mm, reflectance and two reserved bytes each."""

    total: int = u16()
    first: int = u16()
    readings: tuple[tuple[int, int, int, int], ...] = listed("B", "HBBB")
    laser: int = u8()
    flags: int = u8()

    def encode(self) -> bytes:
        """The whole packet as it is sent."""
        return encode(WITH_REFLECTANCE, pack(self))

    @classmethod
    def decode(cls, data: bytes) -> Scan:
        """Read the data of a packet."""
        return unpack(cls, data, needed=5)

    @property
    def ranges(self) -> tuple[int, ...]:
        """The ranges alone, mm."""
        return tuple(reading[0] for reading in self.readings)


@dataclass(frozen=True)
class ScanLayout:
    """The rays that a client wants: from start to end, degrees, backwards if the end is less."""

    start_deg: int = -90
    end_deg: int = 90
    increment_centideg: int = 100

    @property
    def count(self) -> int:
        """How many readings make a scan."""
        degrees = abs(self.end_deg - self.start_deg)
        step = max(self.increment_centideg, 1) / 100
        return min(math.ceil(degrees / step) + 1, MOST_READINGS)

    def angles_deg(self) -> list[float]:
        """The angle of each reading."""
        step = math.copysign(self.increment_centideg / 100, self.end_deg - self.start_deg)
        return [self.start_deg + k * step for k in range(self.count)]


def scan_packets(ranges_mm: Sequence[int], teleported: bool = False) -> bytes:
    """A scan as packets with room for reflectance, of which we have none.

    The bytes are those of `Scan.encode`, in a tenth of the time: they are most of what is sent.
    """
    parts = []
    for first in range(0, len(ranges_mm), PER_PACKET):
        some = ranges_mm[first : first + PER_PACKET]
        codes = f"<HHB{'H3x' * len(some)}BB"
        data = struct.pack(codes, len(ranges_mm), first, len(some), *some, 0, int(teleported))
        parts.append(encode(WITH_REFLECTANCE, data))
    return b"".join(parts)


def plain_scan_packets(ranges_mm: Sequence[int], pose: tuple[int, int, int]) -> bytes:
    """A scan as plain packets, with the believed pose in mm and degrees."""
    parts = []
    for first in range(0, len(ranges_mm), PER_PACKET):
        some = tuple(ranges_mm[first : first + PER_PACKET])
        parts.append(PlainScan(*pose, len(ranges_mm), first, some).encode())
    return b"".join(parts)
