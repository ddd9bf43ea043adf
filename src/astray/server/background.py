"""A simulation that runs in the background, while the program that started it does other things."""

from __future__ import annotations

import threading

from astray.engine import FOREVER, Run

STOP_INTERVAL = 0.05  # s of real time between two attempts to stop a run


class BackgroundRun:
    """A simulation that runs in a thread of its own, from its construction on.

    As a context manager it stops the run at the end of the block, and raises there what ended the
    run early.

    Args:
        sim: The simulation; no other thread may step it meanwhile.
        seconds: For how long it runs, in simulated seconds; None for the scenario's duration.
        speed: Simulated seconds per real second; None for as fast as possible.
    """

    def __init__(
        self, sim: Run, seconds: float | None = FOREVER, speed: float | None = 1.0
    ) -> None:
        self._sim, self._seconds, self._speed = sim, seconds, speed
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="astray-run", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether the run has not ended yet."""
        return self._thread.is_alive()

    def wait(self) -> None:
        """Wait until the run has ended, and raise what ended it early."""
        self._thread.join()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def stop(self) -> None:
        """End the run after the present tick, and wait for that."""
        while self._thread.is_alive():  # a run that has not begun yet forgets a stop: repeat it
            self._sim.pace.stop()
            self._thread.join(STOP_INTERVAL)

    def __enter__(self) -> BackgroundRun:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self.stop()
        if kind is None:
            self.wait()

    def _run(self) -> None:
        try:
            self._sim.run(self._seconds, speed=self._speed)
        except BaseException as error:  # noqa: BLE001 - `wait` raises it in the caller's thread
            self._error = error
