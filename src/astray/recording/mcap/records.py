"""The records of an MCAP file as bytes: an opcode, a length and fields, all little endian.

A file is magic, records of data, records of a summary, and magic again. Messages lie in chunks,
which are compressed; behind each chunk is an index of its messages by channel. The summary
repeats what a reader needs to find its way without reading all of it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from enum import IntEnum

import numpy as np

MAGIC = b"\x89MCAP0\r\n"
HEAD = struct.Struct("<BQ")  # opcode and length of what follows
INDEX = struct.Struct("<BQHI")  # the same, a channel, and the length of its entries


class Op(IntEnum):
    """What kind of record it is."""

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


MESSAGE = np.dtype(
    [
        ("opcode", "u1"),
        ("length", "<u8"),
        ("channel", "<u2"),
        ("sequence", "<u4"),
        ("log_time", "<u8"),
        ("publish_time", "<u8"),
    ]
)
"""What stands before the bytes of a message, packed: columns to put before a layout."""


def record(op: Op, content: bytes) -> bytes:
    """One record."""
    return HEAD.pack(op, len(content)) + content


def text(value: str) -> bytes:
    """A text behind its length."""
    raw = value.encode()
    return struct.pack("<I", len(raw)) + raw


def texts(values: Mapping[str, str]) -> bytes:
    """Texts by name."""
    body = b"".join(text(key) + text(value) for key, value in values.items())
    return struct.pack("<I", len(body)) + body


def header(profile: str, library: str) -> bytes:
    """The first record: what the messages are, and who wrote them."""
    return record(Op.HEADER, text(profile) + text(library))


def schema(id: int, name: str, encoding: str, data: bytes) -> bytes:
    """A message type."""
    content = struct.pack("<H", id) + text(name) + text(encoding)
    return record(Op.SCHEMA, content + struct.pack("<I", len(data)) + data)


def channel(id: int, schema: int, topic: str, encoding: str, metadata: Mapping[str, str]) -> bytes:
    """A topic of some type."""
    content = struct.pack("<HH", id, schema) + text(topic) + text(encoding) + texts(metadata)
    return record(Op.CHANNEL, content)


def message(channel: int, sequence: int, ns: int, data: bytes) -> bytes:
    """One message; it was written when it was published."""
    return record(Op.MESSAGE, struct.pack("<HIQQ", channel, sequence, ns, ns) + data)


def chunk(first: int, last: int, size: int, packed: bytes, compression: str) -> bytes:
    """Records from a first to a last time, ns, of some size before they were compressed.

    There is a checksum in what is compressed, so none is given of what it was before, which would
    take a third as long as compressing.
    """
    about = struct.pack("<QQQI", first, last, size, 0)
    content = about + text(compression) + struct.pack("<Q", len(packed))
    return HEAD.pack(Op.CHUNK, len(content) + len(packed)) + content + packed


def attachment(name: str, media_type: str, data: bytes, times: tuple[int, int]) -> bytes:
    """A file within the file, and when it was put there and made, ns."""
    content = struct.pack("<QQ", *times) + text(name) + text(media_type)
    content += struct.pack("<Q", len(data)) + data
    return record(Op.ATTACHMENT, content + struct.pack("<I", zlib.crc32(content)))


def metadata(name: str, values: Mapping[str, str]) -> bytes:
    """Texts under a name."""
    return record(Op.METADATA, text(name) + texts(values))


def data_end() -> bytes:
    """The end of the data; there is no checksum of all before, since each part has its own."""
    return record(Op.DATA_END, struct.pack("<I", 0))


def footer(summary: int, offsets: int, before: bytes) -> bytes:
    """The last record: where the summary is; its checksum is over what comes `before`, too."""
    content = HEAD.pack(Op.FOOTER, 20) + struct.pack("<QQ", summary, offsets)
    return content + struct.pack("<I", zlib.crc32(before + content))
