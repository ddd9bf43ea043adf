"""Real-time pacing of a run: full speed, a fixed speed, paused, single steps.

Pacing changes no byte of a run; it only decides when the next ticks may happen.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable

from astray.errors import WrongInput, add_former_names

FOREVER = 1e9  # s of simulated time: until the run is stopped
MAX_WAIT = 0.01  # s of wall-clock time after which a paced run checks for requests
REQUEST_PENDING = -1  # in place of a number of ticks: another thread requests something
MEASURING = 0.25  # s of wall-clock time over which the speed is measured
RENAMED = {
    "ask": "request",
    "answer": "serve_requests",
    "asked": "requests",
    "start_over": "request_restart",
    "step_no_more": "cancel_steps",
    "granted": "granted_ticks",
    "when": "due_at",
    "ends": "has_ended",
}


class Pace:
    """The throttle of a run; every method is safe to call from another thread."""

    def __init__(self) -> None:
        self.speed: float | None = None
        """Simulated seconds per second; None for as fast as possible."""
        self.paused = False
        self.factor = 0.0
        """Simulated seconds per second, as measured over the last quarter second."""
        self.requests: deque[Callable[[], None]] = deque()
        """Functions that the thread of the run calls between two ticks."""
        self.has_ended = False
        """Whether a run has ended and waits for a restart."""
        self._restart_seed: tuple[int | None] | None = None
        self._changed = threading.Condition()
        self._granted = 0
        self._stopped = self._stop_was_served = False
        self._wall_origin = self._measured_at = time.perf_counter()
        self._time_origin = self._measured_time = self._now = 0.0

    def begin(self, now: float) -> None:
        """Start to pace at this simulated time; a stop that came before it applies to this run."""
        with self._changed:
            if self._stop_was_served:
                self._stopped = self._stop_was_served = False
            self._wall_origin = self._measured_at = time.perf_counter()
            self._time_origin = self._measured_time = self._now = now

    def end(self) -> None:
        """End the run: a stop that was requested does not apply to the next one."""
        with self._changed:
            self._stop_was_served = self._stopped

    def set_speed(self, speed: float | None) -> None:
        """Change the speed from the present moment on.

        Args:
            speed: Simulated seconds per second; None for as fast as possible.

        Raises:
            WrongInput: The speed is not positive and finite.
        """
        if speed is not None and not 0.0 < speed < math.inf:
            raise WrongInput(f"speed: {speed} times real time is none; leave it out for full speed")
        with self._changed:
            self.speed = speed
            self._wall_origin, self._time_origin = time.perf_counter(), self._now
            self._changed.notify_all()

    def pause(self) -> None:
        """Pause the run after the present tick."""
        with self._changed:
            self.paused = True

    def play(self) -> None:
        """Continue a paused run."""
        with self._changed:
            self.paused = False
            self._granted = 0
            self._wall_origin, self._time_origin = time.perf_counter(), self._now
            self._changed.notify_all()

    def step(self, ticks: int = 1) -> None:
        """Grant some ticks to a paused run."""
        with self._changed:
            self._granted += ticks
            self._changed.notify_all()

    @property
    def granted_ticks(self) -> int:
        """The ticks that a paused run may still do."""
        return self._granted

    def cancel_steps(self) -> None:
        """Take back the granted ticks that have not happened."""
        with self._changed:
            self._granted = 0

    def consume(self, ticks: int) -> None:
        """Subtract ticks that have happened from the granted ones."""
        if self._granted:
            with self._changed:
                self._granted = max(0, self._granted - ticks)

    def stop(self) -> None:
        """End the run after the present tick."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    @property
    def stopped(self) -> bool:
        """Whether a stop was requested."""
        return self._stopped

    def request(self, function: Callable[[], None]) -> None:
        """Let the thread of the run call a function between two ticks; it must change nothing."""
        self.requests.append(function)
        with self._changed:
            self._changed.notify_all()

    def serve_requests(self) -> None:
        """Call the functions that were requested."""
        while self.requests:
            try:
                function = self.requests.popleft()
            except IndexError:  # another thread took it
                return
            function()

    def request_restart(self, seed: int | None = None) -> None:
        """Let the run start over, with its own seed or another."""
        with self._changed:
            self._restart_seed = (seed,)
            self._changed.notify_all()

    def take_restart(self) -> tuple[int | None] | None:
        """The seed of the requested restart (None: the same seed); None without a request."""
        seed, self._restart_seed = self._restart_seed, None
        return seed

    def await_restart(self) -> tuple[int | None] | None:
        """Wait for a restart and take it; None if the run is stopped instead."""
        with self._changed:
            self.has_ended = True
            while self._restart_seed is None and not self._stopped:
                self._changed.wait(10 * MAX_WAIT)  # with a limit, so that Ctrl-C is handled
            self.has_ended = False
        return self.take_restart()

    def due_at(self, time: float) -> float | None:
        """When a simulated time is due, by `time.perf_counter`; None without a fixed speed."""
        with self._changed:
            if self.speed is None or self.paused:
                return None
            return self._wall_origin + (time - self._time_origin) / self.speed

    def ticks(self, now: float, dt: float, most: int) -> int:
        """Wait until ticks may happen.

        Returns:
            The number of ticks, up to `most`; 0 to end the run; REQUEST_PENDING to serve requests.
        """
        self._measure(now)
        if self.speed is None and not self.paused and self._restart_seed is None:
            return 0 if self._stopped else most
        with self._changed:
            while not self._stopped:
                if self.requests or self._restart_seed is not None:
                    return REQUEST_PENDING
                if self.paused and not self._granted:
                    self._changed.wait()
                elif self.paused:
                    return min(self._granted, most)
                elif self.speed is None:
                    return most
                else:
                    elapsed = time.perf_counter() - self._wall_origin
                    ahead = self._time_origin + elapsed * self.speed - now
                    if ahead >= dt:
                        return min(int(ahead / dt), most, max(1, int(MAX_WAIT * self.speed / dt)))
                    # Until the tick is due; to wait for a whole tick would be late.
                    self._changed.wait(min(MAX_WAIT, (dt - ahead) / self.speed))
        return 0

    def _measure(self, now: float) -> None:
        """Measure the speed of the run."""
        self._now = now
        wall = time.perf_counter()
        if wall - self._measured_at > MEASURING:
            self.factor = (now - self._measured_time) / (wall - self._measured_at)
            self._measured_at, self._measured_time = wall, now


add_former_names(Pace, RENAMED)
