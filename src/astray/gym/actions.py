"""Actions: some columns of a command, in their units, within limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.spaces import Box

from astray.errors import WrongInput, suggest
from astray.plugin import Datasheet
from astray.tables import Array

Limits = Mapping[str, tuple[float, float]]
"""The smallest and the largest value of each column of a command that an agent may choose."""

COLUMNS = ("vx", "vy", "wz", "curvature")
HOLONOMIC = ("omni", "integrator")  # kinds of motion with a sideways speed


def motion_limits(motion: Datasheet) -> Limits:
    """The limits of the commands of a robot, from the datasheet of its motion."""
    values = motion.values
    if "max_speed" not in values:
        raise WrongInput(
            f"the motion {motion.kind!r} has no max_speed: "
            "say what agents may do, as actions={'vx': (0.0, 1.0), 'wz': (-1.0, 1.0)}"
        )
    max_speed = float(values["max_speed"])
    speed = float(values.get("min_speed", -max_speed)), max_speed
    if "max_steer" in values:
        max_curvature = math.tan(values["max_steer"]) / values["wheelbase"]
        return {"vx": speed, "curvature": (-max_curvature, max_curvature)}
    max_turn = float(values.get("max_turn", 1.0))
    sideways = {"vy": speed} if motion.kind in HOLONOMIC else {}
    return {"vx": speed, **sideways, "wz": (-max_turn, max_turn)}


class Actions:
    """The columns of a command that an agent chooses, with their limits."""

    def __init__(self, limits: Limits) -> None:
        for name, (low, high) in limits.items():
            if name not in COLUMNS:
                hint = suggest(name, COLUMNS)
                raise WrongInput(f"actions: no {name!r}{hint} ({', '.join(COLUMNS)})")
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise WrongInput(f"actions: {name} goes from {low} to {high}, which leaves nothing")
        if not limits or {"wz", "curvature"} <= set(limits):
            raise WrongInput("actions: some of vx, vy, and either wz or curvature")
        self.names = tuple(limits)
        self.low = np.array([low for low, _ in limits.values()], np.float32)
        self.high = np.array([high for _, high in limits.values()], np.float32)

    @property
    def space(self) -> Box:
        """The action space of one agent."""
        return Box(self.low, self.high, dtype=np.float32)

    def to_command(self, actions: Any, robots: int) -> dict[str, Array | str]:
        """Convert actions, (robots, columns), to a command; each is clipped to its limits."""
        given = np.asarray(actions, np.float64)
        if given.shape != (robots, len(self.names)):
            raise WrongInput(
                f"actions: {', '.join(self.names)} for each of {robots}, so the shape is "
                f"{(robots, len(self.names))}, not {given.shape}"
            )
        clipped = np.clip(given, self.low, self.high)
        command: dict[str, Array | str] = {name: clipped[:, k] for k, name in enumerate(self.names)}
        return command | ({"mode": "curvature"} if "curvature" in self.names else {})
