"""How wrong the odometry of a robot on the wire is: as a real one's, or as MobileSim makes it.

Of itself a model's wheels have errors of radius and baseline that no datasheet knows, and slip, so
that its belief goes astray with the way. MobileSim has shares of the way and of the turn instead:

    none                  no error at all
    constant              always the same share
    random_init           a share within ± that, drawn once
    random_each_update    a share within ± that, drawn anew ten times per second

Whoever asks for one of these gets its curves, too: there a robot goes straight on within a cycle,
along the heading that it began with, and so drifts outwards by half of what it turns in one.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from astray.errors import WrongInput, suggest
from astray.pioneer.model import RobotModel

REAL = "real"
MODES = (REAL, "none", "constant", "random_init", "random_each_update")
UPDATES, READINGS = 10.0, 50.0  # Hz, of MobileSim's odometry and of the wheels here


def odometry_errors(model: RobotModel, mode: str) -> RobotModel:
    """The model with another kind of odometry error."""
    if mode not in MODES:
        raise WrongInput(f"no odometry error {mode!r}{suggest(mode, MODES)} ({', '.join(MODES)})")
    if mode == REAL:
        return model
    way, turn, more = model.way_error, model.turn_error, math.sqrt(READINGS / UPDATES)
    modes: dict[str, dict[str, Any]] = {
        "none": {},
        "constant": {"way_error": way, "turn_error": turn},
        "random_init": {"way_error": _within(way), "turn_error": _within(turn)},
        # More readings, each with more jitter, spread as much and keep the belief fresh.
        "random_each_update": {"way_jitter": way * more, "turn_jitter": turn * more},
    }
    errors = modes[mode]
    sensors = [
        {"kind": "odometer", "name": s.get("name", "wheels"), "rate": READINGS, **errors}
        if s["kind"] == "wheels"
        else s
        for s in model.robot["sensors"]
    ]
    motion = model.robot["motion"]
    if motion["kind"] == "differential":
        motion = {**motion, "lag": 0.5 / UPDATES}
    robot = {**model.robot, "motion": motion, "sensors": sensors}
    return dataclasses.replace(model, robot=robot)


def _within(share: float) -> float | dict[str, list[float]]:
    """A share that is drawn within ± that."""
    return {"uniform": [-share, share]} if share > 0.0 else 0.0
