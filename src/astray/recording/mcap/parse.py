"""MCAP files taken apart again, ours and those of others, whole or torn."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from astray.recording.mcap.records import HEAD, MAGIC, Op

OWN_OPS = 0x80  # from here on everybody may have records of their own
LARGEST = 1 << 34  # bytes; no record is larger than that
LARGEST_CHUNK = 1 << 31  # bytes that are unpacked; no chunk that makes sense has more
ZSTD = b"\x28\xb5\x2f\xfd"  # how it begins
CHECKED = 4  # the bit of the next byte that says that there is a checksum
COMPRESSIONS = ("", "zstd", "lz4")
CHUNK_HEAD = re.compile(rb"\x06[\x00-\xff]{4}\x00{4}")  # the op of a chunk, and its length
PIECE = 1 << 12  # bytes that are read at once of what is damaged


class Record(NamedTuple):
    """One record: what it is, its content, and where it begins."""

    op: int
    content: memoryview
    start: int


class Torn(Exception):
    """The bytes end, or cease to be records, at `start`."""

    def __init__(self, start: int, op: int = 0, rest: memoryview | None = None) -> None:
        super().__init__(start)
        self.start = start
        self.op = op
        self.rest = rest
        """What there is of the content of the record that was cut off."""


def walk(data: memoryview, start: int = 0) -> Iterator[Record]:
    """The records from a place on; Torn where there is no whole one."""
    end = len(data)
    while start < end:
        if start + HEAD.size > end:
            raise Torn(start)
        op, length = HEAD.unpack_from(data, start)
        body = start + HEAD.size
        if not (1 <= op <= Op.DATA_END or op >= OWN_OPS) or length > LARGEST:
            raise Torn(start)
        if body + length > end:
            raise Torn(start, op, data[body:])
        yield Record(op, data[body : body + length], start)
        start = body + length


def find_chunk(data: memoryview, start: int) -> int:
    """Where the next chunk begins, from a place on at which nothing makes sense; or the end."""
    for found in CHUNK_HEAD.finditer(data, start):
        place = found.start()
        _, length = HEAD.unpack_from(data, place)
        body = place + HEAD.size
        if body + length <= len(data) and _is_chunk(data[body : body + length]):
            return place
    return len(data)


def _is_chunk(content: memoryview) -> bool:
    """Whether some bytes have the parts of a chunk, and nothing behind them."""
    try:
        fields = RecordReader(content)
        fields.numbers("QQQI")
        known = fields.text() in COMPRESSIONS
        (length,) = fields.numbers("Q")
    except (struct.error, UnicodeDecodeError):
        return False
    return known and fields.at + length == len(content)


class RecordReader:
    """Reads the fields of a record one after the other."""

    def __init__(self, content: memoryview) -> None:
        self.content, self.at = content, 0

    def numbers(self, form: str) -> tuple[int, ...]:
        """Some numbers."""
        found = struct.unpack_from(f"<{form}", self.content, self.at)
        self.at += struct.calcsize(f"<{form}")
        return found

    def raw(self, length: int) -> memoryview:
        """Some bytes."""
        if length > len(self.content) - self.at:
            raise struct.error("a field is longer than its record")
        self.at += length
        return self.content[self.at - length : self.at]

    def text(self) -> str:
        """A text."""
        (length,) = self.numbers("I")
        return bytes(self.raw(length)).decode()

    def texts(self) -> dict[str, str]:
        """Texts by name."""
        (length,) = self.numbers("I")
        inside, found = RecordReader(self.raw(length)), {}
        while inside.at < length:
            key = inside.text()
            found[key] = inside.text()
        return found


@dataclass(frozen=True)
class McapChannel:
    """A topic of a file."""

    id: int
    topic: str
    type: str
    encoding: str


@dataclass(frozen=True)
class Attachment:
    """A file within a file."""

    name: str
    media_type: str
    data: bytes
    log_time: int
    create_time: int


def parse_schema(content: memoryview) -> tuple[int, str, str]:
    """The number and name of a message type, and the text of its definition."""
    fields = RecordReader(content)
    (number,) = fields.numbers("H")
    return number, fields.text(), (fields.text(), fields.text())[1]


def parse_channel(content: memoryview, types: dict[int, str]) -> McapChannel:
    """A topic; types by their numbers."""
    fields = RecordReader(content)
    number, schema = fields.numbers("HH")
    topic = fields.text()
    return McapChannel(number, topic, types.get(schema, ""), fields.text())


def parse_attachment(content: memoryview) -> Attachment:
    """A file within a file; ValueError if it is not what it was."""
    fields = RecordReader(content)
    logged, created = fields.numbers("QQ")
    name, media_type = fields.text(), fields.text()
    (length,) = fields.numbers("Q")
    found = Attachment(name, media_type, bytes(fields.raw(length)), logged, created)
    before = fields.at
    (crc,) = fields.numbers("I")
    if crc and zlib.crc32(content[:before]) != crc:
        raise ValueError(f"attachment {name!r} is damaged")
    return found


def parse_metadata(content: memoryview) -> tuple[str, dict[str, str]]:
    """A name and the texts under it."""
    fields = RecordReader(content)
    return fields.text(), fields.texts()


class Unpacked(NamedTuple):
    """The records in a chunk, as far as they could be had; `sound` if that is all of them."""

    raw: memoryview
    sound: bool


def unpack_chunk(content: memoryview) -> Unpacked:
    """Take a chunk apart; one that is cut off or damaged gives what there is."""
    try:
        fields = RecordReader(content)
        _, _, size, crc = fields.numbers("QQQI")
        compression = fields.text()
        (length,) = fields.numbers("Q")
    except (struct.error, UnicodeDecodeError):
        return Unpacked(memoryview(b""), False)
    packed = content[fields.at : fields.at + length]
    raw, sound = decompress(compression, packed, min(size, LARGEST_CHUNK))
    sound = sound and len(packed) == length and len(raw) == size
    return Unpacked(raw, sound and (not crc or zlib.crc32(raw) == crc))


def decompress(compression: str, packed: memoryview, size: int) -> Unpacked:
    """As many of the bytes as can be had, `size` if nothing is wrong."""
    if not compression:
        return Unpacked(packed, True)
    if compression == "zstd":
        return _unpack_zstd(packed, size)
    if compression == "lz4":
        import lz4.frame

        try:
            found: bytes = lz4.frame.LZ4FrameDecompressor().decompress(packed, max_length=size)
        except RuntimeError:
            return Unpacked(memoryview(b""), False)
        return Unpacked(memoryview(found), True)
    return Unpacked(memoryview(b""), False)


def _unpack_zstd(packed: memoryview, size: int) -> Unpacked:
    from zstandard import ZstdDecompressor, ZstdError

    try:
        with ZstdDecompressor().stream_reader(packed) as stream:
            return Unpacked(memoryview(stream.read(size)), True)
    except ZstdError:
        pass
    found, unchecked = bytearray(), bytearray(packed)
    if len(unchecked) > len(ZSTD) and unchecked.startswith(ZSTD):
        unchecked[len(ZSTD)] &= ~CHECKED  # so that one wrong byte does not hide all others
    try:
        with ZstdDecompressor().stream_reader(unchecked) as stream:
            while len(found) < size and (piece := stream.read(min(PIECE, size - len(found)))):
                found += piece
    except ZstdError:
        pass
    return Unpacked(memoryview(found), False)


def is_mcap(data: memoryview | bytes) -> bool:
    """Whether bytes begin as an MCAP file does."""
    return bytes(data[: len(MAGIC)]) == MAGIC


def is_finished(data: memoryview) -> bool:
    """Whether a file was written to its end."""
    tail = HEAD.size + 20 + len(MAGIC)
    if len(data) < 2 * len(MAGIC) + tail or bytes(data[-len(MAGIC) :]) != MAGIC:
        return False
    op, length = HEAD.unpack_from(data, len(data) - tail)
    return bool(op == Op.FOOTER and length == 20)
