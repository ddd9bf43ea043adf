"""Packets from a client to its robot: command numbers, arguments, and requests to the simulator.

    bytes behind the command number      argument
    none                                 none
    3B, u16 / 1B, u16                    a positive integer / a negative one, by its magnitude
    2B, u8 length, text, 00              a text
    2B, bytes                            raw bytes, as SETO, SIM_SET_POSE and SIM_CTRL take them

Numbers 35 to 38 set the laser of a simulator, as ARIA sends them; robots use them otherwise.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

from astray.pioneer.packets import Packet, clamp, encode_packet

POSITIVE, NEGATIVE, TEXT = 0x3B, 0x1B, 0x2B  # type bytes of arguments
MAX_INT = 0x7FFF  # of a signed argument
MAX_TEXT = 200  # bytes


class PioneerCommand(IntEnum):
    """Command numbers by ARIA's names; 0 to 2 are SYNC packets until the session is open."""

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
    GPS = 229
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
    """Operations of SIM_CTRL, the first two bytes of its argument."""

    LOAD_MAP = 1
    MASTER_LOAD_MAP = 2
    CLEAR_MASTER = 3
    ROTATE_LOGS = 4
    LOG_STATE = 5
    INFO = 6
    GHOST = 7


@dataclass(frozen=True)
class LoadMap:
    """A request to load a map; a master keeps other clients from loading maps."""

    file: str
    master: bool = False


@dataclass(frozen=True)
class ClearMaster:
    """A request to let all clients load maps again."""


@dataclass(frozen=True)
class ExitSimulator:
    """A request to end the simulator."""

    code: int = 0


@dataclass(frozen=True)
class LogText:
    """A request to log a text."""

    text: str


SessionRequest = LoadMap | ClearMaster | ExitSimulator | LogText


COMMAND_NAMES = {int(command): command.name for command in PioneerCommand}


def read_int(packet: Packet) -> int:
    """The integer argument of a command; 0 without one."""
    data = packet.data
    if len(data) < 2:
        return 0
    value = int.from_bytes(data[1:3], "little")
    return -value if data[0] == NEGATIVE else value


def read_signed_int(packet: Packet) -> int:
    """The integer argument, where a client may send a negative one as two's complement."""
    value = read_int(packet)
    return value - 0x10000 if value > MAX_INT else value


def read_text(packet: Packet) -> str:
    """The text argument of a command."""
    length = packet.data[1] if len(packet.data) > 1 else 0
    return packet.data[2 : 2 + length].split(b"\0")[0].decode("utf-8", "replace")


def read_struct(packet: Packet, codes: str, offset: int = 1) -> tuple[int, ...] | None:
    """Integers by the codes of `struct`, from an offset in the data; None if they are cut off."""
    size = struct.calcsize(f"<{codes}")
    data = packet.data[offset : offset + size]
    return struct.unpack(f"<{codes}", data) if len(data) == size else None


def describe_command(packet: Packet) -> str:
    """A command as text for the log."""
    name = COMMAND_NAMES.get(packet.id, str(packet.id))
    if not packet.data:
        return name
    is_int = packet.data[0] in (POSITIVE, NEGATIVE) and len(packet.data) == 3
    return f"{name} {read_int(packet)}" if is_int else f"{name} {packet.data.hex()}"


def encode_empty(command: int) -> bytes:
    """A command without an argument, as a framed packet."""
    return encode_packet(command)


def encode_int(command: int, value: float) -> bytes:
    """A command with an integer, rounded and clamped to 16 bits, as a framed packet."""
    sign = NEGATIVE if value < 0 else POSITIVE
    return encode_packet(command, struct.pack("<BH", sign, clamp(round(abs(value)), "h")))


def encode_byte_pair(command: int, high: int, low: int) -> bytes:
    """A command with two signed bytes in one integer, as a framed packet."""
    word = (high & 0xFF) << 8 | (low & 0xFF)
    if word > MAX_INT:
        return encode_packet(command, struct.pack("<BH", NEGATIVE, 0x10000 - word))
    return encode_packet(command, struct.pack("<BH", POSITIVE, word))


def encode_text(command: int, text: str) -> bytes:
    """A command with a text, as a framed packet."""
    content = text.encode("utf-8")[:MAX_TEXT]
    return encode_packet(command, bytes((TEXT, len(content))) + content + b"\0")
