"""Footprints: the shape with which a robot collides and is seen, a circle or a polygon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from astray.errors import WrongInput
from astray.tables import Array, Column, Table, columns, table

SHAPE = columns(
    "x m",
    "y m",
    "radius m",
    "reach m",
    "inner_x m",
    "inner_y m",
    Column("first", "", "i8"),
    Column("count", "", "i8"),
)
"""A circle (count 0), or a polygon with its bounding circle, in the body frame: middle, radius,
distance of its farthest point from the robot's origin, a point well inside, and its corners."""


@dataclass(frozen=True)
class Footprint:
    """A circle around (x, y) in the body frame, or a polygon of corners, counter-clockwise."""

    x: float = 0.0  # m
    y: float = 0.0  # m
    radius: float = 0.2  # m
    corners: tuple[tuple[float, float], ...] = ()  # m

    @classmethod
    def polygon(cls, corners: Sequence[Sequence[float]]) -> Footprint:
        """A simple polygon with these corners, (n, 2) m, in either direction.

        Raises:
            WrongInput: If there are fewer than three corners or they enclose no area.
        """
        ring = np.asarray(corners, float).reshape(-1, 2)
        if len(ring) > 1 and (ring[0] == ring[-1]).all():
            ring = ring[:-1]
        following = np.roll(ring, -1, axis=0)
        area = 0.5 * float(np.sum(ring[:, 0] * following[:, 1] - following[:, 0] * ring[:, 1]))
        if len(ring) < 3 or not abs(area) > 0.0:
            raise WrongInput("a footprint needs three corners or more that enclose an area")
        if area < 0.0:
            ring = ring[::-1]
        middle = 0.5 * (ring.min(axis=0) + ring.max(axis=0))
        radius = float(np.sqrt(((ring - middle) ** 2).sum(axis=1)).max())
        points = tuple((float(x), float(y)) for x, y in ring)
        return cls(float(middle[0]), float(middle[1]), radius, points)

    @classmethod
    def box(cls, length: float, width: float, x: float = 0.0, y: float = 0.0) -> Footprint:
        """A rectangle along the body's axes with its middle at (x, y); all in m."""
        a, b = 0.5 * length, 0.5 * width
        return cls.polygon([(x - a, y - b), (x + a, y - b), (x + a, y + b), (x - a, y + b)])

    @property
    def reach(self) -> float:
        """The distance of the farthest point from the robot's origin, m."""
        if self.corners:
            return max(math.sqrt(x * x + y * y) for x, y in self.corners)
        return math.sqrt(self.x * self.x + self.y * self.y) + self.radius

    @property
    def inner(self) -> tuple[float, float]:
        """A point well inside, m: the middle of a circle, or of a polygon's widest section."""
        if not self.corners:
            return self.x, self.y
        ring = np.array(self.corners)
        following = np.roll(ring, -1, axis=0)
        heights = np.unique(ring[:, 1])
        widest, point = -1.0, (self.x, self.y)
        for y in 0.5 * (heights[:-1] + heights[1:]):
            cut = (ring[:, 1] > y) != (following[:, 1] > y)
            a, b = ring[cut], following[cut]
            xs = np.sort(a[:, 0] + (y - a[:, 1]) / (b[:, 1] - a[:, 1]) * (b[:, 0] - a[:, 0]))
            k = int(np.argmax(xs[1::2] - xs[::2]))
            if xs[2 * k + 1] - xs[2 * k] > widest:
                widest = float(xs[2 * k + 1] - xs[2 * k])
                point = (float(0.5 * (xs[2 * k] + xs[2 * k + 1])), float(y))
        return point

    def outline(self, sides: int = 32) -> Array:
        """Corners in the body frame for drawing, (n, 2) m."""
        if self.corners:
            return np.array(self.corners)
        angle = np.linspace(0.0, 2.0 * math.pi, sides, endpoint=False)
        return np.stack(
            [self.x + self.radius * np.cos(angle), self.y + self.radius * np.sin(angle)], axis=1
        )


class Shapes(NamedTuple):
    """The footprints of all groups as kernels read them; STATE's `footprint` is an index here."""

    table: Table
    """SHAPE records."""
    corners: Array
    """x and y of all corners, (2, n) m."""


def make_shapes(footprints: Sequence[Footprint]) -> Shapes:
    """Tabulate these footprints."""
    made = table(SHAPE, len(footprints))
    corners: list[tuple[float, float]] = []
    for k, footprint in enumerate(footprints):
        made[k]["x"], made[k]["y"] = footprint.x, footprint.y
        made[k]["radius"], made[k]["reach"] = footprint.radius, footprint.reach
        made[k]["inner_x"], made[k]["inner_y"] = footprint.inner
        made[k]["first"], made[k]["count"] = len(corners), len(footprint.corners)
        corners.extend(footprint.corners)
    return Shapes(made, np.ascontiguousarray(np.array(corners).reshape(-1, 2).T))
