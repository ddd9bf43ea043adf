"""The views that plugins get: `Scene` holds the truth, `Known` what robots know.

Sensors and interactions get the scene; autonomy, control, estimators and trackers get what is
known. No part of a robot gets both. Only a metric, which evaluates robots and is not part of one,
gets truth and belief.

These views are read-only. Without an estimator the belief of a robot is the same
memory as its truth, and every plugin reads the same readings. So NumPy refuses to write to these
tables, and the error names the plugin. Views cost nothing: they share the memory, and the kernels
are compiled for read-only arrays in the first place.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from astray.errors import add_former_names, unknown_name
from astray.plugin.row_initializer import InitialValue
from astray.tables import (
    COLLISION_STATE,
    TRACK,
    TRACKS,
    Array,
    Columns,
    Rows,
    Table,
    clear_rows,
    read_only,
    table,
    write_records,
)
from astray.world.geometry import Footprint, RobotGrid, Shapes, make_robot_grid, make_shapes
from astray.world.maps import MapSet
from astray.world.raycast import RaycastScene, SceneArrays, make_raycast_scene, plain_arrays

ArrayShapes = Mapping[str, tuple[int, ...]]
"""The arrays that a reading has beside its columns: the shape of one row, by name."""

SCENE_RENAMED = {
    "body": "motion_params",
    "everyone": "all_truth",
    "first": "first_row",
    "crowd": "robot_grid",
    "contacts": "collisions",
    "numbers": "robot_numbers",
    "population": "robots_per_world",
    "contacts_truth": "other_robots",
    "is_lonely": "has_one_robot_per_world",
    "view": "raycast_scene",
    "seen": "raycast_arrays",
}
"""Attributes of a scene that have another name now."""


class Reading:
    """The readings of one sensor for n robots: `reading["x"]` is a column or an array.

    Attributes:
        table: The columns, (n,), as the sensor's `measures` lays them out.
        arrays: Arrays with a size from the scenario, such as `ranges`: (n, ...) by name.
        stamp: When each reading was sampled, s, (n,); nan before the first. A column of the table.
        fresh: Whether each reading arrived in the current tick, (n,). A column of the table.
    """

    def __init__(self, layout: Columns, n: int, shapes: ArrayShapes = MappingProxyType({})) -> None:
        """Make readings of zeros.

        Args:
            layout: The columns, which begin with those of `READING`.
            n: How many robots.
            shapes: The shape of a row of each array beside the columns, by name.
        """
        arrays = {name: np.zeros((n, *shape)) for name, shape in shapes.items()}
        self._hold(table(layout, n), arrays)

    def _hold(self, columns: Table, arrays: dict[str, Array]) -> Reading:
        self.table, self.arrays = columns, arrays
        self.stamp: Array = columns["stamp"]
        self.fresh: Array = columns["fresh"]
        return self

    def __getitem__(self, name: str) -> Array:
        """A column or an array by name.

        Args:
            name: Such as "stamp", "x" or "ranges".

        Returns:
            The values, (n, ...): a view.

        Raises:
            UnknownName: There is no such column and no such array.
        """
        if name in self.arrays:
            return self.arrays[name]
        if name not in (self.table.dtype.names or ()):
            raise unknown_name("column", name, [*(self.table.dtype.names or ()), *self.arrays])
        return self.table[name]

    def __repr__(self) -> str:
        """What the readings have, in one line."""
        parts = [*(self.table.dtype.names or ())]
        parts += [f"{name} {array.shape[1:]}" for name, array in self.arrays.items()]
        return f"Reading({len(self.table)} rows: {', '.join(parts)})"

    def copy(self) -> Reading:
        """A copy of the readings that may be written to."""
        arrays = {name: array.copy() for name, array in self.arrays.items()}
        return Reading(self.table.dtype, 0)._hold(self.table.copy(), arrays)

    def read_only(self) -> Reading:
        """The same readings in the same memory, to read."""
        if not self.table.flags.writeable:
            return self
        arrays = {name: read_only(array) for name, array in self.arrays.items()}
        return Reading(self.table.dtype, 0)._hold(read_only(self.table), arrays)

    def initial_values(self) -> list[InitialValue]:
        """The tables, and what fills a row of each before anything has arrived."""
        empty = table(self.table.dtype, 1)
        empty["stamp"] = np.nan
        return [(self.table, empty), *((array, None) for array in self.arrays.values())]


class Tracks:
    """The tracks of n observers: `tracks["x"]` is (n, slots), nan where a slot is empty.

    Attributes:
        table: TRACKS, (n,): the stamp and the number of confirmed tracks of each observer.
        tracks: TRACK, (n, slots).
        stamp: The stamp of each observer's tracks, s, (n,). A column of the table.
    """

    def __init__(self, n: int, slots: int) -> None:
        """Make empty tracks.

        Args:
            n: How many observers.
            slots: How many tracks each has at most.
        """
        self._hold(table(TRACKS, n), table(TRACK, n * slots).reshape(n, slots))
        self.clear(np.arange(n))

    def _hold(self, columns: Table, tracks: Table) -> Tracks:
        self.table, self.tracks = columns, tracks
        self.stamp: Array = columns["stamp"]
        return self

    def __getitem__(self, column: str) -> Array:
        """A column of TRACK by name, (n, slots): a view."""
        return self.tracks[column]

    def of(self, row: int) -> Table:
        """The confirmed tracks of one observer.

        Args:
            row: The row of the observer.

        Returns:
            TRACK, (confirmed,), in the order of their numbers: a copy.
        """
        tracks = self.tracks[row]
        confirmed: Table = tracks[tracks["confirmed"]]
        return np.sort(confirmed, order="number")

    def clear(self, rows: Rows) -> None:
        """Drop all tracks of these observers.

        Args:
            rows: The rows of the observers.
        """
        clear_rows(self.table, rows)
        self.stamp[rows] = np.nan
        write_records(self.tracks, rows, EMPTY_TRACK)

    def read_only(self) -> Tracks:
        """The same tracks in the same memory, to read."""
        return Tracks(0, 0)._hold(read_only(self.table), read_only(self.tracks))


EMPTY_TRACK = table(TRACK, 1, np.nan)
EMPTY_TRACK["identity"] = -1
EMPTY_TRACK.setflags(write=False)
"""A slot without a track, (1,)."""


@dataclasses.dataclass
class Scene:
    """The truth of one group of robots, of all other robots, and the map.

    Sensors and metrics get it read-only. Interactions get the scene of all groups, whose truth they
    may change.
    """

    truth: Table
    """STATE of this group's robots, (n,)."""
    motion_params: Table
    """The parameters of the motion as they really are, (n,)."""
    all_truth: Table
    """STATE of all robots of all groups, (all,)."""
    worlds: Array = dataclasses.field(default_factory=lambda: np.zeros(0, np.int64))
    """The index in the batch of the world of each row, (n,)."""
    first_row: int = 0
    """The row of this group's first robot in `all_truth`."""
    map: MapSet = dataclasses.field(default_factory=lambda: MapSet([]))
    """The obstacles of every world."""
    shapes: Shapes = dataclasses.field(default_factory=lambda: make_shapes([Footprint()]))
    """The footprints; the column `footprint` of STATE is the index of one."""
    robot_grid: RobotGrid = dataclasses.field(default_factory=lambda: make_robot_grid(1, 1))
    """All robots, sorted into cells by position; up to date for sensors that `sees_robots`."""
    collisions: Table = dataclasses.field(default_factory=lambda: table(COLLISION_STATE, 0))
    """COLLISION_STATE of this group's robots, (n,)."""
    all_worlds: Array = dataclasses.field(default_factory=lambda: np.zeros(0, np.int64))
    """The index in the batch of the world of each row of `all_truth`, (all,)."""
    robot_numbers: Array = dataclasses.field(default_factory=lambda: np.zeros(0, np.int64))
    """The number of each row of `all_truth` in its world, over all groups by name, (all,)."""
    robots_per_world: int = 0
    """How many robots there are in each world."""
    _raycast_scene: RaycastScene | None = dataclasses.field(default=None, repr=False)
    _raycast_arrays: SceneArrays = dataclasses.field(default=(), repr=False)

    def read_only(self) -> Scene:
        """A read-only scene in the same memory, for sensors and metrics."""
        return dataclasses.replace(
            self,
            truth=read_only(self.truth),
            motion_params=read_only(self.motion_params),
            all_truth=read_only(self.all_truth),
            worlds=read_only(self.worlds),
            collisions=read_only(self.collisions),
            all_worlds=read_only(self.all_worlds),
            robot_numbers=read_only(self.robot_numbers),
        )

    def other_robots(self, row: int) -> Table:
        """The true states of the other robots, which `contacts` estimate.

        Args:
            row: A row of this group.

        Returns:
            STATE of all other robots in the world of that row: a copy.
        """
        own = self.all_truth[self.first_row + row]
        in_world = self.all_truth["alive"] & (self.all_truth["world"] == own["world"])
        in_world[self.first_row + row] = False
        others: Table = self.all_truth[in_world]
        return others

    @property
    def has_one_robot_per_world(self) -> bool:
        """Whether there is one robot in each world, which then meets no other."""
        return self.robots_per_world == 1

    @property
    def raycast_scene(self) -> RaycastScene:
        """All that rays can hit, as kernels read it; robots are in it once the grid is built."""
        if self._raycast_scene is None or self._raycast_scene.walls is not self.map.index:
            self._raycast_scene = make_raycast_scene(self.map, self.robot_grid, self.shapes)
            self._raycast_arrays = plain_arrays(self._raycast_scene)
        return self._raycast_scene

    @property
    def raycast_arrays(self) -> SceneArrays:
        """`raycast_scene` without field names: a plain tuple takes less time to enter a kernel."""
        if self._raycast_scene is None or self._raycast_scene.walls is not self.map.index:
            return plain_arrays(self.raycast_scene)
        return self._raycast_arrays


