"""Looks at a run from other threads: between two ticks, when nothing of it is half done."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from typing import TYPE_CHECKING, TypeVar

from astray.engine import Run
from astray.errors import AstrayError

if TYPE_CHECKING:
    from astray.engine import Event

PATIENCE = 10.0  # s of real time that a run may take to look up
POLL = 0.002  # s
Found = TypeVar("Found")


class RunTimeout(AstrayError):
    """The run did not look up in time: it has ended, or its ticks take that long."""


def read_between_ticks(sim: Run, what: Callable[[], Found], patience: float = PATIENCE) -> Found:
    """Let the thread of the run look at something, and wait for what it found."""
    found: Future[Found] = Future()

    def do() -> None:
        if found.set_running_or_notify_cancel():
            try:
                found.set_result(what())
            except Exception as problem:  # noqa: BLE001 - raised where it was asked for
                found.set_exception(problem)

    sim.pace.request(do)
    try:
        return found.result(patience)
    except Late:
        if found.cancel():
            raise RunTimeout(f"the run did not answer for {patience:g} s") from None
        return found.result(patience)


def post_and_wait(sim: Run, event: Event, patience: float = PATIENCE) -> None:
    """Post an event, and wait until it has taken effect."""
    sim.post(event)
    deadline = time.monotonic() + patience
    while read_between_ticks(
        sim, lambda: any(e is event for e in sim.event_queue.waiting()), patience
    ):
        if time.monotonic() > deadline:
            raise RunTimeout(f"{event.kind} did not take effect for {patience:g} s")
        time.sleep(POLL)
