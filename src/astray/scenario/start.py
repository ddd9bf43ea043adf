"""Where robots start: a pose, a step from one robot to the next, and a spread."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from astray.errors import WrongInput, suggest
from astray.numerics import PI, TAU, random, wrap
from astray.plugin import DrawnParameter, NonNegative, values_of
from astray.tables import Array, Table
from astray.world import Map, Place
from astray.world.maps import MapSet
from astray.world.planning import TakenPositions, sample_free_positions

START_TRIES = 200  # spots that are tried before a map counts as full


@dataclass(kw_only=True)
class Start:
    """The start of a group's robots; each number may be drawn, per world, life and robot."""

    x: float = 0.0  # m
    y: float = 0.0  # m
    yaw: float = 0.0  # rad
    step: tuple[float, float] = (0.0, 0.0)  # m in x and y from one robot to the next
    spread: NonNegative = 0.0  # m, standard deviation of x and of y
    yaw_spread: NonNegative = 0.0  # rad, standard deviation
    place: str = ""  # of the map, by its name or kind, which x, y and yaw are then from
    clearance: NonNegative | None = None  # m; anywhere on the map with so much room around

    @functools.cached_property
    def is_plain(self) -> bool:
        """Whether all robots start at the same pose."""
        drawn = any(isinstance(v, DrawnParameter) for v in (self.x, self.y, self.yaw))
        spread = drawn or any(self.step) or self.spread != 0.0 or self.yaw_spread != 0.0
        return not (spread or self.place or self.clearance is not None)

    @functools.cached_property
    def _pose(self) -> Array:
        return np.array([[self.x, self.y, wrap(self.yaw)]])

    def poses(
        self,
        who: Table,
        seed: int,
        group: str,
        map: MapSet,
        worlds: Array,
        taken: TakenPositions | None = None,
    ) -> Array:
        """The start poses of these robots, (len(who), 3); robot k's whatever the count."""
        if self.is_plain:  # thousands may start over at every tick
            return np.repeat(self._pose, len(who), axis=0)
        who = who.copy()
        who["tick"] = 0
        pose = self._offsets(who, seed, group)
        if self.clearance is not None:
            tries = np.empty((len(who), 2 * START_TRIES))
            random.uniforms_all(
                tries, who, np.arange(len(who)), random.key(seed, group, "start", "spot")
            )
            pose[:, :2] += self._anywhere(tries, map, worlds, taken)
            turns = np.empty((len(who), 1))
            random.uniforms_all(
                turns, who, np.arange(len(who)), random.key(seed, group, "start", "turn")
            )
            pose[:, 2] += TAU * turns[:, 0]
        elif self.place:
            for number in np.unique(map.of_world[worlds]):
                rows = map.of_world[worlds] == number
                pose[rows] = _from_place(map.maps[number], self.place, pose[rows])
        for k in np.flatnonzero((pose[:, 2] <= -PI) | (pose[:, 2] > PI)):
            pose[k, 2] = wrap(pose[k, 2])
        return pose

    def _anywhere(
        self, tries: Array, map: MapSet, worlds: Array, taken: TakenPositions | None
    ) -> Array:
        """Spots with room around, from obstacles and from the robots before them, (n, 2) m."""
        clearance = float(self.clearance or 0.0)
        spots = sample_free_positions(tries, map, worlds, clearance, taken)
        if spots is None:
            raise WrongInput(
                f"start: no spot with a clearance of {clearance:g} m in {START_TRIES} tries: "
                "the map is too small or too full"
            )
        return spots

    def _offsets(self, who: Table, seed: int, group: str) -> Array:
        rows = np.arange(len(who))
        pose = np.empty((len(who), 3))
        for k, name in enumerate(("x", "y", "yaw")):
            pose[:, k] = values_of(getattr(self, name), who, rows, seed, group, "start", name)
        if any(self.step):
            pose[:, :2] += np.outer(who["robot"], self.step)
        if self.spread == 0.0 == self.yaw_spread:
            return pose
        error = np.empty((len(who), 3))
        random.normals_all(error, who, rows, random.key(seed, group, "start"))
        for k, name in ((0, "spread"), (1, "spread"), (2, "yaw_spread")):
            sd = values_of(getattr(self, name), who, rows, seed, group, "start", name)
            pose[:, k] += sd * error[:, k]
        return pose


def _from_place(map: Map, name: str, offset: Array) -> Array:
    """Poses that are given from a place of the map, in the map."""
    place = place_of(map, name)
    s, c = np.sin(place.yaw), np.cos(place.yaw)
    x, y, yaw = offset.T
    return np.stack([place.x + c * x - s * y, place.y + s * x + c * y, place.yaw + yaw], axis=1)


def place_of(map: Map, name: str) -> Place:
    """The first place of the map with this name, or of this kind; WrongInput if there is none."""
    for place in map.places:
        if name in (place.name, place.kind):
            return place
    known = sorted({place.name or place.kind for place in map.places})
    listed = f" ({', '.join(known)})" if known else ""
    raise WrongInput(f"start: the map has no place {name!r}{suggest(name, known)}{listed}")
