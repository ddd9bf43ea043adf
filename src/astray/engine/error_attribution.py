"""Who raised: an error inside the tick is reported with the plugin it came from."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import FrameType

from astray.errors import AstrayError, PluginError
from astray.plugin import Plugin

Step = tuple[FrameType, int]
"""A frame, and the line that it was in."""


def attribute_error(problem: Exception, time: float) -> Exception:
    """The exception of a plugin as one that names it; any other as it is."""
    if isinstance(problem, AstrayError):
        return problem
    steps = list(traceback.walk_tb(problem.__traceback__))
    while steps and not isinstance(steps[0][0].f_locals.get("self"), Plugin):
        del steps[0]
    if not steps:
        return problem
    called = [step for step in steps if isinstance(step[0].f_locals.get("self"), Plugin)]
    frame = called[-1][0]
    culprit: Plugin = frame.f_locals["self"]
    # What it calls or inherits may have raised: its author looks for a line of their own.
    own = [step for step in steps if step[0].f_globals.get("__name__") == culprit.__module__]
    return PluginError(
        f"{culprit.family} {culprit.name!r} failed in {frame.f_code.co_name} at t = {time:g} s: "
        f"{type(problem).__name__}: {problem} ({_place((own or called)[-1])})"
    )


def _place(step: Step) -> str:
    """The file and the line: gps.py:12."""
    frame, line = step
    return f"{Path(frame.f_code.co_filename).name}:{line}"
