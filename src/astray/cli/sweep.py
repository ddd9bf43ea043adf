"""Sweeps from the command line: check every case, run, go on, tell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from astray.cli.console import Teller
from astray.errors import AstrayError
from astray.sweeps import (
    Sweep,
    SweepPlan,
    as_text,
    figure,
    make_plan,
    read_sweep,
    read_vary,
    run_plan,
)

MOST_TOLD, MOST_NAMED = 10, 5  # failures, and worlds of each
WIDEST = 40  # characters of a varied value in the table


def sweep_scenario(
    scenario: str,
    *,
    vary: Sequence[str] = (),
    overrides: Sequence[str] = (),
    worlds: int = 100,
    seed: int | None = None,
    duration: float | None = None,
    workers: int | None = None,
    out: Path | None = None,
    overwrite: bool = False,
    quiet: bool = False,
    as_json: bool = False,
) -> None:
    """Sweep a scenario as the command line asks."""
    tell = Teller(quiet)
    with tell.status("checking every case"):
        plan = make_plan(
            scenario, read_vary(vary), worlds=worlds, seed=seed, duration=duration, set=overrides
        )
    folder = out or Path(f"{plan.scenario}-sweep")
    try:
        found = _watch(plan, folder, overwrite, workers, tell)
    except KeyboardInterrupt:
        done, of = sum(read_sweep(folder).done.values()), len(plan.cases) * plan.worlds
        raise AstrayError(
            f"stopped: {done} of {of} worlds are in {folder}; the same command goes on from there"
            + (", without --overwrite" if overwrite else "")
        ) from None
    if as_json:
        print(json.dumps(found.summary()))
    elif not quiet:
        _print(found)
    if found.failures:
        raise AstrayError(_failures(found))


def _watch(
    plan: SweepPlan, folder: Path, overwrite: bool, workers: int | None, tell: Console
) -> Sweep:
    """Run with a progress bar."""
    cases = f", {len(plan.cases)} cases" if len(plan.cases) > 1 else ""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns, TextColumn("worlds"), TimeRemainingColumn(), console=tell, transient=True
    ) as bar:
        name = escape(f"{plan.scenario}{cases}")
        task = bar.add_task(f"{name}: the first world, which may compile kernels", total=None)
        told = 0

        def progress(done: int, total: int) -> None:
            nonlocal told
            bar.update(task, completed=done, total=total, description=name if told else None)
            told += 1

        return run_plan(plan, folder, overwrite, workers, progress=progress)


def _print(found: Sweep) -> None:
    console, told = Console(), found.summary()
    headings = [*short_names(list(found.plan.vary)), "robot", "believes", "metric"]
    lines = [line for case in told["cases"] for line in _lines(case)]
    # A column that says the same everywhere is said once, above.
    same = {
        k: lines[0][k]
        for k in range(len(found.plan.vary), len(headings))
        if lines and len({line[k] for line in lines}) == 1
    }
    columns = [k for k in range(len(headings)) if k not in same]
    about = "".join(f", {text}" for text in same.values())
    seconds = " or ".join(f"{s:g}" for s in sorted({case["duration"] for case in told["cases"]}))
    seeds = " or ".join(map(str, sorted({case["seed"] for case in told["cases"]})))
    title = f"{told['scenario']}{about}: {told['worlds']} worlds of {seconds} s, seed {seeds}"
    table = Table(title=escape(title))
    for k in columns:
        table.add_column(escape(headings[k]))
    table.add_column("mean, 95 %", justify="right", no_wrap=True)
    if len(told["cases"]) > 1:
        table.add_column("against the first", justify="right", no_wrap=True)
        columns = [*columns, len(headings), len(headings) + 1]
    else:
        columns = [*columns, len(headings)]
    before: list[str] = []
    for line in lines:
        varied = line[: len(found.plan.vary)]
        if before and before != varied:
            table.add_section()
        shown = ["" if k < len(varied) and before == varied else line[k] for k in columns]
        table.add_row(*map(escape, shown))
        before = varied
    console.print(table)
    console.print(f"Written to {found.folder}: summary.png shows it.", soft_wrap=True)


def _lines(case: dict[str, Any]) -> list[list[str]]:
    """What is told of a case: its values, whom a line is about, and two figures."""
    values = [_cut(as_text(value)) for value in case["values"].values()]
    return [
        [*values, group, about["belief"], metric, figure(about["mean"], about), _against(about)]
        for group, metrics in case["robots"].items()
        for metric, subjects in metrics.items()
        for about in subjects.values()
    ]


def _against(about: dict[str, Any]) -> str:
    against = about.get("against_first")
    if against is None or against["mean"] is None:
        return ""
    if against["low"] == against["high"] == 0.0:
        return "the same"
    text = figure(against["mean"], {**against, "unit": about["unit"]})
    return f"+{text}" if against["mean"] > 0 else text


def short_names(paths: list[str]) -> list[str]:
    """As little of the end of each path as tells it from the others."""
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


def _failures(found: Sweep) -> str:
    """What could not be done: a line per case and reason."""
    names = found.plan.names()
    lost: dict[tuple[int, str], list[int]] = {}
    for task, why in found.failures:
        lost.setdefault((task.case, why), []).extend(range(task.first, task.first + task.count))
    lines = [
        f"  {names[case] or found.plan.scenario}, {_worlds(which)}: {why}"
        for (case, why), which in lost.items()
    ]
    more = [f"  and {len(lines) - MOST_TOLD} more"] if len(lines) > MOST_TOLD else []
    count = sum(map(len, lost.values()))
    head = f"{count} world{'s' if count > 1 else ''} could not be run:"
    return "\n".join([head, *lines[:MOST_TOLD], *more])


def _worlds(which: list[int]) -> str:
    """Some worlds by their numbers, as many as one reads."""
    if len(which) == 1:
        return f"world {which[0]}"
    more = f" and {len(which) - MOST_NAMED} more" if len(which) > MOST_NAMED else ""
    return f"worlds {', '.join(map(str, which[:MOST_NAMED]))}{more}"
