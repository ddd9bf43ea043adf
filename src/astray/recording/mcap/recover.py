"""Mending files whose writer was killed: all whole messages are kept, the summary is made anew.

A torn file is read from its beginning as far as it makes sense, and on from the next chunk behind
what does not; of a chunk that is cut off, too, what can be unpacked is kept. If a tail lies beside
a recording and belongs behind its last whole chunk, its messages follow.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from astray.errors import RecordingError
from astray.files import is_locked
from astray.recording.mcap.message_index import IndexLayout
from astray.recording.mcap.parse import (
    RecordReader,
    Torn,
    find_chunk,
    is_finished,
    is_mcap,
    parse_attachment,
    parse_channel,
    parse_metadata,
    parse_schema,
    unpack_chunk,
    walk,
)
from astray.recording.mcap.records import HEAD, MAGIC, Op
from astray.recording.mcap.write_ahead_log import WriteAheadLog
from astray.recording.mcap.writer import Batch, Mark, McapWriter

LOOSE = 1 << 20  # bytes of messages outside of chunks that become a chunk
TIME_AT = 6  # bytes from the beginning of a message's content
NUMBER = struct.Struct("<H")
TIME = struct.Struct("<Q")
CRC = 4  # bytes
FOOTER = struct.Struct("<QQI")  # where the summary begins, where its index, and its checksum


@dataclass
class RecoveryReport:
    """What became of a file."""

    path: Path
    """Where the whole file is."""
    kept: Path | None
    """Where the torn one still is, if it has another name now."""
    messages: int = 0
    from_tail: int = 0
    """Of these, messages that were in the tail."""
    lost_bytes: int = 0
    """Bytes that were no whole record."""
    damaged: int = 0
    """Chunks of which something was wrong."""
    seconds: float = 0.0
    """From the first message to the last."""
    was_whole: bool = False


def recover_recording(path: Path, out: Path | None = None) -> RecoveryReport:
    """Mend a file, in place or to another one; in place, the torn one is kept beside it."""
    tail, goal = WriteAheadLog(path), out or path
    part = goal.with_name(f"{goal.name}.part")
    try:
        mended = _copy(path, part, tail, always=out is not None)
        if mended is None:
            return RecoveryReport(path, None, was_whole=True)
        mended.path = goal
        if out is None:
            mended.kept = path.with_name(f"{path.name}.torn")
            os.replace(path, mended.kept)
        os.replace(part, goal)
        if out is None:
            tail.remove()
    except OSError as problem:
        part.unlink(missing_ok=True)
        raise RecordingError(f"{goal}: cannot be written: {problem.strerror or problem}") from None
    return mended


def _copy(path: Path, part: Path, tail: WriteAheadLog, always: bool) -> RecoveryReport | None:
    """Copy what is whole; None if all is, unless that shall be copied, too.

    The file is let go of at the end: some systems rename no file that is in use.
    """
    try:
        with path.open("rb") as file:
            if not always and is_locked(file):
                raise RecordingError(
                    f"{path}: is still being written; end that program first, or copy what there "
                    "is by --out"
                )
            size = os.fstat(file.fileno()).st_size
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    except OSError as problem:
        raise RecordingError(f"{path}: {problem.strerror or problem}") from None
    whole = memoryview(mapped)
    if not is_mcap(whole):
        raise RecordingError(f"{path}: not an MCAP file")
    waiting = tail.read()
    sound = is_finished(whole) and not is_damaged(whole)
    if sound and waiting is None and not always:
        return None
    part.unlink(missing_ok=True)
    mended = _Mender(whole, part).mend(waiting)
    mended.was_whole = sound
    return mended


def is_damaged(data: memoryview) -> bool:
    """Whether a file that was written to its end is not as it was written."""
    try:
        for op, content, _ in walk(data, len(MAGIC)):
            if op == Op.CHUNK and not unpack_chunk(content).sound:
                return True
            if op == Op.DATA_END:
                return summary_start(data) is None
    except Torn:
        pass
    return True


def summary_start(data: memoryview) -> int | None:
    """Where the summary of a finished file begins, 0 if it has none; None if it is damaged."""
    start, _, crc = FOOTER.unpack_from(data, len(data) - len(MAGIC) - FOOTER.size)
    summary = data[start : len(data) - len(MAGIC) - CRC]
    return None if start and crc and zlib.crc32(summary) != crc else start


def declarations(data: memoryview) -> bytes:
    """The types and topics in the summary of a file, if it has a sound one: chunks may not be."""
    found = bytearray()
    start = summary_start(data) if is_finished(data) else None
    if start:
        with contextlib.suppress(Torn):
            for op, content, place in walk(data[: -len(MAGIC)], start):
                if op in (Op.SCHEMA, Op.CHANNEL):
                    found += data[place : place + HEAD.size + len(content)]
    return bytes(found)


class _Mender:
    """Copies what is whole of a file to another."""

    def __init__(self, data: memoryview, goal: Path) -> None:
        self.data, self.goal = data, goal
        self.container: McapWriter | None = None
        self.declared: set[tuple[int, int]] = set()
        self.loose = bytearray()
        self.first: int | None = None
        self.last = 0
        self.last_chunk = len(MAGIC)  # behind where it begins
        self.found = RecoveryReport(goal, None)

    def mend(self, waiting: tuple[Mark, bytes] | None) -> RecoveryReport:
        """Copy, then end the file."""
        if waiting is not None and not waiting[0].fits(self.data):
            waiting = None  # it was written beside another file
        place, end = len(MAGIC), len(self.data)
        while place < end and (torn := self._take_from(place)) is not None:
            place = find_chunk(self.data, torn.start + 1)
            self.found.lost_bytes += place - torn.start
            cut_off = torn.op == Op.CHUNK and (waiting is None or place < end)
            if cut_off and torn.rest is not None:
                self._take_chunk(torn.rest[: place - torn.start - HEAD.size])
        self._settle()
        # A tail that is older than the last chunk says nothing that is not in it.
        if waiting is not None and self.last_chunk <= waiting[0].position:
            before = self.found.messages
            self._take_chunk(memoryview(waiting[1]))
            self.found.from_tail = self.found.messages - before
        self._open().finish()
        if self.first is not None:
            self.found.seconds = (self.last - self.first) * 1e-9
        return self.found

    def _take_from(self, place: int) -> Torn | None:
        """Take all records from a place on, as far as they make sense."""
        try:
            for op, content, start in walk(self.data, place):
                if op in (Op.DATA_END, Op.FOOTER):
                    if not is_finished(self.data):
                        self.found.lost_bytes += len(self.data) - start
                    break
                with contextlib.suppress(struct.error, ValueError):  # whole, but makes no sense
                    self._take(op, content)
                if op == Op.CHUNK:
                    self.last_chunk = start + 1
        except Torn as torn:
            return torn
        return None

    def _open(self, profile: str = "", library: str = "") -> McapWriter:
        if self.container is None:
            self.container = McapWriter(self.goal, library, profile)
            self._take_records(memoryview(declarations(self.data)))
        return self.container

    def _take(self, op: int, content: memoryview) -> None:
        if op == Op.HEADER:
            fields = RecordReader(content)
            self._open(fields.text(), fields.text())
        elif op in (Op.SCHEMA, Op.CHANNEL, Op.MESSAGE):
            self.loose += HEAD.pack(op, len(content)) + content
            if len(self.loose) > LOOSE:
                self._settle()
        elif op == Op.CHUNK:
            self._settle()
            self.found.damaged += not self._take_chunk(content)
        elif op == Op.ATTACHMENT:
            found = parse_attachment(content)
            self._open().attach(
                found.name, found.media_type, found.data, found.log_time, found.create_time
            )
        elif op == Op.METADATA:
            self._open().describe(*parse_metadata(content))

    def _settle(self) -> None:
        """Make a chunk of what lay outside of chunks."""
        if self.loose:
            raw, self.loose = bytes(self.loose), bytearray()
            self._take_records(memoryview(raw))

    def _take_chunk(self, content: memoryview) -> bool:
        """Take what there is in a chunk; whether that is all."""
        raw, sound = unpack_chunk(content)
        self._take_records(raw)
        return sound

    def _take_records(self, raw: memoryview) -> None:
        """Write a chunk of the whole records in some bytes."""
        channels: list[int] = []
        times: list[int] = []
        places: list[int] = []
        kept = bytearray()
        try:
            for op, content, start in walk(raw):
                end = start + HEAD.size + len(content)
                if op == Op.MESSAGE and len(content) >= 22:
                    (channel,) = NUMBER.unpack_from(content)
                    if (Op.CHANNEL, channel) not in self.declared:
                        continue
                    (time,) = TIME.unpack_from(content, TIME_AT)
                    channels.append(channel)
                    times.append(time)
                    places.append(len(kept))
                elif not self._declare(op, content, raw[start:end]):
                    continue
                kept += raw[start:end]
        except Torn:
            pass
        if not kept:
            return
        first, last = (min(times), max(times)) if times else (0, 0)
        # Times that make no sense may be larger than what is signed.
        stamps = np.array(times, np.uint64).view(np.int64)
        index = IndexLayout(np.array(channels, np.int64)).fill(stamps, np.array(places, np.int64))
        self._open().write(Batch(bytes(kept), first, last, index))
        if times:
            self.first = first if self.first is None else min(self.first, first)
            self.last = max(self.last, last)
            self.found.messages += len(times)

    def _declare(self, op: int, content: memoryview, record: memoryview) -> bool:
        """Note a type or a topic; whether it is one, makes sense, and is new."""
        try:
            if op == Op.SCHEMA:
                number = parse_schema(content)[0]
            elif op == Op.CHANNEL:
                number = parse_channel(content, {}).id
            else:
                return False
        except (struct.error, UnicodeDecodeError):
            return False
        if (op, number) in self.declared:
            return False
        self.declared.add((op, number))
        self._open().declare(Op(op), bytes(record))
        return True
