"""Packets that ARIA reads and MobileSim never sent: encoders, inputs and outputs, battery, gyro."""

from __future__ import annotations

from dataclasses import dataclass

from astray.pioneer.packets.fields import i32, listed, pack, u8, unpack
from astray.pioneer.packets.framing import encode

ENCODER, IO, BATTERY, GYRO = 0x90, 0xF0, 0xFA, 0x98


@dataclass(frozen=True)
class EncoderPacket:
    """What the wheels have turned, ticks."""

    left: int = i32()
    right: int = i32()

    def encode(self) -> bytes:
        """The whole packet as it is sent."""
        return encode(ENCODER, pack(self))

    @classmethod
    def decode(cls, data: bytes) -> EncoderPacket:
        """Read the data of a packet."""
        return unpack(cls, data, needed=8)


@dataclass(frozen=True)
class InputOutputPacket:
    """Bytes of digital inputs and outputs, and analog inputs."""

    digital_in: tuple[int, ...] = listed("B", "B")
    digital_out: tuple[int, ...] = listed("B", "B")
    analog: tuple[int, ...] = listed("B", "H")

    def encode(self) -> bytes:
        """The whole packet as it is sent."""
        return encode(IO, pack(self))

    @classmethod
    def decode(cls, data: bytes) -> InputOutputPacket:
        """Read the data of a packet."""
        return unpack(cls, data, needed=3)


@dataclass(frozen=True)
class BatteryPacket:
    """One battery that knows its own charge."""

    count: int = u8(1)
    size: int = u8(5)  # bytes of each battery
    flags_1: int = u8()
    flags_2: int = u8()
    flags_3: int = u8()
    relative_percent: int = u8(100)
    absolute_percent: int = u8(100)

    def encode(self) -> bytes:
        """The whole packet as it is sent."""
        return encode(BATTERY, pack(self))

    @classmethod
    def decode(cls, data: bytes) -> BatteryPacket:
        """Read the data of a packet."""
        return unpack(cls, data, needed=7)


@dataclass(frozen=True)
class Gyro:
    """Readings of the gyro since the last packet: a raw rate of ten bits, and a temperature."""

    readings: tuple[tuple[int, int], ...] = listed("B", "HB")

    def encode(self) -> bytes:
        """The whole packet as it is sent."""
        return encode(GYRO, pack(self))

    @classmethod
    def decode(cls, data: bytes) -> Gyro:
        """Read the data of a packet."""
        return unpack(cls, data, needed=1)
