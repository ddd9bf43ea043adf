"""What has to be set in a scenario so that its robots can be driven from outside."""

from __future__ import annotations

import json
from collections.abc import Sequence

from astray.robot.autonomy import Idle, RemoteAutonomy
from astray.scenario import Source, load_scenario


def make_drivable(scenario: Source, overrides: Sequence[str], timeout: float) -> list[str]:
    """The overrides, and those by which robots that want nothing listen to commands instead.

    Whoever drives them from afar may be cut off: they stop then, unless they wait for commands.
    """
    sets = list(overrides)
    for plan in load_scenario(scenario, overrides).robots:
        where, autonomy = f"robots.{plan.name}.autonomy", plan.autonomy
        if isinstance(autonomy, Idle):
            wanted = json.dumps({"kind": "remote", "timeout": timeout})
            sets.append(f"{where}={wanted}")
        elif isinstance(autonomy, RemoteAutonomy) and autonomy.timeout is autonomy.lockstep is None:
            sets += [f"{where}.kind=remote", f"{where}.timeout={timeout:g}"]
    return sets
