"""Robots do not pass through walls, nor through each other, however fast they are and long a tick.

Between the pose before a tick and the pose after it a robot follows the arc of a constant twist
(`world/path.py`). Its footprint is swept along it (`world/advance.py`) and stops SKIN before what
it meets first: a wall (`world/wallrun.py`) or another robot, all moving at the same time
(`world/jostle.py`). Then the response decides about the rest of the motion (`response.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from astray.interactions.collisions.collision_context import (
    ACTIVE,
    LAST,
    MEMORY,
    PAIRS,
    CollisionContext,
    look_inside,
    put_down,
    remember,
)
from astray.interactions.collisions.collision_log import CollisionLog
from astray.interactions.collisions.quiet_ticks import spare_ticks
from astray.interactions.collisions.robot_robot import PAIR
from astray.interactions.collisions.solve_tick import SLIDE, STOP, collide
from astray.interactions.collisions.swept_motion import PATH
from astray.numerics import compiled_for
from astray.plugin import Datasheets, Interaction, Scene
from astray.tables import Array, Rows, put, table
from astray.world.geometry import make_nearest_segments

FEW = 64  # robots that one can hope to find away from all walls at the same time


class Collisions(Interaction, kind="collisions"):
    """Robots stop at walls and at each other, slide along them, or are removed."""

    remembers = MEMORY
    fixed = ("robots",)
    response: Literal["stop", "slide", "remove"] = "stop"  # of who ran into something
    robots: bool = True  # whether robots meet each other, too

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Make room for n robots."""
        self.last = table(LAST, n)
        self.paths = table(PATH, n + 1)
        self.busy, self.active = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
        self.pairs = table(PAIR, 4 * n)
        self.counts = np.zeros(4, np.int64)
        self.listing, self.fronts = make_nearest_segments(0), np.zeros(0)
        self.crowded = False
        self._last_stage: CollisionContext | None = None
        # The code of two kernels for what they are given here.
        self._code: Callable[..., bool] | None = None
        self._put_down: Callable[..., None] | None = None
        self.log = CollisionLog()

    def prepare(self, rows: Rows, scene: Scene) -> None:
        """Note where these rows are."""
        remember(self.last, scene.truth, rows)

    def spare(self, rows: Rows, scene: Scene, fastest: Callable[[], Array]) -> int:
        """The ticks for which no row can meet a wall, where there are few and no others to meet."""
        if len(rows) > FEW:
            return 0
        stage = self._stage(scene)
        if self.crowded:
            return 0
        self.last["fastest"] = fastest()
        return spare_ticks(stage, rows, self.dt)

    def resumed(self) -> None:
        """Look for walls anew: those that were known are of another map, or place."""
        self.last["free"] = 0.0

    def interact(self, rows: Rows, scene: Scene) -> Rows | None:
        """Stop these rows where they ran into something."""
        hit = self._collide(rows, scene)
        if not len(hit):
            return None
        self.log.write(scene.truth, scene.contacts, self.memory, hit)
        return hit if self.response == "remove" else None

    def placed(self, rows: Rows, scene: Scene, solid: Rows) -> None:
        """Look what these rows overlap where they were put: they touch it, and are stalled."""
        self._stage(scene)
        if not self.crowded:
            self._look_around(rows, rows, scene)
            return
        # Those of the same worlds, too; what they know of the last tick stays as it is.
        everyone = solid[np.isin(scene.worlds[solid], scene.worlds[rows])]
        others = np.setdiff1d(everyone, rows)
        kept = scene.contacts.take(others), self.memory.take(others)
        self._look_around(rows, everyone, scene)
        put(scene.contacts, others, kept[0])
        put(self.memory, others, kept[1])

    def _look_around(self, rows: Rows, everyone: Rows, scene: Scene) -> None:
        """Let rows that were put somewhere meet what is there, be it among everyone."""
        remember(self.last, scene.truth, everyone)
        given = self._stage(scene), scene.map.solids, np.ascontiguousarray(rows, np.int64)
        if self._put_down is None:
            self._put_down = compiled_for(put_down, *given)
        self._put_down(*given)
        hit = self._collide(everyone, scene)
        hit = hit if everyone is rows else hit[np.isin(hit, rows)]
        self.log.write(scene.truth, scene.contacts, self.memory, hit)

    def _collide(self, rows: Rows, scene: Scene) -> Rows:
        """Stop these rows where they ran into something; the rows that touch something."""
        response, stage = SLIDE if self.response == "slide" else STOP, self._stage(scene)
        if self._code is None:
            self._code = compiled_for(collide, stage, rows, self.dt, response, self.crowded)
        while not self._code(stage, rows, self.dt, response, self.crowded):
            self.pairs = table(PAIR, 2 * int(self.counts[PAIRS]))
            stage = self._stage(scene)
        active = self.active[: self.counts[ACTIVE]]
        if not len(active):
            return active
        inside = active[self.memory["inside"][active]]
        if len(inside):
            look_inside(self._stage(scene), scene.map.solids, inside)
        hit: Rows = active[scene.contacts["touching"][active]]
        return hit

    def _stage(self, scene: Scene) -> CollisionContext:
        """All that kernels are given; the same again as long as it is of the same things."""
        index, stage = scene.map.index, self._last_stage
        if stage and stage.is_of(index.ends, scene.truth, scene.crowd, self.pairs):
            return stage
        if len(self.listing[0]) <= len(index.ends):
            self.listing = make_nearest_segments(len(index.ends))
        if len(self.fronts) != len(scene.crowd.grids):
            self.fronts = np.zeros(len(scene.crowd.grids))
            alone = len(np.unique(scene.worlds)) == len(scene.worlds)
            self.crowded = self.robots and not alone
        self._last_stage = CollisionContext(
            scene.truth,
            self.memory,
            self.last,
            self.paths,
            scene.worlds,
            scene.shapes.table,
            scene.shapes.corners,
            index.ends,
            index.faces,
            index.cells,
            index.grids,
            index.plans,
            scene.map.of_world,
            self.listing,
            self.fronts,
            scene.contacts,
            self.busy,
            self.active,
            self.pairs,
            scene.crowd,
            self.counts,
        )
        return self._last_stage
