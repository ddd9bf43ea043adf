"""A simulation run from the command line: load, warm up, connect, run, write.

`astray run`, `astray demo` and `astray pioneer` are this session with different options.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.markup import escape

from astray.cli.console import StatusConsole, progress_bar, report_compilation
from astray.cli.interrupt import stop_on_interrupt
from astray.cli.options import PageOptions
from astray.engine import FOREVER, Log, numbered_events
from astray.errors import AstrayError, EventError, RecordingFailed, WritingFailed, WrongInput
from astray.files import check_new_file, check_writable
from astray.numerics import collect_garbage_later
from astray.recording import check_folder, record, write_run_folder
from astray.scenario import Source
from astray.sim import Sim, load

LOG_PERIOD = 0.1  # s between two entries of the log by default

Report = Callable[[str], None]
Connector = Callable[[Sim, Report], contextlib.AbstractContextManager[object]]
"""Connects a run to other programs while the with block lasts; it reports its address."""


@dataclass(frozen=True)
class Outputs:
    """The files that a run leaves."""

    folder: Path | None = None
    recording: Path | None = None
    checkpoint: Path | None = None
    overwrite: bool = False

    def check(self) -> None:
        """Refuse files that would be lost, and places that cannot be written.

        Raises:
            WrongInput: The text names the file or folder.
        """
        if self.folder is not None:
            check_folder(self.folder, self.overwrite)
        if self.recording is not None:
            check_new_file(self.recording, self.overwrite)
        if self.checkpoint is not None:
            check_writable(self.checkpoint)


class RunSession:
    """One run: its outputs, its page, its console."""

    def __init__(
        self, outputs: Outputs | None = None, page: PageOptions | None = None, quiet: bool = False
    ) -> None:
        """Check the outputs, before anything takes time.

        Args:
            outputs: The files to write; none by default.
            page: How to show the run; not at all by default.
            quiet: Whether to print nothing but errors.
        """
        self.outputs = outputs or Outputs()
        self.outputs.check()
        self.page = page
        self.console = StatusConsole(quiet)
        self.failures: list[AstrayError] = []  # what could not be written, once the run is over

    def load(
        self,
        source: Source,
        *,
        worlds: int = 1,
        seed: int | None = None,
        threads: int = 1,
        overrides: Sequence[str] = (),
        keep_events: bool = True,
        warm_up: Callable[[Sim], None] = Sim.warm_up,
    ) -> Sim:
        """Load a scenario and compile what its run needs.

        Args:
            source: As for `astray.load`, as are the next ones.
            worlds: How many independent worlds.
            seed: Random seed; the scenario's by default.
            threads: Threads to run the worlds in.
            overrides: As `--set` takes them.
            keep_events: Whether the log of events is kept.
            warm_up: Compiles the kernels that the run needs.
        """
        reporting = report_compilation(self.console.report, self.console)
        with reporting, collect_garbage_later():
            sim = load(
                source,
                worlds=worlds,
                seed=seed,
                threads=threads,
                set=overrides,
                keep_events=keep_events,
            )
            warm_up(sim)
        return sim

    def run(
        self,
        sim: Sim,
        seconds: float | None = None,
        *,
        speed: float | None = None,
        log_period: float | None = None,
        connectors: Sequence[Connector] = (),
    ) -> float:
        """Run until the end or Ctrl-C, and write the outputs.

        Args:
            sim: As `load` returned it.
            seconds: Simulated; until it is stopped by default.
            speed: Simulated seconds per second; as fast as possible by default.
            log_period: Of the log of the folder, s.
            connectors: Connect other programs to the run.

        Returns:
            The wall-clock time that the run took, s.
        """
        if self.outputs.folder is None:
            log_period = None
        elif log_period is None:
            log_period = max(1, round(LOG_PERIOD / sim.dt)) * sim.dt
        # Nobody can take back what was recorded or published, so the page offers no reset then.
        can_reset = self.outputs.recording is None and not connectors
        with stop_on_interrupt(sim.pace.stop), contextlib.ExitStack() as connected:
            for connect in connectors:
                connected.enter_context(connect(sim, self.console.report))
            with self._page_of(sim, can_reset):
                with self._recording_of(sim):
                    started = time.perf_counter()
                    log = self._advance(sim, seconds, log_period, speed)
                wall = time.perf_counter() - started
                while self.page is not None and self._begins_again(sim):
                    log = self._advance(sim, seconds, log_period, sim.pace.speed)
        self._write(sim, log)
        return wall

    def _advance(
        self, sim: Sim, seconds: float | None, log_period: float | None, speed: float | None
    ) -> Log | None:
        """Run, with a progress bar if the run has an end."""
        if seconds is None:
            return _run(sim, FOREVER, log_period, speed)
        with progress_bar(self.console, "factor") as bar:
            task = bar.add_task(escape(sim.scenario.name), total=seconds, factor="")

            def progress(done: float) -> None:
                bar.update(task, completed=done, factor=f"{sim.pace.factor:,.0f} x real time")

            return _run(sim, seconds, log_period, speed, progress)

    @contextlib.contextmanager
    def _page_of(self, sim: Sim, can_reset: bool) -> Iterator[None]:
        """Show the run on its page while the with block lasts, if that is wanted."""
        if self.page is None:
            yield
            return
        from astray.viewer.page import View

        with View(sim, port=self.page.port, can_reset=can_reset, log=self.console.report) as view:
            show_page(view.url, self.page.browser)
            yield

    @contextlib.contextmanager
    def _recording_of(self, sim: Sim) -> Iterator[None]:
        """Record the run while the with block lasts; a failure is kept until all is written."""
        if self.outputs.recording is None:
            yield
            return
        try:
            with record(sim, self.outputs.recording, overwrite=self.outputs.overwrite):
                yield
        except RecordingFailed as failure:
            self.failures.append(failure)

    def _begins_again(self, sim: Sim) -> bool:
        """After the end of a run with a page: wait for a reset on the page, or for Ctrl-C."""
        if sim.pace.stopped:
            return False
        self.console.report("The run has ended: reset it on the page, or press Ctrl-C to leave.")
        again = sim.pace.await_restart()
        if again is None:
            return False
        sim.reset(seed=again[0])
        return True

    def _write(self, sim: Sim, log: Log | None) -> None:
        """Write the folder and the checkpoint; if one fails, the other is still written."""
        if self.outputs.folder is not None and log is not None:
            try:
                write_run_folder(sim, log, self.outputs.folder, self.outputs.overwrite)
            except AstrayError as problem:  # such as a full disk: the run may have taken hours
                place = self._write_elsewhere(sim, log, problem)
                where = (
                    f"; the run was written to {place} instead" if place else "; the run is lost"
                )
                self.failures.append(WritingFailed(f"{problem}{where}"))
        if self.outputs.checkpoint is not None:
            try:
                sim.save(self.outputs.checkpoint)
            except AstrayError as problem:
                self.failures.append(problem)

    def _write_elsewhere(self, sim: Sim, log: Log, problem: AstrayError) -> Path | None:
        """Write the folder of a run to the place that the user names, or to one that has room.

        Returns:
            The folder; None if no place has room.
        """
        name = f"astray-{sim.scenario.name}-{os.getpid()}"
        spare = [folder / name for folder in _spare_folders()]
        if self.console.is_terminal and sys.stdin.isatty():
            while answer := self._ask_for_folder(problem):
                try:
                    write_run_folder(sim, log, answer)
                except AstrayError as another:
                    problem = another
                else:
                    return answer
        for folder in spare:
            with contextlib.suppress(AstrayError):
                write_run_folder(sim, log, folder)
                return folder
        return None

    def _ask_for_folder(self, problem: AstrayError) -> Path | None:
        """Ask for another folder; None if the user leaves it to us."""
        self.console.report(f"{problem}. The run is still in memory.")
        try:
            answer = click.prompt(
                "Write it to this folder (Enter: the first with room)",
                default="",
                show_default=False,
                err=True,
            )
        except click.Abort:  # Ctrl-C or the end of the input
            return None
        return Path(answer).expanduser() if answer.strip() else None

    def raise_failures(self) -> None:
        """Raise what could not be written, now that all else is done.

        Raises:
            AstrayError: One of the outputs failed; the text names all that did.
        """
        if len(self.failures) == 1:
            raise self.failures[0]
        if self.failures:
            raise WritingFailed("\n".join(map(str, self.failures)))


def _spare_folders() -> list[Path]:
    """Folders that may be on another disk than one that is full."""
    return [Path.cwd(), Path.home(), Path(tempfile.gettempdir())]


def show_page(url: str, browser: bool) -> None:
    """Print the address of a page, and open it in the browser if that is wanted."""
    # Printed even if quiet: the address has the token, and without it nobody can open the page.
    print(url, flush=True)
    if browser:
        webbrowser.open(url)


def post_events(sim: Sim, file: Path) -> None:
    """Post the events of another run.

    Raises:
        EventError: The text names file and line.
    """
    for line, event in numbered_events(file):
        try:
            sim.post(event)
        except WrongInput as problem:
            raise EventError(f"{file}:{line}: {problem}") from None


def _run(
    sim: Sim,
    seconds: float,
    log_period: float | None,
    speed: float | None,
    progress: Callable[[float], None] | None = None,
) -> Log | None:
    if log_period is None:
        sim.run(seconds, speed=speed, progress=progress)
        return None
    return sim.run(seconds, log=log_period, speed=speed, progress=progress)
