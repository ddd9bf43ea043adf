"""Telling who waits that kernels are being compiled: a minute or so, where none were before."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from rich.console import Console

from astray.numerics import compile_callbacks


@contextlib.contextmanager
def compiling(say: Callable[[str], None], console: Console | None = None) -> Iterator[None]:
    """Say so if kernels are compiled meanwhile, and count them on a terminal."""
    count = 0
    with contextlib.ExitStack() as stack:
        status = console.status("") if console is not None and console.is_terminal else None

        def compile_one() -> None:
            nonlocal count
            count += 1
            if count == 1:
                say("Compiling kernels: this takes a minute or so, once.")
                if status is not None:
                    stack.enter_context(status)
            if status is not None:
                status.update(f"{count} compiled")

        compile_callbacks.append(compile_one)
        stack.callback(compile_callbacks.remove, compile_one)
        yield
