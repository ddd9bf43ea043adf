"""Whether a robot knows how wrong it is about others: normalised estimation error squared.

NEES = eᵀ P⁻¹ e with the error e of a track's (x, y, map_vx, map_vy) and its covariance P, averaged
over the tracks that are about a robot: 4 on average if the covariance is that of the error. Which
track is about whom is settled as for GOSPA; a cut-off that is too near to the errors hides the
large ones. Where no track is about anyone it is nan, and not counted.
"""

from __future__ import annotations

import math

import numpy as np

from astray.metrics.track_matching import Around, Room, around, make_room, match, observers
from astray.numerics import NAN, kernel, sincos
from astray.plugin import ContactMetric, Positive, Scene, Tracks
from astray.tables import Array, Row, Rows, Table


@kernel
def squared(t: Row, s: Row, l: Array, z: Array) -> float:  # noqa: E741 - Cholesky's L
    """NEES of one track about one robot, by Cholesky's factorisation; nan if that fails."""
    sine, cosine = sincos(s.yaw)
    z[0], z[1] = t.x - s.x, t.y - s.y
    z[2] = t.map_vx - (cosine * s.vx - sine * s.vy)
    z[3] = t.map_vy - (sine * s.vx + cosine * s.vy)
    total = 0.0
    for a in range(4):
        for b in range(a):
            rest = t.cov[a, b]
            for k in range(b):
                rest -= l[a, k] * l[b, k]
            l[a, b] = rest / l[b, b]
            z[a] -= l[a, b] * z[b]
        rest = t.cov[a, a]
        for k in range(a):
            rest -= l[a, k] * l[a, k]
        if not rest > 0.0:
            return NAN
        l[a, a] = math.sqrt(rest)
        z[a] /= l[a, a]
        total += z[a] * z[a]
    return total


@kernel
def nees(p: Row, room: Room, scene: Around, mine: Table, who: tuple[int, int], w: Array) -> float:
    """The mean NEES of the tracks of one observer; w is room for a factor and an error, (5, 4)."""
    count = match(room, scene, mine, who, p.within, p.cutoff)[0]
    total, pairs = 0.0, room[4]
    for k in range(count):
        total += squared(mine[pairs[k, 1]], scene[3][pairs[k, 0]], w[:4], w[4])
    return total / count if count > 0 else NAN


@kernel
def measure_all(
    out: Array,
    tables: tuple[Table, Table, Array],
    room: Room,
    scene: Around,
    rows: Rows,
    w: Array,
) -> None:
    """Mean NEES of these rows, of parameters, tracks and observers."""
    params, tracks, who = tables
    for j in range(len(rows)):
        i = rows[j]
        me = (who[j, 0], who[j, 1])
        out[i] = nees(params[i], room, scene, tracks[i], me, w)


class ContactsNees(ContactMetric, kind="contacts_nees"):
    """Normalised error squared of what is believed of others: 4 on average if it is honest."""

    average = "mean"
    cutoff: Positive = 3.0  # m, from which on a track is not about a robot
    within: Positive = 8.0  # m from the observer; who is farther away does not count

    def measure(self, rows: Rows, scene: Scene, contacts: Tracks, out: Array) -> None:
        """Mean NEES of these rows."""
        tables = (self.params, contacts.tracks, observers(rows, scene))
        room = make_room(scene.population, contacts.tracks.shape[1])
        measure_all(out, tables, room, around(scene), rows, np.zeros((5, 4)))
