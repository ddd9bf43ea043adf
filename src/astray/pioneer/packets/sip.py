"""The standard packet of a robot (SIP), ten times a second: where it believes to be, what it feels.

Positions are in units of the robot's own (a p3dx counts 0.485 mm), headings in 4096ths of a turn;
both wrap around. What follows the sonars came with later firmware and may be missing.
"""

from __future__ import annotations

from dataclasses import dataclass

from astray.pioneer.packets.fields import i8, i16, listed, more, pack, u8, u16, unpack
from astray.pioneer.packets.framing import encode

SIP = 0x32
SIP_MOVING = 0x33  # the same, as some firmware says it while the robot moves
MOTORS, ESTOP = 1 << 0, 1 << 5
SONARS = 0b11110  # four arrays
STALLED = 1 << 0 | 1 << 8  # left and right motor
FIRST_REAR, FIRST_FRONT = 1, 9  # bits of the first bumper behind and in front
TEMPERATURE_FAULT = 1 << 1
NO_TEMPERATURE = -127


@dataclass(frozen=True)
class Sip:
    """A standard packet, in the units of the wire."""

    x: int = i16()
    y: int = i16()
    heading: int = i16()
    left_mm_s: int = i16()
    right_mm_s: int = i16()
    battery_dv: int = u8()
    stall: int = u16()
    control: int = i16()
    flags: int = u16()
    compass_half_deg: int = u8()
    sonars: tuple[tuple[int, int], ...] = listed("B", "BH")
    """Number and range of each sonar, most often in mm."""
    gripper: int = u8()
    analog_port: int = u8()
    analog: int = u8()
    digital_in: int = u8(0xFF)
    digital_out: int = u8(0xFF)
    battery_tenfold_dv: int = u16()
    charge_state: int = u8()
    turn_decideg_s: int = i16()
    faults: int = u16()
    lateral_mm_s: int = i16()
    temperature_deg: int = i8(NO_TEMPERATURE)
    charge_percent: int = u8()
    later: bytes = more()

    def encode(self) -> bytes:
        """The whole packet as it is sent."""
        return encode(SIP, pack(self))

    @classmethod
    def decode(cls, data: bytes) -> Sip:
        """Read the data of a packet."""
        return unpack(cls, data, needed=19)
