"""Who may have something to say at a tick: worked out once for each place in the cycle of beats."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from astray.engine import Run
from astray.ros.publishers.poses import PeriodicPublisher
from astray.ros.publishers.publisher import Publisher
from astray.tables import Rows

if TYPE_CHECKING:
    pass

Said = list[tuple[Publisher, Rows]]
"""Who says something, and for which rows."""


class DueSet:
    """Speakers that are asked at the same tick."""

    def __init__(self, speakers: Iterable[Publisher]) -> None:
        self._asked: list[tuple[Publisher, Callable[[Run], Rows]]] = []
        self._steady: dict[str, Said] = {}
        """By group: those who need not be asked while all of its robots are there."""
        for speaker in speakers:
            if isinstance(speaker, PeriodicPublisher) and speaker.is_steady:
                self._steady.setdefault(speaker.group, []).append((speaker, speaker.rows))
            else:
                self._asked.append((speaker, speaker.now))

    def ask(self, sim: Run) -> Said:
        """What they have to say."""
        said: Said = []
        for name, steady in self._steady.items():
            group = sim.robots[name]
            if len(group.rows) == len(group.truth):
                said += steady
            else:
                said += [(speaker, rows) for speaker, _ in steady if len(rows := speaker.now(sim))]
        for speaker, now in self._asked:
            rows = now(sim)
            if len(rows):
                said.append((speaker, rows))
        return said
