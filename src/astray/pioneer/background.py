"""Robots served in the background of a program: for tests, notebooks and examples."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from astray.engine import Event
from astray.pioneer.bridge import CYCLE, PioneerBridge
from astray.pioneer.connection import Log
from astray.pioneer.fleet import RobotSpec, plan_fleet
from astray.pioneer.session import SessionOptions
from astray.pioneer.snapshot import Pose
from astray.server import in_background
from astray.sim import Sim, load


def warm_up(sim: Sim) -> None:
    """Compile what the events of a session need as well, so that no client waits for it."""
    goals = {"mode": "servo", "distance": 1.0, "heading": 1.0}
    events = []
    for name, group in sim.robots.items():
        if not group.plan.count:
            events.append(Event("spawn", name, (0,), (0,)))
        events.append(Event("command", name, values=goals))
        events.append(Event("believe", name, values={"x": 0.0, "y": 0.0, "yaw": 0.0}))
        events.append(Event("place", name, values={"yaw": 0.0}))
    sim.warm_up(events, max(1, round(CYCLE / sim.dt)))


@contextlib.contextmanager
def serving(
    *robots: str,
    map: str | Mapping[str, Any] | None = None,
    start: Pose | str | None = None,
    odometry: str | None = None,
    port: int = 0,
    speed: float | None = 1.0,
    lockstep: bool = False,
    seed: int | None = None,
    options: SessionOptions | None = None,
    map_folder: Path | None = None,
    per_client: tuple[str, ...] = (),
    log: Log = lambda text: None,
) -> Iterator[PioneerBridge]:
    """Serve robots, "model" or "model:name", as long as the with block lasts.

    `wire.ports` are the numbers of their ports, which the system chooses unless one is given, and
    `wire.sim` is the run. In lockstep time waits for the clients, so that a test is repeatable.
    """
    options = options or SessionOptions()
    fleet = plan_fleet(
        [RobotSpec.parse(text, odometry, options.like_mobilesim) for text in robots],
        map=map,
        start=start,
        port=port,
        watchdog=not options.like_mobilesim,
        per_client=[RobotSpec.parse(text, odometry, options.like_mobilesim) for text in per_client],
    )
    sim = load(fleet.scenario, seed=seed)
    warm_up(sim)
    wire = PioneerBridge(
        sim, fleet.ports, options, lockstep=lockstep, map_folder=map_folder, log=log
    )
    wire.open()
    try:
        with in_background(sim, speed=speed):
            yield wire
    finally:
        wire.close()
