"""`astray score`: an estimator on the logs of real robots, compared with their references.

Odometry that a log lacks is synthesised, differently for each of ten seeds. An estimator that can
localise itself without a start pose has to do that as well, for each of the seeds.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from astray.cli.completion import complete_estimators
from astray.cli.options import JSON, PATH, PLUGINS, QUIET, check_picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.progress import Progress

    from astray.datasets import Dataset, EstimatorResult, GnssOutageResult
    from astray.engine import Paths
    from astray.plugin import Estimator

SEEDS = 10  # of synthesised odometry
WARM_UP = 5.0  # s of a log that are run first, so that no kernel is compiled while time is taken
MOST_POINTS = 5000  # of a path in the picture
LOCALISED = 0.5  # m: below this error a robot is localised
MEANS = ("position_rmse", "heading_rmse", "ate", "nees", "final", "updates_per_s")


@click.command()
@click.argument("log")
@click.option(
    "--estimator",
    required=True,
    metavar="KIND",
    shell_complete=complete_estimators,
    help="Kind of the estimator: odometry, ekf, particle, …",
)
@PLUGINS
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Random seed.")
@click.option(
    "--imu", metavar="TOPIC", help="Topic of the IMU in a bag; found by its type by default."
)
@click.option("--wheels", metavar="TOPIC", help="Topic of the joint states of the wheels in a bag.")
@click.option("--odom", metavar="TOPIC", help="Topic of odometry in a bag, in place of wheels.")
@click.option("--truth", metavar="TOPIC", help="Topic of the true pose in a bag.")
@click.option(
    "--robot", metavar="SCENARIO", help="Scenario whose first robot has the datasheets for a bag."
)
@click.option("--plot", type=PATH, help="Draw truth and belief to this image.")
@QUIET
@JSON
def score(
    log: str,
    estimator: str,
    plugins: tuple[str, ...],
    seed: int,
    plot: Path | None,
    quiet: bool,
    as_json: bool,
    **topics: Any,
) -> None:
    """Run an estimator on the log of a real robot.

    The belief is compared with the reference of the log. LOG is a ROS bag, a recording, or a log of
    UTIAS MRCLAM, Victoria Park or CARMEN.
    """
    import json

    from astray.cli.console import StatusConsole, progress_bar, report_compilation
    from astray.cli.kinds import declare_plugins
    from astray.datasets import BagTopics, read_logs
    from astray.engine import attribute_error

    check_picture(plot)
    declare_plugins(plugins)
    kind = _kind(estimator)
    console = StatusConsole(quiet)
    with report_compilation(console.report), progress_bar(console) as bar:
        reading = bar.add_task("reading", total=None)
        logs = read_logs(log, BagTopics(**topics))
        bar.remove_task(reading)
        try:
            scored = [_score_log(log, kind, seed, bar) for log in logs]
        except Exception as problem:
            raise attribute_error(problem) from problem
    result = {"estimator": estimator, "seed": seed, "logs": [part for part, _ in scored]}
    if len(scored) > 1:
        result["mean"] = _mean([part["mean"] for part, _ in scored])
    if plot is not None:
        _draw([first for _, first in scored], plot)
    if as_json:
        print(json.dumps(result))
    elif not quiet:
        _print(result)


def _kind(name: str) -> type[Estimator]:
    """The estimator of this kind."""
    from astray.errors import WrongInput, suggest
    from astray.plugin import KINDS
    from astray.robot.estimators import RemoteEstimator

    # A remote filter cannot run on a log: its belief would stay where it starts.
    if name == RemoteEstimator.kind:
        raise WrongInput(f"{name!r} runs in another process and cannot be run on a log")
    known = {kind: cls for kind, cls in KINDS["estimator"].items() if cls is not RemoteEstimator}
    if name not in known:
        listed = ", ".join(sorted(known))
        raise WrongInput(f"unknown estimator {name!r}{suggest(name, known)} ({listed})")
    return known[name]  # type: ignore[return-value]


def _score_log(
    log: Dataset, kind: type[Estimator], seed: int, bar: Progress
) -> tuple[dict[str, Any], EstimatorResult]:
    """The figures of one log, and the first run on it."""
    from astray.datasets import run_on_log, withhold
    from astray.datasets import score as score_result

    run_on_log(log.until(WARM_UP), kind())
    seeds = range(seed, seed + (SEEDS if log.synthesize else 1))
    starts_anywhere = "initial" in kind.__annotations__ and log.map is not None and log.synthesize
    task = bar.add_task(f"{log.name}", total=len(seeds) * (2 if starts_anywhere else 1) + 0.0)

    def run(estimator: Estimator, seed: int, start_known: bool = True) -> EstimatorResult:
        done = bar.tasks[bar.task_ids.index(task)].completed

        def progress(share: float) -> None:
            bar.update(task, completed=done + share)

        result = run_on_log(
            log.with_seed(seed),
            estimator,
            seed=seed,
            start_known=start_known,
            progress=progress,
        )
        bar.update(task, completed=done + 1)
        return result

    results = [run(kind(), seed) for seed in seeds]
    scores = [score_result(result) for result in results]
    figures: dict[str, Any] = {"log": log.name, "runs": [one.as_dict() for one in scores]}
    figures["mean"] = _mean(figures["runs"])
    figures["worst"] = max(one.position_rmse for one in scores)
    if starts_anywhere:
        anywhere: Any = kind
        localised = [is_localised(run(anywhere(initial="global"), s, False)) for s in seeds]
        figures["global_start"] = {"runs": len(localised), "found": sum(localised)}
    if log.reference.stream:
        figures["withheld"] = _outages(withhold(log, kind()))
    bar.remove_task(task)
    return figures, results[0]


def is_localised(result: EstimatorResult) -> bool:
    """Whether 95 % of the beliefs in the second half of a log are near the truth."""
    import numpy as np

    from astray.datasets import compare

    distance = compare(result).distance
    near = distance[len(distance) // 2 :] < LOCALISED
    return bool(np.mean(near) > 0.95)


def _outages(found: GnssOutageResult) -> dict[str, Any]:
    import numpy as np

    known = len(found.errors) > 0
    return {
        "seconds": found.length,
        "windows": len(found.errors),
        "median": found.median if known else None,
        "rms": float(np.sqrt(np.mean(found.errors**2))) if known else None,
    }


def _mean(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The mean of every figure over some runs; None where a run has none."""
    import numpy as np

    columns = {key: [run[key] for run in runs] for key in MEANS}
    return {
        key: None if None in column else float(np.mean(column)) for key, column in columns.items()
    }


