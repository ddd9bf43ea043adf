"""The front door of sweeps: run one, go on with one, read one."""

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
from astray.sweeps.results_database import NAME, Ledger
from astray.sweeps.workers import MakeExecutor, Runner, cores, processes

Progress = Callable[[int, int], None]
"""Is told how many worlds are done, and of how many."""


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

    What is in the folder `out` already is kept and not run again. `workers=0` runs everything in
    this process; `executor` is called for any other executor of `concurrent.futures`, `workers`
    then says how many tasks it runs at a time. A task has `batch` worlds, as many as take a second
    or so unless given.
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
) -> Sweep:
    """Run what is left of a plan, and write what it came to."""
    check_folder(folder, True, NAME, "sweep")
    busy = cores() if workers is None else workers
    with Ledger(folder, write=True, anew=overwrite) as ledger:
        ledger.begin(plan)
        total = len(plan.cases) * plan.worlds
        done = sum(ledger.done().values())

        def tell(more: int) -> None:
            nonlocal done
            done += more
            if progress is not None:
                progress(done, total)

        tell(0)
        if done < total:
            Runner(plan, ledger, executor or processes(busy), busy, batch).run(tell)
        found = Sweep(folder, plan, ledger)
    for name, content in found.files():
        with atomic_write(folder / name) as stream:
            stream.write(content)
    return found


def read_sweep(folder: str | os.PathLike[str]) -> Sweep:
    """What a sweep in a folder has found, also while it still runs."""
    with Ledger(Path(folder)) as ledger:
        plan = ledger.plan()
        if plan is None:
            raise WrongInput(f"{folder} holds no sweep yet")
        return Sweep(Path(folder), plan, ledger)
