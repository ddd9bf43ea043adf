"""`Sim`: load a scenario, run it, plot it, view it, save it. Read this first.

A `Sim` is a `Run` (`engine/run.py`) with the kinds of events, and with the methods that need the
packages above the engine: checkpoints, run folders, pictures, the page.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, final

from astray.checkpoint import read_checkpoint, restore_checkpoint, write_checkpoint
from astray.engine import Event, Log, Run, Worlds
from astray.engine.events import apply_event, check_event
from astray.errors import SavedError, ScenarioError, WrongInput
from astray.scenario import Source, load_scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from astray.viewer.page import View


@final
class Sim(Run):
    """A scenario in one or many independent worlds."""

    def check_event(self, event: Event) -> Iterable[Event]:
        """The event as it is to be logged: one, or several in its place.

        Raises:
            EventError: It could not take effect.
        """
        return check_event(self, event)

    def apply_event(self, event: Event) -> None:
        """Apply an event."""
        apply_event(self, event)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write a checkpoint, from which `astray.resume` continues bit for bit.

        Args:
            file: Replaced when the whole checkpoint is written.

        Raises:
            SavedError: The folder does not exist.
            WritingFailed: The disk is full or broken.
        """
        write_checkpoint(self, file)

    def write(self, log: Log, folder: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the log to a folder, with a picture and the files that repeat the run.

        Args:
            log: As `run` returned it.
            folder: Created.
            overwrite: Whether existing files may be replaced.

        Raises:
            WrongInput: The folder is not empty, or it is a file.
            WritingFailed: The disk is full or broken.
        """
        from astray.recording import write_run_folder

        write_run_folder(self, log, Path(folder), overwrite)

    def plot(self) -> Figure:
        """Plot the paths of truth and beliefs, and the error over time.

        Returns:
            A matplotlib figure; a notebook shows it.
        """
        from astray.plots import plot_paths, with_png_repr

        return with_png_repr(plot_paths(self.path_log.paths(), self.map()))

    def view(self, port: int = 0, *, browser: bool | None = None, token: str | None = None) -> View:
        """Show the run on a page, in the notebook or in the browser, while it runs.

        Args:
            port: TCP port on 127.0.0.1; a free one by default.
            browser: Whether to open a browser; yes outside of notebooks by default.
            token: Access token of the page; a new one by default.

        Returns:
            A handle, whose `close` closes the page.
        """
        from astray.viewer.page import view_run

        return view_run(self, port=port, browser=browser, token=token)


def load(
    source: Source,
    *,
    worlds: Worlds = 1,
    seed: int | None = None,
    threads: int = 1,
    set: str | Sequence[str] = (),
    keep_events: bool = True,
) -> Sim:
    """Load a scenario.

    Args:
        source: A path, the name of a bundled scenario, or a mapping.
        worlds: How many independent worlds, or their numbers: `range(40, 50)` runs those ten alone
            with the same bytes.
        seed: Seed of all noise; that of the scenario by default.
        threads: Number of threads over which the rows are split.
        set: "path=value", one or several, as for `--set`.
        keep_events: Whether the logs of events and collisions are kept whole.

    Returns:
        The simulation at its start.

    Raises:
        ScenarioError: With every fault of the scenario, each with its file, line and column.
    """
    return Sim(load_scenario(source, set), worlds, seed, threads, keep_events)


def resume(file: str | os.PathLike[str], threads: int = 1) -> Sim:
    """Load a checkpoint; the run continues as if it had never stopped.

    Args:
        file: As `Sim.save` wrote it.
        threads: Number of threads over which the rows are split.

    Returns:
        The simulation at the step at which it was saved.

    Raises:
        SavedError: The file is damaged, or needs plugins that are not installed.
    """
    path = Path(file)
    checkpoint = read_checkpoint(path)
    info = checkpoint.info
    try:
        scenario = load_scenario(info["scenario"])
    except ScenarioError as problem:
        raise SavedError(f"{path}: its scenario no longer loads:\n{problem}") from None
    try:
        sim = Sim(scenario, info["worlds"], info["seed"], threads, info["keep_events"])
    except WrongInput as problem:
        raise SavedError(f"{path}: its scenario no longer runs: {problem}") from problem
    restore_checkpoint(sim, checkpoint)
    return sim
