"""Fields of packets: little-endian numbers, texts that end with NUL, and lists with their count.

A packet is a frozen dataclass whose fields, in order, say how they look on the wire:

    x: int = i16()
    name: str = text("MobileSim")
    ranges: tuple[tuple[int, ...], ...] = listed("B", "BH")

A number that does not fit its field is sent as the nearest that does.
"""

from __future__ import annotations

import dataclasses
import itertools
import struct
from collections.abc import Callable
from typing import Any, TypeVar

from astray.errors import WrongInput

P = TypeVar("P")
LIMITS = {
    "B": (0, 0xFF),
    "b": (-0x80, 0x7F),
    "H": (0, 0xFFFF),
    "h": (-0x8000, 0x7FFF),
    "I": (0, 0xFFFFFFFF),
    "i": (-0x80000000, 0x7FFFFFFF),
}


class BadPacket(WrongInput):
    """Data that do not make up the packet they are said to be."""


@dataclasses.dataclass(frozen=True)
class Coder:
    """How a field that is more than a number is written, and read with what is left behind it."""

    write: Callable[[Any], bytes]
    read: Callable[[bytes], tuple[Any, bytes]]


Run = tuple[tuple[str, ...], str, Coder | None]
_known: dict[Any, list[Run]] = {}


def coded(how: str | Coder, default: Any) -> Any:
    """A field that is written this way: a code of `struct`, or a coder."""
    return dataclasses.field(default=default, metadata={"wire": how})


def u8(default: int = 0) -> Any:
    """An unsigned byte."""
    return coded("B", default)


def i8(default: int = 0) -> Any:
    """A signed byte."""
    return coded("b", default)


def u16(default: int = 0) -> Any:
    """Two bytes, unsigned."""
    return coded("H", default)


def i16(default: int = 0) -> Any:
    """Two bytes, signed."""
    return coded("h", default)


def u32(default: int = 0) -> Any:
    """Four bytes, unsigned."""
    return coded("I", default)


def i32(default: int = 0) -> Any:
    """Four bytes, signed."""
    return coded("i", default)


def text(default: str = "") -> Any:
    """A text that ends with NUL."""
    return coded(Coder(to_text, from_text), default)


def listed(count: str, item: str) -> Any:
    """Some items of a few numbers each, behind their count. Items of one number are plain."""
    each, many = struct.Struct(f"<{item}"), struct.Struct(f"<{count}")
    plain = len(each.unpack(bytes(each.size))) == 1

    def write(items: tuple[Any, ...]) -> bytes:
        numbers = items if plain else list(itertools.chain.from_iterable(items))
        return many.pack(len(items)) + pack_near(item * len(items), numbers)

    def read(data: bytes) -> tuple[Any, bytes]:
        if len(data) < many.size:
            raise BadPacket("a list is cut off before its count")
        end = many.size + many.unpack_from(data)[0] * each.size
        if len(data) < end:
            raise BadPacket(f"a list is cut off after {len(data) - many.size} bytes")
        found = each.iter_unpack(data[many.size : end])
        return tuple(row[0] for row in found) if plain else tuple(found), data[end:]

    return coded(Coder(write, read), ())


def more() -> Any:
    """Whatever is left: later firmware adds fields at the end."""
    return coded(Coder(bytes, lambda data: (data, b"")), b"")


def _runs(cls: Any) -> list[Run]:
    """The fields of a packet; numbers that follow each other are taken together."""
    if cls in _known:
        return _known[cls]
    runs: list[Run] = []
    for field in dataclasses.fields(cls):
        how = field.metadata["wire"]
        if isinstance(how, Coder):
            runs.append(((field.name,), "", how))
        elif runs and runs[-1][2] is None:
            runs[-1] = ((*runs[-1][0], field.name), runs[-1][1] + how, None)
        else:
            runs.append(((field.name,), how, None))
    return _known.setdefault(cls, runs)


def pack(packet: Any) -> bytes:
    """The data of a packet."""
    parts: list[bytes] = []
    for names, codes, coder in _runs(type(packet)):
        if coder is not None:
            parts.append(coder.write(getattr(packet, names[0])))
        else:
            parts.append(pack_near(codes, [getattr(packet, name) for name in names]))
    return b"".join(parts)


def unpack(cls: type[P], data: bytes, needed: int = 0) -> P:
    """A packet from its data. Fields at the end may be missing: they then keep their defaults."""
    if len(data) < needed:
        raise BadPacket(f"{cls.__name__}: {needed} bytes are needed, not {len(data)}")
    values: dict[str, Any] = {}
    for names, codes, coder in _runs(cls):
        if coder is not None:
            if data:
                values[names[0]], data = coder.read(data)
            continue
        size = struct.calcsize(f"<{codes}")
        if len(data) >= size:
            values |= zip(names, struct.unpack(f"<{codes}", data[:size]), strict=True)
            data = data[size:]
            continue
        for name, code in zip(names, codes, strict=True):
            size = struct.calcsize(code)
            if 0 < len(data) < size:
                raise BadPacket(f"{cls.__name__}: {name} is cut off")
            if data:
                (values[name],) = struct.unpack(f"<{code}", data[:size])
                data = data[size:]
    return cls(**values)


def pack_near(codes: str, values: Any) -> bytes:
    """Numbers as bytes, each as near as its field can hold it."""
    try:
        return struct.pack(f"<{codes}", *values)
    except struct.error:
        near = [fit(value, code) for value, code in zip(values, codes, strict=True)]
        return struct.pack(f"<{codes}", *near)


def fit(value: float, code: str) -> int:
    """The nearest whole number that a field of this code can hold."""
    low, high = LIMITS[code]
    return int(min(max(value, low), high))


def wrap16(value: float) -> int:
    """A number as two bytes hold it that wrap around, as odometers do."""
    return ((int(value) + 0x8000) & 0xFFFF) - 0x8000


def to_text(value: str) -> bytes:
    """A text as bytes that end with NUL."""
    return value.replace("\0", "").encode("utf-8", "surrogateescape") + b"\0"


def from_text(data: bytes) -> tuple[str, bytes]:
    """A text from the beginning of some data, and the rest of them."""
    head, _, rest = data.partition(b"\0")
    return head.decode("utf-8", "surrogateescape"), rest
