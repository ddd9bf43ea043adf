"""Records a run to an MCAP file while it runs.

A tick only copies tables into the open chunk; a thread encodes, compresses and writes. A chunk ends
by simulated time and by size, never by the wall clock, so the bytes of the file depend on the run
alone. What is in the open chunk also goes to the write-ahead log several times a second: a killed
program loses no more than that, and `astray recover` joins log and file. When a chunk is in the
file, the log is obsolete; it is removed at the end.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from astray.engine import Run
from astray.errors import NO_DESCRIPTORS, RecordingFailed, WrongInput
from astray.files import check_new_file
from astray.recording.mcap import (
    COLLISIONS,
    EVENTS,
    STATIC_TRANSFORMS,
    ChannelDeclarations,
    ChannelWriter,
    Chunk,
    ChunkEncoder,
    EventCursor,
    MapCursor,
    McapWriter,
    Opcode,
    ReusedBuffer,
    WriteAheadLog,
    run_attachments,
    sensor_truths,
    text_message,
)
from astray.ros.publishers import Publisher, PublisherSet
from astray.version import __version__

CHUNK_DURATION = 1.0  # s of simulated time
MAX_CHUNK_BYTES = 4 << 20  # of messages; those of one more step may be added
MAX_COPIES_BYTES = 16 << 20  # of copied tables in a chunk
CHUNKS = 4  # one is open, the others may wait to be written; after that, the run waits
LOG_PERIOD = 0.25  # s of real time from which on an open chunk is logged, at most twice that


class Recorder:
    """An observer that records a run; a context that finishes the file at its end.

    Args:
        sim: The run.
        path: The file.
        overwrite: Whether to replace an existing file.

    Raises:
        WrongInput: The file exists, or cannot be written.
    """

    def __init__(self, sim: Run, path: Path, overwrite: bool = False) -> None:
        self.sim, self.path = sim, Path(path)
        self.publishers = PublisherSet(sim)
        for name, group in sim.robots.items():
            for robots in self.publishers.layout_groups(name):
                self.publishers.add(sensor_truths(group, robots, sim.dt))
        self._robots = sim.robots
        self._maps, self._events = MapCursor(sim, self.publishers), EventCursor(sim)
        publishers = self.publishers.publishers
        channels = ChannelDeclarations(
            publishers, (STATIC_TRANSFORMS, *self._maps.topics.values(), EVENTS, COLLISIONS)
        )
        self._channels = channels.ids
        self._encoder = ChunkEncoder(
            [ChannelWriter(p, channels.ids) for p in publishers], len(channels.ids)
        )
        self._chunk_steps = max(1, round(CHUNK_DURATION / sim.dt))
        self._period = sim.steps // self._chunk_steps  # of simulated time; a chunk is within one
        self._offset, self._last_step = 0, sim.steps  # ns before the last reset; the last step
        self._capacity = chunk_capacity(publishers, self._chunk_steps)
        self._free: queue.Queue[Chunk] = queue.LifoQueue()  # the last one is still in the cache
        for _ in range(CHUNKS):
            self._free.put(Chunk(publishers, self._capacity))
        self._open, self._opened_at = self._free.get(), time.monotonic()
        self._failure: BaseException | None = None
        self._stopped_run = self._closed = False
        self._writer = self._create_file(overwrite)
        self._log, self._logged = WriteAheadLog(self.path), (0, 0)
        self._full: queue.Queue[Chunk | None] = queue.Queue()
        self._buffer = ReusedBuffer()
        self._write_header(channels)
        self._thread = threading.Thread(
            target=self._write_chunks, name="astray recorder", daemon=True
        )
        self._thread.start()
        sim.observers.append(self)
        self.observe(sim)

    def __repr__(self) -> str:
        """The file and the number of its topics."""
        return f"Recorder({str(self.path)!r}, {len(self._channels)} topics)"

    def _create_file(self, overwrite: bool) -> McapWriter:
        check_new_file(self.path, overwrite)
        try:
            WriteAheadLog(self.path).remove()  # of an earlier recording of this name
            self.path.unlink(missing_ok=True)
            return McapWriter(self.path, f"astray {__version__}")
        except OSError as problem:
            raise WrongInput(_cannot_write(self.path, problem)) from None

    def _write_header(self, channels: ChannelDeclarations) -> None:
        """Write the attachments, and a chunk with schemas, channels and latched messages."""
        ns, writer = self._now(), self._writer
        declarations = [writer.declare(Opcode.SCHEMA, r) for r in channels.schema_records]
        declarations += [writer.declare(Opcode.CHANNEL, r) for r in channels.channel_records]
        for message in self.publishers.static_transforms():
            self._open.add_message(ns, self._channels[STATIC_TRANSFORMS.name], message)
        for topic, message in self._maps.read():
            self._open.add_message(ns, self._channels[topic.name], message)
        self._open.add_sample(ns, ())
        self._events.skip()
        try:
            for attachment in run_attachments(self.sim, self.publishers):
                data = attachment.text.encode()
                writer.attach(attachment.name, attachment.media_type, data, ns)
            self._write_chunk(self._open, b"".join(declarations))
            self._open.clear()
        except OSError as problem:
            raise RecordingFailed(_cannot_write(self.path, problem)) from None

    def _now(self) -> int:
        """The time in the file, ns; it continues where a reset sets that of the run back."""
        return self._offset + round(self.sim.steps * self.sim.dt * 1e9)

    # In the thread of the run.

    def next_due(self, step: int) -> int:
        """The first step from this one on at which it has to observe."""
        return self.publishers.next_due(step)

    def observe(self, sim: Run) -> None:
        """Copy what is published now into the open chunk.

        Raises:
            WrongInput: The run was reset with another seed.
            RecordingFailed: The disk refused, and the run did not stop when it was asked to.
        """
        if self._closed:
            return
        if self._failure is not None:
            self._stop_run()
            return
        if sim.robots is not self._robots:
            raise WrongInput(f"{self.path}: a run with a new seed needs a new recording")
        has_changes = self._events.has_changes()
        was_reset = has_changes and self._events.detect_reset()
        if was_reset:
            self._offset += round(self._last_step * sim.dt * 1e9)
            self._end_chunk()
        self._last_step = sim.steps
        period, chunk = sim.steps // self._chunk_steps, self._open
        is_full = chunk.bytes >= MAX_CHUNK_BYTES or chunk.samples >= self._capacity
        if period != self._period or is_full:
            self._end_chunk()
        self._period = period
        now = self._now()
        if has_changes:
            self._add_changes(now, was_reset)
        self._open.add_sample(now, self.publishers.due_publishers())

    def _add_changes(self, now: int, was_reset: bool = False) -> None:
        """Add events, changed maps and collisions before the sample of this step."""
        events, dt = self._events.read_events(), self.sim.dt
        for event in events:
            ns = self._offset + round((event.step or 0) * dt * 1e9)
            self._open.add_message(ns, self._channels[EVENTS.name], text_message(event.to_json()))
        if was_reset or any(event.kind == "world" for event in events):
            for topic, data in self._maps.read():
                self._open.add_message(now, self._channels[topic.name], data)
        for text in self._events.read_collisions():
            self._open.add_message(now, self._channels[COLLISIONS.name], text_message(text))

    def _end_chunk(self) -> None:
        """Give the open chunk to the writing thread; if none is free, wait for the disk."""
        if self._open.samples:
            self._full.put(self._open)
            self._open, self._opened_at = self._free.get(), time.monotonic()

    def _stop_run(self) -> None:
        """Ask the run to stop; raise if it continues."""
        if self._stopped_run:
            raise RecordingFailed(_cannot_write(self.path, self._failure))
        self._stopped_run = True
        self.sim.pace.stop()

    # In the writing thread.

    def _write_chunks(self) -> None:
        """Write chunks as they end, and log the open one in between."""
        log_due = time.monotonic() + LOG_PERIOD
        while True:
            try:
                chunk = self._full.get(timeout=max(0.0, log_due - time.monotonic()))
            except queue.Empty:
                self._try(self._write_log)
                log_due = time.monotonic() + LOG_PERIOD
                continue
            if chunk is None:
                return
            self._try(self._write_chunk, chunk)
            chunk.clear()
            self._free.put(chunk)

    def _try(self, write: Callable[..., None], *arguments: Any) -> None:
        """Write; after a failure discard instead, so that the run never waits for a free chunk."""
        if self._failure is None:
            try:
                write(*arguments)
            except Exception as problem:  # noqa: BLE001 - raised in the thread of the run
                self._failure = problem

    def _write_chunk(self, chunk: Chunk, before: bytes = b"") -> None:
        """Append a chunk to the file, with records of other kinds before its messages."""
        content = self._encoder.encode(chunk, self._buffer, before)
        self._encoder.advance(content)
        self._writer.write_chunk(content)

    def _write_log(self) -> None:
        """Log the open chunk, unless it is young, is logged already, or other chunks wait."""
        writer, chunk = self._writer, self._open
        state = (writer.offset, chunk.samples)
        is_young = time.monotonic() - self._opened_at < LOG_PERIOD
        # The queue is read after the chunk: a chunk that ends meanwhile is seen in the queue.
        if is_young or not chunk.samples or state == self._logged or not self._full.empty():
            return
        content = self._encoder.encode(chunk, self._buffer)
        try:
            self._log.write(content, writer.position)
        except OSError as problem:
            # Without a descriptor the file itself is still open, and the last log is still there.
            if problem.errno not in NO_DESCRIPTORS:
                raise
            return
        self._logged = state

    # The end.

    def close(self) -> None:
        """Write what is left and finish the file.

        Raises:
            RecordingFailed: The disk is full or broken.
        """
        if self._closed:
            return
        self._closed = True
        if self in self.sim.observers:
            self.sim.observers.remove(self)
        if self._failure is None:
            self._add_changes(self._now())
            self._open.add_sample(self._now(), ())
        self._end_chunk()
        self._full.put(None)
        self._thread.join()
        try:
            if self._failure is None:
                self._writer.finish()
                self._log.remove()
        except OSError as problem:
            self._failure = problem
        if self._failure is not None:
            self._writer.abandon()
            raise RecordingFailed(
                f"{_cannot_write(self.path, self._failure)}; what was written before can be had by "
                f"`astray recover {self.path}`"
            ) from self._failure

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *problem: Any) -> None:
        self.close()


def chunk_capacity(publishers: Sequence[Publisher], steps: int) -> int:
    """The number of samples in a chunk: that of its steps, or as many as its memory can hold."""
    tables = {id(table): table.nbytes for p in publishers for table in p.tables}
    return min(steps, max(1, MAX_COPIES_BYTES // max(1, sum(tables.values()))))


def record(sim: Run, path: str | Path, overwrite: bool = False) -> Recorder:
    """Record a run from now on: `with astray.record(sim, "run.mcap"): sim.run()`.

    Args:
        sim: The run.
        path: The MCAP file.
        overwrite: Whether to replace an existing file.

    Returns:
        A context; its end finishes the file.

    Raises:
        WrongInput: The file exists, or cannot be written.
        RecordingFailed: The disk refused.
    """
    return Recorder(sim, Path(path), overwrite)


def _cannot_write(path: Path, problem: BaseException | None) -> str:
    return f"{path}: cannot be written: {getattr(problem, 'strerror', None) or problem}"
