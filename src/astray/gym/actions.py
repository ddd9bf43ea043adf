"""What an agent does: an action is a few columns of a command, in their units, within limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from astray.errors import WrongInput, suggest
from astray.plugin import Datasheet
from astray.tables import Array

Limits = Mapping[str, tuple[float, float]]
"""The least and the largest value of each column of a command that an agent may choose."""

CHOICES = ("vx", "vy", "wz", "curvature")
SIDEWAYS = ("omni", "integrator")  # kinds of motion that go in any direction


def limits_of(motion: Datasheet) -> Limits:
    """What a robot can be told, by the datasheet of its motion."""
    known = motion.values
    if "max_speed" not in known:
        raise WrongInput(
            f"the motion {motion.kind!r} has no max_speed: "
            "say what agents may do, as actions={'vx': (0.0, 1.0), 'wz': (-1.0, 1.0)}"
        )
    fastest = float(known["max_speed"])
    speed = float(known.get("min_speed", -fastest)), fastest
    if "max_steer" in known:
        sharpest = math.tan(known["max_steer"]) / known["wheelbase"]
        return {"vx": speed, "curvature": (-sharpest, sharpest)}
    turn = float(known.get("max_turn", 1.0))
    across = {"vy": speed} if motion.kind in SIDEWAYS else {}
    return {"vx": speed, **across, "wz": (-turn, turn)}


class Actions:
    """The columns of a command that agents choose, with their limits."""

    def __init__(self, limits: Limits) -> None:
        for name, (low, high) in limits.items():
            if name not in CHOICES:
                hint = suggest(name, CHOICES)
                raise WrongInput(f"actions: no {name!r}{hint} ({', '.join(CHOICES)})")
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise WrongInput(f"actions: {name} goes from {low} to {high}, which leaves nothing")
        if not limits or {"wz", "curvature"} <= set(limits):
            raise WrongInput("actions: some of vx, vy, and either wz or curvature")
        self.names = tuple(limits)
        self.low = np.array([low for low, _ in limits.values()], np.float32)
        self.high = np.array([high for _, high in limits.values()], np.float32)

    def command(self, actions: Any, robots: int) -> dict[str, Array | str]:
        """The command of actions, (robots, columns); those beyond the limits are at them."""
        given = np.asarray(actions, np.float64)
        if given.shape != (robots, len(self.names)):
            raise WrongInput(
                f"actions: {', '.join(self.names)} for each of {robots}, so the shape is "
                f"{(robots, len(self.names))}, not {given.shape}"
            )
        chosen = np.clip(given, self.low, self.high)
        said: dict[str, Array | str] = {name: chosen[:, k] for k, name in enumerate(self.names)}
        return said | ({"mode": "curvature"} if "curvature" in self.names else {})
