"""Errors of tracks: GOSPA, and the consistency of their covariance (NEES).

GOSPA, the generalised optimal sub-pattern assignment metric: for tracks Y and robots X, with the
cut-off c, p = 2 and alpha = 2 (Rahmathullah et al., 2017),

    GOSPA² = min over pairs of  Σ |x − y|²  +  c² / 2 · (missed robots + false tracks)

so a robot without a track and a track without a robot cost c² / 2 each, and a pair never more than
the two together. It is a distance in metres: 0 if there is a track on each robot and no other. Its
parts are the errors of pairs, the missed robots and the false tracks.

NEES = eᵀ P⁻¹ e, with the error e of a track's (x, y, map_vx, map_vy) and its covariance P, averaged
over the tracks that are paired with a robot: 4 on average if P is the covariance of the error.
Pairs are those of GOSPA; a cut-off close to the errors excludes the large ones. Without a pair it
is nan and not counted.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from astray.metrics.track_assignment import (
    MatchWorkspace,
    TrueRobots,
    make_match_workspace,
    match_tracks,
    observers_of,
    true_robots,
)
from astray.numerics import NAN, kernel, sincos
from astray.plugin import ContactMetric, Positive, Scene, Tracks
from astray.tables import Array, Row, Rows, Table

PARTS = ("all", "distance", "missed", "nobody")
"""What of GOSPA is measured; nobody: false tracks."""


@kernel
def gospa_all(
    out: Array,
    params: Table,
    tracks: Table,
    observers: Array,
    workspace: MatchWorkspace,
    robots: TrueRobots,
    rows: Rows,
    part: int,
) -> None:
    """GOSPA of these rows and observers, or one of its PARTS."""
    for j in range(len(rows)):
        i, p = rows[j], params[rows[j]]
        observer, world = observers[j, 0], observers[j, 1]
        count, near, believed = match_tracks(
            workspace, robots, tracks[i], observer, world, p.within, p.cutoff
        )
        distance = 0.0
        for k in range(count):
            s, t = robots.states[workspace.pairs[k, 0]], tracks[i, workspace.pairs[k, 1]]
            distance += (t.x - s.x) * (t.x - s.x) + (t.y - s.y) * (t.y - s.y)
        half = 0.5 * p.cutoff * p.cutoff
        missed, false = half * (near - count), half * (believed - count)
        squares = (distance + missed + false, distance, missed, false)
        out[i] = math.sqrt(squares[part])


@kernel
def track_nees(track: Row, truth: Row, l: Array, z: Array) -> float:  # noqa: E741 - Cholesky's L
    """NEES of one track of one robot by P = L Lᵀ, z = L⁻¹ e; nan if P is not positive definite."""
    sine, cosine = sincos(truth.yaw)
    z[0], z[1] = track.x - truth.x, track.y - truth.y
    z[2] = track.map_vx - (cosine * truth.vx - sine * truth.vy)
    z[3] = track.map_vy - (sine * truth.vx + cosine * truth.vy)
    total = 0.0
    for a in range(4):
        for b in range(a):
            rest = track.cov[a, b]
            for k in range(b):
                rest -= l[a, k] * l[b, k]
            l[a, b] = rest / l[b, b]
            z[a] -= l[a, b] * z[b]
        rest = track.cov[a, a]
        for k in range(a):
            rest -= l[a, k] * l[a, k]
        if not rest > 0.0:
            return NAN
        l[a, a] = math.sqrt(rest)
        z[a] /= l[a, a]
        total += z[a] * z[a]
    return total


@kernel
def track_nees_all(
    out: Array,
    params: Table,
    tracks: Table,
    observers: Array,
    workspace: MatchWorkspace,
    robots: TrueRobots,
    rows: Rows,
    cholesky: Array,
) -> None:
    """Mean NEES of the tracks of these rows and observers; workspace for L and z, (5, 4)."""
    for j in range(len(rows)):
        i, p = rows[j], params[rows[j]]
        observer, world = observers[j, 0], observers[j, 1]
        count = match_tracks(workspace, robots, tracks[i], observer, world, p.within, p.cutoff)[0]
        total = 0.0
        for k in range(count):
            s, t = robots.states[workspace.pairs[k, 0]], tracks[i, workspace.pairs[k, 1]]
            total += track_nees(t, s, cholesky[:4], cholesky[4])
        out[i] = total / count if count > 0 else NAN


class Gospa(ContactMetric, kind="gospa"):
    """Error of all tracks of an observer: distances, missed robots and false tracks."""

    unit = "m"
    cutoff: Positive = 1.0  # m, largest distance between a track and its robot
    within: Positive = 8.0  # m from the observer; robots farther away do not count
    part: Literal["all", "distance", "missed", "nobody"] = "all"  # all of it, or one of its parts

    def measure(self, rows: Rows, scene: Scene, contacts: Tracks, out: Array) -> None:
        """Write GOSPA of these rows, m."""
        tracks = contacts.tracks
        workspace = make_match_workspace(scene.robots_per_world, tracks.shape[1])
        at, part = observers_of(rows, scene), PARTS.index(self.part)
        gospa_all(out, self.params, tracks, at, workspace, true_robots(scene), rows, part)


class ContactsNees(ContactMetric, kind="contacts_nees"):
    """Normalised estimation error squared of tracks: 4 on average if they are consistent."""

    average = "mean"
    cutoff: Positive = 3.0  # m, largest distance between a track and its robot
    within: Positive = 8.0  # m from the observer; robots farther away do not count

    def measure(self, rows: Rows, scene: Scene, contacts: Tracks, out: Array) -> None:
        """Write the mean NEES of these rows."""
        tracks = contacts.tracks
        workspace = make_match_workspace(scene.robots_per_world, tracks.shape[1])
        at, robots, cholesky = observers_of(rows, scene), true_robots(scene), np.zeros((5, 4))
        track_nees_all(out, self.params, tracks, at, workspace, robots, rows, cholesky)