def _print(result: dict[str, Any]) -> None:
    """Print a table with a line for each log."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    runs = max(len(figures["runs"]) for figures in result["logs"])
    first = result["seed"]
    seeds = f"seeds {first} to {first + runs - 1}" if runs > 1 else "one run each"
    table = Table(title=f"{result['estimator']}, {seeds}")
    table.add_column("log", no_wrap=True)
    for heading in ("rmse m", "worst m", "yaw rad", "ate m", "nees", "end m", "updates/s"):
        table.add_column(heading, justify="right", no_wrap=True)
    for figures in result["logs"]:
        worst = figures["worst"] if len(figures["runs"]) > 1 else None
        table.add_row(figures["log"], *_cells(figures["mean"], worst))
    if "mean" in result:
        table.add_section()
        table.add_row("mean", *_cells(result["mean"], None))
    console.print(table)
    for figures in result["logs"]:
        if "global_start" in figures:
            start = figures["global_start"]
            console.print(
                f"{figures['log']}: localised globally {start['found']} of {start['runs']} times"
            )
        if "withheld" in figures:
            out = figures["withheld"]
            median = "no figure" if out["median"] is None else f"median error {out['median']:.2f} m"
            console.print(
                f"{figures['log']}: without GPS for {out['seconds']:g} s, {out['windows']} times: "
                f"{median}"
            )


def _cells(mean: dict[str, Any], worst: float | None) -> list[str]:
    error, heading, ate, nees, final, rate = (mean[key] for key in MEANS)
    metres = [*((value, ".3f") for value in (error, worst, heading, ate)), (nees, ".1f")]
    cells = [*metres, (final, ".3f"), (rate, ",.0f")]
    return ["" if value is None else f"{value:{form}}" for value, form in cells]


def _draw(results: Sequence[EstimatorResult], file: Path) -> None:
    """Draw truth and belief of each log, with the map if there is only one log."""
    from astray.cli.map import save_figure
    from astray.plots import plot_paths

    map = results[0].log.map if len(results) == 1 else None
    save_figure(plot_paths([_paths(result) for result in results], map), file)


def _paths(result: EstimatorResult) -> Paths:
    """The paths of truth and belief, with few enough points to draw."""
    import numpy as np

    from astray.datasets import compare
    from astray.engine import Paths

    found = compare(result)
    thinned = slice(None, None, max(1, len(found.truth) // MOST_POINTS))
    truth, belief = (
        np.stack([part[name][thinned] for name in ("x", "y", "yaw")], axis=-1)[:, None]
        for part in (found.truth, found.belief)
    )
    beliefs = {result.estimator: belief}
    errors = {result.estimator: found.distance[thinned, None]}
    return Paths(result.log.name, found.belief["stamp"][thinned], truth, beliefs, errors)
