"""Recorded runs that play in the browser: `astray replay --html`, made when the site is built."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from astray_site.examples import ROOT

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class RecordedRun(NamedTuple):
    """A run that a page of the gallery plays."""

    name: str
    arguments: tuple[str, ...]
    """The scenario and the options of `astray run`."""


RUNS = (
    RecordedRun("office", ("office", "--duration", "30", "--log", "0.2")),
    RecordedRun("reflectors", ("ins", "--duration", "40", "--log", "0.2")),
    RecordedRun("motions", ("motions", "--duration", "30", "--log", "0.1")),
)
FOLDER = "play"


def kept(app: Sphinx) -> Path:
    """Where the files are kept from build to build."""
    return Path(app.srcdir) / "_build" / FOLDER


def write_recordings(app: Sphinx) -> None:
    """Run the scenarios whose files are older than the source of astray."""
    newest = max(
        f.stat().st_mtime for f in (ROOT / "src").rglob("*") if f.suffix in (".py", ".js", ".yaml")
    )
    folder = kept(app)
    folder.mkdir(parents=True, exist_ok=True)
    for run in RUNS:
        file = folder / f"{run.name}.html"
        if not file.exists() or file.stat().st_mtime < newest:
            write_recording(run, file)


def write_recording(run: RecordedRun, file: Path) -> None:
    """Run a scenario and write the page that plays it.

    Args:
        run: What to run.
        file: The HTML file; replaced.

    Raises:
        subprocess.CalledProcessError: The run failed.
    """
    # Kernels are compiled here, unlike in the process that reads docstrings.
    environment = {key: value for key, value in os.environ.items() if key != "ASTRAY_JIT"}
    environment["PYTHONPATH"] = str(ROOT / "src")
    with tempfile.TemporaryDirectory() as place:
        for arguments in (
            ("run", *run.arguments, "--out", f"{place}/run", "--quiet"),
            ("replay", f"{place}/run", "--html", str(file), "--overwrite", "--quiet"),
        ):
            subprocess.run(
                [sys.executable, "-m", "astray", *arguments], check=True, env=environment
            )


def copy_recordings(app: Sphinx, problem: Exception | None) -> None:
    """Copy the files to the site."""
    if problem is None and app.builder.format == "html":
        shutil.copytree(kept(app), Path(app.outdir) / FOLDER, dirs_exist_ok=True)
