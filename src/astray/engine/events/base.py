"""What all kinds of events share: the kind itself, the rows an event selects, checks of values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from astray.engine.event_queue import Event
from astray.engine.robots import Robots
from astray.engine.run import Run
from astray.errors import EventError, suggest
from astray.numerics import has_negative_eigenvalue, wrap
from astray.tables import Array, Rows, Table
from astray.world.maps import shorten

ASYMMETRY = 1e-6  # of its largest entry: how much a covariance may differ from its transpose


@dataclass(frozen=True)
class EventKind:
    """One kind of event."""

    name: str
    check: Callable[[Run, Event], list[Event]]
    """Raises EventError for an event that could not take effect, before it is queued.

    It returns the event as it is to be logged, or several in its place (a map for each world).
    """
    apply: Callable[[Run, Event], None]
    """Applies the event."""


# Selectors: the worlds, the group and the rows of an event.


def worlds_of(run: Run, event: Event) -> Array:
    """The indices in the batch of the worlds of an event, in order."""
    if event.worlds is None:
        return np.arange(len(run.worlds))
    try:
        return run.world_index.of(event.worlds)
    except KeyError as unknown:
        raise EventError(f"{event.kind}: no world {unknown.args[0]}") from None


def group_of(run: Run, event: Event) -> Robots:
    """The group of an event."""
    if event.group in run.robots:
        return run.robots[event.group]
    if event.group is None:
        raise EventError(f"{event.kind}: needs a group of robots ({', '.join(run.robots)})")
    hint = suggest(str(event.group), run.robots)
    raise EventError(f"{event.kind}: unknown robot {event.group!r}{hint} ({', '.join(run.robots)})")


def rows_of(run: Run, group: Robots, event: Event) -> Rows:
    """The rows of an event, active or not."""
    if event.worlds is None and event.robots is None:
        return np.arange(len(group.truth))
    worlds = worlds_of(run, event)
    if event.robots is None:
        return group.rows_of(worlds)
    if not all(0 <= k < group.plan.capacity for k in event.robots):
        raise EventError(f"{event.kind}: {group.name!r} has robots 0 to {group.plan.capacity - 1}")
    robots = np.array(sorted(set(event.robots)), np.int64)
    return np.asarray((worlds[:, None] * group.plan.capacity + robots).ravel())


def active_rows_of(run: Run, group: Robots, event: Event) -> Rows:
    """The active rows of an event."""
    if event.worlds is None and event.robots is None:
        return group.rows
    rows: Rows = rows_of(run, group, event)
    active: Rows = rows[group.truth["alive"][rows]]
    return active


def check_selection(run: Run, event: Event) -> Robots:
    """The group of an event, whose worlds and robots exist."""
    group = group_of(run, event)
    if event.worlds is not None or event.robots is not None:
        rows_of(run, group, event)
    return group


# Values: one for all rows, or one per row of the group.


def value_per_row(rows: Rows, group: Robots, value: Any) -> Array:
    """The value of these rows, from one value for all, or one per row of the group."""
    array = np.asarray(value, float)
    if array.ndim and len(rows) < len(array) == len(group.truth):
        return array[rows]
    return array


def check_no_values(values: Mapping[str, Any]) -> None:
    """Refuse any value."""
    if values:
        raise EventError(f"no value {next(iter(values))!r} is needed here")


def numbers(group: Robots, value: Any, kind: str, name: str, shape: tuple[int, ...] = ()) -> Array:
    """A value as numbers: one of this shape, or one for each row of the group."""
    rows = len(group.truth)
    try:
        array = np.asarray(value, float)
    except (ValueError, TypeError, OverflowError):
        raise EventError(f"{kind}: {name} is {shorten(value)}: it must be a number") from None
    if (array.ndim or shape) and array.shape not in (shape, (rows, *shape)):
        what = f"matrix of {' x '.join(map(str, shape))} numbers" if shape else "number"
        raise EventError(
            f"{kind}: {name} needs one {what}, or one for each of the {rows} rows "
            f"of {group.name!r}, not {array.size}"
        )
    return array


def check_columns(
    group: Robots, values: Mapping[str, Any], known: tuple[str, ...], kind: str
) -> None:
    """Refuse names that are no columns, and values that are no finite numbers."""
    for name, value in values.items():
        if name not in known:
            raise EventError(f"{kind}: unknown value {name!r} ({', '.join(known)})")
        if isinstance(value, float) and math.isfinite(value) and name != "cov":
            continue  # the common case, which clients post a thousand times per second
        array = numbers(group, value, kind, name, (3, 3) if name == "cov" else ())
        if not np.isfinite(array).all():
            raise EventError(f"{kind}: {name} is {value}: it must be finite")
        if name == "cov" and (fault := _covariance_fault(array)):
            raise EventError(f"{kind}: cov is {value}: {fault}")


def _covariance_fault(matrices: Array) -> str:
    """Why matrices, (..., 3, 3), are no covariances; empty if they are."""
    asymmetry = np.abs(matrices - np.swapaxes(matrices, -1, -2)).max()
    if asymmetry > ASYMMETRY * np.abs(matrices).max():
        return "a covariance must be symmetric"
    if has_negative_eigenvalue(matrices):
        return "a covariance must not be negative in any direction"
    return ""


def write_columns(group: Robots, state: Table, rows: Rows, values: Mapping[str, Any]) -> None:
    """Write values into the columns of a state."""
    for name, value in values.items():
        is_matrix = name == "cov" and np.ndim(value) == 2  # one for all, also with three rows
        array = np.asarray(value, float) if is_matrix else value_per_row(rows, group, value)
        if name == "yaw":
            array = np.array([wrap(float(v)) for v in np.broadcast_to(array, len(rows))])
        state[name][rows] = array
