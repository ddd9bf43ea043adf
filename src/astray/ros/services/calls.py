"""What all services share: requests and responses, failed calls, and access to the run.

A service is called from another thread than that of the run. It reads the run between two ticks,
when no state is half updated, and changes it by events.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, TypeVar

from astray.engine import Event, Run
from astray.errors import AstrayError
from astray.ros.messages import ServiceResult

Request = Mapping[str, Any]
Response = dict[str, Any]
T = TypeVar("T")

OK: Response = {"result": {"result": int(ServiceResult.OK), "error_message": ""}}
TIMEOUT = 10.0  # s of real time that a call waits for the run
POLL_PERIOD = 0.002  # s of real time


class ServiceFailure(AstrayError):
    """A call that fails, with the result code of simulation_interfaces."""

    def __init__(self, code: int, text: str) -> None:
        self.code = int(code)
        super().__init__(text)


class RunTimeout(AstrayError):
    """The run did not answer in time: it has ended, or its ticks take too long."""


def failure_response(code: int, problem: Exception) -> Response:
    """The response to a call that failed."""
    return {"result": {"result": int(code), "error_message": str(problem)}}


def read_between_ticks(sim: Run, read: Callable[[], T], timeout: float = TIMEOUT) -> T:
    """Call a function in the thread of the run, between two ticks.

    Args:
        sim: The run.
        read: The function.
        timeout: How long to wait, s of real time.

    Returns:
        What the function returns.

    Raises:
        RunTimeout: The run did not call it in time.
    """
    result: Future[T] = Future()

    def call() -> None:
        if result.set_running_or_notify_cancel():
            try:
                result.set_result(read())
            except Exception as problem:  # noqa: BLE001 - raised in the calling thread
                result.set_exception(problem)

    sim.pace.request(call)
    try:
        return result.result(timeout)
    except FutureTimeout:
        if result.cancel():
            raise RunTimeout(f"the run did not answer for {timeout:g} s") from None
        return result.result(timeout)


def post_and_wait(sim: Run, event: Event, timeout: float = TIMEOUT) -> None:
    """Post an event and wait until it has taken effect.

    Args:
        sim: The run.
        event: The event.
        timeout: How long to wait, s of real time.

    Raises:
        RunTimeout: It did not take effect in time.
    """
    sim.post(event)
    deadline = time.monotonic() + timeout

    def is_waiting() -> bool:
        return any(waiting is event for waiting in sim.event_queue.waiting())

    while read_between_ticks(sim, is_waiting, timeout):
        if time.monotonic() > deadline:
            raise RunTimeout(f"{event.kind} did not take effect for {timeout:g} s")
        time.sleep(POLL_PERIOD)
