"""An MCAP file that is being written: every piece goes to the disk at once, the summary last.

A piece is one call to the system, so that a file whose writer was killed is whole up to a piece.
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from astray.files import lock_file
from astray.recording.mcap import records
from astray.recording.mcap.message_index import MessageIndex
from astray.recording.mcap.records import MAGIC, Op

LEVEL = -3  # of zstd: three times as fast as its usual one, for a sixth more bytes
CHANNELS = 1 << 16  # that the format can number
COMPRESSION = "zstd"
BEGINNING, END = 1 << 16, 1 << 12  # bytes by which a file is known, and its last chunk


@dataclass(frozen=True)
class Batch:
    """Records with messages in them, and where those are."""

    raw: bytes | memoryview
    first: int
    last: int
    """Of the messages' times, ns."""
    index: MessageIndex


class Mark(NamedTuple):
    """A place in a file, and by what the file is known: what it begins with, and its last chunk."""

    position: int
    until: int
    """Where that chunk ends."""
    crc: int
    """Of the first bytes and the last ones of that chunk."""

    def fits(self, data: memoryview) -> bool:
        """Whether this is the file, or the beginning of it."""
        if not self.until <= self.position <= len(data):
            return False
        beginning = zlib.crc32(data[: min(BEGINNING, self.position)])
        return zlib.crc32(data[max(0, self.until - END) : self.until], beginning) == self.crc


class McapWriter:
    """Writes MCAP; OSError where the disk does not take it."""

    def __init__(self, path: Path, library: str, profile: str = "ros2") -> None:
        self.path = path
        self.file = path.open("xb", buffering=0)
        with contextlib.suppress(OSError):  # a disk that knows no locks
            lock_file(self.file)
        self.position = 0
        self._beginning, self._end, self._until = 0, b"", 0
        self.counts = np.zeros(CHANNELS, np.int64)
        """How many messages each channel has."""
        self._declared: dict[Op, list[bytes]] = {Op.SCHEMA: [], Op.CHANNEL: []}
        self._chunks: list[bytes] = []
        self._attached: list[bytes] = []
        self._metadata: list[bytes] = []
        self._first: int | None = None
        self._last = 0
        self._put(MAGIC + records.header(profile, library))

    def _put(self, data: bytes) -> int:
        """Append, and tell where."""
        at, view = self.position, memoryview(data)
        done = 0
        while done < len(data):
            done += self.file.write(view[done:]) or 0
        if at < BEGINNING:
            self._beginning = zlib.crc32(view[: BEGINNING - at], self._beginning)
        self.position += len(data)
        return at

    @property
    def mark(self) -> Mark:
        """By what the file as it is now can be told from others."""
        return Mark(self.position, self._until, zlib.crc32(self._end, self._beginning))

    def declare(self, op: Op, made: bytes) -> bytes:
        """Note a schema or a channel for the summary; it belongs into a chunk, too."""
        self._declared[op].append(made)
        return made

    def attach(
        self, name: str, media_type: str, data: bytes, ns: int, created: int | None = None
    ) -> None:
        """Put a file into the file."""
        times = (ns, ns if created is None else created)
        made = records.attachment(name, media_type, data, times)
        content = struct.pack("<QQQQQ", self._put(made), len(made), *times, len(data))
        content += records.text(name) + records.text(media_type)
        self._attached.append(records.record(Op.ATTACHMENT_INDEX, content))

    def describe(self, name: str, values: Mapping[str, str]) -> None:
        """Put texts under a name."""
        made = records.metadata(name, values)
        content = struct.pack("<QQ", self._put(made), len(made)) + records.text(name)
        self._metadata.append(records.record(Op.METADATA_INDEX, content))

    def write(self, batch: Batch) -> None:
        """Append a chunk and the index of its messages."""
        packed, index = compress(batch.raw), batch.index
        span = batch.first, batch.last
        chunk = records.chunk(*span, len(batch.raw), packed, COMPRESSION)
        start = self._put(b"".join((chunk, index.raw)))
        self._end, self._until = chunk[-END:], start + len(chunk)
        self.counts[index.channels] += index.counts
        offsets = index.offsets.copy()
        offsets["at"] += start + len(chunk)
        places = offsets.tobytes()
        content = struct.pack("<QQQQI", batch.first, batch.last, start, len(chunk), len(places))
        content += places + struct.pack("<Q", len(index.raw)) + records.text(COMPRESSION)
        content += struct.pack("<QQ", len(packed), len(batch.raw))
        self._chunks.append(records.record(Op.CHUNK_INDEX, content))
        if len(index.channels):
            self._first = batch.first if self._first is None else min(self._first, batch.first)
            self._last = max(self._last, batch.last)

    def finish(self) -> None:
        """End the data and write the summary."""
        self._put(records.data_end())
        start, summary, offsets = self.position, b"", b""
        groups: Mapping[Op, Sequence[bytes]] = {
            **self._declared,
            Op.STATISTICS: [self._statistics()],
            Op.CHUNK_INDEX: self._chunks,
            Op.ATTACHMENT_INDEX: self._attached,
            Op.METADATA_INDEX: self._metadata,
        }
        for op, made in groups.items():
            group = b"".join(made)
            if group:
                place = struct.pack("<BQQ", op, start + len(summary), len(group))
                offsets += records.record(Op.SUMMARY_OFFSET, place)
                summary += group
        body = summary + offsets
        self._put(body + records.footer(start, start + len(summary), body) + MAGIC)
        self.file.close()

    def _statistics(self) -> bytes:
        content = struct.pack(
            "<QHIIIIQQ",
            int(self.counts.sum()),
            len(self._declared[Op.SCHEMA]),
            len(self._declared[Op.CHANNEL]),
            len(self._attached),
            len(self._metadata),
            len(self._chunks),
            self._first or 0,
            self._last,
        )
        spoken = np.flatnonzero(self.counts)
        pairs = zip(spoken.tolist(), self.counts[spoken].tolist(), strict=True)
        counts = b"".join(struct.pack("<HQ", *pair) for pair in pairs)
        return records.record(Op.STATISTICS, content + struct.pack("<I", len(counts)) + counts)

    def abandon(self) -> None:
        """Leave the file as it is."""
        self.file.close()


def compress(raw: bytes | memoryview) -> bytes:
    """The bytes of a chunk, smaller; with a checksum, which whoever unpacks them looks at."""
    from zstandard import ZstdCompressor

    return ZstdCompressor(level=LEVEL, write_checksum=True).compress(raw)


def replace(path: Path, data: bytes) -> None:
    """Put a file in the place of another: whoever looks sees the old one or the new one."""
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(data)
    os.replace(part, path)
