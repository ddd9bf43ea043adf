"""What servers say of themselves: whoever reads it may have gone, and nobody shall suffer by it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

Log = Callable[[str], None]


def guarded_log(log: Log) -> Log:
    """A log that cannot end who writes to it: a thread that serves many, or the run."""

    def say(text: str) -> None:
        with contextlib.suppress(Exception, SystemExit):  # the console of rich leaves at EPIPE
            log(text)

    return say
