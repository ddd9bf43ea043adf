"""What Ctrl-C does to a command that goes on until it is stopped."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

TOGETHER = 0.25  # s in which two signals are one: `timeout` and others pass them on twice


class stopping_on_interrupt:  # noqa: N801 - reads as a phrase after with
    """The first Ctrl-C ends what goes on in good order, the second at once; SIGTERM is the same."""

    ASKED = (signal.SIGINT, signal.SIGTERM)

    def __init__(self, stop: Callable[[], None]) -> None:
        """`stop` is called in the midst of anything, so it must wait for nothing."""
        self._end, self._asked = stop, -1.0  # s, when it was asked for; not yet
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> None:
        try:
            self._before = {asked: signal.signal(asked, self._stop) for asked in self.ASKED}
        except ValueError:  # not the main thread: whoever owns that one handles Ctrl-C
            return

    def _stop(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._asked < 0.0:
            self._asked = now
            self._end()
        elif now - self._asked > TOGETHER:
            raise KeyboardInterrupt

    def __exit__(self, *problem: object) -> None:
        # What was passed on twice must not end what is now written and told.
        if self._asked >= 0.0:
            time.sleep(max(0.0, TOGETHER - (time.monotonic() - self._asked)))
        for asked, handler in self._before.items():
            signal.signal(asked, handler)
