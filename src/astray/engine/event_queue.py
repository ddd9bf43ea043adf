"""Events: every input of a run, in a queue until they take effect and then in a log.

An event takes effect at the start of a tick. The events of one tick are ordered by world, group,
robot and only then by arrival, so that nothing depends on the order of threads. Events that name
their step come before them, as they were posted. A run is its scenario, its seed and its events:
the same three give the same bytes.
"""

from __future__ import annotations

import heapq
import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from astray.errors import EventError, WrongInput, suggest

RECORD_KEYS = ("step", "kind", "group", "worlds", "robots", "values")
"""The keys of an event in a file."""
Value = float | int | str | Sequence[float] | None


@dataclass(frozen=True)
class Event:
    """One input of a run.

    Attributes:
        kind: Its name in the registry: "command", "place", "reset" …
        group: The name of the robots that it is for; None for worlds.
        worlds: Numbers of worlds; all by default.
        robots: Numbers of robots in the group; all by default.
        values: By name.
        step: The step of the run at which it takes effect; the next one by default.
    """

    kind: str
    group: str | None = None
    worlds: tuple[int, ...] | None = None
    robots: tuple[int, ...] | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    step: int | None = None

    def order(self) -> tuple[int, str, int]:
        """Its sort key among the events of one step; events for all robots come first."""
        world = -1 if self.worlds is None else min(self.worlds, default=-1)
        robot = -1 if self.robots is None else min(self.robots, default=-1)
        return world, self.group or "", robot

    def to_json(self) -> str:
        """The event as one line of JSON; floats keep every bit."""
        record = {
            "step": self.step,
            "kind": self.kind,
            "group": self.group,
            "worlds": self.worlds,
            "robots": self.robots,
            "values": {k: _plain(v) for k, v in self.values.items()},
        }
        return json.dumps({k: v for k, v in record.items() if v is not None})

    @classmethod
    def from_json(cls, line: str) -> Event:
        """Read an event that `to_json` wrote."""
        try:
            record = json.loads(line)
            _check_record(record)
            for name in ("worlds", "robots"):
                if record.get(name) is not None:
                    record[name] = tuple(record[name])
            return cls(**record)
        except (ValueError, TypeError, RecursionError) as problem:
            raise EventError(f"not an event: {line.strip()[:80]!r} ({problem})") from None


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number; True and False are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def indices(which: Any, of: str) -> tuple[int, ...] | None:
    """Numbers of worlds or robots, one or several; None stays None."""
    if which is None:
        return None
    given = np.atleast_1d(which)
    if given.size and not np.issubdtype(given.dtype, np.integer):
        hint = "; np.flatnonzero(mask) has those of a mask" if given.dtype == bool else ""
        raise WrongInput(f"{of} are whole numbers, not {which!r}{hint}")
    return tuple(given.ravel().tolist())


def _check_record(record: Any) -> None:
    """Refuse values that JSON can hold and an event cannot."""
    if not isinstance(record, dict):
        raise TypeError("an object is needed")
    for name in record:
        if name not in RECORD_KEYS:
            raise TypeError(f"unknown key {name!r}{_suggest_key(name)} ({', '.join(RECORD_KEYS)})")
    if record.get("kind") is None:
        raise TypeError("needs a kind")
    for name in ("kind", "group"):
        if not isinstance(record.get(name, ""), str | None):
            raise TypeError(f"{name} is a name")
    for name in ("worlds", "robots"):
        which = record.get(name)
        if which is not None and not (isinstance(which, list) and all(map(is_whole, which))):
            raise TypeError(f"{name} is a list of whole numbers")
    if not isinstance(record.get("values", {}), dict):
        raise TypeError("values is an object")
    if record.get("step") is not None and not is_whole(record["step"]):
        raise TypeError("step is a whole number")


def _suggest_key(name: str) -> str:
    """A hint to the key that was meant."""
    if name in ("at", "t", "tick", "time"):
        return "; did you mean 'step', a number of ticks?"
    return suggest(name, RECORD_KEYS)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return value


def read_events(file: str | os.PathLike[str]) -> list[Event]:
    """Read the events of a run.

    Args:
        file: A line of JSON for each event, as `astray run --out` writes it.

    Returns:
        The events, in the order of the file.

    Raises:
        WrongInput: The file cannot be read.
        EventError: A line is no event; the text names file and line.
    """
    return [event for _, event in numbered_events(file)]


def numbered_events(file: str | os.PathLike[str]) -> list[tuple[int, Event]]:
    """The events of a file, each with the number of its line.

    Raises:
        WrongInput: The file cannot be read.
        EventError: A line is no event; the text names file and line.
    """
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise WrongInput(f"{file}: {getattr(problem, 'strerror', None) or problem}") from None
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append((number, Event.from_json(line)))
            except EventError as problem:
                raise EventError(f"{file}:{number}: {problem}") from None
    return found


class EventQueue:
    """The events to come, and the log of the past ones. Safe for threads."""

    def __init__(self, keep: bool = True) -> None:
        self.keep = keep
        self.log: list[Event] = []
        self.arrived = threading.Condition()
        self._next: list[Event] = []
        self._later: list[tuple[int, int, Event]] = []
        self._count = 0

    def post(self, event: Event) -> None:
        """Queue an event for the next step or for the one it names."""
        with self.arrived:
            if event.step is None:
                self._next.append(event)
            else:
                self._put(event.step, event)
            self.arrived.notify_all()

    def _put(self, step: int, event: Event) -> None:
        self._count += 1
        heapq.heappush(self._later, (step, self._count, event))

    def due(self, step: int) -> Iterator[Event]:
        """The events that take effect now, in their order; each is logged after it has.

        Events that name their step keep the order of posting, since a log may hold events of a
        run that stood still. They are taken one at a time: if one fails, the others stay queued.
        """
        with self.arrived:
            fresh, self._next = self._next, []
            for event in sorted(fresh, key=Event.order):
                self._put(step, event)
            last = (step, self._count)  # events posted from now on wait for the next step
        while (due := self._take(last)) is not None:
            yield due
            if self.keep:
                now = Event(due.kind, due.group, due.worlds, due.robots, due.values, step)
                self.log.append(now)

    def _take(self, last: tuple[int, int]) -> Event | None:
        with self.arrived:
            if self._later and self._later[0][:2] <= last:
                return heapq.heappop(self._later)[2]
            return None

    def is_due(self, step: int) -> bool:
        """Whether an event takes effect now; cheap, since every tick calls it."""
        return bool(self._next) or (bool(self._later) and self._later[0][0] <= step)

    @property
    def has_events(self) -> bool:
        """Whether any event is queued; cheap, since every call of the stepper asks."""
        return bool(self._next) or bool(self._later)

    def next_step(self) -> int | None:
        """The step of the next queued event; −1 for the next step; None without events."""
        with self.arrived:
            if self._next:
                return -1
            return self._later[0][0] if self._later else None

    def clear(self) -> None:
        """Clear the queue and the log."""
        with self.arrived:
            self._next, self._later, self.log = [], [], []

    def waiting(self) -> list[Event]:
        """The queued events."""
        with self.arrived:
            return [*self._next, *(event for _, _, event in sorted(self._later))]

    def restore(self, log: Iterable[Event], waiting: Iterable[Event]) -> None:
        """Set the log and the queued events to those of a checkpoint."""
        self.clear()
        self.log = list(log)
        for event in waiting:
            self.post(event)
