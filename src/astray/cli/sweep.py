"""`astray sweep`: a scenario in many worlds, for every combination of some values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from astray.cli.completion import complete_override
from astray.cli.options import DURATION, JSON, OVERWRITE, PATH, QUIET, SCENARIO, SEED, SET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from astray.cli.console import StatusConsole
    from astray.sweeps import Activity, Sweep, SweepPlan

MOST_FAILURES, MOST_WORLDS = 10, 5  # failures that are listed, and worlds of each
WIDEST = 40  # characters of a varied value in the table


@click.command()
@SCENARIO
@click.option(
    "--vary",
    multiple=True,
    metavar="PATH=V1,V2,...",
    shell_complete=complete_override,
    help="Vary this value; repeat it to run every combination.",
)
@SET
@click.option(
    "--worlds",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Number of worlds of each combination.",
)
@SEED
@DURATION
@click.option(
    "--workers",
    type=click.IntRange(min=0),
    help="Number of worker processes; one per core by default, 0 for none.",
)
@click.option("--out", type=PATH, help="Output folder; NAME-sweep by default.")
@OVERWRITE
@QUIET
@JSON
def sweep(
    scenario: str,
    vary: tuple[str, ...],
    overrides: tuple[str, ...],
    out: Path | None,
    overwrite: bool,
    workers: int | None,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Run SCENARIO in many worlds for every combination of values.

    It uses all cores. The same command continues a sweep that was stopped or killed.
    """
    import json

    from astray.cli.console import StatusConsole
    from astray.errors import AstrayError
    from astray.sweeps import make_plan, parse_vary, read_sweep

    console = StatusConsole(quiet)
    with console.status("checking every case"):
        plan = make_plan(scenario, parse_vary(vary), set=overrides, **options)
    folder = out or Path(f"{plan.scenario}-sweep")
    try:
        found = _run(plan, folder, overwrite, workers, console)
    except KeyboardInterrupt:
        done, total = sum(read_sweep(folder).done.values()), len(plan.cases) * plan.worlds
        raise AstrayError(
            f"stopped: {done} of {total} worlds are in {folder}; the same command continues"
            + (", without --overwrite" if overwrite else "")
        ) from None
    if as_json:
        print(json.dumps(found.summary()))
    elif not quiet:
        _print(found)
    if found.failures:
        raise AstrayError(_list_failures(found))


def _run(
    plan: SweepPlan, folder: Path, overwrite: bool, workers: int | None, console: StatusConsole
) -> Sweep:
    """Run with a progress bar."""
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from astray.sweeps import run_plan

    cases = f", {len(plan.cases)} cases" if len(plan.cases) > 1 else ""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns, TextColumn("worlds"), TimeRemainingColumn(), console=console, transient=True
    ) as bar:
        name = escape(f"{plan.scenario}{cases}")
        task = bar.add_task(name, total=None)
        finished = 0

        def progress(done: int, total: int) -> None:
            nonlocal finished
            finished = done
            bar.update(task, completed=done, total=total)

        def show(activity: Activity) -> None:
            text = f"{name}: {activity.phase}" if activity.phase else name
            bar.update(task, completed=finished + activity.worlds, description=text)

        return run_plan(plan, folder, overwrite, workers, progress=progress, on_activity=show)


def _print(found: Sweep) -> None:
    """Print a table with a line for each case and belief."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console, summary = Console(), found.summary()
    varied = len(found.plan.vary)
    headings = [*short_names(list(found.plan.vary)), "robot", "belief", "metric"]
    lines = [line for case in summary["cases"] for line in _lines(case)]
    # A column with one value everywhere goes to the title.
    same = {
        k: lines[0][k]
        for k in range(varied, len(headings))
        if lines and len({line[k] for line in lines}) == 1
    }
    columns = [k for k in range(len(headings)) if k not in same]
    about = "".join(f", {text}" for text in same.values())
    seconds = " or ".join(f"{s:g}" for s in sorted({case["duration"] for case in summary["cases"]}))
    seeds = " or ".join(map(str, sorted({case["seed"] for case in summary["cases"]})))
    title = f"{summary['scenario']}{about}: {summary['worlds']} worlds of {seconds} s, seed {seeds}"
    table = Table(title=escape(title))
    for k in columns:
        table.add_column(escape(headings[k]))
    table.add_column("mean, 95 %", justify="right", no_wrap=True)
    columns.append(len(headings))
    if len(summary["cases"]) > 1:
        table.add_column("against the first", justify="right", no_wrap=True)
        columns.append(len(headings) + 1)
    previous: list[str] = []
    for line in lines:
        values = line[:varied]
        if previous and previous != values:
            table.add_section()
        cells = ["" if k < varied and previous == values else line[k] for k in columns]
        table.add_row(*map(escape, cells))
        previous = values
    console.print(table)
    console.print(f"Written to {found.folder}: summary.png shows it.", soft_wrap=True)


def _lines(case: dict[str, Any]) -> list[list[str]]:
    """The lines of a case: its values, the robot, belief and metric, and two figures."""
    from astray.sweeps import format_interval, yaml_text

    values = [_cut(yaml_text(value)) for value in case["values"].values()]
    return [
        [
            *values,
            group,
            about["belief"],
            metric,
            format_interval(about["mean"], about),
            _difference(about),
        ]
        for group, metrics in case["robots"].items()
        for metric, subjects in metrics.items()
        for about in subjects.values()
    ]


def _difference(about: dict[str, Any]) -> str:
    """The difference from the first case."""
    from astray.sweeps import format_interval

    against = about.get("against_first")
    if against is None or against["mean"] is None:
        return ""
    if against["low"] == against["high"] == 0.0:
        return "the same"
    text = format_interval(against["mean"], {**against, "unit": about["unit"]})
    return f"+{text}" if against["mean"] > 0 else text


def short_names(paths: list[str]) -> list[str]:
    """The shortest end of each path that no other path ends with."""
    short = []
    for path in paths:
        parts = path.split(".")
        ends = (".".join(parts[-k:]) for k in range(1, len(parts) + 1))
        others = [other for other in paths if other != path]
        short.append(
            next((e for e in ends if not any(f".{o}".endswith(f".{e}") for o in others)), path)
        )
    return short


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."


def _list_failures(found: Sweep) -> str:
    """The worlds that could not be run: a line per case and reason."""
    names = found.plan.case_names()
    failed: dict[tuple[int, str], list[int]] = {}
    for task, why in found.failures:
        failed.setdefault((task.case, why), []).extend(range(task.first, task.first + task.count))
    lines = [
        f"  {names[case] or found.plan.scenario}, {_list_worlds(which)}: {why}"
        for (case, why), which in failed.items()
    ]
    more = [f"  and {len(lines) - MOST_FAILURES} more"] if len(lines) > MOST_FAILURES else []
    count = sum(map(len, failed.values()))
    head = f"{count} world{'s' if count > 1 else ''} could not be run:"
    return "\n".join([head, *lines[:MOST_FAILURES], *more])


def _list_worlds(which: Sequence[int]) -> str:
    if len(which) == 1:
        return f"world {which[0]}"
    more = f" and {len(which) - MOST_WORLDS} more" if len(which) > MOST_WORLDS else ""
    return f"worlds {', '.join(map(str, which[:MOST_WORLDS]))}{more}"
