"""A cache of plans: one navigation field per map and goal, shared by all robots that need it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from astray.errors import PluginError, suggest
from astray.plugin import Known
from astray.tables import Array, Rows, Table, table
from astray.world import Map
from astray.world.planning import NAVIGATION_FIELD, NavigationGrid, make_navigation_grid

Goal = tuple[float, float] | str
FieldKey = tuple[int, float, float]
"""The index of a map, and a goal on it, m."""


class NavigationFields(NamedTuple):
    """The fields of all maps and goals as kernels read them."""

    lengths: Array
    """The path lengths of all fields, one after the other, m."""
    fields: Table
    """NAVIGATION_FIELD: those of the scenario's goals, map by map, and then those of goals that
    came by event. A `first` of −1 marks a field that is not computed yet."""
    first_field: Array
    """The first field of each row, (n,)."""


class PlanCache:
    """Fields that are computed when a robot first needs them, and dropped with their map."""

    def __init__(self, goals: Sequence[Goal], cell: float, clearance: float, keep: float) -> None:
        self.goals = list(goals)
        self.settings = (cell, clearance, keep)
        self.fields = NavigationFields(
            np.empty(0), table(NAVIGATION_FIELD, 0), np.zeros(0, np.int64)
        )
        self._maps: list[Map] = []
        self._grids: dict[int, NavigationGrid] = {}  # for the scenario's goals, by map
        self._keys: list[FieldKey] = []
        self._event_goals = np.zeros((0, 3))
        self._computed: dict[FieldKey, tuple[Table, Array]] = {}
        self._lock = threading.Lock()  # the rows of a group may be split over threads

    def arrays(self, known: Known, memory: Table) -> tuple[Array, Table, Array]:
        """The NavigationFields of the present maps and goals; some may not be computed yet."""
        if self._is_outdated(known, memory):
            with self._lock:
                if self._is_outdated(known, memory):
                    self._list_fields(known, memory)
        fields = self.fields
        return fields.lengths, fields.fields, fields.first_field

    def _is_outdated(self, known: Known, memory: Table) -> bool:
        if known.map.maps != self._maps:
            return True
        has_goal = memory["told"]
        return bool(len(self._event_goals) or has_goal.any()) and not np.array_equal(
            self._event_goals, _event_goals(memory, np.flatnonzero(has_goal))
        )

    def _list_fields(self, known: Known, memory: Table) -> None:
        """List all fields anew; those that were computed and are still needed are kept."""
        maps = list(known.map.maps)
        if maps != self._maps:
            self._computed, self._grids = {}, {}
        keys = [
            (k, x, y)
            for k, found in enumerate(maps)
            for x, y in goal_positions(self.goals, found).tolist()
        ]
        first_field = known.map.of_world[known.worlds] * len(self.goals)
        rows = np.flatnonzero(memory["told"])
        event_goals = _event_goals(memory, rows)
        map_of_row = known.map.of_world[known.worlds[rows]].tolist()
        field_of: dict[FieldKey, int] = {}
        for row, number, (_, x, y) in zip(rows, map_of_row, event_goals.tolist(), strict=True):
            key = (number, x, y)
            if key not in field_of:
                field_of[key] = len(keys)
                keys.append(key)
            first_field[row] = field_of[key]
        fields = table(NAVIGATION_FIELD, len(keys))
        lengths, size = [np.empty(0)], 0
        for k, key in enumerate(keys):
            if key in self._computed:
                fields[k : k + 1], computed = self._computed[key]
                fields["first"][k] = size
                lengths.append(computed)
                size += len(computed)
            else:
                fields["first"][k], fields["goal_x"][k], fields["goal_y"][k] = -1, key[1], key[2]
        self._computed = {key: self._computed[key] for key in keys if key in self._computed}
        self._maps, self._keys, self._event_goals = maps, keys, event_goals
        self.fields = NavigationFields(np.concatenate(lengths), fields, first_field)

    def compute(self, indices: Rows) -> None:
        """Compute some fields, by their indices."""
        with self._lock:
            fields, size = self.fields.fields.copy(), len(self.fields.lengths)
            lengths = [self.fields.lengths]
            for k in indices:
                f, key = fields[k], self._keys[k]
                if f["first"] >= 0:
                    continue  # another thread has computed it
                grid = self._grid(int(k), key)
                computed = grid.distance_to_goal(f["goal_x"], f["goal_y"]).ravel()
                fields["first"][k], fields["cell"][k] = size, grid.cell
                fields["height"][k], fields["width"][k] = grid.slowness.shape
                fields["x"][k], fields["y"][k] = grid.corner
                lengths.append(computed)
                size += computed.size
                self._computed[key] = fields[k : k + 1].copy(), computed
            self.fields = NavigationFields(np.concatenate(lengths), fields, self.fields.first_field)

    def _grid(self, k: int, key: FieldKey) -> NavigationGrid:
        """The grid of a field: one per map for the scenario's goals, and one for each event's goal.

        So the goal of one robot does not change the grid of another.
        """
        number = key[0]
        if k >= len(self._maps) * len(self.goals):
            return make_navigation_grid(self._maps[number], np.array([key[1:]]), *self.settings)
        if number not in self._grids:
            goals = goal_positions(self.goals, self._maps[number])
            self._grids[number] = make_navigation_grid(self._maps[number], goals, *self.settings)
        return self._grids[number]


def _event_goals(memory: Table, rows: Rows) -> Array:
    """Row and position of the goals that came by event, (n, 3)."""
    return np.stack([rows, memory["told_x"][rows], memory["told_y"][rows]], axis=1)


def goal_positions(goals: Sequence[Goal], found: Map) -> Array:
    """The positions of goals on a map.

    Args:
        goals: Points [x, y], m, or names of places.
        found: The map.

    Returns:
        (goals, 2), m.

    Raises:
        PluginError: The map has no place of this name.
    """
    named = {place.name: (place.x, place.y) for place in reversed(found.places) if place.name}
    for goal in goals:
        if isinstance(goal, str) and goal not in named:
            hint = suggest(goal, named)
            names = ", ".join(named) or "none has a name"
            raise PluginError(f"unknown place {goal!r} on the map {found.name!r}{hint} ({names})")
    positions = [named[goal] if isinstance(goal, str) else goal for goal in goals]
    return np.array(positions, float).reshape(-1, 2)
