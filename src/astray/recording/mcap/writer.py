"""Writes an MCAP file: each record or chunk goes to the disk at once, the summary at the end.

Each append is one system call where possible, so a file whose writer was killed is whole up to a
record.
"""

from __future__ import annotations

import contextlib
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from astray.files import lock_file
from astray.recording.mcap.records import (
    COMPRESSION,
    MAGIC,
    Opcode,
    compress,
    encode_attachment,
    encode_chunk,
    encode_data_end,
    encode_footer,
    encode_header,
    encode_metadata,
    encode_record,
    encode_text,
)
from astray.recording.mcap.write_ahead_log import (
    HEAD_SIZE,
    TAIL_SIZE,
    ChunkContent,
    FilePosition,
)

MAX_CHANNELS = 1 << 16  # that the format can number


class McapWriter:
    """Appends to a new MCAP file; OSError where the disk refuses."""

    def __init__(self, path: Path, library: str, profile: str = "ros2") -> None:
        """Create the file and lock it; FileExistsError if there is one."""
        self.path = path
        self.file = path.open("xb", buffering=0)
        with contextlib.suppress(OSError):  # a file system without locks
            lock_file(self.file)
        self.offset = 0
        """The size of the file so far, bytes."""
        self._head_crc, self._chunk_tail, self._chunk_end = 0, b"", 0
        self.counts = np.zeros(MAX_CHANNELS, np.int64)
        """The number of messages of each channel."""
        self._declared: dict[Opcode, list[bytes]] = {Opcode.SCHEMA: [], Opcode.CHANNEL: []}
        self._chunk_indexes: list[bytes] = []
        self._attachment_indexes: list[bytes] = []
        self._metadata_indexes: list[bytes] = []
        self._first: int | None = None  # time of the first message, ns
        self._last = 0
        self._append(MAGIC + encode_header(profile, library))

    def _append(self, data: bytes) -> int:
        """Append bytes and return the offset at which they start."""
        start, view = self.offset, memoryview(data)
        written = 0
        while written < len(data):
            written += self.file.write(view[written:]) or 0
        if start < HEAD_SIZE:
            self._head_crc = zlib.crc32(view[: HEAD_SIZE - start], self._head_crc)
        self.offset += len(data)
        return start

    @property
    def position(self) -> FilePosition:
        """The end of the file, with what identifies the file."""
        crc = zlib.crc32(self._chunk_tail, self._head_crc)
        return FilePosition(self.offset, self._chunk_end, crc)

    def declare(self, opcode: Opcode, record: bytes) -> bytes:
        """Repeat a schema or a channel in the summary; the caller puts it into a chunk, too."""
        self._declared[opcode].append(record)
        return record

    def attach(
        self, name: str, media_type: str, data: bytes, ns: int, created: int | None = None
    ) -> None:
        """Append an attachment."""
        times = (ns, ns if created is None else created)
        record = encode_attachment(name, media_type, data, times)
        content = struct.pack("<QQQQQ", self._append(record), len(record), *times, len(data))
        content += encode_text(name) + encode_text(media_type)
        self._attachment_indexes.append(encode_record(Opcode.ATTACHMENT_INDEX, content))

    def write_metadata(self, name: str, values: Mapping[str, str]) -> None:
        """Append a named map of texts."""
        record = encode_metadata(name, values)
        content = struct.pack("<QQ", self._append(record), len(record)) + encode_text(name)
        self._metadata_indexes.append(encode_record(Opcode.METADATA_INDEX, content))

    def write_chunk(self, chunk: ChunkContent) -> None:
        """Append a chunk and the index of its messages."""
        compressed, index = compress(chunk.raw), chunk.index
        times = chunk.first, chunk.last
        record = encode_chunk(*times, len(chunk.raw), compressed, COMPRESSION)
        start = self._append(b"".join((record, index.raw)))
        self._chunk_tail, self._chunk_end = record[-TAIL_SIZE:], start + len(record)
        self.counts[index.channels] += index.counts
        offsets = index.offsets.copy()
        offsets["offset"] += start + len(record)
        packed_offsets = offsets.tobytes()
        content = struct.pack("<QQQQI", *times, start, len(record), len(packed_offsets))
        content += packed_offsets + struct.pack("<Q", len(index.raw)) + encode_text(COMPRESSION)
        content += struct.pack("<QQ", len(compressed), len(chunk.raw))
        self._chunk_indexes.append(encode_record(Opcode.CHUNK_INDEX, content))
        if len(index.channels):
            self._first = chunk.first if self._first is None else min(self._first, chunk.first)
            self._last = max(self._last, chunk.last)

    def finish(self) -> None:
        """End the data section, write the summary and close the file."""
        self._append(encode_data_end())
        start, summary, offsets = self.offset, b"", b""
        groups: Mapping[Opcode, Sequence[bytes]] = {
            **self._declared,
            Opcode.STATISTICS: [self._statistics()],
            Opcode.CHUNK_INDEX: self._chunk_indexes,
            Opcode.ATTACHMENT_INDEX: self._attachment_indexes,
            Opcode.METADATA_INDEX: self._metadata_indexes,
        }
        for opcode, records in groups.items():
            group = b"".join(records)
            if group:
                content = struct.pack("<BQQ", opcode, start + len(summary), len(group))
                offsets += encode_record(Opcode.SUMMARY_OFFSET, content)
                summary += group
        body = summary + offsets
        self._append(body + encode_footer(start, start + len(summary), body) + MAGIC)
        self.file.close()

    def _statistics(self) -> bytes:
        content = struct.pack(
            "<QHIIIIQQ",
            int(self.counts.sum()),
            len(self._declared[Opcode.SCHEMA]),
            len(self._declared[Opcode.CHANNEL]),
            len(self._attachment_indexes),
            len(self._metadata_indexes),
            len(self._chunk_indexes),
            self._first or 0,
            self._last,
        )
        used = np.flatnonzero(self.counts)
        pairs = zip(used.tolist(), self.counts[used].tolist(), strict=True)
        counts = b"".join(struct.pack("<HQ", *pair) for pair in pairs)
        return encode_record(Opcode.STATISTICS, content + struct.pack("<I", len(counts)) + counts)

    def abandon(self) -> None:
        """Close the file as it is, without a summary."""
        self.file.close()
