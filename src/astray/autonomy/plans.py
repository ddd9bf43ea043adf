"""The ways that have been planned: one field per map and goal, for all robots that need it."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from astray.errors import PluginError, suggest
from astray.plugin import Known
from astray.table import Array, Rows, Table, table
from astray.world.field import FIELD, Ground, make_ground
from astray.world.map import Map

Goal = tuple[float, float] | str
Fields = tuple[Array, Table, Array]
"""The ways of all fields, the fields map by map, and the first field of each row's map."""


class Plans:
    """Fields that are made when a robot first needs them, and forgotten with their map."""

    def __init__(self, goals: Sequence[Goal], cell: float, clearance: float, keep: float) -> None:
        self.goals = list(goals)
        self.size = (cell, clearance, keep)
        self.fields: Fields = (np.empty(0), table(FIELD, 0), np.zeros(0, np.int64))
        self._maps: list[Map] = []
        self._grounds: dict[int, Ground] = {}
        self._lock = threading.Lock()  # robots are shared out over threads

    def of(self, known: Known) -> Fields:
        """What is planned so far on the maps that are known now."""
        if known.map.maps != self._maps:
            with self._lock:
                if known.map.maps != self._maps:
                    self._begin(known)
        return self.fields

    def _begin(self, known: Known) -> None:
        maps = list(known.map.maps)
        fields = table(FIELD, len(maps) * len(self.goals))
        fields["first"] = -1
        for k, found in enumerate(maps):
            part = fields[k * len(self.goals) : (k + 1) * len(self.goals)]
            part["goal_x"], part["goal_y"] = self.places(found).T
        first = known.map.of_world[known.worlds] * len(self.goals)
        self.fields, self._grounds, self._maps = (np.empty(0), fields, first), {}, maps

    def places(self, found: Map) -> Array:
        """Where the goals are on a map, (goals, 2) m; PluginError if it lacks a place."""
        named = {place.name: (place.x, place.y) for place in reversed(found.places) if place.name}
        for goal in self.goals:
            if isinstance(goal, str) and goal not in named:
                hint = suggest(goal, named)
                names = ", ".join(named) or "none has a name"
                raise PluginError(f"no place {goal!r} on the map {found.name!r}{hint} ({names})")
        return np.array([named[g] if isinstance(g, str) else g for g in self.goals], float)

    def add(self, which: Rows) -> None:
        """Plan the ways of some fields, by their numbers."""
        with self._lock:
            ways, fields, first = self.fields
            fields, made, length = fields.copy(), [ways], len(ways)
            for k in which:
                f, number = fields[k], int(k) // len(self.goals)
                if f["first"] >= 0:
                    continue  # another thread was faster
                if number not in self._grounds:
                    goals = self.places(self._maps[number])
                    self._grounds[number] = make_ground(self._maps[number], goals, *self.size)
                ground = self._grounds[number]
                way = ground.way_to(f["goal_x"], f["goal_y"])
                fields["first"][k], fields["cell"][k] = length, ground.cell
                fields["high"][k], fields["wide"][k] = way.shape
                fields["x"][k], fields["y"][k] = ground.corner
                made.append(way.ravel())
                length += way.size
            self.fields = (np.concatenate(made), fields, first)
