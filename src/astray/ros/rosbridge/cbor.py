"""Messages as CBOR (RFC 8949): numbers stay numbers, and arrays the bytes that they are.

A scan takes a fraction of the time and room of its text. Arrays of numbers are typed ones (RFC
8746), those of bytes are byte strings, as rosbridge has it; what is no number (nan, inf) is told.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from astray.ros.messages import MessageLayout
from astray.ros.rosbridge.json import Slot, plan_of
from astray.tables import Array

UNSIGNED, NEGATIVE, OCTETS, TEXT, LIST, MAP, TAG = range(7)
TAGS = {
    "<u2": 69,
    "<u4": 70,
    "<u8": 71,
    "|i1": 72,
    "<i2": 77,
    "<i4": 78,
    "<i8": 79,
    "<f4": 85,
    "<f8": 86,
}
"""Of typed arrays, little endian."""
SIMPLE = {False: b"\xf4", True: b"\xf5", None: b"\xf6"}
DOUBLE = struct.Struct(">Bd")


def pack(value: Any) -> bytes:
    """A plain value, or an array of numbers."""
    if isinstance(value, float):
        return DOUBLE.pack(0xFB, value)
    if isinstance(value, str):
        raw = value.encode()
        return _head(TEXT, len(raw)) + raw
    if value is None or isinstance(value, bool):
        return SIMPLE[value]
    if isinstance(value, int):
        return _head(UNSIGNED, value) if value >= 0 else _head(NEGATIVE, -1 - value)
    if isinstance(value, bytes):
        return _head(OCTETS, len(value)) + value
    if isinstance(value, np.ndarray):
        return _pack_array(value)
    if isinstance(value, dict):
        parts = [pack(key) + pack(part) for key, part in value.items()]
        return _head(MAP, len(parts)) + b"".join(parts)
    return _head(LIST, len(value)) + b"".join(map(pack, value))


def _head(kind: int, value: int) -> bytes:
    """What a value begins with: of which kind it is, and a number or length."""
    kind <<= 5
    if value < 24:
        return bytes((kind | value,))
    for k, size in enumerate((1, 2, 4, 8)):
        if value < 1 << 8 * size:
            return bytes((kind | 24 + k,)) + value.to_bytes(size, "big")
    raise OverflowError(f"{value} has more than 64 bits")


def _pack_array(values: Array) -> bytes:
    little = values.dtype.newbyteorder("<")
    raw = values.astype(little, copy=False).tobytes()
    if little.str == "|u1":
        return _head(OCTETS, len(raw)) + raw
    tag = TAGS.get(little.str)
    if tag is None:  # of truth values there is no array
        return pack(values.tolist())
    return _head(TAG, tag) + _head(OCTETS, len(raw)) + raw


class Packer:
    """Packs messages of one layout: all between the values that change is packed once."""

    def __init__(self, layout: MessageLayout) -> None:
        self._pieces: list[bytes | Slot] = []
        self._add(plan_of(layout))

    def _add(self, plan: Any) -> None:
        if isinstance(plan, Slot):
            self._pieces.append(plan)
        elif isinstance(plan, dict):
            self._say(_head(MAP, len(plan)))
            for key, part in plan.items():
                self._say(pack(key))
                self._add(part)
        elif isinstance(plan, list):
            self._say(_head(LIST, len(plan)))
            for part in plan:
                self._add(part)
        else:
            self._say(pack(plan))

    def _say(self, raw: bytes) -> None:
        if self._pieces and isinstance(self._pieces[-1], bytes):
            self._pieces[-1] += raw
        else:
            self._pieces.append(raw)

    def write(self, messages: Array) -> list[bytes]:
        """The bytes of each message."""
        return [b"".join([self._piece(p, m) for p in self._pieces]) for m in messages.tolist()]

    def _piece(self, piece: bytes | Slot, values: tuple[Any, ...]) -> bytes:
        if isinstance(piece, bytes):
            return piece
        value = values[piece.index]
        return pack(value.decode() if piece.is_text else value)
