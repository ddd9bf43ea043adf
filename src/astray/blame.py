"""Who raised: an error inside the tick is reported with the plugin it came from."""

from __future__ import annotations

from astray.errors import AstrayError, PluginError
from astray.plugin import Plugin


def blame(problem: Exception, time: float) -> Exception:
    """The exception of a plugin as one that names it; any other as it is."""
    if isinstance(problem, AstrayError):
        return problem
    frame = problem.__traceback__
    culprit, verb = None, ""
    while frame is not None:
        owner = frame.tb_frame.f_locals.get("self")
        if isinstance(owner, Plugin):
            culprit, verb = owner, frame.tb_frame.f_code.co_name
        frame = frame.tb_next
    if culprit is None:
        return problem
    return PluginError(
        f"{culprit.family} {culprit.name!r} failed in {verb} at t = {time:g} s: "
        f"{type(problem).__name__}: {problem}"
    )
