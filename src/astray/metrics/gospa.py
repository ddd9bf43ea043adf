"""Whether a robot knows who is around: the generalised optimal sub-pattern assignment metric.

For tracks Y and robots X, with the cut-off c, p = 2 and alpha = 2 (Rahmathullah et al., 2017),

    GOSPA² = min over pairs of  Σ |x − y|²  +  c² / 2 · (robots missed + tracks of nobody)

so that a robot without a track and a track without a robot cost c² / 2 each, and a pair never more
than the two together. It is a distance: 0 if all is known, and what is missed counts like an error
of metres. Its parts show which of the three it was.
"""

from __future__ import annotations

import math
from typing import Literal

from astray.metrics.track_matching import Around, Room, around, make_room, match, observers
from astray.numerics import kernel
from astray.plugin import ContactMetric, Positive, Scene, Tracks
from astray.tables import Array, Row, Rows, Table

PARTS = ("all", "distance", "missed", "nobody")


@kernel
def gospa(p: Row, room: Room, scene: Around, mine: Table, who: tuple[int, int], part: int) -> float:
    """GOSPA of the tracks of one observer, or a part of it."""
    count, robots, tracks = match(room, scene, mine, who, p.within, p.cutoff)
    distance, everyone, pairs = 0.0, scene[3], room[4]
    for k in range(count):
        s, t = everyone[pairs[k, 0]], mine[pairs[k, 1]]
        distance += (t.x - s.x) * (t.x - s.x) + (t.y - s.y) * (t.y - s.y)
    half = 0.5 * p.cutoff * p.cutoff
    missed, nobody = half * (robots - count), half * (tracks - count)
    if part == 0:
        return math.sqrt(distance + missed + nobody)
    return math.sqrt(distance if part == 1 else missed if part == 2 else nobody)


@kernel
def measure_all(
    out: Array, tables: tuple[Table, Table, Array], room: Room, scene: Around, rows: Rows, part: int
) -> None:
    """GOSPA of these rows, of parameters, tracks and observers."""
    params, tracks, who = tables
    for j in range(len(rows)):
        i = rows[j]
        me = (who[j, 0], who[j, 1])
        out[i] = gospa(params[i], room, scene, tracks[i], me, part)


class Gospa(ContactMetric, kind="gospa"):
    """How far what is believed of others is from the truth: distances, the missed and nobodies."""

    unit = "m"
    cutoff: Positive = 1.0  # m, from which on a track is not about a robot
    within: Positive = 8.0  # m from the observer; who is farther away does not count
    part: Literal["all", "distance", "missed", "nobody"] = "all"  # all of it, or one of its parts

    def measure(self, rows: Rows, scene: Scene, contacts: Tracks, out: Array) -> None:
        """GOSPA of these rows."""
        tables = (self.params, contacts.tracks, observers(rows, scene))
        room = make_room(scene.population, contacts.tracks.shape[1])
        measure_all(out, tables, room, around(scene), rows, PARTS.index(self.part))
