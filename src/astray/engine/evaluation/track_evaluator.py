"""How what robots believe of each other is judged: against the truth of everyone at that time.

Tracks that were made of late detections are stamped with the time they were taken. The judge keeps
the truth of everyone for as long as detections travel, and builds the scene of that time.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from astray.engine.evaluation.belief_evaluator import STATISTICS, History, account_all, recall
from astray.numerics.kernels import kernel
from astray.numerics.schedule import Beat
from astray.plugin import ContactMetric, Scene
from astray.plugin.tracks import Tracks
from astray.tables import STATE, Array, Rows, Table, clear, table
from astray.world.geometry.robot_grid import gather_crowd, make_crowd


@kernel
def recall_everyone(
    then: Table, history: Table, everyone: Table, stamps: Array, worlds: Array, rows: Rows
) -> None:
    """Find the truth of these rows at the stamp of their world: the nearest moment noted."""
    for i in rows:
        stamp = stamps[worlds[i]]
        if math.isnan(stamp):
            continue
        recall(then[i], everyone[i])
        gap = abs(everyone[i].stamp - stamp)
        for k in range(history.shape[1]):
            other = abs(history[i, k].stamp - stamp)
            if other < gap:
                gap = other
                recall(then[i], history[i, k])


class ContactJudge:
    """One metric of the tracks of a group."""

    subject = "contacts"

    def __init__(
        self,
        metric: ContactMetric,
        contacts: Tracks,
        scene: Scene,
        beat: Beat | None,
        depth: int,
        gather: Callable[[], None],
    ) -> None:
        n, everyone = len(scene.truth), len(scene.everyone)
        self.metric = metric
        self.contacts = contacts
        self.belief = scene.truth  # for who lists rows by world and robot
        self.scene = scene
        self.beat = beat
        self.gather = gather  # lets `scene.crowd` be up to date
        self.stamps = np.full(n, np.nan)
        self.values = np.zeros(n)
        self.statistics = table(STATISTICS, n)
        self.history = History(everyone, depth)
        self.then = table(STATE, everyone if depth else 0)
        self._then_scene = scene
        if depth:
            mine = slice(scene.first, scene.first + n)
            crowd = make_crowd(everyone, len(scene.crowd.grids))
            self._then_scene = dataclasses.replace(
                scene, truth=self.then[mine], everyone=self.then, crowd=crowd, _view=None
            )

    def arrays(self) -> dict[str, Array]:
        """What it remembers, by name."""
        found = {"stamps": self.stamps, "values": self.values, "statistics": self.statistics}
        if len(self.then):
            found |= {"history": self.history.moments, "next_slot": self.history.next_slot}
        return found

    def forget(self, rows: Rows) -> None:
        """Start the statistics of these rows anew."""
        self.stamps[rows] = np.nan
        self.values[rows] = 0.0
        clear(self.statistics, rows)
        self.metric.begin(rows)
        if len(self.then):
            self.history.forget(self._all_with(rows))

    def remember(self, rows: Rows) -> None:
        """Note the present truth of everyone in the worlds of these rows."""
        if len(self.then):
            self.history.remember(self._all_with(rows), self.scene.everyone)

    def _all_with(self, rows: Rows) -> Rows:
        """The rows of everyone in the worlds of these rows."""
        return np.flatnonzero(np.isin(self.scene.all_worlds, self.scene.worlds[rows]))

    def judge_new(self, rows: Rows, truth: Table, history: History) -> None:
        """Measure those of these rows whose tracks have a new stamp, once per stamp."""
        stamps = self.contacts.stamp[rows]
        new = rows[(stamps == stamps) & (stamps != self.stamps[rows])]
        if len(new):
            self.judge(new, truth, history)

    def judge(self, rows: Rows, truth: Table, history: History) -> None:
        """Measure these rows once."""
        self.stamps[rows] = self.contacts.stamp[rows]
        self.measure(rows)
        account_all(self.statistics, self.values, rows)

    def measure(self, rows: Rows) -> None:
        """Ask the metric for these rows."""
        self.gather()
        if len(self.then):
            self._go_back(rows)
        self.metric.measure(rows, self._then_scene, self.contacts, self.values)

    def _go_back(self, rows: Rows) -> None:
        """Build the scene of the time of these tracks."""
        scene = self.scene
        stamps = np.full(len(scene.crowd.grids), np.nan)
        stamps[scene.worlds[rows]] = self.contacts.stamp[rows]
        last = scene.crowd.grids[-1]
        count = scene.crowd.starts[last["first"] + last["wide"] * last["high"]]
        solid = np.sort(scene.crowd.bodies["row"][:count])
        then, worlds = self.then, scene.all_worlds
        then[:] = scene.everyone
        recall_everyone(then, self.history.moments, scene.everyone, stamps, worlds, solid)
        gather_crowd(self._then_scene.crowd, then, scene.shapes, solid, worlds)
