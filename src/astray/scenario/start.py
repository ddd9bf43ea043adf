"""The start poses of robots: a pose, a step from one robot to the next, and a spread."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from astray.errors import WrongInput, suggest
from astray.numerics import PI, TAU, random, wrap
from astray.plugin import DrawnParameter, NonNegative, sample_values
from astray.tables import Array, Table
from astray.world import Map, Place
from astray.world.maps import MapSet
from astray.world.planning import TakenPositions, sample_free_positions

START_TRIES = 200  # positions that are tried before a map counts as full


@dataclass(kw_only=True)
class Start:
    """The start of a group's robots; each number may be drawn per world, episode and robot."""

    x: float = 0.0  # m
    y: float = 0.0  # m
    yaw: float = 0.0  # rad
    step: tuple[float, float] = (0.0, 0.0)  # m in x and y from one robot to the next
    spread: NonNegative = 0.0  # m, standard deviation of x and of y
    yaw_spread: NonNegative = 0.0  # rad, standard deviation
    place: str = ""  # a place of the map, by name or kind; x, y and yaw are then relative to it
    clearance: NonNegative | None = None  # m; a random free position with this distance to others

    @functools.cached_property
    def is_single_pose(self) -> bool:
        """Whether all robots start at the same pose."""
        drawn = any(isinstance(v, DrawnParameter) for v in (self.x, self.y, self.yaw))
        spread = drawn or any(self.step) or self.spread != 0.0 or self.yaw_spread != 0.0
        return not (spread or self.place or self.clearance is not None)

    @functools.cached_property
    def _pose(self) -> Array:
        return np.array([[self.x, self.y, wrap(self.yaw)]])

    def poses(
        self,
        addresses: Table,
        seed: int,
        group: str,
        map: MapSet,
        worlds: Array,
        taken: TakenPositions | None = None,
    ) -> Array:
        """The start poses of some robots; that of robot k does not depend on their number.

        Args:
            addresses: World, episode and robot of each robot, ADDRESS (n,).
            seed: The seed of the run.
            group: The name of the robots' group.
            map: The maps of the worlds.
            worlds: The index in the batch of each robot's world, (n,).
            taken: The positions of other robots.

        Returns:
            x, y in m and yaw in rad, (n, 3).

        Raises:
            WrongInput: The map has no such place, or no free position was found.
        """
        if self.is_single_pose:  # thousands of robots may restart at every tick
            return np.repeat(self._pose, len(addresses), axis=0)
        addresses = addresses.copy()
        addresses["tick"] = 0
        poses = self._spread_poses(addresses, seed, group)
        if self.clearance is not None:
            rows = np.arange(len(addresses))
            tries = np.empty((len(addresses), 2 * START_TRIES))
            random.uniforms_all(tries, addresses, rows, random.key(seed, group, "start", "spot"))
            poses[:, :2] += self._free_positions(tries, map, worlds, taken)
            turns = np.empty((len(addresses), 1))
            random.uniforms_all(turns, addresses, rows, random.key(seed, group, "start", "turn"))
            poses[:, 2] += TAU * turns[:, 0]
        elif self.place:
            for index in np.unique(map.of_world[worlds]):
                rows = map.of_world[worlds] == index
                poses[rows] = _poses_at(find_place(map.maps[index], self.place), poses[rows])
        for k in np.flatnonzero((poses[:, 2] <= -PI) | (poses[:, 2] > PI)):
            poses[k, 2] = wrap(poses[k, 2])
        return poses

    def _free_positions(
        self, tries: Array, map: MapSet, worlds: Array, taken: TakenPositions | None
    ) -> Array:
        """Positions with a clearance from obstacles and from other robots, (n, 2) m."""
        clearance = float(self.clearance or 0.0)
        positions = sample_free_positions(tries, map, worlds, clearance, taken)
        if positions is None:
            raise WrongInput(
                f"start: no spot with a clearance of {clearance:g} m in {START_TRIES} tries: "
                "the map is too small or too full"
            )
        return positions

    def _spread_poses(self, addresses: Table, seed: int, group: str) -> Array:
        """The poses with step and spread, (n, 3)."""
        rows = np.arange(len(addresses))

        def values(name: str) -> Array | float:
            value = getattr(self, name)
            return sample_values(value, addresses, rows, seed, group, "start", name)

        poses = np.empty((len(addresses), 3))
        for k, name in enumerate(("x", "y", "yaw")):
            poses[:, k] = values(name)
        if any(self.step):
            poses[:, :2] += np.outer(addresses["robot"], self.step)
        if self.spread == 0.0 == self.yaw_spread:
            return poses
        normals = np.empty((len(addresses), 3))
        random.normals_all(normals, addresses, rows, random.key(seed, group, "start"))
        for k, name in enumerate(("spread", "spread", "yaw_spread")):
            poses[:, k] += values(name) * normals[:, k]
        return poses


def _poses_at(place: Place, relative: Array) -> Array:
    """Poses relative to a place as poses in the map, (n, 3)."""
    s, c = np.sin(place.yaw), np.cos(place.yaw)
    x, y, yaw = relative.T
    return np.stack([place.x + c * x - s * y, place.y + s * x + c * y, place.yaw + yaw], axis=1)


def find_place(map: Map, name: str) -> Place:
    """The first place of a map with this name or of this kind; WrongInput if there is none."""
    for place in map.places:
        if name in (place.name, place.kind):
            return place
    known = sorted({place.name or place.kind for place in map.places})
    listed = f" ({', '.join(known)})" if known else ""
    raise WrongInput(f"start: the map has no place {name!r}{suggest(name, known)}{listed}")
