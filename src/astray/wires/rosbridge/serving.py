"""A run served in the background of a program: for tests, notebooks and examples."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from astray.sim import Sim
from astray.wires.rosbridge.wire import Wire

FOREVER = 1e9  # s


@contextlib.contextmanager
def serving(
    sim: Sim, *, speed: float | None = 1.0, port: int = 0, seconds: float = FOREVER, **more: Any
) -> Iterator[Wire]:
    """Serve a run, and let it go on as long as the with block lasts.

    `wire.port` is where, a free port unless one is given. What else a `Wire` takes may be named.
    """
    problems: list[BaseException] = []

    def run() -> None:
        try:
            sim.run(seconds, speed=speed)
        except BaseException as problem:  # noqa: BLE001 - raised again where the block ends
            problems.append(problem)

    wire = Wire(sim, **more)
    thread = threading.Thread(target=run, name="astray-run", daemon=True)
    wire.open(port)
    thread.start()
    try:
        yield wire
    finally:
        while thread.is_alive():  # it may not have begun yet, and forgets then that it was stopped
            sim.pace.stop()
            thread.join(0.05)
        wire.close()
    if problems:
        raise problems[0]
