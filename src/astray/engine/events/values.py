"""Checks of the values of events, and how they are written into tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from astray.engine.events.selectors import each_of
from astray.engine.robots import Robots
from astray.errors import EventError
from astray.numerics import has_negative_eigenvalue, wrap
from astray.tables import Array, Rows, Table
from astray.world.maps import shorten

ASYMMETRY = 1e-6  # of its largest entry, by which it may differ from its transpose


def check_nothing(values: Mapping[str, Any]) -> None:
    """Refuse any value."""
    if values:
        raise EventError(f"no value {next(iter(values))!r} is needed here")


def numbers(group: Robots, value: Any, kind: str, name: str, shape: tuple[int, ...] = ()) -> Array:
    """A value as numbers, one of this shape for all rows of a group or one for each."""
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
            raise EventError(f"{kind}: no value {name!r} ({', '.join(known)})")
        if isinstance(value, float) and math.isfinite(value) and name != "cov":
            continue  # most are, and clients post them a thousand times a second
        array = numbers(group, value, kind, name, (3, 3) if name == "cov" else ())
        if not np.isfinite(array).all():
            raise EventError(f"{kind}: {name} is {value}: it must be finite")
        if name == "cov" and (wrong := _covariance_fault(array)):
            raise EventError(f"{kind}: cov is {value}: {wrong}")


def _covariance_fault(found: Array) -> str:
    """What keeps matrices, (..., 3, 3), from being covariances; empty if nothing does."""
    askew = np.abs(found - np.swapaxes(found, -1, -2)).max()
    if askew > ASYMMETRY * np.abs(found).max():
        return "a covariance must be symmetric"
    return (
        "a covariance must not be negative in any direction"
        if has_negative_eigenvalue(found)
        else ""
    )


def write_columns(group: Robots, state: Table, rows: Rows, values: Mapping[str, Any]) -> None:
    """Write values into the columns of a state."""
    for name, value in values.items():
        one = name == "cov" and np.ndim(value) == 2  # also for a group of three
        array = np.asarray(value, float) if one else each_of(rows, group, value)
        if name == "yaw":
            array = np.array([wrap(float(v)) for v in np.broadcast_to(array, len(rows))])
        state[name][rows] = array
