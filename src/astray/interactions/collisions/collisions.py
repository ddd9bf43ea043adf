"""Collisions: robots pass neither through walls nor through each other, at any speed and tick.

Between the pose before a tick and the pose after it a robot follows the arc of a constant twist
(`swept_motion.py`). The broadphase lists the robots that may meet something (`broadphase.py`).
Each is swept along its arc and stops SKIN before what it meets first (`time_of_impact.py`): a wall
(`robot_wall.py`) or another robot, all moving at the same time (`robot_robot.py`). Then the
response decides about the rest of its motion (`response.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from astray.interactions.collisions.broadphase import (
    find_busy,
    find_pairs,
    list_active,
    ticks_without_walls,
)
from astray.interactions.collisions.collision_log import CollisionLog
from astray.interactions.collisions.context import (
    BEFORE,
    COUNTS,
    MEMORY,
    PAIR,
    WORLD,
    CollisionContext,
    remember_state,
    reset_rows,
    update_inside,
)
from astray.interactions.collisions.response import (
    begin_slides,
    begin_turns,
    finish_slides,
    finish_stops,
    write_collision_states,
)
from astray.interactions.collisions.robot_robot import resolve_robot_collisions
from astray.interactions.collisions.robot_wall import resolve_wall_collisions
from astray.interactions.collisions.swept_motion import SWEPT_MOTION
from astray.numerics import compiled_for, kernel
from astray.plugin import Datasheets, Interaction, Scene
from astray.tables import Array, Rows, Table, table, write_records
from astray.world.geometry import make_nearest_segments

MOST_SLIDES = 3  # times that a motion is deflected in a tick
FEW = 64  # robots that are likely to be away from all walls at the same time

# One tick.


@kernel
def move_until_contact(
    ctx: CollisionContext, moving: Rows, active: Rows, pairs: Table, dt: float
) -> int:
    """End the motions where robots meet something, write collisions; how many were blocked."""
    resolve_wall_collisions(ctx, moving)
    resolve_robot_collisions(ctx, pairs)
    return write_collision_states(ctx, active, dt)


@kernel
def respond(ctx: CollisionContext, active: Rows, pairs: Table, dt: float, slides: bool) -> None:
    """Move blocked robots on as far as the response lets them."""
    last = MOST_SLIDES if slides else 1
    for phase in range(1, last + 1):
        ctx.counts[0].phase = phase
        moving = begin_slides(ctx, active) if slides else begin_turns(ctx, active)
        if moving == 0:
            break
        move_until_contact(ctx, ctx.busy[:moving], active, pairs, dt)
    if slides:
        finish_slides(ctx, active, dt)
    else:
        finish_stops(ctx, active, dt)


@kernel
def resolve_tick(
    ctx: CollisionContext, rows: Rows, dt: float, slides: bool, with_robots: bool
) -> bool:
    """Resolve the collisions of these rows; False, with nothing done, if there are too many pairs.

    `counts.pairs` is then the capacity that is needed.
    """
    counts = ctx.counts[0]
    counts.pairs = find_pairs(ctx, rows, slides) if with_robots else 0
    if counts.pairs > len(ctx.pairs):
        return False
    counts.busy, counts.active, counts.phase = find_busy(ctx, rows), 0, 0
    if counts.busy + counts.pairs == 0:
        return True
    busy, pairs = ctx.busy[: counts.busy], ctx.pairs[: counts.pairs]
    counts.active = list_active(ctx, busy, pairs)
    active = ctx.active[: counts.active]
    if move_until_contact(ctx, busy, active, pairs, dt) > 0:
        respond(ctx, active, pairs, dt, slides)
    for i in active:
        ctx.motions[i].listed = False
    return True


class Collisions(Interaction, kind="collisions"):
    """Robots stop at walls and at each other, slide along them, or are removed."""

    remembers = MEMORY
    fixed = ("robots",)
    response: Literal["stop", "slide", "remove"] = "stop"  # of a robot that collides
    robots: bool = True  # whether robots collide with each other, too

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Allocate memory for n robots."""
        self.before = table(BEFORE, n)
        self.motions = table(SWEPT_MOTION, n + 1)
        self.busy, self.active = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
        self.pairs = table(PAIR, 4 * n)
        self.counts = table(COUNTS, 1)
        self.nearest = make_nearest_segments(0)
        self.by_world = table(WORLD, 0)
        self.with_robots = False
        self._context: CollisionContext | None = None
        # Kernels, compiled for the types of what they are given here.
        self._resolve_tick: Callable[..., bool] | None = None
        self._ticks_without_walls: Callable[..., int] | None = None
        self._reset_rows: Callable[..., None] | None = None
        self.log = CollisionLog()

    def prepare(self, rows: Rows, scene: Scene) -> None:
        """Keep the state of these rows before they move."""
        remember_state(self.before, scene.truth, rows)

    def quiet_ticks(self, rows: Rows, scene: Scene, speed_bound: Callable[[], Array]) -> int:
        """The ticks in which no row can meet anything, where rows are few and alone in worlds."""
        if len(rows) > FEW:
            return 0
        context = self._update_context(scene)
        if self.with_robots:
            return 0
        self.before["top_speed"] = speed_bound()
        if self._ticks_without_walls is None:
            self._ticks_without_walls = compiled_for(ticks_without_walls, context, rows, self.dt)
        return self._ticks_without_walls(context, rows, self.dt)

    def resumed(self) -> None:
        """Forget all free discs: they were computed for another map, or another position."""
        self.before["free_radius"] = 0.0

    def interact(self, rows: Rows, scene: Scene) -> Rows | None:
        """Resolve the collisions of these rows; those to be removed, if that is the response."""
        hit = self._resolve(rows, scene)
        if not len(hit):
            return None
        self.log.write(scene.truth, scene.collisions, self.memory, hit)
        return hit if self.response == "remove" else None

    def placed(self, rows: Rows, scene: Scene, solid: Rows) -> None:
        """Find what these rows overlap where they were placed: they touch it and are stalled."""
        self._update_context(scene)
        if not self.with_robots:
            self._find_overlaps(rows, rows, scene)
            return
        # All robots of these worlds take part; those that were not placed keep their collisions.
        there = solid[np.isin(scene.worlds[solid], scene.worlds[rows])]
        others = np.setdiff1d(there, rows)
        kept = scene.collisions.take(others), self.memory.take(others)
        self._find_overlaps(rows, there, scene)
        write_records(scene.collisions, others, kept[0])
        write_records(self.memory, others, kept[1])

    def _find_overlaps(self, rows: Rows, there: Rows, scene: Scene) -> None:
        """Write and log the collisions of placed rows with walls and the rows that are there."""
        remember_state(self.before, scene.truth, there)
        context = self._update_context(scene)
        given = context, scene.map.solids, np.ascontiguousarray(rows, np.int64)
        if self._reset_rows is None:
            self._reset_rows = compiled_for(reset_rows, *given)
        self._reset_rows(*given)
        hit = self._resolve(there, scene)
        hit = hit if there is rows else hit[np.isin(hit, rows)]
        self.log.write(scene.truth, scene.collisions, self.memory, hit)

    def _resolve(self, rows: Rows, scene: Scene) -> Rows:
        """Resolve the collisions of these rows; the rows that touch something."""
        slides, context = self.response == "slide", self._update_context(scene)
        if self._resolve_tick is None:
            self._resolve_tick = compiled_for(
                resolve_tick, context, rows, self.dt, slides, self.with_robots
            )
        while not self._resolve_tick(context, rows, self.dt, slides, self.with_robots):
            self.pairs = table(PAIR, 2 * int(self.counts["pairs"][0]))
            context = self._update_context(scene)
        active = self.active[: int(self.counts["active"][0])]
        if not len(active):
            return active
        inside = active[self.memory["inside"][active]]
        if len(inside):
            update_inside(self._update_context(scene), scene.map.solids, inside)
        hit: Rows = active[scene.collisions["touching"][active]]
        return hit

    def _update_context(self, scene: Scene) -> CollisionContext:
        """What kernels are given; the same object as long as it holds the same things."""
        walls, context = scene.map.index, self._context
        if context and context.shares(walls, scene.truth, scene.robot_grid, self.pairs):
            return context
        if len(self.nearest.numbers) <= len(walls.ends):
            self.nearest = make_nearest_segments(len(walls.ends))
        if len(self.by_world) != len(scene.robot_grid.grids):
            self.by_world = table(WORLD, len(scene.robot_grid.grids))
            alone = len(np.unique(scene.worlds)) == len(scene.worlds)
            self.with_robots = self.robots and not alone
        self._context = CollisionContext(
            truth=scene.truth,
            collisions=scene.collisions,
            memory=self.memory,
            before=self.before,
            motions=self.motions,
            shapes=scene.shapes,
            worlds=scene.worlds,
            map_of_world=scene.map.of_world,
            walls=walls,
            nearest=self.nearest,
            robots=scene.robot_grid,
            busy=self.busy,
            active=self.active,
            pairs=self.pairs,
            by_world=self.by_world,
            counts=self.counts,
        )
        return self._context
