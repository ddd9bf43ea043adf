"""Estimators on real logs from the command line: read, run, compare with the reference, tell.

A log that lacks odometry has it made up, another one for each of ten seeds; an estimator that can
find itself without being told where it starts has to do so, too, for each of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from astray.cli.compile_notice import compiling
from astray.cli.console import Teller
from astray.cli.kinds import declare
from astray.datasets import (
    BagTopics,
    Dataset,
    EstimatorResult,
    GnssOutageResult,
    compare,
    read_logs,
    run_on_log,
    score,
    withhold,
)
from astray.engine import Paths
from astray.errors import WrongInput, suggest
from astray.plugin import KINDS, Estimator
from astray.robot.estimators import RemoteEstimator

PICTURES = (".png", ".pdf", ".svg", ".jpg")
SEEDS = 10  # of made-up odometry
WARM_UP = 5.0  # s of a log that compile every kernel before the time is taken
DRAWN = 5000  # points of a path
FOUND = 0.5  # m: a robot that is nearer knows where it is
MEANS = ("position_rmse", "heading_rmse", "ate", "nees", "final", "updates_per_s")


def score_logs(
    path: str,
    *,
    estimator: str,
    plugins: Sequence[str] = (),
    seed: int = 0,
    imu: str | None = None,
    wheels: str | None = None,
    odom: str | None = None,
    truth: str | None = None,
    robot: str | None = None,
    plot: Path | None = None,
    quiet: bool = False,
    as_json: bool = False,
) -> None:
    """Score an estimator on the logs at a path as the command line asks."""
    if plot is not None and plot.suffix.lower() not in PICTURES:
        raise WrongInput(f"{plot}: a picture is one of {', '.join(PICTURES)}")
    declare(plugins)
    kind = _kind(estimator)
    tell = Teller(quiet)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with compiling(tell.say), Progress(*columns, console=tell, transient=True) as bar:
        reading = bar.add_task("reading", total=None)
        logs = read_logs(path, BagTopics(imu, wheels, odom, truth, robot))
        bar.remove_task(reading)
        found = [_score_log(log, kind, seed, bar) for log in logs]
    told = {"estimator": estimator, "seed": seed, "logs": [part for part, _ in found]}
    if len(found) > 1:
        told["mean"] = _mean([part["mean"] for part, _ in found])
    if plot is not None:
        _draw([result for _, result in found], plot)
    if as_json:
        print(json.dumps(told))
    elif not quiet:
        _print(told)


def _kind(name: str) -> type[Estimator]:
    # What lives elsewhere has nothing to run on a log: its belief would stay where it starts.
    known = {kind: made for kind, made in KINDS["estimator"].items() if made is not RemoteEstimator}
    if name == RemoteEstimator.kind:
        raise WrongInput(f"{name!r} lives elsewhere and cannot be run on a log")
    if name not in known:
        listed = ", ".join(sorted(known))
        raise WrongInput(f"no estimator {name!r}{suggest(name, known)} ({listed})")
    return known[name]  # type: ignore[return-value]


def _score_log(
    log: Dataset, kind: type[Estimator], seed: int, bar: Progress
) -> tuple[dict[str, Any], EstimatorResult]:
    """All that is told of one log, and the first run of it."""
    run_on_log(log.until(WARM_UP), kind())
    seeds = range(seed, seed + (SEEDS if log.made_up else 1))
    lost = log.made_up is not None and log.map is not None and "initial" in kind.__annotations__
    task = bar.add_task(f"{log.name}", total=len(seeds) * (2 if lost else 1) + 0.0)

    def run(estimator: Estimator, seed: int, told: bool = True) -> EstimatorResult:
        done = bar.tasks[bar.task_ids.index(task)].completed

        def tell(share: float) -> None:
            bar.update(task, completed=done + share)

        result = run_on_log(log.seeded(seed), estimator, seed=seed, told=told, progress=tell)
        bar.update(task, completed=done + 1)
        return result

    results = [run(kind(), seed) for seed in seeds]
    scores = [score(result) for result in results]
    about: dict[str, Any] = {"log": log.name, "runs": [one.as_dict() for one in scores]}
    about["mean"] = _mean(about["runs"])
    about["worst"] = max(one.position_rmse for one in scores)
    if lost:
        anywhere: Any = kind
        found = [found_itself(run(anywhere(initial="global"), s, told=False)) for s in seeds]
        about["global_start"] = {"runs": len(found), "found": sum(found)}
    if log.reference.stream:
        about["withheld"] = _outages(withhold(log, kind()))
    bar.remove_task(task)
    return about, results[0]


def found_itself(result: EstimatorResult) -> bool:
    """Whether a robot knew where it was during the second half of a log, but for one time in 20."""
    distance = compare(result).distance
    near = distance[len(distance) // 2 :] < FOUND
    return bool(np.mean(near) > 0.95)


def _outages(found: GnssOutageResult) -> dict[str, Any]:
    known = len(found.errors) > 0
    return {
        "seconds": found.length,
        "windows": len(found.errors),
        "median": found.median if known else None,
        "rms": float(np.sqrt(np.mean(found.errors**2))) if known else None,
    }


def _mean(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The mean of every figure over some runs; None where one has none."""
    columns = {key: [run[key] for run in runs] for key in MEANS}
    return {
        key: None if None in column else float(np.mean(column)) for key, column in columns.items()
    }


