"""What surrounds the robots of a run: maps, footprints, the grid of robots, interactions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from astray.interactions.collisions import COLLISION, Collisions
from astray.plugin import Interaction, Motion, RowInitializer, Scene
from astray.scenario import GroupPlan, MapPlan, Scenario
from astray.tables import ADDRESS, COLLISION_STATE, STATE, Array, Rows, Table, clear_rows, table
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
        world_indices = [np.repeat(np.arange(len(worlds)), plan.capacity) for plan in plans]
        robots = [np.tile(np.arange(plan.capacity), len(worlds)) for plan in plans]
        self.address["world"] = worlds[np.concatenate(world_indices)]
        self.address["robot"] = np.concatenate(robots)
        self.truth = table(STATE, rows)
        for column in ("world", "robot"):
            self.truth[column] = self.address[column]
        # Numbered in the order of names, so that the order of the groups does not matter.
        footprints = {plan.name: plan.footprint for plan in plans}
        self.footprints = sorted(footprints)
        counts = {plan.name: plan.capacity for plan in plans}
        ends = np.cumsum([counts[name] for name in self.footprints])
        firsts = {name: end - counts[name] for name, end in zip(self.footprints, ends, strict=True)}
        numbers = [firsts[plan.name] + r for plan, r in zip(plans, robots, strict=True)]
        self.scene = Scene(
            self.truth,
            np.zeros(rows),
            self.truth,
            np.concatenate(world_indices),
            0,
            self._map_set(scenario.map),
            make_shapes([footprints[name] for name in self.footprints]),
            make_robot_grid(rows, len(worlds)),
            table(COLLISION_STATE, rows),
            np.concatenate(world_indices),
            np.concatenate(numbers),
            sum(counts.values()),
        )
        self.interactions: list[Interaction] = [
            interaction.attach(self.address, {}, scenario.dt, seed, "")
            for interaction in scenario.interactions
        ]
        own = [value for i in self.interactions for value in i.initial_values()]
        self._blank = RowInitializer([(self.scene.collisions, None), *own])
        self._fastest = np.zeros(rows)
        self.quiet_until = 0  # the step before which no interaction has anything to do
        self._original_maps = self.scene.map.copy()
        self.rows = np.arange(0)  # of robots that interact: active, and no ghosts
        self.ghosts = np.zeros(rows, bool)
        self._grid_is_current = False
        self._changed_worlds: list[Array] = []

    def replace_map(self, map: Map, worlds: Array) -> None:
        """Replace the map of some worlds, given by their indices in the batch."""
        self.scene.map.replace(map, worlds)
        self._changed_worlds.append(worlds)

    def after_events(self) -> None:
        """Update the robots in worlds whose map an event has replaced."""
        self.quiet_until = 0
        if self._changed_worlds:
            affected = np.isin(self.scene.worlds[self.rows], np.concatenate(self._changed_worlds))
            self._changed_worlds.clear()
            self.robots_placed(self.rows[affected])

    def restore_maps(self) -> None:
        """Restore the maps of the scenario, and clear the collision log."""
        self.scene.map.assign(self._original_maps)
        self.quiet_until = 0
        self.restore_collisions(table(COLLISION, 0))

    def _map_set(self, plan: MapPlan | None) -> MapSet:
        maps = [] if plan is None else plan.maps(self.worlds, self.seed)
        return MapSet(maps, len(self.worlds))

    def map_given_to(self, plan: GroupPlan) -> MapSet:
        """The map that a group knows: its own, or the present one of the world."""
        return self.scene.map.copy() if plan.map is None else self._map_set(plan.map)

    def of_group(self, rows: slice) -> Scene:
        """The scene that the sensors of a group get, to read: its rows, and what all share."""
        shared = self.scene
        return Scene(
            shared.truth[rows],
            shared.motion_params[rows],
            shared.all_truth,
            shared.worlds[rows],
            rows.start,
            shared.map,
            shared.shapes,
            shared.robot_grid,
            shared.collisions[rows],
            shared.all_worlds,
            shared.robot_numbers,
            shared.robots_per_world,
        ).read_only()

    @staticmethod
    def rows_of(scene: Scene) -> slice:
        """The rows of a group among all robots."""
        return slice(scene.first_row, scene.first_row + len(scene.truth))

    def start_rows(self, rows: Rows) -> None:
        """Start these rows for the interactions; none of them is a ghost."""
        if self.ghosts[rows].any():
            self.ghosts[rows] = False
            self.robots_changed()
        self.quiet_until = 0
        self._blank.fill(rows)
        for interaction in self.interactions:
            interaction.draw_and_reset(rows)
        self.robots_placed(rows)

    def robots_moved(self) -> None:
        """Mark the grid of robots as out of date; with one robot per world nobody reads it."""
        self._grid_is_current &= self.scene.has_one_robot_per_world

    def robots_changed(self) -> None:
        """Find the rows that interact anew, after robots were added or removed."""
        self._grid_is_current = False
        self.quiet_until = 0
        self.rows = np.flatnonzero(self.truth["alive"] & ~self.ghosts)

    def spots_taken(self) -> TakenPositions:
        """The positions of the robots that interact."""
        robots = self.truth[self.rows]
        positions = np.stack([robots["x"], robots["y"]], axis=1)
        return TakenPositions(self.scene.worlds[self.rows], positions)

    def make_ghosts(self, rows: Rows, ghostly: bool) -> None:
        """Make these rows ghosts, which no sensor detects and nothing stops, or solid again."""
        self.ghosts[rows] = ghostly
        clear_rows(self.scene.collisions, rows)
        self.robots_changed()
        self.robots_placed(rows)

    def update_robot_grid(self) -> None:
        """Sort all robots into their grid by position, if it is out of date."""
        if not self._grid_is_current:
            scene = self.scene
            build_robot_grid(scene.robot_grid, scene.truth, scene.shapes, self.rows, scene.worlds)
            self._grid_is_current = True

    def quiet_ticks(self, step: int, groups: Iterable[tuple[slice, Motion]]) -> int:
        """Ticks for which no interaction has anything to do; groups by their rows and motions."""
        if step >= self.quiet_until:

            def fastest() -> Array:
                for rows, motion in groups:
                    self._fastest[rows] = motion.speed_bound()
                return self._fastest

            found = [i.quiet_ticks(self.rows, self.scene, fastest) for i in self.interactions]
            self.quiet_until = step + min(found)
        return self.quiet_until - step

    def prepare(self) -> None:
        """Let the interactions save the state that they need from before the motion."""
        for interaction in self.interactions:
            interaction.prepare(self.rows, self.scene)

    def interact(self) -> list[Rows]:
        """Let the robots interact; returns the rows to remove."""
        removed = [interaction.interact(self.rows, self.scene) for interaction in self.interactions]
        self.robots_moved()
        return [rows for rows in removed if rows is not None and len(rows)]

    def robots_placed(self, rows: Rows) -> None:
        """Update the interactions after an event has moved these rows."""
        self.robots_moved()
        rows = rows[~self.ghosts[rows]]
        for interaction in self.interactions:
            interaction.placed(rows, self.scene, self.rows)

    def collisions(self) -> Table:
        """The contacts that have begun so far, in the order of time: COLLISION records."""
        kept = [i.log.all() for i in self.interactions if isinstance(i, Collisions)]
        return np.concatenate([table(COLLISION, 0), *kept])

    def limit_collision_log(self, most: int) -> None:
        """Keep the newest collisions only, so that an endless run needs bounded memory."""
        for interaction in self.interactions:
            if isinstance(interaction, Collisions):
                interaction.log.max_records = most

    def restore_collisions(self, hits: Table) -> None:
        """Set the collision log, as for a checkpoint."""
        for interaction in self.interactions:
            if isinstance(interaction, Collisions):
                interaction.log.restore(hits)

    def saved_maps(self) -> dict[str, Array]:
        """The present maps, as named arrays."""
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
        """Set the maps to those of a checkpoint."""
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
            raise ValueError("a world has no map")  # kernels index maps without a check
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
            found["contacts"] = self.scene.collisions
        return found
