"""The entry points of sweeps: run or resume one, read the results of one."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from astray.engine import is_whole
from astray.errors import WrongInput
from astray.files import atomic_write
from astray.recording import check_folder
from astray.scenario import Source
from astray.sweeps.cases import SweepPlan, Vary, make_plan
from astray.sweeps.results import Sweep
from astray.sweeps.results_database import DATABASE, ResultsDatabase
from astray.sweeps.workers import MakeExecutor, OnActivity, SweepRunner, available_cores

Progress = Callable[[int, int], None]
"""Receives the number of finished worlds, and of all."""


def sweep(
    source: Source,
    vary: Vary | None = None,
    *,
    worlds: int = 100,
    seed: int | None = None,
    duration: float | None = None,
    set: Sequence[str] = (),
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    workers: int | None = None,
    executor: MakeExecutor | None = None,
    batch: int | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Run every combination of the varied values in the same worlds, on all cores.

    Results that are in the folder `out` already are kept, and their worlds are not run again.

    Args:
        source: The scenario: a path, the name of a bundled one, or a mapping.
        vary: The values of each varied path of the scenario.
        worlds: The number of worlds of each case.
        seed: The seed of all cases; that of the scenario unless given.
        duration: The simulated time of each world, s; that of the scenario unless given.
        set: Changes to the scenario, "path=value".
        out: The folder of the results; "NAME-sweep" by default.
        overwrite: Whether to delete an earlier sweep in that folder.
        workers: The number of worker processes; 0 runs everything in this process. With `executor`
            the number of tasks that it runs at a time. All cores by default.
        executor: Called for another executor of `concurrent.futures`.
        batch: The number of worlds of a task; by default a task takes about a second.
        progress: Called with the number of finished worlds and of all.

    Returns:
        The results.

    Raises:
        ScenarioError: With every fault of every case.
        WrongInput: Another argument is wrong, or the folder holds something else.
        AstrayError: No worker process could be started.
    """
    if workers is not None and (not is_whole(workers) or workers < 0):
        raise WrongInput(f"workers are a whole number, 0 or more, not {workers!r}")
    if batch is not None and (not is_whole(batch) or batch < 1):
        raise WrongInput(f"a batch is one world or more, not {batch!r}")
    plan = make_plan(source, vary, worlds=worlds, seed=seed, duration=duration, set=set)
    folder = Path(out) if out is not None else Path(f"{plan.scenario}-sweep")
    return run_plan(plan, folder, overwrite, workers, executor, batch, progress)


def run_plan(
    plan: SweepPlan,
    folder: Path,
    overwrite: bool = False,
    workers: int | None = None,
    executor: MakeExecutor | None = None,
    batch: int | None = None,
    progress: Progress | None = None,
    on_activity: OnActivity | None = None,
) -> Sweep:
    """Run the missing worlds of a plan, and write the results.

    Args:
        plan: The checked plan.
        folder: The folder of the results.
        overwrite: Whether to delete an earlier sweep in that folder.
        workers: As for `sweep`.
        executor: As for `sweep`.
        batch: As for `sweep`.
        progress: As for `sweep`.
        on_activity: Called several times per second with what the sweep is doing.

    Returns:
        The results.

    Raises:
        WrongInput: The folder holds something else, or another sweep.
        AstrayError: No worker process could be started.
    """
    check_folder(folder, True, DATABASE, "sweep")
    count = available_cores() if workers is None else workers
    with ResultsDatabase(folder, write=True, clear=overwrite) as database:
        database.begin(plan)
        total = len(plan.cases) * plan.worlds
        finished = sum(database.finished().values())

        def on_progress(more: int) -> None:
            nonlocal finished
            finished += more
            if progress is not None:
                progress(finished, total)

        on_progress(0)
        if finished < total:
            SweepRunner(plan, database, executor, count, batch, on_activity).run(on_progress)
        results = Sweep(folder, plan, database)
    for name, content in results.files():
        with atomic_write(folder / name) as stream:
            stream.write(content)
    return results


def read_sweep(folder: str | os.PathLike[str]) -> Sweep:
    """Read the results of a sweep, also while it still runs.

    Args:
        folder: The folder of the sweep.

    Returns:
        The results so far.

    Raises:
        WrongInput: The folder holds no sweep.
    """
    with ResultsDatabase(Path(folder)) as database:
        plan = database.plan()
        if plan is None:
            raise WrongInput(f"{folder} holds no sweep yet")
        try:
            return Sweep(Path(folder), plan, database)
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as problem:
            why = f"its plan and its results do not fit together: {problem!r}"
            raise WrongInput(f"{Path(folder) / DATABASE}: {why}") from None