def _print(told: dict[str, Any]) -> None:
    console = Console()
    runs = max(len(about["runs"]) for about in told["logs"])
    each = f"seeds {told['seed']} to {told['seed'] + runs - 1}" if runs > 1 else "one run each"
    table = Table(title=f"{told['estimator']}, {each}")
    table.add_column("log", no_wrap=True)
    for heading in ("rmse m", "worst m", "yaw rad", "ate m", "nees", "end m", "updates/s"):
        table.add_column(heading, justify="right", no_wrap=True)
    for about in told["logs"]:
        worst = about["worst"] if len(about["runs"]) > 1 else None
        table.add_row(about["log"], *_cells(about["mean"], worst))
    if "mean" in told:
        table.add_section()
        table.add_row("mean", *_cells(told["mean"], None))
    console.print(table)
    for about in told["logs"]:
        if "global_start" in about:
            found = about["global_start"]
            console.print(f"{about['log']}: found itself {found['found']} of {found['runs']} times")
        if "withheld" in about:
            out = about["withheld"]
            median = "no figure" if out["median"] is None else f"median error {out['median']:.2f} m"
            console.print(
                f"{about['log']}: without GPS for {out['seconds']:g} s, {out['windows']} times: "
                f"{median}"
            )


def _cells(mean: dict[str, Any], worst: float | None) -> list[str]:
    error, heading, ate, nees, final, pace = (mean[key] for key in MEANS)
    metres = [*((value, ".3f") for value in (error, worst, heading, ate)), (nees, ".1f")]
    cells = [*metres, (final, ".3f"), (pace, ",.0f")]
    return ["" if value is None else f"{value:{form}}" for value, form in cells]


def _draw(results: Sequence[EstimatorResult], goal: Path) -> None:
    """Truth and belief of each log as a picture, all of it or nothing."""
    import io

    from astray.files import atomic_write
    from astray.plots import plot_paths

    picture = io.BytesIO()
    around = results[0].log.map if len(results) == 1 else None
    paths = [_paths(result) for result in results]
    plot_paths(paths, around).savefig(picture, dpi=150, format=goal.suffix[1:].lower())
    with atomic_write(goal) as stream:
        stream.write(picture.getvalue())


def _paths(result: EstimatorResult) -> Paths:
    found = compare(result)
    some = slice(None, None, max(1, len(found.truth) // DRAWN))
    truth, belief = (
        np.stack([part[name][some] for name in ("x", "y", "yaw")], axis=-1)[:, None]
        for part in (found.truth, found.belief)
    )
    kind, error = result.estimator, found.distance[some, None]
    return Paths(result.log.name, found.belief["stamp"][some], truth, {kind: belief}, {kind: error})
