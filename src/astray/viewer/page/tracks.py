"""The confirmed tracks of what robots believe of each other, as the page draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from astray.engine import Robots
from astray.scenario import GroupPlan
from astray.tables import Array, Rows
from astray.viewer.page.frames import TRACK

MOTION_COLUMNS = ("unseen", "x", "y", "map_vx", "map_vy")
TRACK_COLUMNS = ("confirmed", "number", "identity", "stamp", *MOTION_COLUMNS, "cov")


def page_numbers(plans: Sequence[GroupPlan]) -> Array:
    """The number on the page of the robot with each identity.

    The page numbers the robots group by group in the order of the scenario; identities follow the
    order of the groups' names.
    """
    first, firsts = 0, {}
    for plan in plans:
        firsts[plan.name] = first
        first += plan.capacity
    by_name = sorted(plans, key=lambda plan: plan.name)
    parts = [firsts[plan.name] + np.arange(plan.capacity) for plan in by_name]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def confirmed_tracks(group: Robots, rows: Rows, shift: int, numbers: Array) -> Array:
    """The tracks of some rows, (k, TRACK); row + shift is the number of the observer."""
    index, slots = np.nonzero(group.contacts["confirmed"][rows])
    observers = rows[index]
    tracks = {column: group.contacts[column][observers, slots] for column in TRACK_COLUMNS}
    out = np.zeros((len(observers), TRACK), np.float32)
    write_tracks(out, tracks, observers + shift, group.time[observers], numbers)
    return out


def logged_tracks(plan: GroupPlan, log: Mapping[str, Array], first: int, numbers: Array) -> Array:
    """The tracks of a group over time, (moments, k, TRACK); of number 0 where there is none.

    `first` is the number of the group's first robot. Each observer gets as many slots as the most
    tracks that any of them ever had.
    """
    n, prefix = plan.capacity, f"{plan.name}/tracks"
    if f"{prefix}/confirmed" not in log:
        return np.zeros((len(log["time"]), 0, TRACK), np.float32)
    tracks = {column: log[f"{prefix}/{column}"][:, :n] for column in TRACK_COLUMNS}
    confirmed = tracks["confirmed"]
    slots = int(confirmed.sum(-1).max(initial=0))
    order = np.argsort(~confirmed, axis=-1, kind="stable")[:, :, :slots]
    packed = {column: _take_slots(series, order) for column, series in tracks.items()}
    out = np.zeros((*order.shape, TRACK), np.float32)
    now = log[f"{plan.name}/truth/stamp"][:, :n, None]
    write_tracks(out, packed, (first + np.arange(n))[:, None], now, numbers)
    out[~packed["confirmed"], 1:] = 0.0
    return out.reshape(len(out), -1, TRACK)


def _take_slots(series: Array, order: Array) -> Array:
    indices = order.reshape(order.shape + (1,) * (series.ndim - 3))
    return np.take_along_axis(series, indices, 2)


def write_tracks(
    out: Array, tracks: Mapping[str, Array], observers: Array, now: Array, numbers: Array
) -> None:
    """Write tracks into (..., TRACK); numbers are those of `page_numbers`."""
    identity = tracks["identity"]
    is_known = (identity >= 0) & (identity < len(numbers))
    out[..., 0] = observers
    out[..., 1] = tracks["number"]
    out[..., 2] = np.where(is_known, numbers[np.where(is_known, identity, 0)], -1)
    out[..., 3] = now - tracks["stamp"]
    for k, column in enumerate(MOTION_COLUMNS):
        out[..., 4 + k] = tracks[column]
    cov = tracks["cov"]
    out[..., 9], out[..., 10], out[..., 11] = cov[..., 0, 0], cov[..., 0, 1], cov[..., 1, 1]
