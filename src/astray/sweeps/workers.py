"""Worker processes of a sweep: which worlds a task has, where it runs, what happens if it is lost.

- `run_task` runs one task to its end, in whatever process.
- `TaskScheduler` cuts the missing worlds into tasks of about a second.
- `SweepRunner` gives tasks to workers and writes what they return. It runs a task again if its
  worker died (`_on_worker_death`), and splits a failing task until the failing world is found
  (`_on_failure`), so that one bad world does not lose the others.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent import futures
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from astray.errors import AstrayError
from astray.numerics import compile_callbacks
from astray.sim import Sim, load
from astray.sweeps.cases import SweepPlan, SweepTask
from astray.sweeps.results_database import ResultRow, ResultsDatabase

THREAD_VARIABLES = (
    "NUMBA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
)
COLLISIONS = "collisions"
ALL_ROBOTS = -1  # the robot of a row that is about all robots of its group
ROWS_PER_GROUP = 1000  # values of `place` for each group; the last one is that of collisions
SHORT, LONG = 1.0, 8.0  # s; a shorter task may grow, a longer one shrinks
GROWTH = 4  # factor between sizes of tasks
MAX_TASK_SIZE = GROWTH**5  # worlds
MAX_ATTEMPTS = 3  # at a task whose worker dies
POLL_PERIOD = 0.25  # s: the longest delay of Ctrl-C where waiting cannot be interrupted
MAX_WINDOWS_PROCESSES = 61  # that Windows can wait for
T = TypeVar("T")
MakeExecutor = Callable[[], futures.Executor]
OnProgress = Callable[[int], None]
"""Receives the number of worlds that were finished, or given up, since the last call."""
OnActivity = Callable[["Activity"], None]


class Activity(NamedTuple):
    """What a sweep is doing.

    Attributes:
        phase: In words.
        worlds: How many worlds are done of those under way, as the sum of their shares.
    """

    phase: str
    worlds: float = 0.0


# A task, in a worker process.


class TaskResult(NamedTuple):
    """The rows of a finished task, and how long it took."""

    rows: list[ResultRow]
    seconds: float


class TaskProgress:
    """How far each task under way is, written by workers and read by the sweep.

    The memory is shared and has no lock: one that a killed worker held would never be released.

    Attributes:
        shares: The share of a task that is done, by its slot.
        kernels: How many kernels it has compiled.
        notify: Called after each change, where tasks run in the process of the sweep.
    """

    def __init__(self, slots: int, notify: Callable[[], None] | None = None) -> None:
        context = multiprocessing.get_context("spawn")
        self.shares: Any = context.RawArray("d", slots)
        self.kernels: Any = context.RawArray("l", slots)
        self.notify = notify

    @contextlib.contextmanager
    def of_task(self, slot: int) -> Iterator[Callable[[float], None]]:
        """Count the kernels that a block compiles; the block reports its share by a call."""

        def count(_: object) -> None:
            self.kernels[slot] += 1
            self._notify()

        def report(share: float) -> None:
            self.shares[slot] = share
            self._notify()

        compile_callbacks.append(count)
        try:
            yield report
        finally:
            compile_callbacks.remove(count)

    def _notify(self) -> None:
        if self.notify is not None:
            self.notify()

    def clear(self, slot: int) -> None:
        """Make a slot ready for another task."""
        self.shares[slot], self.kernels[slot] = 0.0, 0


_task_progress: TaskProgress | None = None
"""Where the tasks of this process report to; None in the workers of other executors."""


def report_to(progress: TaskProgress | None) -> None:
    """Let the tasks of this process report how far they are."""
    global _task_progress
    _task_progress = progress


def initialize_worker(progress: TaskProgress) -> None:
    """Prepare a worker process: one thread, no Ctrl-C of its own, an end with its parent.

    A parent that is killed does not close the pipes that its workers wait at, so a thread of the
    worker waits for the parent.
    """
    report_to(progress)
    for variable in THREAD_VARIABLES:
        os.environ[variable] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_exit_after, args=(parent,), daemon=True).start()


def _exit_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


@contextlib.contextmanager
def interrupt_later() -> Iterator[None]:
    """Let Ctrl-C take effect after the with block.

    A worker starts in `submit`. One that is interrupted half-way is unknown to its pool: it would
    live on, or end with a traceback since it never gets its task.
    """
    pending: list[tuple[int, FrameType | None]] = []
    try:
        handler = signal.signal(signal.SIGINT, lambda *about: pending.append(about))
    except ValueError:  # not the main thread: no signal interrupts it
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if pending and callable(handler):
            handler(*pending[0])


def run_task(scenario: str, first: int, count: int, slot: int = 0) -> TaskResult:
    """Run some worlds of a case, whose effective scenario is given as JSON."""
    with contextlib.ExitStack() as stack:
        report = None
        if _task_progress is not None:
            report = stack.enter_context(_task_progress.of_task(slot))
        sim = load(json.loads(scenario), worlds=range(first, first + count))
        seconds = sim.scenario.duration
        started = time.perf_counter()
        sim.run(progress=report and (lambda done: report(done / seconds)))
    return TaskResult(sorted(_metric_rows(sim)), time.perf_counter() - started)


def _metric_rows(sim: Sim) -> list[ResultRow]:
    rows = []
    for k, (name, group) in enumerate(sim.robots.items()):
        own_name = group.estimator.name if group.estimator else "truth"
        for j, evaluator in enumerate(group.evaluators):
            measured = evaluator.statistics["count"] > 0
            address, values = evaluator.belief[measured], evaluator.statistics[measured]
            belief = own_name if evaluator.subject == "belief" else evaluator.subject
            columns = (
                address["world"],
                address["robot"],
                np.sqrt(values["squares"] / values["count"]),
                values["total"] / values["count"],
                values["most"],
                values["last"],
            )
            key = (evaluator.subject, belief, evaluator.metric.name)
            for world, robot, *statistics in zip(*(c.tolist() for c in columns), strict=True):
                rows.append(
                    ResultRow(world, ROWS_PER_GROUP * k + j, name, robot, *key, *statistics)
                )
        if sim.environment.interactions:
            rows += _collision_rows(sim, name, ROWS_PER_GROUP * (k + 1) - 1)
    return rows


def _collision_rows(sim: Sim, name: str, place: int) -> list[ResultRow]:
    """The number of collisions of the robots of a group, in each world."""
    group, collisions = sim.robots[name], sim.collisions
    first = group.scene.first_row
    of_group = (collisions["row"] >= first) & (collisions["row"] < first + len(group.truth))
    counts = Counter(collisions["world"][of_group].tolist())
    key = (name, ALL_ROBOTS, "truth", "truth", COLLISIONS)
    return [
        ResultRow(world, place, *key, *[float(counts[world])] * 4) for world in sim.worlds.tolist()
    ]


# Executors.


class InProcessExecutor(futures.Executor):
    """Runs each call immediately, in this process, which may have plugins that no other has."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> futures.Future[T]:
        """Run a call and return its finished future."""
        future: futures.Future[T] = futures.Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as problem:  # noqa: BLE001 - the future raises it
            future.set_exception(problem)
        return future


