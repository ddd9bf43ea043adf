"""The console of a command: status lines, progress and notices on stderr, results on stdout."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


class StatusConsole(Console):
    """A console on stderr. If its reader goes away, the command continues silently."""

    def __init__(self, quiet: bool = False) -> None:
        super().__init__(stderr=True, quiet=quiet)

    def report(self, text: str) -> None:
        """Print a line as it is; a line that cannot be printed is dropped."""
        with contextlib.suppress(OSError):
            self.print(text, markup=False, highlight=False, emoji=False, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        """Stop printing: the result on stdout is still wanted."""
        self.quiet = True
        # The interpreter would fail to flush what is left in the buffer at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def progress_bar(console: Console, label: str = "") -> Progress:
    """A progress bar that disappears when it is done; `label` names a field to show behind it."""
    columns = [TextColumn("{task.description}"), BarColumn()]
    if label:
        columns.append(TextColumn(f"{{task.fields[{label}]}}"))
    return Progress(*columns, TimeRemainingColumn(), console=console, transient=True)


@contextlib.contextmanager
def report_compilation(
    report: Callable[[str], None], console: Console | None = None
) -> Iterator[None]:
    """Report that kernels are being compiled, if any are; a terminal shows which, and how many."""
    from astray.numerics import Compilation, compile_callbacks

    count = 0
    with contextlib.ExitStack() as stack:
        status = console.status("") if console is not None and console.is_terminal else None

        def count_kernel(compilation: Compilation) -> None:
            nonlocal count
            count += 1
            if count == 1:
                report("Compiling the kernels that no earlier run needed: a minute or so, once.")
                if status is not None:
                    stack.enter_context(status)
            if status is not None:
                entry = compilation.entry.removeprefix("astray.")
                status.update(f"{count} compiled, {compilation.left} left of {entry}")

        compile_callbacks.append(count_kernel)
        stack.callback(compile_callbacks.remove, count_kernel)
        yield
