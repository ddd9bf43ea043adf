"""Evaluates the tracks of other robots against the truth at the time of their stamp.

Tracks of delayed detections are stamped with the time of the detection. So the truth of all robots
is kept for the largest delay of a detection, and the scene of that time is rebuilt.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from astray.engine.evaluation.belief_evaluator import (
    STATISTICS,
    TruthHistory,
    accumulate_all,
    copy_moment,
)
from astray.numerics import Schedule, kernel
from astray.plugin import ContactMetric, Scene, Tracks
from astray.tables import STATE, Array, Rows, Table, clear_rows, table
from astray.world.geometry import build_robot_grid, make_robot_grid


@kernel
def find_truth_of_all(
    then: Table, history: Table, everyone: Table, stamps: Array, worlds: Array, rows: Rows
) -> None:
    """Find the truth of these rows at the stamp of their world, or the one nearest to it."""
    for i in rows:
        stamp = stamps[worlds[i]]
        if math.isnan(stamp):
            continue
        copy_moment(then[i], everyone[i])
        gap = abs(everyone[i].stamp - stamp)
        for k in range(history.shape[1]):
            other = abs(history[i, k].stamp - stamp)
            if other < gap:
                gap = other
                copy_moment(then[i], history[i, k])


class TrackEvaluator:
    """One metric of the tracks of a group."""

    subject = "contacts"

    def __init__(
        self,
        metric: ContactMetric,
        contacts: Tracks,
        scene: Scene,
        schedule: Schedule | None,
        depth: int,
        update_robot_grid: Callable[[], None],
    ) -> None:
        n, everyone = len(scene.truth), len(scene.all_truth)
        self.metric = metric
        self.contacts = contacts.read_only()
        self.belief = scene.truth  # for the world and robot of each row
        self.scene = scene
        self.schedule = schedule
        self._update_robot_grid = update_robot_grid
        self.stamps = np.full(n, np.nan)
        self.values = np.zeros(n)
        self.statistics = table(STATISTICS, n)
        self.history = TruthHistory(everyone, depth)
        self.then = table(STATE, everyone if depth else 0)
        self._past_scene = scene
        if depth:
            own = slice(scene.first_row, scene.first_row + n)
            crowd = make_robot_grid(everyone, len(scene.robot_grid.grids))
            self._past_scene = dataclasses.replace(
                scene,
                truth=self.then[own],
                all_truth=self.then,
                robot_grid=crowd,
                _raycast_scene=None,
            ).read_only()

    def arrays(self) -> dict[str, Array]:
        """Its state, by name."""
        found = {"stamps": self.stamps, "values": self.values, "statistics": self.statistics}
        if len(self.then):
            found |= {"history": self.history.moments, "next_slot": self.history.next_slot}
        return found

    def begin(self, rows: Rows) -> None:
        """Reset the statistics of these rows."""
        self.stamps[rows] = np.nan
        self.values[rows] = 0.0
        clear_rows(self.statistics, rows)
        self.metric.begin(rows)
        if len(self.then):
            self.history.begin(self._rows_of_worlds(rows))

    def keep_truth(self, rows: Rows) -> None:
        """Keep the present truth of all robots in the worlds of these rows."""
        if len(self.then):
            self.history.keep(self._rows_of_worlds(rows), self.scene.all_truth)

    def _rows_of_worlds(self, rows: Rows) -> Rows:
        """The rows of all robots in the worlds of these rows."""
        return np.flatnonzero(np.isin(self.scene.all_worlds, self.scene.worlds[rows]))

    def evaluate_new(self, rows: Rows, truth: Table, history: TruthHistory) -> None:
        """Evaluate those of these rows whose tracks have a new stamp, once per stamp."""
        stamps = self.contacts.stamp[rows]
        new = rows[(stamps == stamps) & (stamps != self.stamps[rows])]
        if len(new):
            self.evaluate(new, truth, history)

    def evaluate(self, rows: Rows, truth: Table, history: TruthHistory) -> None:
        """Evaluate these rows and add the values to the statistics."""
        self.stamps[rows] = self.contacts.stamp[rows]
        self.measure(rows)
        accumulate_all(self.statistics, self.values, rows)

    def measure(self, rows: Rows) -> None:
        """Compute the metric for these rows."""
        self._update_robot_grid()
        if len(self.then):
            self._rebuild_past_scene(rows)
        self.metric.measure(rows, self._past_scene, self.contacts, self.values)

    def _rebuild_past_scene(self, rows: Rows) -> None:
        """Rebuild the scene at the stamp of these tracks."""
        scene = self.scene
        stamps = np.full(len(scene.robot_grid.grids), np.nan)
        stamps[scene.worlds[rows]] = self.contacts.stamp[rows]
        last = scene.robot_grid.grids[-1]
        count = scene.robot_grid.starts[last["first"] + last["width"] * last["height"]]
        solid = np.sort(scene.robot_grid.bodies["row"][:count])
        then, worlds = self.then, scene.all_worlds
        then[:] = scene.all_truth
        find_truth_of_all(then, self.history.moments, scene.all_truth, stamps, worlds, solid)
        build_robot_grid(self._past_scene.robot_grid, then, scene.shapes, solid, worlds)
