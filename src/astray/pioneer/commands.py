"""What clients can ask for: the numbers of commands, and their arguments both ways.

An argument is a whole number (3B, or 1B if it is negative, then its magnitude), a text (2B, its
length, the text, NUL), or raw bytes (2B and the bytes). The simulator's own meaning of 35 to 38,
which is the laser, wins over those of the robots: it is what ARIA sends.
"""

from __future__ import annotations

import struct
from enum import IntEnum

from astray.pioneer.packets import Packet, encode, fit

POSITIVE, NEGATIVE, TEXT = 0x3B, 0x1B, 0x2B
LARGEST = 0x7FFF


class PioneerCommand(IntEnum):
    """Commands by their names; 0 to 2 are SYNC packets until the session is open."""

    PULSE = 0
    OPEN = 1
    CLOSE = 2
    ENABLE = 4
    SETA = 5
    SETV = 6
    SETO = 7
    MOVE = 8
    ROTATE = 9
    SETRV = 10
    VEL = 11
    HEAD = 12
    DHEAD = 13
    CONFIG = 18
    ENCODER = 19
    RVEL = 21
    SETRA = 23
    SONAR = 28
    STOP = 29
    DIGOUT = 30
    VEL2 = 32
    OLD_LASER_ENABLE = 35
    OLD_LASER_START = 36
    OLD_LASER_END = 37
    OLD_LASER_INCREMENT = 38
    IOREQUEST = 40
    BUMPSTALL = 44
    ESTOP = 55
    QSTOP = 57
    MESSAGE = 59
    BATTERYINFO = 62
    LATVEL = 110
    LATACCEL = 113
    SIM_SET_POSE = 224
    SIM_RESET = 225
    SIM_LRF_ENABLE = 230
    SIM_LRF_START = 231
    SIM_LRF_END = 232
    SIM_LRF_INCREMENT = 233
    SIM_CTRL = 236
    SIM_STAT = 237
    SIM_MESSAGE = 238
    SIM_EXIT = 239
    BATTEST = 250
    DIGTEMPTEST = 251
    SPOOFANALOGTEMP = 252


class ControlCommand(IntEnum):
    """What SIM_CTRL can ask for."""

    LOAD_MAP = 1
    MASTER_LOAD_MAP = 2
    CLEAR_MASTER = 3
    ROTATE_LOGS = 4
    LOG_STATE = 5
    INFO = 6
    GHOST = 7


NAMES = {int(command): command.name for command in PioneerCommand}


def number(packet: Packet) -> int:
    """The whole number that a command carries; 0 if there is none."""
    data = packet.data
    if len(data) < 2:
        return 0
    value = int.from_bytes(data[1:3], "little")
    return -value if data[0] == NEGATIVE else value


def signed(packet: Packet) -> int:
    """The same, where a client may have sent a negative number as two's complement."""
    value = number(packet)
    return value - 0x10000 if value > LARGEST else value


def words(packet: Packet) -> str:
    """The text that a command carries."""
    length = packet.data[1] if len(packet.data) > 1 else 0
    return packet.data[2 : 2 + length].split(b"\0")[0].decode("utf-8", "replace")


def numbers(packet: Packet, codes: str, skip: int = 1) -> tuple[int, ...] | None:
    """The numbers behind the type byte; None if they are not all there."""
    size = struct.calcsize(f"<{codes}")
    data = packet.data[skip : skip + size]
    return struct.unpack(f"<{codes}", data) if len(data) == size else None


def describe(packet: Packet) -> str:
    """A command in words, for logs."""
    name = NAMES.get(packet.id, str(packet.id))
    if not packet.data:
        return name
    plain = packet.data[0] in (POSITIVE, NEGATIVE) and len(packet.data) == 3
    return f"{name} {number(packet)}" if plain else f"{name} {packet.data.hex()}"


def bare(command: int) -> bytes:
    """A command without an argument, as it is sent."""
    return encode(command)


def with_number(command: int, value: float) -> bytes:
    """A command with a whole number, as it is sent."""
    kind = NEGATIVE if value < 0 else POSITIVE
    return encode(command, struct.pack("<BH", kind, fit(round(abs(value)), "h")))


def with_word(command: int, high: int, low: int) -> bytes:
    """A command with two signed bytes, as it is sent."""
    word = (high & 0xFF) << 8 | (low & 0xFF)
    negative = word > LARGEST
    magnitude = 0x10000 - word if negative else word
    return encode(command, struct.pack("<BH", NEGATIVE if negative else POSITIVE, magnitude))


def with_text(command: int, value: str) -> bytes:
    """A command with a text, as it is sent."""
    content = value.encode("utf-8")[:200]
    return encode(command, bytes((TEXT, len(content))) + content + b"\0")
