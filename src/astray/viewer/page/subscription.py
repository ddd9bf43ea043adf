"""What whoever looks at a run wants to see of it, beyond where the robots are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wishes:
    """What all open pages together want: they say it, and the run looks."""

    robots: frozenset[int] = frozenset()
    """Whose readings and contacts are drawn."""
    everyone: bool = False
    """Whether those of all robots are."""
    readings: bool = False
    contacts: bool = False
    signals: frozenset[tuple[int, int]] = frozenset()
    """Robots, and the signals of theirs that are plotted."""
