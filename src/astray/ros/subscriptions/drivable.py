"""Lets the robots of a scenario be driven from outside."""

from __future__ import annotations

import json
from collections.abc import Sequence

from astray.robot.autonomy import Idle, RemoteAutonomy
from astray.scenario import Source, load_scenario


def make_drivable(scenario: Source, overrides: Sequence[str], timeout: float) -> list[str]:
    """Overrides by which robots that are idle take commands instead.

    Args:
        scenario: The scenario, as `astray.load` takes it.
        overrides: The overrides that the user gave, `key=value`.
        timeout: The time without a command after which such a robot stops, s. A robot with autonomy
            `remote` gets it as well, unless it has a timeout of its own or runs in lockstep.

    Returns:
        The overrides of the user, and these.
    """
    changed = list(overrides)
    for plan in load_scenario(scenario, overrides).robots:
        key, autonomy = f"robots.{plan.name}.autonomy", plan.autonomy
        if isinstance(autonomy, Idle):
            remote = json.dumps({"kind": "remote", "timeout": timeout})
            changed.append(f"{key}={remote}")
        elif isinstance(autonomy, RemoteAutonomy) and autonomy.timeout is autonomy.lockstep is None:
            changed += [f"{key}.kind=remote", f"{key}.timeout={timeout:g}"]
    return changed
