"""A map: obstacles as segments, and the places that have a name.

A segment is a wall without thickness, seen and felt from both sides. Where it bounds something
solid, the solid lies on its left: the ring of a block runs counter-clockwise, that of a hole in
it clockwise. So a point is inside something solid where the rings wind around it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from astray.errors import WrongInput
from astray.tables import Array

SHORTEST = 1e-140  # m
MOST_SEGMENTS = 5_000_000
MOST_PIXELS = 100_000_000
FARTHEST = 1e7  # m; beyond it a float64 no longer tells nanometres apart


@dataclass(frozen=True)
class Place:
    """Something on a map that is no obstacle: a home, a goal, a forbidden area."""

    kind: str
    """home, dock, goal, forbidden_line, forbidden_area; or what the file calls it."""
    name: str = ""
    x: float = 0.0  # m
    y: float = 0.0  # m
    yaw: float = 0.0  # rad
    points: tuple[tuple[float, float], ...] = ()
    """The ends of a line or the corners of an area, m."""


@dataclass(frozen=True, eq=False)
class Map:
    """Obstacles as segments (n, 4): x and y of one end and of the other, m."""

    segments: Array = field(default_factory=lambda: np.zeros((0, 4)))
    solid: Array = field(default_factory=lambda: np.zeros(0, bool))
    """Whether a segment bounds something solid, which then lies on its left, (n,)."""
    places: tuple[Place, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        segments = np.ascontiguousarray(self.segments, np.float64).reshape(-1, 4)
        solid = np.ascontiguousarray(self.solid, bool)
        if len(solid) != len(segments):
            raise WrongInput(f"{len(segments)} segments need as many marks of solid")
        if not np.all(np.abs(segments) < FARTHEST):
            raise WrongInput(f"coordinates must be finite and within {FARTHEST:g} m")
        # A segment has a length, and one that can be squared.
        some = np.abs(segments[:, :2] - segments[:, 2:]).max(axis=1, initial=0.0) > SHORTEST
        object.__setattr__(self, "segments", segments[some])
        object.__setattr__(self, "solid", solid[some])

    def __len__(self) -> int:
        return len(self.segments)

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Smallest x and y, largest x and y, m; zeros for an empty map."""
        if not len(self.segments):
            return 0.0, 0.0, 0.0, 0.0
        ends = self.segments.reshape(-1, 2)
        low, high = ends.min(axis=0), ends.max(axis=0)
        return float(low[0]), float(low[1]), float(high[0]), float(high[1])

    def digest(self) -> str:
        """Equal for equal obstacles."""
        made = hashlib.blake2b(self.segments.tobytes(), digest_size=8)
        made.update(self.solid.tobytes())
        return made.hexdigest()


def wall(points: Sequence[Sequence[float]] | Array, closed: bool = False) -> Map:
    """A line of walls through some points; closed, it ends where it began. Nothing is solid."""
    ends = np.asarray(points, np.float64).reshape(-1, 2)
    if closed and len(ends):
        ends = np.vstack([ends, ends[:1]])
    segments = np.hstack([ends[:-1], ends[1:]])
    return Map(segments, np.zeros(len(segments), bool))


def block(points: Sequence[Sequence[float]] | Array, hole: bool = False) -> Map:
    """A solid polygon, whichever way its corners run and whether or not the first is repeated.

    `hole` is the ring of a hole in a solid: what is solid lies outside of it.
    """
    ring = np.asarray(points, np.float64).reshape(-1, 2)
    x, y = ring[:, 0] - ring[0, 0], ring[:, 1] - ring[0, 1]
    area = 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
    if (area < 0.0) != hole:
        ring = ring[::-1]
    made = wall(ring, closed=True)
    return Map(made.segments, np.ones(len(made.segments), bool))


def boxes(rows: Array | Sequence[Sequence[float]]) -> Map:
    """Solid boxes, one per row of x, y, length, width and yaw, (n, 5)."""
    x, y, length, width, yaw = np.asarray(rows, np.float64).reshape(-1, 5).T[:, :, None]
    u = 0.5 * length * np.array([-1.0, 1.0, 1.0, -1.0])
    v = 0.5 * width * np.array([-1.0, -1.0, 1.0, 1.0])
    s, c = np.sin(yaw), np.cos(yaw)
    px, py = x + c * u - s * v, y + s * u + c * v
    ends = np.stack([px, py, np.roll(px, -1, axis=1), np.roll(py, -1, axis=1)], axis=-1)
    return Map(ends.reshape(-1, 4), np.ones(ends.size // 4, bool))


def merge(maps: Sequence[Map], name: str = "") -> Map:
    """Several maps as one."""
    if not maps:
        return Map(name=name)
    return Map(
        np.vstack([m.segments for m in maps]),
        np.concatenate([m.solid for m in maps]),
        tuple(place for m in maps for place in m.places),
        name or maps[0].name,
    )
