"""Tasks to workers and back: cut to a second or so each, and run again if a worker dies.

One world that fails must not take others with it: a task that fails is cut in two, until the world
is found.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from collections import Counter, deque
from collections.abc import Callable
from concurrent import futures
from typing import Any, TypeVar

from astray.errors import AstrayError
from astray.sweeps.cases import SweepPlan, SweepTask
from astray.sweeps.results_database import Ledger
from astray.sweeps.task import TaskOutcome, prepare, run_task

SHORT, LONG = 1.0, 8.0  # s: a task that takes less may well be larger, one that takes more not
GROWTH = 4  # times as many worlds in the next larger task
MOST_AT_ONCE = GROWTH**5  # worlds of a task
TRIES = 3  # of a task whose worker dies
LOOK_UP = 0.5  # s after which Ctrl-C is heard at the latest, where waiting does not hear it
MOST_ON_WINDOWS = 61  # processes that it can wait for
T = TypeVar("T")
MakeExecutor = Callable[[], futures.Executor]
Tell = Callable[[int], None]
"""Is told that so many more worlds are done, or will not be."""


class Here(futures.Executor):
    """Runs everything at once in this process: for plugins that no other process knows."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> futures.Future[T]:
        """Run it and wait."""
        future: futures.Future[T] = futures.Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as problem:  # noqa: BLE001 - the future tells
            future.set_exception(problem)
        return future


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processes(workers: int) -> MakeExecutor:
    """What makes a pool of so many processes; none at all means this one."""
    if workers == 0:
        return Here
    most = min(workers, MOST_ON_WINDOWS) if sys.platform == "win32" else workers
    context = multiprocessing.get_context("spawn")
    return lambda: futures.ProcessPoolExecutor(most, context, initializer=prepare)


