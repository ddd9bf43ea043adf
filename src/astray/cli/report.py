"""`astray report`: a page and figures about a run that was written or recorded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from astray.cli.options import OVERWRITE, PATH, QUIET

if TYPE_CHECKING:
    from collections.abc import Callable

    from astray.viewer.reports import ReportData, ReportFigure

PAGE, TABLE, SCENARIO, EVENTS = "report.html", "metrics.csv", "scenario.yaml", "events.jsonl"
RESOLUTION = 150  # dots per inch
NO_DATES = {"CreationDate": None, "ModDate": None}  # so that the same run gives the same files


@click.command()
@click.argument("run", type=PATH)
@click.option("--out", type=PATH, help="Folder of the report; beside or in RUN by default.")
@OVERWRITE
@QUIET
def report(run: Path, out: Path | None, overwrite: bool, quiet: bool) -> None:
    """Write a page and figures about a run.

    RUN is a folder that `run --out` wrote, or a recording.
    """
    folder = write_report(run, out=out, overwrite=overwrite, quiet=quiet)
    if not quiet:
        click.echo(f"Written to {folder}: open {PAGE} in a browser.")


def write_report(
    run: Path, *, out: Path | None = None, overwrite: bool = False, quiet: bool = False
) -> Path:
    """Write a report; the folder that it is in."""
    from astray.cli.console import StatusConsole, report_compilation
    from astray.errors import WrongInput
    from astray.recording import check_folder
    from astray.viewer.reports import read_report_data

    console = StatusConsole(quiet)
    folder = out or (run / "report" if run.is_dir() else run.with_name(f"{run.stem}-report"))
    check_folder(folder, overwrite, PAGE, "report")
    with report_compilation(console.report), console.status("reading"):
        data = read_report_data(run)
    if not data.series:
        raise WrongInput(f"{run}: there is no belief in it to report on")
    with console.status("drawing") as status:
        _write_files(data, folder, status.update)
    return folder


def _write_files(data: ReportData, folder: Path, status: Callable[[str], None]) -> None:
    """Write the page, the figures and the files that repeat the run."""
    from astray.recording import atomic_folder, write_files
    from astray.viewer.reports import compute_metrics, draw_figures, metrics_csv, report_page

    found = compute_metrics(data)
    files: dict[str, bytes] = {}
    pictures = []
    for drawn in draw_figures(data):
        status(f"drawing {drawn.name}")
        images = {suffix: _image(drawn, suffix) for suffix in ("png", "pdf")}
        files |= {f"{drawn.name}.{suffix}": image for suffix, image in images.items()}
        pictures.append((drawn.name, drawn.caption, images["png"]))
    files[PAGE] = report_page(data, found, pictures, commands(data)).encode()
    files[TABLE] = metrics_csv(found).encode()
    files[SCENARIO] = data.scenario.encode()
    files |= data.files
    files[EVENTS] = "".join(event.to_json() + "\n" for event in data.events).encode()
    with atomic_folder(folder) as part:
        write_files(part, files)


def commands(data: ReportData) -> list[str]:
    """The commands that repeat the run, given the files beside the page."""
    import numpy as np

    duration = np.format_float_positional(data.duration, trim="-")  # to the last digit
    words = ["astray run", SCENARIO, f"--seed {data.seed}", f"--duration {duration}"]
    if data.events:
        words.append(f"--events {EVENTS}")
    if data.worlds == list(range(len(data.worlds))):
        words += [f"--worlds {len(data.worlds)}"] if len(data.worlds) > 1 else []
        return [" ".join([*words, "--record again.mcap"]), "astray report again.mcap"]
    worlds = ", ".join(map(str, data.worlds))
    return [
        "# These worlds are chosen from Python:",
        f'sim = astray.load("{SCENARIO}", seed={data.seed}, worlds=[{worlds}])',
        *([f'sim.replay(astray.read_events("{EVENTS}"))'] if data.events else []),
        f"sim.run({duration})",
    ]


def _image(drawn: ReportFigure, suffix: str) -> bytes:
    import io

    image = io.BytesIO()
    metadata = NO_DATES if suffix == "pdf" else None
    layout = drawn.figure.get_layout_engine()
    if layout is not None:  # once for all formats, and without a draft of the whole figure
        layout.execute(drawn.figure)
        drawn.figure.set_layout_engine("none")
    drawn.figure.savefig(image, format=suffix, dpi=RESOLUTION, metadata=metadata)
    return image.getvalue()
