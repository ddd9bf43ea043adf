"""The front door: from a scenario to a simulation."""

from __future__ import annotations

from collections.abc import Sequence

from astray.engine.batch import Worlds
from astray.scenario.load import Source, load_scenario
from astray.sim import Sim


def load(
    source: Source,
    *,
    worlds: Worlds = 1,
    seed: int | None = None,
    threads: int = 1,
    set: str | Sequence[str] = (),
    keep_events: bool = True,
) -> Sim:
    """Load a scenario: a path, the name of a bundled one, or a mapping.

    `worlds=4096` runs as many independent copies, `worlds=range(40, 50)` those ten alone with the
    same bytes. `set` takes "path=value", one or several, as the command line does.
    """
    return Sim(load_scenario(source, set), worlds, seed, threads, keep_events)
