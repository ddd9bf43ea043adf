"""What robots believe of each other, as the page draws it: the tracks that are confirmed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from astray.engine import Robots
from astray.scenario import GroupPlan
from astray.tables import Array, Rows
from astray.viewer.page.drawables import number_of
from astray.viewer.page.frames import TRACK

COAST = 3.0  # s, in which tracks fade of a tracker that does not say how long it keeps them
MOVING = ("unseen", "x", "y", "map_vx", "map_vy")
NEEDED = ("confirmed", "number", "identity", "stamp", *MOVING, "cov")


def contacts_data(plan: GroupPlan) -> dict[str, Any] | None:
    """What the page is told of the tracker of a group; None without one."""
    if plan.contacts is None:
        return None
    coast = number_of(plan.contacts, "coast", COAST)
    return {"kind": plan.contacts.kind, "coast": coast}


def page_numbers(plans: Sequence[GroupPlan]) -> Array:
    """The number on the page of the robot with each identity: groups go by their names there."""
    first, firsts = 0, {}
    for plan in plans:
        firsts[plan.name] = first
        first += plan.capacity
    named = sorted(plans, key=lambda plan: plan.name)
    parts = [firsts[plan.name] + np.arange(plan.capacity) for plan in named]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def confirmed_tracks(group: Robots, rows: Rows, shift: int, numbers: Array) -> Array:
    """TRACK of all that these rows believe, (k, TRACK); row + shift is the observer's number."""
    whose, slots = np.nonzero(group.contacts["confirmed"][rows])
    mine = rows[whose]
    tracks = {column: group.contacts[column][mine, slots] for column in NEEDED}
    out = np.zeros((len(mine), TRACK), np.float32)
    write_tracks(out, tracks, mine + shift, group.time[mine], numbers)
    return out


def logged_tracks(plan: GroupPlan, log: Mapping[str, Array], first: int, numbers: Array) -> Array:
    """The confirmed tracks of a group over time, (moments, k, TRACK); of number 0 where none is.

    Each observer, the first of which has this number, gets as many as one ever had.
    """
    n, name = plan.capacity, f"{plan.name}/tracks"
    if f"{name}/confirmed" not in log:
        return np.zeros((len(log["time"]), 0, TRACK), np.float32)
    tracks = {column: log[f"{name}/{column}"][:, :n] for column in NEEDED}
    confirmed = tracks["confirmed"]
    slots = int(confirmed.sum(-1).max(initial=0))
    order = np.argsort(~confirmed, axis=-1, kind="stable")[:, :, :slots]
    packed = {key: _at_slots(series, order) for key, series in tracks.items()}
    out = np.zeros((*order.shape, TRACK), np.float32)
    now = log[f"{plan.name}/truth/stamp"][:, :n, None]
    write_tracks(out, packed, (first + np.arange(n))[:, None], now, numbers)
    out[~packed["confirmed"], 1:] = 0.0
    return out.reshape(len(out), -1, TRACK)


def _at_slots(series: Array, order: Array) -> Array:
    there = order.reshape(order.shape + (1,) * (series.ndim - 3))
    return np.take_along_axis(series, there, 2)


def write_tracks(
    out: Array, tracks: Mapping[str, Array], observers: Array, now: Array, numbers: Array
) -> None:
    """Write tracks as the page reads them, (..., TRACK); numbers are those of `page_numbers`."""
    identity = tracks["identity"]
    known = (identity >= 0) & (identity < len(numbers))
    out[..., 0] = observers
    out[..., 1] = tracks["number"]
    out[..., 2] = np.where(known, numbers[np.where(known, identity, 0)], -1)
    out[..., 3] = now - tracks["stamp"]
    for k, column in enumerate(MOVING):
        out[..., 4 + k] = tracks[column]
    cov = tracks["cov"]
    out[..., 9], out[..., 10], out[..., 11] = cov[..., 0, 0], cov[..., 0, 1], cov[..., 1, 1]