class Cutter:
    """Cuts what is left into tasks: of one world at first, and larger as long as that pays.

    A batch of many worlds takes hardly longer than one world until their rows outweigh the ticks.
    """

    def __init__(self, plan: SweepPlan, missing: dict[int, list[range]], workers: int) -> None:
        self._left = {case: deque(ranges) for case, ranges in missing.items()}
        self.worlds = sum(len(r) for ranges in missing.values() for r in ranges)
        self.size = 1
        self._least: dict[int, float] = {}  # s that a task of so many worlds took
        self._workers = max(1, workers)
        self._cold = deque(_first_of_each_make(plan, sorted(missing)))

    @property
    def cold(self) -> bool:
        """Whether the next task is the first that needs its kernels: better alone than by all."""
        return bool(self._cold)

    def next(self, batch: int | None) -> SweepTask | None:
        """The next task; None if nothing is left."""
        if self._cold:
            return self._take(self._cold.popleft(), batch or 1)
        if not self._left:
            return None
        # The last tasks are smaller, so that no worker waits long for another at the end.
        fair = max(-(-self.worlds // (2 * self._workers)), self.size // GROWTH)
        return self._take(next(iter(self._left)), batch or min(self.size, fair))

    def _take(self, case: int, most: int) -> SweepTask:
        worlds = self._left[case].popleft()
        task = SweepTask(case, worlds.start, min(most, len(worlds)))
        if task.count < len(worlds):
            self._left[case].appendleft(worlds[task.count :])
        if not self._left[case]:
            del self._left[case]
        self.worlds -= task.count
        return task

    def learn(self, task: SweepTask, took: float) -> None:
        """Fit the size of tasks to how long they take; the first in a process takes longer."""
        least = self._least
        least[task.count] = took = min(took, least.get(task.count, took))
        if task.count != self.size:
            return
        smaller, larger = self.size // GROWTH, self.size * GROWTH
        pays = took < SHORT or took < GROWTH / 2 * least.get(smaller, took)
        if took > LONG:
            self.size = max(1, smaller)
        elif pays and 2 * took < LONG and larger <= MOST_AT_ONCE and least.get(larger, 0.0) < LONG:
            self.size = larger


def _first_of_each_make(plan: SweepPlan, cases: list[int]) -> list[int]:
    """The first of the cases that have the same kinds of plugins, and so the same kernels."""
    makes: dict[frozenset[str], int] = {}
    for case in cases:
        makes.setdefault(frozenset(_kinds(plan.cases[case])), case)
    return list(makes.values())


def _kinds(part: Any) -> set[str]:
    if isinstance(part, dict):
        own = {part["kind"]} if isinstance(part.get("kind"), str) else set()
        return own.union(*map(_kinds, part.values()))
    return set().union(*map(_kinds, part)) if isinstance(part, list) else set()


class Runner:
    """Keeps workers busy until all is done or has failed."""

    def __init__(
        self, plan: SweepPlan, ledger: Ledger, make: MakeExecutor, workers: int, batch: int | None
    ) -> None:
        self.ledger, self.make, self.batch = ledger, make, batch
        self.cutter = Cutter(plan, ledger.missing(plan), workers)
        self.texts = [json.dumps(case) for case in plan.cases]
        self.window = 2 * max(1, workers)
        self.live: dict[futures.Future[TaskOutcome], SweepTask] = {}
        self.suspects: deque[SweepTask] = deque()  # one of them killed its worker: each alone tells
        self.deaths: Counter[SweepTask] = Counter()
        self.parts: deque[SweepTask] = deque()  # of tasks that failed
        self.alone = False  # whether the task that the workers have is to stay the only one

    def run(self, tell: Tell) -> None:
        """Run all tasks that are left; Ctrl-C ends it at once, and what is written stays."""
        before = multiprocessing.active_children()
        pool = self._start()
        try:
            while True:
                self._feed(pool)
                if not self.live:
                    break
                done, _ = futures.wait(self.live, LOOK_UP, futures.FIRST_COMPLETED)
                broken = [self._take_in(future, tell) for future in done]
                if any(broken):
                    self._give_up(tell)
                    pool.shutdown(wait=False, cancel_futures=True)
                    pool = self.make()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                if child not in before:
                    child.kill()
            raise
        pool.shutdown()

    def _start(self) -> futures.Executor:
        pool = self.make()
        try:
            pool.submit(os.getpid).result()
        except futures.BrokenExecutor:
            raise AstrayError(
                "no worker process could be started; a program that calls astray.sweep is imported "
                'by its workers, so the call belongs under `if __name__ == "__main__":`'
            ) from None
        return pool

    def _feed(self, pool: futures.Executor) -> None:
        """Give out tasks, as many as keep all workers busy, or one that has to be alone."""
        if not self.live:
            self.alone = bool(self.suspects) or self.cutter.cold
        most = 1 if self.alone or self.suspects or self.cutter.cold else self.window
        while len(self.live) < most:
            task = self._next()
            if task is None:
                return
            try:
                future = pool.submit(run_task, self.texts[task.case], task.first, task.count)
            except futures.BrokenExecutor as problem:
                future = futures.Future()
                future.set_exception(problem)
            self.live[future] = task

    def _next(self) -> SweepTask | None:
        for waiting in (self.suspects, self.parts):
            if waiting:
                return waiting.popleft()
        return self.cutter.next(self.batch)

    def _take_in(self, future: futures.Future[TaskOutcome], tell: Tell) -> bool:
        """Write what a task found; True if its worker died."""
        task = self.live.pop(future)
        try:
            rows, took = future.result()
        except (futures.BrokenExecutor, futures.CancelledError):
            self._died(task, tell)
            return True
        except Exception as problem:  # noqa: BLE001 - a stranger's plugin may raise anything
            self._failed(task, f"{type(problem).__name__}: {problem}", tell)
        else:
            self.ledger.keep(task, rows)
            self.cutter.learn(task, took)
            tell(task.count)
        return False

    def _died(self, task: SweepTask, tell: Tell) -> None:
        # Of several, most were only beside the one that did it, or had not even begun.
        self.deaths[task] += 1 if self.alone else 0
        if self.deaths[task] < TRIES:
            self.suspects.append(task)
            return
        why = f"its worker process died, {TRIES} times; killed, or out of memory?"
        self._failed(task, why, tell)

    def _failed(self, task: SweepTask, why: str, tell: Tell) -> None:
        """Try a task again in two halves, or note why it failed."""
        if task.count > 1:
            half = task.count // 2
            self.parts.append(SweepTask(task.case, task.first, half))
            self.parts.append(SweepTask(task.case, task.first + half, task.count - half))
            return
        self.ledger.fail(task, why)
        tell(task.count)

    def _give_up(self, tell: Tell) -> None:
        """Take in what else a broken pool has done, and what it has not."""
        done, lost = futures.wait(self.live, 10 * LOOK_UP)
        for future in done:
            self._take_in(future, tell)
        for future in lost:
            self._died(self.live.pop(future), tell)
