"""A run served in the background of a program: for tests, notebooks and examples."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from astray.engine import Run
from astray.ros.rosbridge.bridge import RosbridgeBridge
from astray.server import FOREVER, in_background


@contextlib.contextmanager
def serving(
    sim: Run, *, speed: float | None = 1.0, port: int = 0, seconds: float = FOREVER, **more: Any
) -> Iterator[RosbridgeBridge]:
    """Serve a run, and let it go on as long as the with block lasts.

    `wire.port` is where, a free port unless one is given. More arguments go to `RosbridgeBridge`.
    """
    wire = RosbridgeBridge(sim, **more)
    wire.open(port)
    try:
        with in_background(sim, seconds, speed):
            yield wire
    finally:
        wire.close()
