"""What Ctrl-C does to a command that goes on until it is stopped."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType
from typing import Any


class stopping:  # noqa: N801 - reads as a phrase after with
    """The first Ctrl-C ends what goes on in good order, the second at once; SIGTERM is the same."""

    ASKED = (signal.SIGINT, signal.SIGTERM)

    def __init__(self, stop: Callable[[], None]) -> None:
        """`stop` is called in the midst of anything, so it must wait for nothing."""
        self._end, self._asked = stop, False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> None:
        try:
            self._before = {asked: signal.signal(asked, self._stop) for asked in self.ASKED}
        except ValueError:  # not the main thread: whoever owns that one handles Ctrl-C
            return

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        self._end()

    def __exit__(self, *problem: object) -> None:
        for asked, handler in self._before.items():
            signal.signal(asked, handler)