@dataclasses.dataclass
class Known:
    """What the robots of one group know: their belief and the readings that arrived; read-only."""

    belief: Table
    """STATE as believed, (n,)."""
    readings: Mapping[str, Reading] = dataclasses.field(default_factory=dict)
    """The newest reading of each sensor that has arrived, by the sensor's name."""
    time: Array = dataclasses.field(default_factory=lambda: np.zeros(0))
    """The time by each robot's clock, s, (n,)."""
    map: MapSet = dataclasses.field(default_factory=lambda: MapSet([]))
    """The map that they were given, which may be old or displaced."""
    worlds: Array = dataclasses.field(default_factory=lambda: np.zeros(0, np.int64))
    """The index in the batch of the world of each row, (n,)."""
    group_beliefs: Mapping[str, Table] = dataclasses.field(default_factory=dict)
    """The beliefs that the robots of all groups share with each other, by the group's name."""
    contacts: Tracks = dataclasses.field(default_factory=lambda: Tracks(0, 0))
    """The tracks of the other robots that its sensors detect."""

    def __post_init__(self) -> None:
        """Make everything read-only; the memory stays the same."""
        self.belief, self.time = read_only(self.belief), read_only(self.time)
        self.worlds, self.contacts = read_only(self.worlds), self.contacts.read_only()
        self.readings = MappingProxyType({k: r.read_only() for k, r in self.readings.items()})
        # Groups add their beliefs one after the other, read-only, so this stays a live view.
        self.group_beliefs = MappingProxyType(self.group_beliefs)


add_former_names(Scene, SCENE_RENAMED)
add_former_names(Known, {"others": "group_beliefs"})
