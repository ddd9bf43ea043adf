"""The ways that have been planned: one field per map and goal, for all robots that need it."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from astray.errors import PluginError, suggest
from astray.plugin import Known
from astray.tables import Array, Rows, Table, table
from astray.world import Map
from astray.world.planning import NAVIGATION_FIELD, NavigationGrid, make_navigation_grid

Goal = tuple[float, float] | str
Fields = tuple[Array, Table, Array]
"""The ways of all fields, the fields map by map and behind them those of goals that robots were
told, and the first field of each row."""
Key = tuple[int, float, float]
"""A map by its number, and a goal on it."""


class Plans:
    """Fields that are made when a robot first needs them, and forgotten with their map."""

    def __init__(self, goals: Sequence[Goal], cell: float, clearance: float, keep: float) -> None:
        self.goals = list(goals)
        self.size = (cell, clearance, keep)
        self.fields: Fields = (np.empty(0), table(NAVIGATION_FIELD, 0), np.zeros(0, np.int64))
        self._maps: list[Map] = []
        self._grounds: dict[int, NavigationGrid] = {}
        self._keys: list[Key] = []
        self._told = np.zeros((0, 3))
        self._made: dict[Key, tuple[Table, Array]] = {}
        self._lock = threading.Lock()  # robots are shared out over threads

    def of(self, known: Known, memory: Table) -> Fields:
        """What is planned so far on the maps that are known now, for the goals that there are."""
        if self._is_old(known, memory):
            with self._lock:
                if self._is_old(known, memory):
                    self._begin(known, memory)
        return self.fields

    def _is_old(self, known: Known, memory: Table) -> bool:
        if known.map.maps != self._maps:
            return True
        told = memory["told"]
        return bool(len(self._told) or told.any()) and not np.array_equal(
            self._told, _told(memory, np.flatnonzero(told))
        )

    def _begin(self, known: Known, memory: Table) -> None:
        maps = list(known.map.maps)
        if maps != self._maps:
            self._made, self._grounds = {}, {}
        goals = len(self.goals)
        keys = [(k, x, y) for k, found in enumerate(maps) for x, y in self.places(found).tolist()]
        first = known.map.of_world[known.worlds] * goals
        rows = np.flatnonzero(memory["told"])
        told = _told(memory, rows)
        numbers = known.map.of_world[known.worlds[rows]]
        own: dict[Key, int] = {}
        for row, number, (_, x, y) in zip(rows, numbers.tolist(), told.tolist(), strict=True):
            key = (number, x, y)
            if key not in own:
                own[key] = len(keys)
                keys.append(key)
            first[row] = own[key]
        fields = table(NAVIGATION_FIELD, len(keys))
        ways, length = [np.empty(0)], 0
        for k, key in enumerate(keys):
            if key in self._made:
                fields[k : k + 1], way = self._made[key]
                fields["first"][k] = length
                ways.append(way)
                length += len(way)
            else:
                fields["first"][k], fields["goal_x"][k], fields["goal_y"][k] = -1, key[1], key[2]
        self._made = {key: self._made[key] for key in keys if key in self._made}
        self._maps, self._keys, self._told = maps, keys, told
        self.fields = (np.concatenate(ways), fields, first)

    def places(self, found: Map) -> Array:
        """Where the goals are on a map, (goals, 2) m; PluginError if it lacks a place."""
        return spots_of(self.goals, found)

    def add(self, which: Rows) -> None:
        """Plan the ways of some fields, by their numbers."""
        with self._lock:
            ways, fields, first = self.fields
            fields, made, length = fields.copy(), [ways], len(ways)
            for k in which:
                f, key = fields[k], self._keys[k]
                if f["first"] >= 0:
                    continue  # another thread was faster
                ground = self._ground(int(k), key)
                way = ground.distance_to_goal(f["goal_x"], f["goal_y"]).ravel()
                fields["first"][k], fields["cell"][k] = length, ground.cell
                fields["height"][k], fields["width"][k] = ground.slowness.shape
                fields["x"][k], fields["y"][k] = ground.corner
                made.append(way)
                length += way.size
                self._made[key] = fields[k : k + 1].copy(), way
            self.fields = (np.concatenate(made), fields, first)

    def _ground(self, k: int, key: Key) -> NavigationGrid:
        """Where one may go on the map of a field: one for all goals that are planned for, and one
        for each that a robot was told, so that no other robot's goal matters to it.
        """
        number = key[0]
        if k >= len(self._maps) * len(self.goals):
            return make_navigation_grid(self._maps[number], np.array([key[1:]]), *self.size)
        if number not in self._grounds:
            goals = self.places(self._maps[number])
            self._grounds[number] = make_navigation_grid(self._maps[number], goals, *self.size)
        return self._grounds[number]


def _told(memory: Table, rows: Rows) -> Array:
    """The rows that were told a goal, and where it is, (n, 3)."""
    return np.stack([rows, memory["told_x"][rows], memory["told_y"][rows]], axis=1)


def spots_of(goals: Sequence[Goal], found: Map) -> Array:
    """Where goals are on a map, (goals, 2) m; PluginError if it lacks a place."""
    named = {place.name: (place.x, place.y) for place in reversed(found.places) if place.name}
    for goal in goals:
        if isinstance(goal, str) and goal not in named:
            hint = suggest(goal, named)
            names = ", ".join(named) or "none has a name"
            raise PluginError(f"no place {goal!r} on the map {found.name!r}{hint} ({names})")
    spots = [named[goal] if isinstance(goal, str) else goal for goal in goals]
    return np.array(spots, float).reshape(-1, 2)
