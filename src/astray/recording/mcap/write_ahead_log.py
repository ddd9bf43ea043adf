"""The write-ahead log of a recording: the messages that are not in a chunk of the file yet.

It is a second file beside the recording, `run.mcap.tail`. It has one chunk, and says at which
offset of which file the chunk belongs. Each write replaces the log as a whole, so there is always
one that can be read.
"""

from __future__ import annotations

import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from astray.recording.mcap.message_index import MessageIndex
from astray.recording.mcap.records import (
    COMPRESSION,
    RECORD_HEAD,
    Opcode,
    compress,
    encode_chunk,
)

LOG_MAGIC = b"astray tail\n"
POSITION = struct.Struct("<QQI")
HEAD_SIZE, TAIL_SIZE = 1 << 16, 1 << 12  # bytes of a file, and of its last chunk, in a checksum


@dataclass(frozen=True)
class ChunkContent:
    """The uncompressed records of a chunk, and the index of its messages."""

    raw: bytes | memoryview
    first: int
    last: int
    """Of the messages' times, ns."""
    index: MessageIndex


class FilePosition(NamedTuple):
    """An offset in a file, and what identifies the file: its first bytes and its last chunk."""

    offset: int
    chunk_end: int
    """Where the last chunk ends."""
    crc: int
    """Of the first HEAD_SIZE bytes and the last TAIL_SIZE bytes of that chunk."""

    def is_in(self, data: memoryview) -> bool:
        """Whether this is a position in the file with this data."""
        if not self.chunk_end <= self.offset <= len(data):
            return False
        head = zlib.crc32(data[: min(HEAD_SIZE, self.offset)])
        tail = data[max(0, self.chunk_end - TAIL_SIZE) : self.chunk_end]
        return zlib.crc32(tail, head) == self.crc


class LoggedChunk(NamedTuple):
    """What a write-ahead log has: a chunk, and where it belongs."""

    position: FilePosition
    content: bytes
    """The content of the chunk's record."""


class WriteAheadLog:
    """The write-ahead log of a recording."""

    def __init__(self, recording: Path) -> None:
        self.path = recording.with_name(f"{recording.name}.tail")
        self._temporary = self.path.with_name(f"{self.path.name}.part")

    def write(self, chunk: ChunkContent, position: FilePosition) -> None:
        """Replace the log by a chunk that belongs at a position of the recording."""
        compressed = compress(chunk.raw)
        record = encode_chunk(chunk.first, chunk.last, len(chunk.raw), compressed, COMPRESSION)
        self._temporary.write_bytes(LOG_MAGIC + POSITION.pack(*position) + record)
        os.replace(self._temporary, self.path)

    def remove(self) -> None:
        """Delete the log, if there is one."""
        self.path.unlink(missing_ok=True)
        self._temporary.unlink(missing_ok=True)

    def read(self) -> LoggedChunk | None:
        """Read the log; None if there is none or it is damaged."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return None
        start = len(LOG_MAGIC) + POSITION.size
        if not data.startswith(LOG_MAGIC) or len(data) < start + RECORD_HEAD.size:
            return None
        position = FilePosition(*POSITION.unpack_from(data, len(LOG_MAGIC)))
        opcode, length = RECORD_HEAD.unpack_from(data, start)
        content = data[start + RECORD_HEAD.size :]
        if opcode != Opcode.CHUNK or len(content) != length:
            return None
        return LoggedChunk(position, content)
