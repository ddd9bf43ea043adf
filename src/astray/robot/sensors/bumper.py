"""Bumpers: arcs around the body that are pressed where it touches something.

An arc [from, to] goes counter-clockwise from one direction of the body to another. It is pressed if
the robot touches a wall or another robot in this tick, and the direction of the contact from the
body lies within the arc, ends included. It needs the interaction `collisions`.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import Annotated

import numpy as np
from annotated_types import Ge, Le

from astray.errors import PluginError
from astray.numerics import TAU, kernel
from astray.plugin import Datasheets, Reading, Scene, Sensor
from astray.tables import BUMP, Array, Row, Rows, Table

MAX_SEGMENTS = 4096
FRONT = (-0.5 * math.pi, 0.5 * math.pi)


@kernel
def turn_from(start: float, angle: float) -> float:
    """The counter-clockwise turn from one direction to another, in [0, 2π)."""
    turn = angle - start
    return turn - TAU * math.floor(turn / TAU)


@kernel
def sense(o: Row, pressed: Array, collision: Row, arcs: Array) -> None:
    """Read the bumpers of one robot; arcs (k, 2) have a start and a width, rad."""
    o.pressed = False
    for k in range(len(arcs)):
        hit = collision.touching and turn_from(arcs[k, 0], collision.bearing) <= arcs[k, 1]
        pressed[k] = 1.0 if hit else 0.0
        o.pressed = o.pressed or hit


@kernel
def sense_all(out: Table, pressed: Array, collisions: Table, arcs: Array, rows: Rows) -> None:
    """Read the bumpers of these rows."""
    for i in rows:
        sense(out[i], pressed[i], collisions[i], arcs)


class Bumper(Sensor, kind="bumper"):
    """Arcs around the body that are pressed where it touches something."""

    measures = BUMP
    fixed = ("segments",)
    arcs: list[tuple[float, float]] = field(default_factory=lambda: [FRONT])  # [from, to] rad
    segments: Annotated[int, Ge(0), Le(MAX_SEGMENTS)] = (
        0  # number of equal arcs all round from -pi on, in place of arcs
    )

    def array_shapes(self) -> dict[str, tuple[int, ...]]:
        """One number per arc: 1 where it is pressed."""
        return {"arcs": (self.segments or len(self.arcs),)}

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Prepare the arcs for the kernel."""
        if self.segments:
            if self.arcs != [FRONT]:
                raise PluginError("a bumper has either arcs or equal segments, not both")
            width = TAU / self.segments
            self.arc_table = np.array([(k * width - math.pi, width) for k in range(self.segments)])
            return
        if not self.arcs:
            raise PluginError("a bumper needs arcs [[from, to], …] in rad, or segments")
        wrong = [arc for arc in self.arcs if not 0.0 < arc[1] - arc[0] <= TAU]
        if wrong:
            a, b = wrong[0]
            raise PluginError(
                f"arc [{a:g}, {b:g}] of a bumper: it goes counter-clockwise, so the second angle "
                "is larger, by 2 pi at most"
            )
        self.arc_table = np.array([(a, b - a) for a, b in self.arcs])

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Read the bumpers of these rows."""
        sense_all(out.table, out.arrays["arcs"], scene.collisions, self.arc_table, rows)
