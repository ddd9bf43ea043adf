"""Whoever watches a run and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from astray.sim import Sim


class Observer(Protocol):
    """Whoever watches a run: called after the ticks it asks for, and changes nothing."""

    def next_due(self, step: int) -> int:
        """The first step from this one on that it wants to see."""
        ...

    def observe(self, sim: Sim) -> None:
        """Look."""
        ...


@runtime_checkable
class Chronicle(Observer, Protocol):
    """An observer that keeps what it saw, from the start of the run on."""

    def forget(self) -> None:
        """Begin anew: the run was reset."""
        ...
