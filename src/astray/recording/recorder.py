"""A run as it goes on, written to a file: the tick copies, a thread of its own does the rest.

The bytes of the file depend on the run alone: a chunk ends by simulated time and by size, never by
the clock on the wall. So that a killed program still loses no more than a moment, what waits in the
open chunk goes to a second file, the tail, several times a second; `astray recover` joins the two.
The tail is no longer needed once its chunk is in the file, and is removed at the end.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astray.engine import Run
from astray.errors import NO_DESCRIPTORS, RecordingFailed, WrongInput
from astray.recording.mcap import (
    COLLISIONS,
    EVENTS,
    STATIC,
    ChannelWriter,
    Chunk,
    ChunkEncoder,
    EventCursor,
    Maps,
    McapWriter,
    Memory,
    Op,
    Topics,
    WriteAheadLog,
    attachments,
    sensor_truths,
    text_message,
)
from astray.recording.optional_recording import check_recording
from astray.ros.publishers import Publisher, PublisherSet
from astray.version import __version__

if TYPE_CHECKING:
    pass

LONGEST = 1.0  # s of simulated time in a chunk
LARGEST = 4 << 20  # bytes of messages in a chunk, and those of one step more
TAIL_PERIOD = 0.25  # s of real time after which what waits is put into the tail, twice that at most
MEMORY = 16 << 20  # bytes of copied tables in a chunk
CHUNKS = 4  # that there are: one is open, the others may wait to be written; then the run waits


class Recorder:
    """Watches a run and writes down all that it says; a context that ends the file."""

    def __init__(self, sim: Run, path: Path, overwrite: bool = False) -> None:
        self.sim, self.path = sim, Path(path)
        self.feed = PublisherSet(sim)
        for name, group in sim.robots.items():
            for robots in self.feed.layout_groups(name):
                self.feed.add(sensor_truths(group, robots, sim.dt))
        self._robots = sim.robots
        self._maps, self._news = Maps(sim, self.feed), EventCursor(sim)
        speakers = self.feed.publishers
        topics = Topics(speakers, (STATIC, *self._maps.topics.values(), EVENTS, COLLISIONS))
        self._channels = topics.channels
        self._encoder = ChunkEncoder(
            [ChannelWriter(s, topics.channels) for s in speakers], len(self._channels)
        )
        self._chunk_steps = max(1, round(LONGEST / sim.dt))
        self._before, self._last_step = 0, sim.steps  # ns before the last start over; the last step
        self._room = room_of(speakers, self._chunk_steps)
        self._free: queue.Queue[Chunk] = queue.LifoQueue()  # memory that was just used is near
        for _ in range(CHUNKS):
            self._free.put(Chunk(speakers, self._room))
        self._open, self._opened = self._free.get(), time.monotonic()
        self._second = sim.steps // self._chunk_steps
        self._failure: BaseException | None = None
        self._told_to_stop = self._closed = False
        self._container = self._create(overwrite)
        self._tail, self._tailed = WriteAheadLog(self.path), (0, 0)
        self._full: queue.Queue[Chunk | None] = queue.Queue()
        self._memory = Memory()
        self._begin(topics)
        self._thread = threading.Thread(target=self._work, name="astray recorder", daemon=True)
        self._thread.start()
        sim.observers.append(self)
        self.observe(sim)

    def _create(self, overwrite: bool) -> McapWriter:
        check_recording(self.path, overwrite)
        try:
            WriteAheadLog(self.path).remove()  # of an earlier recording of this name
            self.path.unlink(missing_ok=True)
            return McapWriter(self.path, f"astray {__version__}")
        except OSError as problem:
            raise WrongInput(_unwritable(self.path, problem)) from None

    def _begin(self, topics: Topics) -> None:
        """Write what the run is, and what stays as it is, before anything happens."""
        ns, container = self._now(), self._container
        declared = [container.declare(Op.SCHEMA, made) for made in topics.schemas]
        declared += [container.declare(Op.CHANNEL, made) for made in topics.declared]
        for message in self.feed.static_transforms():
            self._open.add(ns, self._channels[STATIC.name], message)
        for topic, message in self._maps.news():
            self._open.add(ns, self._channels[topic.name], message)
        self._open.hear(ns, ())
        self._news.skip()
        try:
            for name, media_type, text in attachments(self.sim, self.feed):
                container.attach(name, media_type, text.encode(), ns)
            self._write(self._open, b"".join(declared))
            self._open.clear()
        except OSError as problem:
            raise RecordingFailed(_unwritable(self.path, problem)) from None

    def _now(self) -> int:
        return self._before + round(self.sim.steps * self.sim.dt * 1e9)

    # In the tick.

    def next_due(self, step: int) -> int:
        """The first step from this one on that it wants to see."""
        return self.feed.next_due(step)

    def observe(self, sim: Run) -> None:
        """Copy what is said now; it is put into words when the chunk ends."""
        if self._closed:
            return
        if self._failure is not None:
            self._give_up()
            return
        if sim.robots is not self._robots:
            raise WrongInput(f"{self.path}: a run with a new seed needs a new recording")
        is_news = self._news.is_any()
        started_over = is_news and self._news.started_over()
        if started_over:  # time in the file goes on
            self._before += round(self._last_step * sim.dt * 1e9)
            self._cut()
        self._last_step = sim.steps
        second = sim.steps // self._chunk_steps
        chunk = self._open
        if second != self._second or chunk.bytes >= LARGEST or chunk.moments >= self._room:
            self._cut()
        self._second = second
        now = self._now()
        if is_news:
            self._note_news(now, started_over)
        self._open.hear(now, self.feed.due_publishers())

    def _note_news(self, now: int, started_over: bool = False) -> None:
        """What happened between the last look and this one comes before what is said now."""
        events, dt = self._news.events(), self.sim.dt
        for event in events:
            ns = self._before + round((event.step or 0) * dt * 1e9)
            self._open.add(ns, self._channels[EVENTS.name], text_message(event.to_json()))
        if started_over or any(event.kind == "world" for event in events):
            for topic, data in self._maps.news():
                self._open.add(now, self._channels[topic.name], data)
        for text in self._news.collisions():
            self._open.add(now, self._channels[COLLISIONS.name], text_message(text))

    def _cut(self) -> None:
        """Hand over what is open; if the disk is behind this waits, so that nothing is lost."""
        if self._open.moments:
            self._full.put(self._open)
            self._open, self._opened = self._free.get(), time.monotonic()

    def _give_up(self) -> None:
        """End the run in good order; whoever does not listen is told by an error."""
        if self._told_to_stop:
            raise RecordingFailed(_unwritable(self.path, self._failure))
        self._told_to_stop = True
        self.sim.pace.stop()

    # In the thread.

    def _work(self) -> None:
        due = time.monotonic() + TAIL_PERIOD
        while True:
            try:
                chunk = self._full.get(timeout=max(0.0, due - time.monotonic()))
            except queue.Empty:
                self._try(self._write_tail)
                due = time.monotonic() + TAIL_PERIOD
                continue
            if chunk is None:
                return
            self._try(self._write, chunk)
            chunk.clear()
            self._free.put(chunk)

    def _try(self, write: Callable[..., None], *what: Any) -> None:
        """Write something; after a failure it is thrown away, so that nobody waits for room."""
        if self._failure is None:
            try:
                write(*what)
            except Exception as problem:  # noqa: BLE001 - told by the thread that runs
                self._failure = problem

    def _write(self, chunk: Chunk, before: bytes = b"") -> None:
        """Put a chunk into the file, behind records of other kinds."""
        batch = self._encoder.encode(chunk, self._memory, before)
        self._encoder.count(batch)
        self._container.write(batch)

    def _write_tail(self) -> None:
        """Put what waits into the tail, unless it came just now or chunks are waiting before it."""
        container, chunk = self._container, self._open
        have = (container.position, chunk.moments)
        young = time.monotonic() - self._opened < TAIL_PERIOD
        # First the chunk, then the queue: it may be handed over meanwhile, but not unnoticed.
        if young or not chunk.moments or have == self._tailed or not self._full.empty():
            return
        batch = self._encoder.encode(chunk, self._memory)
        try:
            self._tail.write(batch, container.mark)
        except OSError as problem:
            # The file itself is open and goes on; the tail before stays until one can be written.
            if problem.errno not in NO_DESCRIPTORS:
                raise
            return
        self._tailed = have

    # The end.

    def close(self) -> None:
        """Write all that waits and end the file; RecordingFailed if the disk did not take it."""
        if self._closed:
            return
        self._closed = True
        if self in self.sim.observers:
            self.sim.observers.remove(self)
        if self._failure is None:
            self._note_news(self._now())
            self._open.hear(self._now(), ())
        self._cut()
        self._full.put(None)
        self._thread.join()
        try:
            if self._failure is None:
                self._container.finish()
                self._tail.remove()
        except OSError as problem:
            self._failure = problem
        if self._failure is not None:
            self._container.abandon()
            raise RecordingFailed(
                f"{_unwritable(self.path, self._failure)}; what was written before can be had by "
                f"`astray recover {self.path}`"
            ) from self._failure

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *problem: Any) -> None:
        self.close()


def room_of(speakers: Sequence[Publisher], most: int) -> int:
    """How many moments fit into a chunk."""
    tables = {id(table): table.nbytes for speaker in speakers for table in speaker.tables}
    return min(most, max(1, MEMORY // max(1, sum(tables.values()))))


def record(sim: Run, path: str | Path, overwrite: bool = False) -> Recorder:
    """Record a run from now on: `with astray.record(sim, "run.mcap"): sim.run()`."""
    return Recorder(sim, Path(path), overwrite)


def _unwritable(path: Path, problem: BaseException | None) -> str:
    return f"{path}: cannot be written: {getattr(problem, 'strerror', None) or problem}"
