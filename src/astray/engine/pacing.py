"""How fast a run goes by the wall clock: as fast as it can, or held back, paused, stepped.

None of it changes a byte of the run; it only decides when the next ticks may happen.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable

from astray.errors import WrongInput

FOREVER = 1e9  # s of simulated time: until the run is stopped
BREATH = 0.01  # s of real time after which a paced run looks up
LOOK_UP = -1  # instead of a number of ticks: something was asked of the run


class Pace:
    """The throttle of a run. Safe to turn from another thread."""

    def __init__(self) -> None:
        self.speed: float | None = None
        """Simulated seconds per second; None for as fast as possible."""
        self.paused = False
        self.factor = 0.0
        """Simulated seconds per second, as measured over the last quarter second."""
        self.asked: deque[Callable[[], None]] = deque()
        """What the thread of the run is to do between two ticks."""
        self.ends = False
        """Whether a run has ended and waits to begin anew."""
        self._again: tuple[int | None] | None = None
        self._changed = threading.Condition()
        self._granted = 0
        self._stopped = self._heard = False
        self._wall = self._since = time.perf_counter()
        self._from = self._seen = self._now = 0.0

    def begin(self, now: float) -> None:
        """Start to count at this simulated time; a stop that came before it is meant for it."""
        with self._changed:
            if self._heard:
                self._stopped = self._heard = False
            self._wall = self._since = time.perf_counter()
            self._from = self._seen = self._now = now

    def end(self) -> None:
        """The run is over: if it was stopped, the next one is not."""
        with self._changed:
            self._heard = self._stopped

    def set_speed(self, speed: float | None) -> None:
        """Change the speed; the present moment is the new origin."""
        if speed is not None and not 0.0 < speed < math.inf:
            raise WrongInput(f"speed: {speed} times real time is none; leave it out for full speed")
        with self._changed:
            self.speed = speed
            self._wall, self._from = time.perf_counter(), self._now
            self._changed.notify_all()

    def pause(self) -> None:
        """Hold the run after the present tick."""
        with self._changed:
            self.paused = True

    def play(self) -> None:
        """Let the run go on."""
        with self._changed:
            self.paused = False
            self._granted = 0
            self._wall, self._from = time.perf_counter(), self._now
            self._changed.notify_all()

    def step(self, ticks: int = 1) -> None:
        """Let a paused run go on for some ticks."""
        with self._changed:
            self._granted += ticks
            self._changed.notify_all()

    @property
    def granted(self) -> int:
        """The ticks that a paused run may still do."""
        return self._granted

    def step_no_more(self) -> None:
        """Take back the ticks that were allowed and have not happened."""
        with self._changed:
            self._granted = 0

    def stop(self) -> None:
        """End the run after the present tick."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def ask(self, what: Callable[[], None]) -> None:
        """Let the run do something between two ticks, in its own thread: to look, not to touch."""
        self.asked.append(what)
        with self._changed:
            self._changed.notify_all()

    def answer(self) -> None:
        """Do what was asked for."""
        while self.asked:
            try:
                what = self.asked.popleft()
            except IndexError:  # another thread was first
                return
            what()

    def start_over(self, seed: int | None = None) -> None:
        """Let the run begin anew, with its own seed or another."""
        with self._changed:
            self._again = (seed,)
            self._changed.notify_all()

    def restart(self) -> tuple[int | None] | None:
        """The seed to begin anew with, None for the same; nothing at all if no one wants that."""
        again, self._again = self._again, None
        return again

    def await_restart(self) -> tuple[int | None] | None:
        """Wait until the run is to begin anew; nothing if it is to end."""
        with self._changed:
            self.ends = True
            while self._again is None and not self._stopped:
                self._changed.wait(10 * BREATH)  # and not for ever, so that Ctrl-C is heard
            self.ends = False
        return self.restart()

    @property
    def stopped(self) -> bool:
        """Whether the run was asked to end."""
        return self._stopped

    def when(self, then: float) -> float | None:
        """When a simulated time is due, by `time.perf_counter`; None if it is not held back."""
        with self._changed:
            if self.speed is None or self.paused:
                return None
            return self._wall + (then - self._from) / self.speed

    def ticks(self, now: float, dt: float, most: int) -> int:
        """Wait until ticks may happen; how many of `most`, 0 to end, LOOK_UP if asked to."""
        self._measure(now)
        if self.speed is None and not self.paused and self._again is None:
            return 0 if self._stopped else most
        with self._changed:
            while not self._stopped:
                if self.asked or self._again is not None:
                    return LOOK_UP
                if self.paused and not self._granted:
                    self._changed.wait()
                elif self.paused:
                    return min(self._granted, most)
                elif self.speed is None:
                    return most
                else:
                    elapsed = time.perf_counter() - self._wall
                    ahead = self._from + elapsed * self.speed - now
                    if ahead >= dt:
                        return min(int(ahead / dt), most, max(1, int(BREATH * self.speed / dt)))
                    # Until the tick is due, not for as long as one takes: that would be late.
                    self._changed.wait(min(BREATH, (dt - ahead) / self.speed))
        return 0

    def used(self, ticks: int) -> None:
        """Take note of ticks that have happened: a run may stop short of what it was allowed."""
        if self._granted:
            with self._changed:
                self._granted = max(0, self._granted - ticks)

    def _measure(self, now: float) -> None:
        self._now = now
        wall = time.perf_counter()
        if wall - self._since > 0.25:
            self.factor = (now - self._seen) / (wall - self._since)
            self._since, self._seen = wall, now
