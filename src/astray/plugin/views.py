"""The two hands that plugins are given: the truth, and what robots know.

`Scene` holds the truth; sensors and interactions get it. `Known` holds the belief; autonomy,
control, estimators and trackers get that. No part of a robot is handed both: only a metric, which
judges robots and is none of their parts, sees truth and belief side by side.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from astray.plugin.reading import Reading
from astray.plugin.tracks import Tracks
from astray.tables import CONTACT, Array, Table, table
from astray.world.geometry import Footprint, RobotGrid, Shapes, make_robot_grid, make_shapes
from astray.world.maps import MapSet
from astray.world.raycast import RaycastScene, SceneArrays, make_raycast_scene, plain_arrays


@dataclasses.dataclass
class Scene:
    """The truth of one group of robots, and of everyone."""

    truth: Table
    """STATE of this group's robots, (n,)."""
    body: Table
    """The motion's parameters as they really are, (n,)."""
    everyone: Table
    """STATE of all robots of all groups."""
    worlds: Array = dataclasses.field(default_factory=lambda: np.zeros(0, np.int64))
    """The place of each row's world in the batch, (n,)."""
    first: int = 0
    """The row of this group's first robot among everyone."""
    map: MapSet = dataclasses.field(default_factory=lambda: MapSet([]))
    """The obstacles of every world."""
    shapes: Shapes = dataclasses.field(default_factory=lambda: make_shapes([Footprint()]))
    """The footprints; a row's `footprint` is its number."""
    crowd: RobotGrid = dataclasses.field(default_factory=lambda: make_robot_grid(1, 1))
    """Everyone, sorted by place."""
    contacts: Table = dataclasses.field(default_factory=lambda: table(CONTACT, 0))
    """CONTACT of this group's robots, (n,)."""
    all_worlds: Array = dataclasses.field(default_factory=lambda: np.zeros(0, np.int64))
    """The place of the world of each row of everyone in the batch."""
    numbers: Array = dataclasses.field(default_factory=lambda: np.zeros(0, np.int64))
    """The number of each row of everyone in its world, over all groups by their names."""
    population: int = 0
    """How many such numbers there are."""
    _view: RaycastScene | None = None
    _seen: SceneArrays = ()

    def contacts_truth(self, row: int) -> Table:
        """STATE of all others in the world of one of this group's robots, a copy.

        The truth of what `contacts` are believed to be, for those who are handed the truth.
        """
        me = self.everyone[self.first + row]
        there = self.everyone["alive"] & (self.everyone["world"] == me["world"])
        there[self.first + row] = False
        others: Table = self.everyone[there]
        return others

    @property
    def is_lonely(self) -> bool:
        """Whether there is one robot in each world, and so nobody to be seen."""
        return self.population == 1

    @property
    def view(self) -> RaycastScene:
        """All that rays can meet, as kernels read it; robots are there once `crowd` is gathered."""
        if self._view is None or self._view.walls is not self.map.index:
            self._view = make_raycast_scene(self.map, self.crowd, self.shapes)
            self._seen = plain_arrays(self._view)
        return self._view

    @property
    def seen(self) -> SceneArrays:
        """The view without the names of its parts: a plain tuple gets into a kernel sooner."""
        if self._view is None or self._view.walls is not self.map.index:
            return plain_arrays(self.view)
        return self._seen


@dataclasses.dataclass
class Known:
    """What the robots of one group know: their belief and what has reached them."""

    belief: Table
    """STATE as believed, (n,)."""
    readings: Mapping[str, Reading] = dataclasses.field(default_factory=dict)
    """The newest reading of each sensor that has arrived, by the sensor's name."""
    time: Array = dataclasses.field(default_factory=lambda: np.zeros(0))
    """The time by each robot's clock, (n,) s."""
    map: MapSet = dataclasses.field(default_factory=lambda: MapSet([]))
    """The map that they were given, which may be old or shifted."""
    worlds: Array = dataclasses.field(default_factory=lambda: np.zeros(0, np.int64))
    """The place of each row's world in the batch, (n,)."""
    others: Mapping[str, Table] = dataclasses.field(default_factory=dict)
    """Where the robots of every group say they are: their beliefs, by the group's name."""
    contacts: Tracks = dataclasses.field(default_factory=lambda: Tracks(0, 0))
    """What each robot believes of the others that its sensors detect."""
