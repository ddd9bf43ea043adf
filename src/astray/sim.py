"""The front door: `load` a scenario, get a `Sim`, run it, look at it. Read this first.

A `Sim` is a run (`engine/run.py`) that takes every kind of event and opens what stands above the
engine: files, pictures, the page.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, final

from astray import checkpoint
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
        """The event as it is to be logged, one or several.

        Raises:
            EventError: It could not take effect.
        """
        return check_event(self, event)

    def apply_event(self, event: Event) -> None:
        """Let an event take effect."""
        apply_event(self, event)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the whole state to a file, from which `astray.resume` goes on bit for bit.

        Args:
            file: Is replaced once all is written.

        Raises:
            SavedError: The folder is not there.
            WritingFailed: The disk is full or broken.
        """
        checkpoint.save(self, file)

    def write(self, log: Log, folder: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the run and its log to a folder, with a picture and what repeats the run.

        Args:
            log: As `run` returned it.
            folder: Is made.
            overwrite: Whether files that are there may be replaced.

        Raises:
            WrongInput: The folder holds files, or is none.
            WritingFailed: The disk is full or broken.
        """
        from astray.recording import write_run_folder

        write_run_folder(self, log, Path(folder), overwrite)

    def plot(self) -> Figure:
        """Where the robots were and where they believed to be, as a matplotlib figure."""
        from astray.plots import plot_paths, with_png_repr

        return with_png_repr(plot_paths(self.path_log.paths(), self.map()))

    def view(self, port: int = 0, *, browser: bool | None = None, token: str | None = None) -> View:
        """Show the run on a page, in the notebook or else in the browser, while it goes on.

        Args:
            port: Of the page; any free one unless given. It is served on this machine alone.
            browser: Whether to open a browser; outside of notebooks unless given.
            token: Which the page asks for; a new one unless given.

        Returns:
            A handle; the page is served until its `close` is called.
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
        seed: Of all noise; that of the scenario unless given.
        threads: Over how many threads the rows are split.
        set: "path=value", one or several, as `--set` takes them.
        keep_events: Whether events and collisions are logged without end.

    Returns:
        The simulation at its start.

    Raises:
        ScenarioError: With every fault of the scenario, each with its file, line and column.
    """
    return Sim(load_scenario(source, set), worlds, seed, threads, keep_events)


def resume(file: str | os.PathLike[str], threads: int = 1) -> Sim:
    """Load a saved run; it goes on as if it had never stopped.

    Args:
        file: As `Sim.save` wrote it.
        threads: Over how many threads the rows are split.

    Returns:
        The simulation at the step at which it was saved.

    Raises:
        SavedError: The file is damaged, or was saved by plugins other than those installed now.
    """
    path = Path(file)
    saved = checkpoint.read(path)
    try:
        scenario = load_scenario(saved.about["scenario"])
    except ScenarioError as problem:
        raise SavedError(f"{path}: its scenario no longer loads:\n{problem}") from None
    about = saved.about
    try:
        sim = Sim(scenario, about["worlds"], about["seed"], threads, about["keep_events"])
    except WrongInput as problem:
        raise SavedError(f"{path}: its scenario no longer runs: {problem}") from problem
    checkpoint.restore(sim, saved)
    return sim
