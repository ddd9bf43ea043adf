"""Recovery of a recording whose writer was killed, or whose file is damaged.

1. Every whole record of the file is copied, from its beginning on. After damaged bytes the copy
   continues at the next chunk. Of a chunk that is damaged or cut off, the messages that can be
   decompressed are kept.
2. The messages of the write-ahead log follow, if it belongs to this file and is newer than its last
   chunk.
3. Indexes and summary are rebuilt.
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from astray.errors import RecordingError
from astray.files import is_locked
from astray.recording.mcap.message_index import IndexLayout
from astray.recording.mcap.records import (
    MAGIC,
    RECORD_HEAD,
    Opcode,
    RecordFields,
    TornRecord,
    decode_attachment,
    decode_channel,
    decode_chunk,
    decode_metadata,
    decode_schema,
    find_chunk,
    is_finished,
    is_mcap,
    iterate_records,
    map_file,
)
from astray.recording.mcap.write_ahead_log import ChunkContent, LoggedChunk, WriteAheadLog
from astray.recording.mcap.writer import McapWriter

MAX_PENDING = 1 << 20  # bytes of messages outside of chunks, of which a chunk is made
CHANNEL = struct.Struct("<H")  # at the beginning of a message's content
LOG_TIME, LOG_TIME_OFFSET = struct.Struct("<Q"), 6
MIN_MESSAGE_SIZE = 22  # bytes of the content of a message without data
FOOTER = struct.Struct("<QQI")  # where the summary starts, where its offsets, and its checksum
CRC_SIZE = 4  # bytes


@dataclass
class RecoveryReport:
    """The result of a recovery."""

    path: Path
    """The recovered file."""
    original: Path | None
    """Where the damaged file is now, if it was renamed."""
    messages: int = 0
    from_log: int = 0
    """How many of these were in the write-ahead log."""
    lost_bytes: int = 0
    """Bytes that were no whole record."""
    damaged_chunks: int = 0
    seconds: float = 0.0
    """From the first message to the last."""
    was_intact: bool = False
    """Whether there was nothing to recover."""


def recover_recording(path: Path, out: Path | None = None) -> RecoveryReport:
    """Recover a recording in place, or copy what can be recovered to another file.

    Args:
        path: The recording.
        out: Where to write. Without it the recovered file replaces the recording, which is renamed
            to `*.torn`; an intact one is left as it is.

    Returns:
        What was found.

    Raises:
        RecordingError: It is no MCAP file, it is still being written, or the disk refuses.
    """
    log, destination = WriteAheadLog(path), out or path
    temporary = destination.with_name(f"{destination.name}.part")
    try:
        report = _recover_to(temporary, path, log, even_if_intact=out is not None)
        if report is None:
            return RecoveryReport(path, None, was_intact=True)
        report.path = destination
        if out is None:
            report.original = path.with_name(f"{path.name}.torn")
            os.replace(path, report.original)
        os.replace(temporary, destination)
        if out is None:
            log.remove()
    except OSError as problem:
        temporary.unlink(missing_ok=True)
        raise RecordingError(
            f"{destination}: cannot be written: {problem.strerror or problem}"
        ) from None
    return report


def _recover_to(
    temporary: Path, path: Path, log: WriteAheadLog, even_if_intact: bool
) -> RecoveryReport | None:
    """Write the recovered file; None if the recording is intact, unless `even_if_intact`.

    The recording is closed at the end of this function: Windows renames no open file.
    """
    try:
        with path.open("rb") as file:
            if not even_if_intact and is_locked(file):
                raise RecordingError(
                    f"{path}: is still being written; end that program first, or copy what there "
                    "is by --out"
                )
            data = map_file(file)
    except OSError as problem:
        raise RecordingError(f"{path}: {problem.strerror or problem}") from None
    if not is_mcap(data):
        raise RecordingError(f"{path}: not an MCAP file")
    logged = log.read()
    intact = is_finished(data) and not _is_damaged(data)
    if intact and logged is None and not even_if_intact:
        return None
    temporary.unlink(missing_ok=True)
    report = _Recovery(data, temporary).run(logged)
    report.was_intact = intact
    return report


def _is_damaged(data: memoryview) -> bool:
    """Whether a finished file has a damaged chunk or summary."""
    try:
        for opcode, content, _ in iterate_records(data, len(MAGIC)):
            if opcode == Opcode.CHUNK and not decode_chunk(content).sound:
                return True
            if opcode == Opcode.DATA_END:
                return _summary_start(data) is None
    except TornRecord:
        pass
    return True


def _summary_start(data: memoryview) -> int | None:
    """Where the summary of a finished file starts, 0 if it has none; None if it is damaged."""
    start, _, crc = FOOTER.unpack_from(data, len(data) - len(MAGIC) - FOOTER.size)
    summary = data[start : len(data) - len(MAGIC) - CRC_SIZE]
    return None if start and crc and zlib.crc32(summary) != crc else start


def _declarations(data: memoryview) -> bytes:
    """The schemas and channels of an undamaged summary; those in the chunks may be damaged."""
    records = bytearray()
    start = _summary_start(data) if is_finished(data) else None
    if start:
        with contextlib.suppress(TornRecord):
            for opcode, content, offset in iterate_records(data[: -len(MAGIC)], start):
                if opcode in (Opcode.SCHEMA, Opcode.CHANNEL):
                    records += data[offset : offset + RECORD_HEAD.size + len(content)]
    return bytes(records)


class _Recovery:
    """Copies the whole records of one file to another."""

    def __init__(self, data: memoryview, destination: Path) -> None:
        self._data, self._destination = data, destination
        self._writer: McapWriter | None = None
        self._declared: set[tuple[int, int]] = set()  # opcode and id
        self._pending = bytearray()  # records outside of chunks
        self._first: int | None = None  # time of the first message, ns
        self._last = 0
        self._after_last_chunk = len(MAGIC)  # one byte behind the start of the last chunk
        self._report = RecoveryReport(destination, None)

    def run(self, logged: LoggedChunk | None) -> RecoveryReport:
        """Copy the records and the write-ahead log, then finish the file."""
        if logged is not None and not logged.position.is_in(self._data):
            logged = None  # the log of another file
        start, end = len(MAGIC), len(self._data)
        while start < end and (torn := self._copy_from(start)) is not None:
            start = find_chunk(self._data, torn.start + 1)
            self._report.lost_bytes += start - torn.start
            # The log has all messages of the last chunk if that was cut off.
            salvage = torn.opcode == Opcode.CHUNK and (logged is None or start < end)
            if salvage and torn.rest is not None:
                self._copy_chunk(torn.rest[: start - torn.start - RECORD_HEAD.size])
        self._write_pending()
        # A log that is older than the last chunk has only messages of that chunk.
        if logged is not None and self._after_last_chunk <= logged.position.offset:
            before = self._report.messages
            self._copy_chunk(memoryview(logged.content))
            self._report.from_log = self._report.messages - before
        self._open().finish()
        if self._first is not None:
            self._report.seconds = (self._last - self._first) * 1e-9
        return self._report

    def _copy_from(self, start: int) -> TornRecord | None:
        """Copy all records from an offset on, up to the end of the data or a torn one."""
        try:
            for opcode, content, offset in iterate_records(self._data, start):
                if opcode in (Opcode.DATA_END, Opcode.FOOTER):
                    if not is_finished(self._data):
                        self._report.lost_bytes += len(self._data) - offset
                    break
                with contextlib.suppress(struct.error, ValueError):  # a whole record of nonsense
                    self._copy_record(opcode, content)
                if opcode == Opcode.CHUNK:
                    self._after_last_chunk = offset + 1
        except TornRecord as torn:
            return torn
        return None

    def _open(self, profile: str = "", library: str = "") -> McapWriter:
        if self._writer is None:
            self._writer = McapWriter(self._destination, library, profile)
            self._write_records(memoryview(_declarations(self._data)))
        return self._writer

    def _copy_record(self, opcode: int, content: memoryview) -> None:
        if opcode == Opcode.HEADER:
            fields = RecordFields(content)
            self._open(fields.text(), fields.text())
        elif opcode in (Opcode.SCHEMA, Opcode.CHANNEL, Opcode.MESSAGE):
            self._pending += RECORD_HEAD.pack(opcode, len(content)) + content
            if len(self._pending) > MAX_PENDING:
                self._write_pending()
        elif opcode == Opcode.CHUNK:
            self._write_pending()
            self._report.damaged_chunks += not self._copy_chunk(content)
        elif opcode == Opcode.ATTACHMENT:
            found = decode_attachment(content)
            self._open().attach(
                found.name, found.media_type, found.data, found.log_time, found.create_time
            )
        elif opcode == Opcode.METADATA:
            self._open().write_metadata(*decode_metadata(content))

    def _write_pending(self) -> None:
        """Write a chunk of the records that were outside of chunks."""
        if self._pending:
            raw, self._pending = bytes(self._pending), bytearray()
            self._write_records(memoryview(raw))

    def _copy_chunk(self, content: memoryview) -> bool:
        """Copy the records of a chunk that can be decompressed; True if it is undamaged."""
        raw, sound = decode_chunk(content)
        self._write_records(raw)
        return sound

    def _write_records(self, raw: memoryview) -> None:
        """Write a chunk of the whole records in some bytes, with a new index."""
        channels: list[int] = []
        times: list[int] = []
        offsets: list[int] = []
        kept = bytearray()
        try:
            for opcode, content, start in iterate_records(raw):
                end = start + RECORD_HEAD.size + len(content)
                if opcode == Opcode.MESSAGE and len(content) >= MIN_MESSAGE_SIZE:
                    (channel,) = CHANNEL.unpack_from(content)
                    if (Opcode.CHANNEL, channel) not in self._declared:
                        continue
                    (time,) = LOG_TIME.unpack_from(content, LOG_TIME_OFFSET)
                    channels.append(channel)
                    times.append(time)
                    offsets.append(len(kept))
                elif not self._declare(opcode, content, raw[start:end]):
                    continue
                kept += raw[start:end]
        except TornRecord:
            pass
        if not kept:
            return
        first, last = (min(times), max(times)) if times else (0, 0)
        # A time of damaged bytes may exceed the range of a signed number.
        stamps = np.array(times, np.uint64).view(np.int64)
        layout = IndexLayout(np.array(channels, np.int64))
        index = layout.fill(stamps, np.array(offsets, np.int64))
        self._open().write_chunk(ChunkContent(bytes(kept), first, last, index))
        if times:
            self._first = first if self._first is None else min(self._first, first)
            self._last = max(self._last, last)
            self._report.messages += len(times)

    def _declare(self, opcode: int, content: memoryview, record: memoryview) -> bool:
        """Declare a schema or a channel; False if it is neither, is damaged or is known."""
        try:
            if opcode == Opcode.SCHEMA:
                id = decode_schema(content)[0]
            elif opcode == Opcode.CHANNEL:
                id = decode_channel(content, {}).id
            else:
                return False
        except (struct.error, UnicodeDecodeError):
            return False
        if (opcode, id) in self._declared:
            return False
        self._declared.add((opcode, id))
        self._open().declare(Opcode(opcode), bytes(record))
        return True
