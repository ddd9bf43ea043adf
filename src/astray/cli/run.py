"""One run from the command line: load, watch, write, tell."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from astray.cli.compile_notice import compiling
from astray.cli.console import Teller
from astray.cli.interrupt import stopping_on_interrupt
from astray.cli.view import PageOptions, run_again, viewed
from astray.engine import Event, Log, numbered_events, summary
from astray.errors import AstrayError, EventError, WrongInput
from astray.files import check_writable
from astray.recording import OptionalRecording, check_folder, check_recording, write_run_folder
from astray.sim import Sim, load

LOG_PERIOD = 0.1  # s, unless asked for otherwise
Wiring = Callable[[Sim, Callable[[str], None]], contextlib.AbstractContextManager[object]]
"""Connects a run to others as long as it lasts; it is told where to say something to the user."""


def run_scenario(
    scenario: str,
    *,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    worlds: int = 1,
    threads: int = 1,
    duration: float | None = None,
    speed: float | None = None,
    log: float | None = None,
    events: Path | None = None,
    out: Path | None = None,
    record: Path | None = None,
    overwrite: bool = False,
    save: Path | None = None,
    quiet: bool = False,
    as_json: bool = False,
    wires: Sequence[Wiring] = (),
    look: PageOptions | None = None,
) -> None:
    """Run a scenario as the command line asks, and show it on a page if it is to be looked at."""
    tell = Teller(quiet)
    if out is not None:
        check_folder(out, overwrite)
    if record is not None:
        check_recording(record, overwrite)
    if save is not None:
        check_writable(save)
    given = [] if events is None else numbered_events(events)

    with compiling(tell.say, tell):
        sim = load(scenario, worlds=worlds, seed=seed, threads=threads, set=overrides)
        # One tick of a twin compiles or loads every kernel, so that the speed told is the run's.
        Sim(sim.scenario, seed=sim.seed, keep_events=False).step()
    for line, event in given:
        _post(sim, event, f"{events}:{line}")
    seconds = sim.scenario.duration if duration is None else duration
    period = log or max(1, round(LOG_PERIOD / sim.dt)) * sim.dt
    wanted = period if out is not None else None

    # What was recorded or said to others cannot be taken back.
    resets = record is None and not wires
    with stopping_on_interrupt(sim.pace.stop), viewed(sim, look, tell.say, resets=resets):
        with (
            OptionalRecording(sim, record, overwrite) as recorder,
            contextlib.ExitStack() as connected,
        ):
            for wire in wires:
                connected.enter_context(wire(sim, tell.say))
            started = time.perf_counter()
            series = _watch(sim, seconds, wanted, speed, tell)
        wall = time.perf_counter() - started
        while look is not None and run_again(sim, tell.say):
            series = _watch(sim, seconds, wanted, sim.pace.speed, tell)
    try:
        if out is not None and series is not None:
            write_run_folder(sim, series, out, overwrite)
    finally:  # a folder that cannot be written is no reason to lose the run
        if save is not None:
            sim.save(save)
    if as_json:
        print(json.dumps(summary(sim)))
    elif not quiet:
        _print_summary(sim, wall, out, record if recorder.failure is None else None)
    if recorder.failure is not None:
        raise recorder.failure
    if sim.pace.stopped and sim.steps < round(seconds / sim.dt):
        raise AstrayError(f"stopped at t = {sim.steps * sim.dt:g} s of {seconds:g} s")


def _post(sim: Sim, event: Event, where: str) -> None:
    """Let an event of a file happen, or say in which line it stands."""
    try:
        sim.post(event)
    except WrongInput as problem:
        raise EventError(f"{where}: {problem}") from None


def _watch(
    sim: Sim, seconds: float, log: float | None, speed: float | None, tell: Console
) -> Log | None:
    """Run with a progress bar."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[factor]}"))
    with Progress(*columns, TimeRemainingColumn(), console=tell, transient=True) as bar:
        task = bar.add_task(escape(sim.scenario.name), total=seconds, factor="")

        def progress(done: float) -> None:
            bar.update(task, completed=done, factor=f"{sim.pace.factor:,.0f} x real time")

        if log is None:
            sim.run(seconds, speed=speed, progress=progress)
            return None
        return sim.run(seconds, log=log, speed=speed, progress=progress)


def _print_summary(sim: Sim, wall: float, out: Path | None, record: Path | None) -> None:
    console = Console()
    found = summary(sim)
    worlds = f" in {found['worlds']} worlds" if found["worlds"] > 1 else ""
    title = f"{found['scenario']}: {found['time']:g} s{worlds}, seed {found['seed']}"
    table = Table(title=escape(title))
    for heading in ("robot", "believes", "metric"):
        table.add_column(heading)
    for heading in ("rms", "most", "at the end"):
        table.add_column(heading, justify="right")
    for name, group in found["robots"].items():
        _add_rows(table, name, group)
    console.print(table)
    hits = {k: group["collisions"] for k, group in found["robots"].items() if "collisions" in group}
    if hits:
        console.print(_collisions_in_words(hits))
    console.print(f"{found['time'] / max(wall, 1e-9):,.0f} x real time, digest {found['digest']}")
    if out is not None:
        console.print(f"Written to {out}: plot.png shows it.", soft_wrap=True)
    if record is not None:
        console.print(f"Recorded to {record}.", soft_wrap=True)


def _collisions_in_words(hits: dict[str, int]) -> str:
    """Who ran into something how often, given that of everyone who could have."""
    often = [f"{k} once" if n == 1 else f"{k} {n} times" for k, n in hits.items() if n]
    return f"ran into something: {', '.join(often)}" if often else "nobody ran into anything"


def _add_rows(table: Table, name: str, group: dict[str, Any]) -> None:
    who = {"belief": group["estimator"] or "the truth"}
    if not group["metrics"]:
        for subject, apart in group["apart_at_the_end"].items():
            table.add_row(name, who.get(subject, subject), "apart", "", "", f"{apart:.4g} m")
    for metric, subjects in group["metrics"].items():
        for subject, values in subjects.items():
            if values["values"]:
                kinds = (values["average"], "most", "last")
                cells = [f"{values[key]:.4g} {values['unit']}".rstrip() for key in kinds]
                if values["average"] != "rms":  # as the heading says
                    cells[0] = f"{values['average']} {cells[0]}"
            else:
                cells = ["", "", "never measured"]
            table.add_row(name, who.get(subject, subject), metric, *cells)
