"""Error attribution: an error inside the tick is reported with the plugin that raised it."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import FrameType

from astray.errors import AstrayError, PluginFailed
from astray.plugin import OUTPUTS, Plugin

READ_ONLY = ("read-only", "readonly array")
"""In the errors of NumPy and of numba about writing to a read-only array."""
Step = tuple[FrameType, int]
"""A frame of a traceback, and its line."""


def attribute_error(problem: Exception, time: float | None = None) -> Exception:
    """A PluginFailed that names the plugin, if a plugin raised the error; otherwise the error."""
    if isinstance(problem, AstrayError):
        return problem
    steps = list(traceback.walk_tb(problem.__traceback__))
    while steps and not isinstance(steps[0][0].f_locals.get("self"), Plugin):
        del steps[0]
    if not steps:
        return problem
    called = [step for step in steps if isinstance(step[0].f_locals.get("self"), Plugin)]
    frame = called[-1][0]
    plugin: Plugin = frame.f_locals["self"]
    # Code that it calls or inherits may have raised: the author needs the line of their own file.
    own = [step for step in steps if step[0].f_globals.get("__name__") == plugin.__module__]
    where = frame.f_code.co_name + (f" at t = {time:g} s" if time is not None else "")
    line = _place((own or called)[-1])
    if any(text in str(problem) for text in READ_ONLY):
        return PluginFailed(
            f"{plugin.family} {plugin.name!r} writes in {where} to what it may only read: write "
            f"the result to {OUTPUTS[plugin.family]}, or change a copy ({line})"
        )
    return PluginFailed(
        f"{plugin.family} {plugin.name!r} failed in {where}: {type(problem).__name__}: {problem} "
        f"({line})"
    )


def _place(step: Step) -> str:
    """The file and the line: gps.py:12."""
    frame, line = step
    return f"{Path(frame.f_code.co_filename).name}:{line}"
