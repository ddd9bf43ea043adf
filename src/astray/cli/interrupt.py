"""Ctrl-C and SIGTERM in a command that runs until it is stopped."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

TOGETHER = 0.25  # s: `timeout` and other programs pass a signal on twice within this time


class stop_on_interrupt:  # noqa: N801 - a context manager that reads as a phrase after `with`
    """The first signal stops the command in good order, the second one at once."""

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self, stop: Callable[[], None]) -> None:
        """`stop` runs inside a signal handler, so it must not wait for a lock."""
        self._stop, self._first = stop, -1.0  # s, time of the first signal; -1: none so far
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> None:
        try:
            self._previous = {s: signal.signal(s, self._handle) for s in self.SIGNALS}
        except ValueError:  # not the main thread: its owner handles the signals
            return

    def _handle(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._first < 0.0:
            self._first = now
            self._stop()
        elif now - self._first > TOGETHER:
            raise KeyboardInterrupt

    def __exit__(self, *problem: object) -> None:
        # The second copy of a signal must not interrupt the writing that follows.
        if self._first >= 0.0:
            time.sleep(max(0.0, TOGETHER - (time.monotonic() - self._first)))
        for number, handler in self._previous.items():
            signal.signal(number, handler)
