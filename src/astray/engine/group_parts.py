"""What a group of equal robots is made of: its tables, and the plugins that work on them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from astray.engine.sensor_pipeline import Channel
from astray.errors import PluginError
from astray.numerics.schedule import beat
from astray.plugin import Known, Plugin, Scene
from astray.plugin.reading import Reading
from astray.plugin.row_initializer import Blank, Part
from astray.plugin.tracks import Tracks
from astray.scenario.scenario import GroupPlan
from astray.tables import COMMAND, DRIVE, STATE, STOP, Table, table
from astray.world.maps.map_set import Atlas


class Parts:
    """Tables with a row for each robot in each world, ordered by world, and the plugins."""

    def __init__(self, plan: GroupPlan, scene: Scene, address: Table, dt: float, seed: int) -> None:
        self.plan = plan
        self.name = plan.name
        self.seed = seed
        self.dt = dt
        self.scene = scene
        self.truth = scene.truth
        self.address = address
        self.ticks = address["tick"]  # a view
        self.world_of_row = scene.worlds
        n = len(self.truth)
        self.time = np.zeros(n)
        self.commands = table(COMMAND, n)
        self.drives = table(DRIVE, n)
        self._attach(plan)
        self._states = list({id(t): t for t in (self.truth, *self.beliefs().values())}.values())
        self._blank = Blank(self._blanks())
        self._starting = [plugin for plugin in self.plugins if not plugin.starts_blank]

    def _attach(self, plan: GroupPlan) -> None:
        n = len(self.truth)
        sheets = plan.sheets()
        self.plugins: list[Plugin] = []

        def attach(plugin: Any) -> Any:
            try:
                bound = plugin.attach(self.address, sheets, self.dt, self.seed, self.name)
            except PluginError as problem:
                raise PluginError(f"robot {self.name!r}: {problem}") from None
            self.plugins.append(bound)
            return bound

        self.motion = attach(plan.motion)
        self.autonomy = attach(plan.autonomy)
        self.control = attach(plan.control)
        self.deciding = beat(plan.autonomy.rate, plan.autonomy.offset, self.dt)
        self.steering = beat(plan.control.rate, plan.control.offset, self.dt)
        self.channels = {s.name: Channel(attach(s), n) for s in plan.sensors}
        self.readings: dict[str, Reading] = {k: c.arrived for k, c in self.channels.items()}
        self.estimator = attach(plan.estimator) if plan.estimator else None
        # Without an estimator a robot believes the truth: the same memory, not a copy.
        self.belief = table(STATE, n) if self.estimator else self.truth
        self.rivals = {r.name: table(STATE, n) for r in plan.rivals}
        self.tracker = attach(plan.contacts) if plan.contacts else None
        self.contacts = Tracks(n, self.tracker.slots if self.tracker else 0)
        self.scene.body = self.motion.params
        self.known = Known(
            self.belief,
            self.readings,
            self.time,
            worlds=self.world_of_row,
            contacts=self.contacts,
        )
        self.estimators = [(self.estimator, self.belief, self.known)] if self.estimator else []
        for rival in plan.rivals:
            mine = self.rivals[rival.name]
            known = dataclasses.replace(self.known, belief=mine)
            self.estimators.append((attach(rival), mine, known))

    def _blanks(self) -> Iterator[Part]:
        """All that is to be blank where a row starts, but for what judges keep."""
        standing = table(DRIVE, 1)
        standing["curvature"] = np.nan
        yield from ((self.commands, STOP), (self.drives, standing))
        yield from ((state, None) for state in self._states)
        for channel in self.channels.values():
            yield from channel.blanks()
        for plugin in self.plugins:
            yield from plugin.blanks()

    def knows(self, map: Atlas) -> None:
        """Give the robots a map."""
        for known in (self.known, *(known for _, _, known in self.estimators)):
            known.map = map

    def beliefs(self) -> dict[str, Table]:
        """The belief and the rivals' beliefs, by name."""
        return {"belief": self.belief, **self.rivals}
