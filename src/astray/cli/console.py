"""What is told beside the answer goes to stderr, and nobody has to listen."""

from __future__ import annotations

import contextlib
import os
import sys

from rich.console import Console


class Teller(Console):
    """A console on stderr. If who reads it goes away, the work goes on without a word."""

    def __init__(self, quiet: bool = False) -> None:
        super().__init__(stderr=True, quiet=quiet)

    def say(self, text: str) -> None:
        """Tell a line as it is; if even that cannot be, the work goes on."""
        with contextlib.suppress(OSError):
            self.print(text, markup=False, highlight=False, emoji=False, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        """Be silent from now on: the answer on stdout is still wanted."""
        self.quiet = True
        # What is left in a buffer would be refused again when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
