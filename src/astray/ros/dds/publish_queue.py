"""What is to be published, on its way from the tick to the bus.

A tick copies what messages need and goes on; a thread of the wire makes them and hands them to the
bus, several at once if they wait. If that falls behind, the oldest moments are dropped, or, in
lockstep, the run waits.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")
BATCH_SIZE = 64  # moments that are handed over at once
LOOK = 0.1  # s of real time after which a run that waits looks whether it still has to


class PublishQueue(Generic[T]):
    """A queue with a thread that empties it."""

    def __init__(
        self, publish: Callable[[Sequence[T]], None], room: int, waits: Callable[[], bool]
    ) -> None:
        self.dropped = 0
        """Moments that nobody was told of."""
        self._publish, self._room = publish, room
        self._waits = waits  # rather than to drop something
        self._waiting: deque[T] = deque()
        self._changed = threading.Condition()
        self._busy = self._closing = False
        self._problem: Exception | None = None
        self._thread = threading.Thread(target=self._work, name="astray-ros2-say", daemon=True)

    def open(self) -> None:
        """Begin to publish."""
        self._thread.start()

    def put(self, moment: T) -> None:
        """Let something be published soon."""
        with self._changed:
            if self._problem is not None:
                raise self._problem
            while len(self._waiting) >= self._room and self._waits() and not self._problem:
                self._changed.wait(LOOK)
            while len(self._waiting) >= self._room:
                self._waiting.popleft()
                self.dropped += 1
            self._waiting.append(moment)
            self._changed.notify_all()

    def flush(self) -> None:
        """Wait until all is published."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._closing or self._problem or not (self._waiting or self._busy)
            )

    def fail(self, problem: Exception) -> None:
        """Let whoever puts something in next know that it is of no use any more."""
        with self._changed:
            self._problem = problem
            self._changed.notify_all()

    def close(self) -> None:
        """Publish what is left, and end."""
        if self._thread.is_alive():
            self.flush()
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        try:
            while moments := self._next():
                self._publish(moments)
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()
        except Exception as problem:  # noqa: BLE001 - told to the run, which ends with it
            self.fail(problem)

    def _next(self) -> list[T]:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing)
            if self._closing:
                return []
            self._busy = True
            some = [self._waiting.popleft() for _ in range(min(BATCH_SIZE, len(self._waiting)))]
            self._changed.notify_all()
            return some
