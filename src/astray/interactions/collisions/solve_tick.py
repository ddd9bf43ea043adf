"""One tick of everybody: a look around, the motion until they meet something, the response."""

from __future__ import annotations

from astray.interactions.collisions.broadphase import enlist, find_pairs, measure, watch
from astray.interactions.collisions.collision_context import (
    ACTIVE,
    BUSY,
    PAIRS,
    PHASE,
    CollisionContext,
)
from astray.interactions.collisions.contact_point import contact_point
from astray.interactions.collisions.face_walls import face_walls
from astray.interactions.collisions.response import glide, hold, slide_on, turn_on
from astray.interactions.collisions.robot_robot import resolve_robot_collisions
from astray.interactions.collisions.swept_motion import pose_at
from astray.numerics import bearing_to, kernel
from astray.tables import Rows, Table
from astray.world.geometry import fill_cells, lay_grids

STOP, SLIDE = range(2)
SLIDES = 3  # times that a motion is turned aside in a tick


@kernel
def report(stage: CollisionContext, rows: Rows, dt: float) -> int:
    """Write the contacts of these rows that have none in this tick; how many were stopped."""
    paths, memory, contacts = stage.paths, stage.memory, stage.contacts
    stopped = 0
    for i in rows:
        p, c = paths[i], contacts[i]
        if stage.counts[PHASE] == 0:
            memory[i].deep = p.overlaps
        stopped += 1 if p.blocked else 0
        if not (p.blocked or p.touched or p.overlaps):
            continue
        if not c.touching:
            c.touching = True
            c.other = p.other
            c.x, c.y = contact_point(p, paths, stage.shapes, stage.corners, stage.ends)
            c.speed = p.closing / dt
            c.bearing = bearing_to(pose_at(p, p.end), c.x, c.y)
        c.stalled = c.stalled or p.blocked or p.overlaps
    return stopped


@kernel
def run(stage: CollisionContext, moving: Rows, active: Rows, pairs: Table, dt: float) -> int:
    """Let those who move do so until they meet something, the others stand; how many stopped."""
    face_walls(stage, moving)
    resolve_robot_collisions(stage.paths, pairs, stage.shapes, stage.corners, stage.fronts)
    return report(stage, active, dt)


@kernel
def respond(stage: CollisionContext, active: Rows, pairs: Table, dt: float, response: int) -> None:
    """Let those who were stopped go on as far as the response says."""
    last = 1 if response == STOP else SLIDES
    for phase in range(1, last + 1):
        stage.counts[PHASE] = phase
        moving = turn_on(stage, active) if response == STOP else slide_on(stage, active)
        if moving == 0:
            break
        run(stage, stage.busy[:moving], active, pairs, dt)
    if response == STOP:
        hold(stage, active, dt)
    else:
        glide(stage, active, dt)


@kernel
def find_company(stage: CollisionContext, rows: Rows, response: int) -> int:
    """List the pairs of these rows that may meet; how many there are."""
    measure(stage, rows, 1.0 if response == SLIDE else 0.0)
    crowd, worlds = stage.crowd, stage.worlds
    lay_grids(crowd.grids, stage.truth, stage.shapes, rows, worlds)
    fill_cells(crowd, stage.truth, stage.shapes, rows, worlds)
    return find_pairs(stage)


@kernel
def collide(stage: CollisionContext, rows: Rows, dt: float, response: int, crowded: bool) -> bool:
    """Stop these rows where they ran into something; nothing, and False, if pairs lack room."""
    counts = stage.counts
    counts[PAIRS] = find_company(stage, rows, response) if crowded else 0
    if counts[PAIRS] > len(stage.pairs):
        return False
    counts[BUSY], counts[ACTIVE], counts[PHASE] = watch(stage, rows), 0, 0
    if counts[BUSY] + counts[PAIRS] == 0:
        return True
    busy, pairs = stage.busy[: counts[BUSY]], stage.pairs[: counts[PAIRS]]
    counts[ACTIVE] = enlist(stage, busy, pairs)
    active = stage.active[: counts[ACTIVE]]
    if run(stage, busy, active, pairs, dt) > 0:
        respond(stage, active, pairs, dt, response)
    for i in active:
        stage.paths[i].made = False
    return True
