"""A run that goes on in a thread of its own while a with block lasts."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from astray.engine import Run

if TYPE_CHECKING:
    pass

FOREVER = 1e9  # s
PATIENCE = 0.05  # s between two tries to stop it


@contextlib.contextmanager
def in_background(
    sim: Run, seconds: float = FOREVER, speed: float | None = 1.0
) -> Iterator[threading.Thread]:
    """Run as long as the block lasts; what went wrong is raised where it ends."""
    problems: list[BaseException] = []

    def run() -> None:
        try:
            sim.run(seconds, speed=speed)
        except BaseException as problem:  # noqa: BLE001 - raised again where the block ends
            problems.append(problem)

    thread = threading.Thread(target=run, name="astray-run", daemon=True)
    thread.start()
    try:
        yield thread
    finally:
        while thread.is_alive():  # it may not have begun yet, and forgets then that it was stopped
            sim.pace.stop()
            thread.join(PATIENCE)
    if problems:
        raise problems[0]
