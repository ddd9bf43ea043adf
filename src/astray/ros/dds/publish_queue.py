"""From the tick to DDS: a queue of sampled messages and the thread that publishes them.

A tick only samples what messages need. The thread serializes and publishes several ticks at once if
they wait: to serialize fifty messages of a publisher takes hardly longer than one. If the thread
falls behind, the oldest ticks are dropped, or, in lockstep, the run waits.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeAlias, TypeVar

from astray.ros.publishers import Publisher, Sample, concatenate_samples

T = TypeVar("T")
BATCH_SIZE = 64  # items that are published at once
POLL_PERIOD = 0.1  # s of real time after which a waiting run asks again whether it must wait

SampledMessages: TypeAlias = Sequence[tuple[Publisher, Sample]]
"""The publishers that have messages at one tick, and the samples of these messages."""


def serialize_batch(
    ticks: Sequence[SampledMessages],
) -> Iterator[list[tuple[Publisher, int, bytes]]]:
    """Serialize the messages of several ticks, all those of a publisher at once.

    Args:
        ticks: What was sampled at each tick.

    Yields:
        The messages of each tick in their order: publisher, row and CDR bytes.
    """
    samples: dict[Publisher, list[Sample]] = {}
    for sampled in ticks:
        for publisher, sample in sampled:
            samples.setdefault(publisher, []).append(sample)
    messages = {
        publisher: iter(publisher.serialize(concatenate_samples(parts)).as_bytes())
        for publisher, parts in samples.items()
    }
    for sampled in ticks:
        yield [
            (publisher, row, next(messages[publisher]))
            for publisher, sample in sampled
            for row in sample.rows.tolist()
        ]


class PublishQueue(Generic[T]):
    """A queue with a thread that publishes what is in it.

    Args:
        publish: Publishes some items, in the thread.
        capacity: How many items may wait.
        must_wait: Whether `put` waits for space rather than drop the oldest item.
    """

    def __init__(
        self, publish: Callable[[Sequence[T]], None], capacity: int, must_wait: Callable[[], bool]
    ) -> None:
        self.dropped = 0
        """Items that were not published."""
        self._publish, self._capacity, self._must_wait = publish, capacity, must_wait
        self._waiting: deque[T] = deque()
        self._changed = threading.Condition()
        self._is_busy = self._is_closing = False
        self._problem: Exception | None = None
        self._thread = threading.Thread(target=self._work, name="astray-ros2-publish", daemon=True)

    def open(self) -> None:
        """Start the thread."""
        self._thread.start()

    def put(self, item: T) -> None:
        """Add an item; raises what `publish` has raised."""
        with self._changed:
            if self._problem is not None:
                raise self._problem
            while self._is_full() and self._must_wait() and not self._problem:
                self._changed.wait(POLL_PERIOD)
            while self._is_full():
                self._waiting.popleft()
                self.dropped += 1
            self._waiting.append(item)
            self._changed.notify_all()

    def _is_full(self) -> bool:
        return len(self._waiting) >= self._capacity

    def flush(self) -> None:
        """Wait until all items are published."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._is_closing or self._problem or not (self._waiting or self._is_busy)
            )

    def fail(self, problem: Exception) -> None:
        """Let the next `put` raise a problem."""
        with self._changed:
            self._problem = problem
            self._changed.notify_all()

    def close(self) -> None:
        """Publish what is left, and end the thread."""
        if self._thread.is_alive():
            self.flush()
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        try:
            while items := self._next_items():
                self._publish(items)
                with self._changed:
                    self._is_busy = False
                    self._changed.notify_all()
        except Exception as problem:  # noqa: BLE001 - raised by the next put
            self.fail(problem)

    def _next_items(self) -> list[T]:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closing)
            if self._is_closing:
                return []
            self._is_busy = True
            items = [self._waiting.popleft() for _ in range(min(BATCH_SIZE, len(self._waiting)))]
            self._changed.notify_all()
            return items
