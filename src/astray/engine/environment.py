"""What is around the robots of a run: maps, footprints, all robots by place, contacts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from astray.interactions.collisions import COLLISION, Collisions
from astray.plugin import Interaction, Motion, RowInitializer, Scene
from astray.scenario import GroupPlan, MapPlan, Scenario
from astray.tables import ADDRESS, CONTACT, STATE, Array, Rows, Table, clear, table
from astray.world import Map, map_labels, map_with_labels
from astray.world.geometry import build_robot_grid, make_robot_grid, make_shapes
from astray.world.maps import MapSet
from astray.world.planning import TakenPositions


class Environment:
    """The scene of all robots, and the interactions in it."""

    def __init__(self, scenario: Scenario, worlds: Array, seed: int) -> None:
        plans = scenario.robots
        self.seed, self.worlds = seed, worlds
        rows = sum(plan.capacity for plan in plans) * len(worlds)
        self.address = table(ADDRESS, rows)
        places = [np.repeat(np.arange(len(worlds)), plan.capacity) for plan in plans]
        robots = [np.tile(np.arange(plan.capacity), len(worlds)) for plan in plans]
        self.address["world"] = worlds[np.concatenate(places)]
        self.address["robot"] = np.concatenate(robots)
        self.truth = table(STATE, rows)
        for column in ("world", "robot"):
            self.truth[column] = self.address[column]
        # Numbered by name, so that the order of groups is no matter.
        named = {plan.name: plan.footprint for plan in plans}
        self.footprints = sorted(named)
        each = {plan.name: plan.capacity for plan in plans}
        upto = np.cumsum([each[name] for name in self.footprints])
        firsts = {name: end - each[name] for name, end in zip(self.footprints, upto, strict=True)}
        numbers = [firsts[plan.name] + r for plan, r in zip(plans, robots, strict=True)]
        self.scene = Scene(
            self.truth,
            np.zeros(rows),
            self.truth,
            np.concatenate(places),
            0,
            self._map_set(scenario.map),
            make_shapes([named[name] for name in self.footprints]),
            make_robot_grid(rows, len(worlds)),
            table(CONTACT, rows),
            np.concatenate(places),
            np.concatenate(numbers),
            sum(each.values()),
        )
        self.interactions: list[Interaction] = [
            found.attach(self.address, {}, scenario.dt, seed, "") for found in scenario.interactions
        ]
        parts = [(self.scene.contacts, None), *(p for i in self.interactions for p in i.blanks())]
        self._blank = RowInitializer(parts)
        self._fastest = np.zeros(rows)
        self.quiet_until = 0  # the step before which no interaction has anything to do
        self._original = self.scene.map.copy()
        self.rows = np.arange(0)  # of robots that others can meet: alive, and no ghosts
        self.ghosts = np.zeros(rows, bool)
        self._gathered = False
        self._changed_worlds: list[Array] = []

    def replace_map(self, map: Map, worlds: Array) -> None:
        """Put another map in the place of that of some worlds, by their places in the batch."""
        self.scene.map.replace(map, worlds)
        self._changed_worlds.append(worlds)

    def settle(self) -> None:
        """Follow up on events: on all maps that were replaced, once."""
        self.quiet_until = 0
        if self._changed_worlds:
            there = np.isin(self.scene.worlds[self.rows], np.concatenate(self._changed_worlds))
            self._changed_worlds.clear()
            self.placed(self.rows[there])

    def restore_maps(self) -> None:
        """Bring back the maps of the scenario, as if nothing had happened in them."""
        self.scene.map.assign(self._original)
        self.quiet_until = 0
        self.restore_hits(table(COLLISION, 0))

    def _map_set(self, plan: MapPlan | None) -> MapSet:
        maps = [] if plan is None else plan.maps(self.worlds, self.seed)
        return MapSet(maps, len(self.worlds))

    def map_given_to(self, plan: GroupPlan) -> MapSet:
        """The map that a group knows: its own, or the world's as it is now."""
        return self.scene.map.copy() if plan.map is None else self._map_set(plan.map)

    def of_group(self, rows: slice) -> Scene:
        """The scene as a group is handed it: its own rows, and what all share."""
        all_ = self.scene
        return Scene(
            all_.truth[rows],
            all_.body[rows],
            all_.everyone,
            all_.worlds[rows],
            rows.start,
            all_.map,
            all_.shapes,
            all_.crowd,
            all_.contacts[rows],
            all_.all_worlds,
            all_.numbers,
            all_.population,
        )

    @staticmethod
    def rows_of(scene: Scene) -> slice:
        """The rows of a group among all robots."""
        return slice(scene.first, scene.first + len(scene.truth))

    def begin(self, rows: Rows) -> None:
        """Start these rows for the interactions; none is a ghost at first."""
        if self.ghosts[rows].any():
            self.ghosts[rows] = False
            self.changed()
        self.quiet_until = 0
        self._blank.fill(rows)
        for interaction in self.interactions:
            interaction.begin_blank(rows)
        self.placed(rows)

    def moved(self) -> None:
        """Note that robots moved since they were last sorted by place.

        Where there is one in each world, nothing looks for others, and the sorting stays valid.
        """
        self._gathered &= self.scene.is_lonely

    def changed(self) -> None:
        """Note that robots came or went."""
        self._gathered = False
        self.quiet_until = 0
        self.rows = np.flatnonzero(self.truth["alive"] & ~self.ghosts)

    def spots_taken(self) -> TakenPositions:
        """Where the robots are that others can meet."""
        there = self.truth[self.rows]
        return self.scene.worlds[self.rows], np.stack([there["x"], there["y"]], axis=1)

    def make_ghosts(self, rows: Rows, ghostly: bool) -> None:
        """Make these rows ghosts, which nothing sees or stops, or solid again."""
        self.ghosts[rows] = ghostly
        clear(self.scene.contacts, rows)
        self.changed()
        self.placed(rows)

    def gather(self) -> None:
        """Sort all robots by place, unless that is up to date."""
        if not self._gathered:
            scene = self.scene
            build_robot_grid(scene.crowd, scene.truth, scene.shapes, self.rows, scene.worlds)
            self._gathered = True

    def quiet_ticks(self, step: int, groups: Iterable[tuple[slice, Motion]]) -> int:
        """Ticks for which no interaction has anything to do; groups by their rows and motions."""
        if step >= self.quiet_until:

            def fastest() -> Array:
                for rows, motion in groups:
                    self._fastest[rows] = motion.fastest()
                return self._fastest

            found = [i.spare(self.rows, self.scene, fastest) for i in self.interactions]
            self.quiet_until = step + min(found)
        return self.quiet_until - step

    def prepare(self) -> None:
        """Let the interactions note what they need before the robots move."""
        for interaction in self.interactions:
            interaction.prepare(self.rows, self.scene)

    def interact(self) -> list[Rows]:
        """Let robots act on each other; the rows that are to be removed."""
        found = [interaction.interact(self.rows, self.scene) for interaction in self.interactions]
        self.moved()
        return [rows for rows in found if rows is not None and len(rows)]

    def placed(self, rows: Rows) -> None:
        """Tell the interactions of rows that were moved by hand."""
        self.moved()
        rows = rows[~self.ghosts[rows]]
        for interaction in self.interactions:
            interaction.placed(rows, self.scene, self.rows)

    def hits(self) -> Table:
        """The contacts that have begun so far, in the order of time: COLLISION records."""
        kept = [i.log.all() for i in self.interactions if isinstance(i, Collisions)]
        return np.concatenate([table(COLLISION, 0), *kept])

    def keep_newest_hits(self, most: int) -> None:
        """Keep no more than so many contacts, so that a run without end needs no more memory."""
        for interaction in self.interactions:
            if isinstance(interaction, Collisions):
                interaction.log.max_records = most

    def restore_hits(self, hits: Table) -> None:
        """Take over the contacts of a saved run, or forget them all."""
        for interaction in self.interactions:
            if isinstance(interaction, Collisions):
                interaction.log.restore(hits)

    def saved_maps(self) -> dict[str, Array]:
        """The maps as they are now, as named arrays."""
        maps = self.scene.map.maps
        labels = [map_labels(map) for map in maps]
        return {
            "map/segments": np.vstack([map.segments for map in maps]),
            "map/solid": np.concatenate([map.solid for map in maps]),
            "map/counts": np.array([len(map) for map in maps]),
            "map/of_world": self.scene.map.of_world,
            "map/labels": np.frombuffer(json.dumps(labels).encode(), np.uint8),
        }

    def restore_saved_maps(self, saved: Mapping[str, Array]) -> None:
        """Take over maps that were saved."""
        counts = saved["map/counts"]
        cuts = np.cumsum(counts)[:-1]
        labels: list[dict[str, Any]] = [{}] * len(counts)  # older files have none
        if "map/labels" in saved:
            labels = json.loads(saved["map/labels"].tobytes())
        parts = np.split(saved["map/segments"], cuts), np.split(saved["map/solid"], cuts), labels
        made = MapSet(
            [map_with_labels(*part) for part in zip(*parts, strict=True)], len(self.worlds)
        )
        made.of_world[:] = saved["map/of_world"]
        if not np.isin(made.of_world, np.arange(len(made.maps))).all():
            raise ValueError("a world has no map")  # kernels look for it without a check
        self.scene.map.assign(made)
        for interaction in self.interactions:
            interaction.resumed()

    def arrays(self) -> dict[str, Array]:
        """The state of the interactions as named arrays."""
        found: dict[str, Array] = {"ghosts": self.ghosts}
        for plugin in self.interactions:
            label = f"interaction.{plugin.name}"
            found[f"{label}.params"] = plugin.params
            if plugin.remembers is not None:
                found[f"{label}.memory"] = plugin.memory
            found |= {f"{label}.{name}": array for name, array in plugin.arrays.items()}
        if self.interactions:
            found["contacts"] = self.scene.contacts
        return found
