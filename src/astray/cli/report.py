"""Reports from the command line: a page and figures about a run that was written or recorded."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console

from astray.cli.compile_notice import compiling
from astray.cli.console import Teller
from astray.errors import WrongInput
from astray.recording import atomic_folder, check_folder, write_files
from astray.viewer.reports import (
    ReportData,
    ReportFigure,
    compute_metrics,
    draw_figures,
    metrics_csv,
    read_report_data,
    report_page,
)

PAGE, TABLE, SCENARIO, EVENTS = "report.html", "metrics.csv", "scenario.yaml", "events.jsonl"
RESOLUTION = 150  # dots per inch
TIMELESS = {"CreationDate": None, "ModDate": None}  # the same run, the same figures


def write_report(
    run: Path, *, out: Path | None = None, overwrite: bool = False, quiet: bool = False
) -> None:
    """Write a report as the command line asks."""
    tell = Teller(quiet)
    goal = out or (run / "report" if run.is_dir() else run.with_name(f"{run.stem}-report"))
    check_folder(goal, overwrite, PAGE, "report")
    with compiling(tell.say), tell.status("reading"):
        story = read_report_data(run)
    if not story.series:
        raise WrongInput(f"{run}: there is no belief in it to report on")
    with tell.status("drawing") as status:
        report(story, goal, status.update)
    if not quiet:
        Console().print(f"Written to {goal}: {PAGE} opens anywhere.", soft_wrap=True)


def report(
    story: ReportData, folder: Path, tell: Callable[[str], None] = lambda text: None
) -> None:
    """Write a page, figures and what repeats the run to a folder."""
    found = compute_metrics(story)
    files: dict[str, bytes] = {}
    pictures = []
    for drawn in draw_figures(story):
        tell(f"drawing {drawn.name}")
        made = {suffix: _picture(drawn, suffix) for suffix in ("png", "pdf")}
        files |= {f"{drawn.name}.{suffix}": data for suffix, data in made.items()}
        pictures.append((drawn.name, drawn.caption, made["png"]))
    files[PAGE] = report_page(story, found, pictures, commands(story)).encode()
    files[TABLE] = metrics_csv(found).encode()
    files[SCENARIO] = story.scenario.encode()
    files |= story.files
    files[EVENTS] = "".join(event.to_json() + "\n" for event in story.events).encode()
    _write(folder, files)


def commands(story: ReportData) -> list[str]:
    """What repeats the run, given the files beside the page."""
    duration = np.format_float_positional(story.duration, trim="-")  # to the last digit
    words = ["astray run", SCENARIO, f"--seed {story.seed}", f"--duration {duration}"]
    if story.events:
        words.append(f"--events {EVENTS}")
    if story.worlds == list(range(len(story.worlds))):
        words += [f"--worlds {len(story.worlds)}"] if len(story.worlds) > 1 else []
        return [" ".join([*words, "--record again.mcap"]), "astray report again.mcap"]
    worlds = ", ".join(map(str, story.worlds))
    return [
        "# These worlds are chosen from Python:",
        f'sim = astray.load("{SCENARIO}", seed={story.seed}, worlds=[{worlds}])',
        *([f'sim.replay(astray.read_events("{EVENTS}"))'] if story.events else []),
        f"sim.run({duration})",
    ]


def _picture(drawn: ReportFigure, suffix: str) -> bytes:
    made = io.BytesIO()
    metadata = TIMELESS if suffix == "pdf" else None
    layout = drawn.figure.get_layout_engine()
    if layout is not None:  # once for all formats, and without drawing everything to see its size
        layout.execute(drawn.figure)
        drawn.figure.set_layout_engine("none")
    drawn.figure.savefig(made, format=suffix, dpi=RESOLUTION, metadata=metadata)
    return made.getvalue()


def _write(folder: Path, files: dict[str, bytes]) -> None:
    with atomic_folder(folder) as part:
        write_files(part, files)
