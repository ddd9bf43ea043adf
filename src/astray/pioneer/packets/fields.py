"""Encoding of packet fields: little-endian integers, NUL-terminated strings and counted lists.

A packet is a frozen dataclass. Its fields stand in the order of their bytes, and each declares its
format:

    class Example(RobotPacket):
        ID = 0x42
        x: int = i16()
        name: str = c_string("MobileSim")
        readings: tuple[tuple[int, int], ...] = counted_list("B", "BH")

An integer that exceeds the range of its field is sent as the nearest value within the range.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import struct
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

from astray.errors import WrongInput
from astray.pioneer.packets.framing import encode_packet

P = TypeVar("P", bound="RobotPacket")
RANGES = {
    "B": (0, 0xFF),
    "b": (-0x80, 0x7F),
    "H": (0, 0xFFFF),
    "h": (-0x8000, 0x7FFF),
    "I": (0, 0xFFFFFFFF),
    "i": (-0x80000000, 0x7FFFFFFF),
}
"""The smallest and the largest value of each integer code of `struct`."""


class BadPacket(WrongInput):
    """Data that cannot be decoded as the packet that its id announces."""


class FieldCodec(NamedTuple):
    """The functions of a field that is more than an integer."""

    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], tuple[Any, bytes]]
    """Returns the value and the data behind it."""


class FieldGroup(NamedTuple):
    """Consecutive integer fields, which are packed at once, or one field with a codec."""

    names: tuple[str, ...]
    codes: str
    codec: FieldCodec | None


class RobotPacket:
    """A packet from a robot to its client, as a dataclass of its fields; abstract."""

    ID: ClassVar[int]
    MIN_BYTES: ClassVar[int] = 0
    """Bytes of data that a packet has at least; fields beyond them may be missing."""

    def encode(self) -> bytes:
        """The framed bytes of the packet."""
        data: list[bytes] = []
        for names, codes, codec in self._field_groups():
            if codec is not None:
                data.append(codec.encode(getattr(self, names[0])))
            else:
                data.append(pack_clamped(codes, [getattr(self, name) for name in names]))
        return encode_packet(self.ID, b"".join(data))

    @classmethod
    def decode(cls: type[P], data: bytes) -> P:
        """Decode the data of a packet. Missing fields at the end get their defaults.

        Raises:
            BadPacket: The data is shorter than `MIN_BYTES` or ends inside a field.
        """
        if len(data) < cls.MIN_BYTES:
            raise BadPacket(f"{cls.__name__}: {cls.MIN_BYTES} bytes are needed, not {len(data)}")
        values: dict[str, Any] = {}
        for names, codes, codec in cls._field_groups():
            if codec is not None:
                if data:
                    values[names[0]], data = codec.decode(data)
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

    @classmethod
    @functools.cache
    def _field_groups(cls) -> list[FieldGroup]:
        """The fields of a packet class in the order of their bytes."""
        groups: list[FieldGroup] = []
        for field in dataclasses.fields(cast(Any, cls)):
            layout = field.metadata["layout"]
            if isinstance(layout, FieldCodec):
                groups.append(FieldGroup((field.name,), "", layout))
            elif groups and groups[-1].codec is None:
                names, codes, _ = groups[-1]
                groups[-1] = FieldGroup((*names, field.name), codes + layout, None)
            else:
                groups.append(FieldGroup((field.name,), layout, None))
        return groups


def packet_field(layout: str | FieldCodec, default: Any = 0) -> Any:
    """A field of a packet: an integer by its code of `struct`, or a codec."""
    return dataclasses.field(default=default, metadata={"layout": layout})


u8 = functools.partial(packet_field, "B")
i8 = functools.partial(packet_field, "b")
u16 = functools.partial(packet_field, "H")
i16 = functools.partial(packet_field, "h")
u32 = functools.partial(packet_field, "I")
i32 = functools.partial(packet_field, "i")


def c_string(default: str = "") -> Any:
    """A text that ends with NUL."""
    return packet_field(FieldCodec(encode_c_string, decode_c_string), default)


def counted_list(count_code: str, item_codes: str) -> Any:
    """A count and that many items. An item of one number is an int, others are tuples."""
    count_format, item_format = struct.Struct(f"<{count_code}"), struct.Struct(f"<{item_codes}")
    scalar = len(item_format.unpack(bytes(item_format.size))) == 1

    def encode(items: tuple[Any, ...]) -> bytes:
        numbers = items if scalar else list(itertools.chain.from_iterable(items))
        return count_format.pack(len(items)) + pack_clamped(item_codes * len(items), numbers)

    def decode(data: bytes) -> tuple[Any, bytes]:
        if len(data) < count_format.size:
            raise BadPacket("a list is cut off before its count")
        end = count_format.size + count_format.unpack_from(data)[0] * item_format.size
        if len(data) < end:
            raise BadPacket(f"a list is cut off after {len(data) - count_format.size} bytes")
        items = item_format.iter_unpack(data[count_format.size : end])
        return tuple(item[0] for item in items) if scalar else tuple(items), data[end:]

    return packet_field(FieldCodec(encode, decode), ())


def trailing_bytes() -> Any:
    """All bytes that are left: later firmware appends fields."""
    return packet_field(FieldCodec(bytes, lambda data: (data, b"")), b"")


def pack_clamped(codes: str, values: Sequence[Any]) -> bytes:
    """Integers as bytes, each clamped to the range of its field."""
    try:
        return struct.pack(f"<{codes}", *values)
    except struct.error:
        clamped = [clamp(value, code) for value, code in zip(values, codes, strict=True)]
        return struct.pack(f"<{codes}", *clamped)


def clamp(value: float, code: str) -> int:
    """The nearest integer within the range of a code of `struct`."""
    low, high = RANGES[code]
    return int(min(max(value, low), high))


def wrap_i16(value: float) -> int:
    """An integer modulo 2¹⁶ in the range of an i16, as odometers wrap around."""
    return ((int(value) + 0x8000) & 0xFFFF) - 0x8000


def encode_c_string(text: str) -> bytes:
    """A text as bytes that end with NUL."""
    return text.replace("\0", "").encode("utf-8", "surrogateescape") + b"\0"


def decode_c_string(data: bytes) -> tuple[str, bytes]:
    """The text at the start of some data, and the data behind it."""
    head, _, rest = data.partition(b"\0")
    return head.decode("utf-8", "surrogateescape"), rest