def available_cores() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def executor_factory(workers: int, progress: TaskProgress) -> MakeExecutor:
    """A factory of pools of worker processes; with 0 workers, tasks run in this process."""
    if workers == 0:
        return InProcessExecutor
    progress.notify = None  # which is of this process
    count = min(workers, MAX_WINDOWS_PROCESSES) if sys.platform == "win32" else workers
    context = multiprocessing.get_context("spawn")
    return lambda: futures.ProcessPoolExecutor(
        count, context, initializer=initialize_worker, initargs=(progress,)
    )


# Tasks.


class TaskScheduler:
    """Cuts missing worlds into tasks: of one world at first, larger as long as that pays.

    A batch of many worlds takes hardly longer than one world until the work per row outweighs the
    work per tick.
    """

    def __init__(self, plan: SweepPlan, missing: dict[int, list[range]], workers: int) -> None:
        self._missing = {case: deque(ranges) for case, ranges in missing.items()}
        self._worlds = sum(len(r) for ranges in missing.values() for r in ranges)
        self._size = 1  # worlds of a task
        self._shortest: dict[int, float] = {}  # s, of the tasks of each size
        self._workers = max(1, workers)
        self._uncompiled = deque(_cases_with_new_kernels(plan, sorted(missing)))

    @property
    def compiles_next(self) -> bool:
        """Whether the next task is the first that needs its kernels; then it should run alone."""
        return bool(self._uncompiled)

    def next_task(self, batch: int | None) -> SweepTask | None:
        """The next task, of `batch` worlds if given; None if none is left."""
        if self._uncompiled:
            return self._cut(self._uncompiled.popleft(), batch or 1)
        if not self._missing:
            return None
        # The last tasks are smaller, so that no worker waits long for another at the end.
        share = max(-(-self._worlds // (2 * self._workers)), self._size // GROWTH)
        return self._cut(next(iter(self._missing)), batch or min(self._size, share))

    def _cut(self, case: int, size: int) -> SweepTask:
        worlds = self._missing[case].popleft()
        task = SweepTask(case, worlds.start, min(size, len(worlds)))
        if task.count < len(worlds):
            self._missing[case].appendleft(worlds[task.count :])
        if not self._missing[case]:
            del self._missing[case]
        self._worlds -= task.count
        return task

    def adapt(self, task: SweepTask, seconds: float) -> None:
        """Adapt the size of tasks to the time that one took; the first of a process is slower."""
        shortest = self._shortest
        shortest[task.count] = seconds = min(seconds, shortest.get(task.count, seconds))
        if task.count != self._size:
            return
        smaller, larger = self._size // GROWTH, self._size * GROWTH
        pays = seconds < SHORT or seconds < GROWTH / 2 * shortest.get(smaller, seconds)
        fits = 2 * seconds < LONG and larger <= MAX_TASK_SIZE and shortest.get(larger, 0.0) < LONG
        if seconds > LONG:
            self._size = max(1, smaller)
        elif pays and fits:
            self._size = larger


def _cases_with_new_kernels(plan: SweepPlan, cases: list[int]) -> list[int]:
    """The first case of each set of plugin kinds: cases with the same kinds share kernels."""
    first: dict[frozenset[str], int] = {}
    for case in cases:
        first.setdefault(frozenset(_plugin_kinds(plan.cases[case])), case)
    return list(first.values())


def _plugin_kinds(part: Any) -> set[str]:
    if isinstance(part, dict):
        own = {part["kind"]} if isinstance(part.get("kind"), str) else set()
        return own.union(*map(_plugin_kinds, part.values()))
    return set().union(*map(_plugin_kinds, part)) if isinstance(part, list) else set()


class SweepRunner:
    """Keeps workers busy until every world is finished or has failed."""

    def __init__(
        self,
        plan: SweepPlan,
        database: ResultsDatabase,
        make_executor: MakeExecutor | None,
        workers: int,
        batch: int | None,
        on_activity: OnActivity | None = None,
    ) -> None:
        """Prepare the tasks; executors other than ours do not tell how far their tasks are."""
        self._database, self._batch = database, batch
        self._scheduler = TaskScheduler(plan, database.missing(plan), workers)
        self._scenarios = [json.dumps(case) for case in plan.cases]
        self._max_pending = 2 * max(1, workers)
        self._on_activity = on_activity
        self._progress = TaskProgress(self._max_pending, self._report_activity)
        self._free_slots = list(range(self._max_pending))
        self._slots: dict[futures.Future[TaskResult], int] = {}
        self._in_process = make_executor is None and workers == 0
        self._make_executor = make_executor or executor_factory(workers, self._progress)
        self._pending: dict[futures.Future[TaskResult], SweepTask] = {}
        # When a pool breaks, any of its tasks may have killed the worker: each is retried alone.
        self._suspects: deque[SweepTask] = deque()
        self._deaths: Counter[SweepTask] = Counter()
        self._halves: deque[SweepTask] = deque()  # of tasks that failed
        self._submitting: tuple[int, SweepTask] | None = None  # slot and task
        self._exclusive = False  # whether the pending task has to stay the only one

    def run(self, on_progress: OnProgress) -> None:
        """Run all missing tasks. Ctrl-C ends this at once; what was written stays."""
        children = multiprocessing.active_children()
        if self._on_activity is not None:
            self._on_activity(Activity("starting"))
        pool = self._start_pool()
        report_to(self._progress if self._in_process else None)
        try:
            while True:
                self._submit_tasks(pool)
                if not self._pending:
                    break
                done, _ = futures.wait(self._pending, POLL_PERIOD, futures.FIRST_COMPLETED)
                died = [self._collect(future, on_progress) for future in done]
                self._report_activity()
                if any(died):
                    self._drain_broken_pool(on_progress)
                    pool.shutdown(wait=False, cancel_futures=True)
                    pool = self._make_executor()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                if child not in children:
                    child.kill()
            raise
        finally:
            report_to(None)
        pool.shutdown()

    def _report_activity(self) -> None:
        """Report how far the tasks under way are."""
        if self._on_activity is None:
            return
        shares, kernels = self._progress.shares, self._progress.kernels
        # In this process a task is under way before there is a future of it.
        sizes = {self._slots[future]: task.count for future, task in self._pending.items()}
        if self._submitting is not None:
            sizes[self._submitting[0]] = self._submitting[1].count
        done = sum(shares[slot] * count for slot, count in sizes.items())
        compiling = sum(kernels[slot] for slot in sizes if not shares[slot])
        phase = f"compiling kernels, {compiling} so far" if compiling and not done else ""
        self._on_activity(Activity(phase, done))

    def _start_pool(self) -> futures.Executor:
        pool = self._make_executor()
        try:
            with interrupt_later():
                first = pool.submit(os.getpid)
            first.result()
        except futures.BrokenExecutor:
            raise AstrayError(
                "no worker process could be started; a program that calls astray.sweep is imported "
                'by its workers, so the call belongs under `if __name__ == "__main__":`'
            ) from None
        return pool

    def _submit_tasks(self, pool: futures.Executor) -> None:
        """Submit as many tasks as keep all workers busy, or one that has to run alone."""
        if not self._pending:
            self._exclusive = bool(self._suspects) or self._scheduler.compiles_next
        alone = self._exclusive or self._suspects or self._scheduler.compiles_next
        while len(self._pending) < (1 if alone else self._max_pending):
            task = self._next_task()
            if task is None:
                return
            slot = self._free_slots.pop()
            self._progress.clear(slot)
            self._submitting = slot, task
            scenario = self._scenarios[task.case]
            # In this process the whole task runs in `submit`.
            interruptible = contextlib.nullcontext() if self._in_process else interrupt_later()
            try:
                with interruptible:
                    future = pool.submit(run_task, scenario, task.first, task.count, slot)
            except futures.BrokenExecutor as problem:
                future = futures.Future()
                future.set_exception(problem)
            self._submitting = None
            self._pending[future], self._slots[future] = task, slot

    def _next_task(self) -> SweepTask | None:
        for waiting in (self._suspects, self._halves):
            if waiting:
                return waiting.popleft()
        return self._scheduler.next_task(self._batch)

    def _collect(self, future: futures.Future[TaskResult], on_progress: OnProgress) -> bool:
        """Write the result of a task; True if its worker died."""
        task = self._take(future)
        try:
            rows, seconds = future.result()
        except (futures.BrokenExecutor, futures.CancelledError):
            self._on_worker_death(task, on_progress)
            return True
        except Exception as problem:  # noqa: BLE001 - a foreign plugin may raise anything
            self._on_failure(task, f"{type(problem).__name__}: {problem}", on_progress)
        else:
            self._database.insert_results(task, rows)
            self._scheduler.adapt(task, seconds)
            on_progress(task.count)
        return False

    def _take(self, future: futures.Future[TaskResult]) -> SweepTask:
        """The task of a future that is no longer under way."""
        self._free_slots.append(self._slots.pop(future))
        return self._pending.pop(future)

    def _on_worker_death(self, task: SweepTask, on_progress: OnProgress) -> None:
        """Run a task again, alone, until its worker has died MAX_ATTEMPTS times while it ran alone.

        Of the tasks of a broken pool, most were only beside the one that killed its worker, or had
        not even begun. So only a death of a task that ran alone counts.
        """
        self._deaths[task] += 1 if self._exclusive else 0
        if self._deaths[task] < MAX_ATTEMPTS:
            self._suspects.append(task)
            return
        reason = f"its worker process died, {MAX_ATTEMPTS} times; killed, or out of memory?"
        self._on_failure(task, reason, on_progress)

    def _on_failure(self, task: SweepTask, reason: str, on_progress: OnProgress) -> None:
        """Run a task again in two halves; record the failure of a single world."""
        if task.count > 1:
            half = task.count // 2
            self._halves.append(SweepTask(task.case, task.first, half))
            self._halves.append(SweepTask(task.case, task.first + half, task.count - half))
            return
        self._database.insert_failure(task, reason)
        on_progress(task.count)

    def _drain_broken_pool(self, on_progress: OnProgress) -> None:
        """Collect what a broken pool has finished; its other tasks are lost."""
        done, lost = futures.wait(self._pending, 5.0)
        for future in done:
            self._collect(future, on_progress)
        for future in lost:
            self._on_worker_death(self._take(future), on_progress)
