"""The records of an MCAP file: encoded, decoded, found again in a damaged file.

A file is magic, data records, summary records, and magic again. A record is an opcode, a length and
fields, all little endian. Messages lie in compressed chunks; after each chunk follows an index of
its messages by channel. The summary repeats what a reader needs for random access. The format is
specified at https://mcap.dev/spec.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import BinaryIO, NamedTuple

import numpy as np

MAGIC = b"\x89MCAP0\r\n"
RECORD_HEAD = struct.Struct("<BQ")  # opcode, and the length of the content that follows
MESSAGE_INDEX_HEAD = struct.Struct("<BQHI")  # the same, a channel, and the length of its entries
PRIVATE_OPCODES = 0x80  # from here on records are up to the writer
MAX_RECORD_SIZE = 1 << 34  # bytes; a larger length is damage
MAX_CHUNK_SIZE = 1 << 31  # bytes that are decompressed; a larger size is damage
COMPRESSION = "zstd"  # of the chunks that we write
COMPRESSION_LEVEL = -3  # three times as fast as the default, for a sixth more bytes
COMPRESSIONS = ("", "zstd", "lz4")  # of the chunks that we read
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
ZSTD_HAS_CHECKSUM = 4  # a bit of the byte after the magic
CHUNK_START = re.compile(rb"\x06[\x00-\xff]{4}\x00{4}")  # the opcode of a chunk, a plausible length
READ_SIZE = 1 << 12  # bytes that are read at once of a damaged chunk
CONTENT_SIZE_OF_FOOTER = 20  # bytes


class Opcode(IntEnum):
    """The kinds of records."""

    HEADER = 1
    FOOTER = 2
    SCHEMA = 3
    CHANNEL = 4
    MESSAGE = 5
    CHUNK = 6
    MESSAGE_INDEX = 7
    CHUNK_INDEX = 8
    ATTACHMENT = 9
    ATTACHMENT_INDEX = 10
    STATISTICS = 11
    METADATA = 12
    METADATA_INDEX = 13
    SUMMARY_OFFSET = 14
    DATA_END = 15


MESSAGE_HEAD = np.dtype(
    [
        ("opcode", "u1"),
        ("length", "<u8"),
        ("channel", "<u2"),
        ("sequence", "<u4"),
        ("log_time", "<u8"),
        ("publish_time", "<u8"),
    ]
)
"""What precedes the bytes of a message in its record, packed."""


# Encoding.


def encode_record(opcode: Opcode, content: bytes) -> bytes:
    """A record."""
    return RECORD_HEAD.pack(opcode, len(content)) + content


def encode_text(value: str) -> bytes:
    """A text after its length."""
    raw = value.encode()
    return struct.pack("<I", len(raw)) + raw


def encode_text_map(values: Mapping[str, str]) -> bytes:
    """A map of texts after its length."""
    body = b"".join(encode_text(key) + encode_text(value) for key, value in values.items())
    return struct.pack("<I", len(body)) + body


def encode_header(profile: str, library: str) -> bytes:
    """The first record: the profile of the messages, and the library that wrote them."""
    return encode_record(Opcode.HEADER, encode_text(profile) + encode_text(library))


def encode_schema(id: int, name: str, encoding: str, data: bytes) -> bytes:
    """A message type."""
    content = struct.pack("<H", id) + encode_text(name) + encode_text(encoding)
    return encode_record(Opcode.SCHEMA, content + struct.pack("<I", len(data)) + data)


def encode_channel(
    id: int, schema: int, topic: str, encoding: str, metadata: Mapping[str, str]
) -> bytes:
    """A topic and its type."""
    content = struct.pack("<HH", id, schema) + encode_text(topic) + encode_text(encoding)
    return encode_record(Opcode.CHANNEL, content + encode_text_map(metadata))


def encode_message(channel: int, sequence: int, ns: int, data: bytes) -> bytes:
    """A message, whose log time is its publish time."""
    content = struct.pack("<HIQQ", channel, sequence, ns, ns) + data
    return encode_record(Opcode.MESSAGE, content)


def encode_chunk(first: int, last: int, size: int, compressed: bytes, compression: str) -> bytes:
    """A chunk of records from a first to a last time, ns, of some size before compression.

    The compressed data has a checksum. So none is given of the uncompressed data, which would take
    a third as long as to compress it.
    """
    content = struct.pack("<QQQI", first, last, size, 0)
    content += encode_text(compression) + struct.pack("<Q", len(compressed))
    return RECORD_HEAD.pack(Opcode.CHUNK, len(content) + len(compressed)) + content + compressed


def encode_attachment(name: str, media_type: str, data: bytes, times: tuple[int, int]) -> bytes:
    """A file within the file; the times are when it was attached and when it was made, ns."""
    content = struct.pack("<QQ", *times) + encode_text(name) + encode_text(media_type)
    content += struct.pack("<Q", len(data)) + data
    return encode_record(Opcode.ATTACHMENT, content + struct.pack("<I", zlib.crc32(content)))


def encode_metadata(name: str, values: Mapping[str, str]) -> bytes:
    """A named map of texts."""
    return encode_record(Opcode.METADATA, encode_text(name) + encode_text_map(values))


def encode_data_end() -> bytes:
    """The end of the data section, without a checksum, since each part of it has its own."""
    return encode_record(Opcode.DATA_END, struct.pack("<I", 0))


def encode_footer(summary: int, offsets: int, before: bytes) -> bytes:
    """The last record: where the summary starts; its checksum covers the bytes `before`, too."""
    content = RECORD_HEAD.pack(Opcode.FOOTER, CONTENT_SIZE_OF_FOOTER)
    content += struct.pack("<QQ", summary, offsets)
    return content + struct.pack("<I", zlib.crc32(before + content))


def compress(raw: bytes | memoryview) -> bytes:
    """Compress the records of a chunk, with a checksum that decompressing verifies."""
    from zstandard import ZstdCompressor

    return ZstdCompressor(level=COMPRESSION_LEVEL, write_checksum=True).compress(raw)


# Decoding.


class Record(NamedTuple):
    """A record: its opcode, its content, and the offset at which it starts."""

    opcode: int
    content: memoryview
    start: int


class TornRecord(Exception):
    """The bytes end, or are no record, at offset `start`."""

    def __init__(self, start: int, opcode: int = 0, rest: memoryview | None = None) -> None:
        super().__init__(start)
        self.start = start
        self.opcode = opcode
        self.rest = rest
        """The beginning of the content of a record that was cut off."""


def iterate_records(data: memoryview, start: int = 0) -> Iterator[Record]:
    """The records from an offset on; TornRecord at the first one that is not whole."""
    end = len(data)
    while start < end:
        if start + RECORD_HEAD.size > end:
            raise TornRecord(start)
        opcode, length = RECORD_HEAD.unpack_from(data, start)
        content = start + RECORD_HEAD.size
        known = 1 <= opcode <= Opcode.DATA_END or opcode >= PRIVATE_OPCODES
        if not known or length > MAX_RECORD_SIZE:
            raise TornRecord(start)
        if content + length > end:
            raise TornRecord(start, opcode, data[content:])
        yield Record(opcode, data[content : content + length], start)
        start = content + length


def find_chunk(data: memoryview, start: int) -> int:
    """The offset of the next chunk after damaged bytes; the end of the data if there is none."""
    for found in CHUNK_START.finditer(data, start):
        offset = found.start()
        _, length = RECORD_HEAD.unpack_from(data, offset)
        content = offset + RECORD_HEAD.size
        if content + length <= len(data) and _is_chunk(data[content : content + length]):
            return offset
    return len(data)


def _is_chunk(content: memoryview) -> bool:
    """Whether some bytes are exactly the fields of a chunk."""
    try:
        fields = RecordFields(content)
        fields.numbers("QQQI")
        known = fields.text() in COMPRESSIONS
        (length,) = fields.numbers("Q")
    except (struct.error, UnicodeDecodeError):
        return False
    return known and fields.offset + length == len(content)


class RecordFields:
    """Reads the fields of a record one after the other; struct.error where they end early."""

    def __init__(self, content: memoryview) -> None:
        self.content, self.offset = content, 0

    def numbers(self, format: str) -> tuple[int, ...]:
        """Numbers by a format of `struct`."""
        found = struct.unpack_from(f"<{format}", self.content, self.offset)
        self.offset += struct.calcsize(f"<{format}")
        return found

    def raw(self, length: int) -> memoryview:
        """Bytes."""
        if length > len(self.content) - self.offset:
            raise struct.error("a field is longer than its record")
        self.offset += length
        return self.content[self.offset - length : self.offset]

    def text(self) -> str:
        """A text after its length."""
        (length,) = self.numbers("I")
        return bytes(self.raw(length)).decode()

    def text_map(self) -> dict[str, str]:
        """A map of texts after its length."""
        (length,) = self.numbers("I")
        entries, found = RecordFields(self.raw(length)), {}
        while entries.offset < length:
            key = entries.text()
            found[key] = entries.text()
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


def decode_schema(content: memoryview) -> tuple[int, str, str]:
    """The id and name of a message type, and the text of its definition."""
    fields = RecordFields(content)
    (id,) = fields.numbers("H")
    name, _encoding = fields.text(), fields.text()
    return id, name, fields.text()


def decode_channel(content: memoryview, types: Mapping[int, str]) -> McapChannel:
    """A topic, given the names of the types by their ids."""
    fields = RecordFields(content)
    id, schema = fields.numbers("HH")
    topic = fields.text()
    return McapChannel(id, topic, types.get(schema, ""), fields.text())


def decode_attachment(content: memoryview) -> Attachment:
    """A file within a file; ValueError if its checksum is wrong."""
    fields = RecordFields(content)
    log_time, create_time = fields.numbers("QQ")
    name, media_type = fields.text(), fields.text()
    (length,) = fields.numbers("Q")
    found = Attachment(name, media_type, bytes(fields.raw(length)), log_time, create_time)
    covered = fields.offset
    (crc,) = fields.numbers("I")
    if crc and zlib.crc32(content[:covered]) != crc:
        raise ValueError(f"attachment {name!r} is damaged")
    return found


def decode_metadata(content: memoryview) -> tuple[str, dict[str, str]]:
    """A named map of texts."""
    fields = RecordFields(content)
    return fields.text(), fields.text_map()


class ChunkRecords(NamedTuple):
    """The decompressed records of a chunk, and whether they are complete and undamaged."""

    raw: memoryview
    sound: bool


def decode_chunk(content: memoryview) -> ChunkRecords:
    """Decompress a chunk; of one that is cut off or damaged, as much as possible."""
    try:
        fields = RecordFields(content)
        _, _, size, crc = fields.numbers("QQQI")
        compression = fields.text()
        (length,) = fields.numbers("Q")
    except (struct.error, UnicodeDecodeError):
        return ChunkRecords(memoryview(b""), False)
    compressed = content[fields.offset : fields.offset + length]
    raw, sound = _decompress(compression, compressed, min(size, MAX_CHUNK_SIZE))
    sound = sound and len(compressed) == length and len(raw) == size
    return ChunkRecords(raw, sound and (not crc or zlib.crc32(raw) == crc))


def _decompress(compression: str, compressed: memoryview, size: int) -> ChunkRecords:
    """As many of `size` bytes as possible."""
    if not compression:
        return ChunkRecords(compressed, True)
    if compression == "zstd":
        return _decompress_zstd(compressed, size)
    if compression == "lz4":
        import lz4.frame

        try:
            found: bytes = lz4.frame.LZ4FrameDecompressor().decompress(compressed, max_length=size)
        except RuntimeError:
            return ChunkRecords(memoryview(b""), False)
        return ChunkRecords(memoryview(found), True)
    return ChunkRecords(memoryview(b""), False)


def _decompress_zstd(compressed: memoryview, size: int) -> ChunkRecords:
    from zstandard import ZstdDecompressor, ZstdError

    try:
        with ZstdDecompressor().stream_reader(compressed) as stream:
            return ChunkRecords(memoryview(stream.read(size)), True)
    except ZstdError:
        pass
    found, unchecked = bytearray(), bytearray(compressed)
    if len(unchecked) > len(ZSTD_MAGIC) and unchecked.startswith(ZSTD_MAGIC):
        # Without the checksum, one wrong byte does not hide all others.
        unchecked[len(ZSTD_MAGIC)] &= ~ZSTD_HAS_CHECKSUM
    try:
        with ZstdDecompressor().stream_reader(unchecked) as stream:
            while len(found) < size and (piece := stream.read(min(READ_SIZE, size - len(found)))):
                found += piece
    except ZstdError:
        pass
    return ChunkRecords(memoryview(found), False)


# Files.


def map_file(file: BinaryIO) -> memoryview:
    """The content of an open file, mapped to memory; it stays valid when the file is closed."""
    size = os.fstat(file.fileno()).st_size  # an empty file cannot be mapped
    return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b"")


def is_mcap(data: memoryview | bytes) -> bool:
    """Whether bytes begin as an MCAP file does."""
    return bytes(data[: len(MAGIC)]) == MAGIC


def is_finished(data: memoryview) -> bool:
    """Whether a file ends with a footer, so that it was written to its end."""
    end = RECORD_HEAD.size + CONTENT_SIZE_OF_FOOTER + len(MAGIC)
    if len(data) < 2 * len(MAGIC) + end or bytes(data[-len(MAGIC) :]) != MAGIC:
        return False
    opcode, length = RECORD_HEAD.unpack_from(data, len(data) - end)
    return bool(opcode == Opcode.FOOTER and length == CONTENT_SIZE_OF_FOOTER)
