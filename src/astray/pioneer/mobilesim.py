"""What MobileSim simulates differently: odometry errors, sensors and limits of a robot.

The wheels of our models have errors of radius and baseline that no datasheet states, and slip, so
that the belief drifts with the distance driven. MobileSim adds shares of distance and angle:

    none                  no error
    constant              always the same share
    random_init           a share within ± that, drawn once
    random_each_update    a share within ± that, drawn ten times per second

In a curve MobileSim moves straight within a cycle, along the heading at its start, and so drifts
outwards by half of the angle that it turns in a cycle. A model with one of these modes does, too.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from astray.errors import WrongInput, suggest
from astray.pioneer.models import RobotModel

REAL = "real"
MODES = (REAL, "none", "constant", "random_init", "random_each_update")
DEFAULT_MODE = "random_each_update"
UPDATE_RATE, READING_RATE = 10.0, 50.0  # Hz, of MobileSim's odometry and of ours

MAX_SPEEDS = {
    "p3dx": (1.0, 1.74),
    "p3at": (0.6, 0.75),
    "amigo": (0.5, 0.87),
    "amigo-sh": (0.75, 0.87),
    "powerbot": (2.0, 1.74),
    "peoplebot-sh": (0.75, 1.74),
    "patrolbot-sh": (2.0, 3.49),
    "mt400": (2.2, 8.72),
    "pioneer-lx": (2.0, 3.49),
    "seekur": (3.0, 1.74),
    "seekurjr": (1.2, 1.396),
}
"""Limits of MobileSim's robots, m/s and rad/s; "name-sh" has those of "name" unless listed."""

SONAR_NOISE, LASER_NOISE = 0.0005, 0.005  # m, widths of uniform distributions


def odometry_errors(model: RobotModel, mode: str) -> RobotModel:
    """Replace the odometry errors of a model.

    Args:
        model: The model.
        mode: "real" for the wheels of the model, or one of MobileSim's modes: "none", "constant",
            "random_init" or "random_each_update".

    Returns:
        The model with these errors.

    Raises:
        WrongInput: There is no such mode.
    """
    if mode not in MODES:
        raise WrongInput(
            f"unknown odometry error {mode!r}{suggest(mode, MODES)} ({', '.join(MODES)})"
        )
    if mode == REAL:
        return model
    distance, turn = model.way_error, model.turn_error
    # More readings, each with more jitter, have the same spread and update the belief more often.
    more = math.sqrt(READING_RATE / UPDATE_RATE)
    errors: dict[str, dict[str, Any]] = {
        "none": {},
        "constant": {"way_error": distance, "turn_error": turn},
        "random_init": {"way_error": _uniform(distance), "turn_error": _uniform(turn)},
        "random_each_update": {"way_jitter": distance * more, "turn_jitter": turn * more},
    }
    sensors = [
        {"kind": "odometer", "name": s.get("name", "wheels"), "rate": READING_RATE, **errors[mode]}
        if s["kind"] == "wheels"
        else s
        for s in model.robot["sensors"]
    ]
    motion = model.robot["motion"]
    if motion["kind"] == "differential":
        motion = {**motion, "lag": 0.5 / UPDATE_RATE}
    return dataclasses.replace(model, robot={**model.robot, "motion": motion, "sensors": sensors})


def _uniform(share: float) -> float | dict[str, list[float]]:
    """A uniform distribution within ± a share."""
    return {"uniform": [-share, share]} if share > 0.0 else 0.0


def like_mobilesim(model: RobotModel) -> RobotModel:
    """Give a model MobileSim's sensors, limits and odometry errors.

    A sonar is one ray that any surface returns, and all sonars are measured in every cycle. A scan
    is taken at one instant. Range errors are normal here and uniform there, with the same standard
    deviation. The laser of a p3dx stands in its middle, where ARIA assumes 18 mm ahead.

    Args:
        model: The model.

    Returns:
        The model as MobileSim simulates it.
    """
    model = odometry_errors(model, DEFAULT_MODE)
    base_name = model.name.removesuffix("-sh")
    own = (model.max_speed, model.max_turn)
    speed, turn = MAX_SPEEDS.get(model.name, MAX_SPEEDS.get(base_name, own))
    motion = {**model.robot["motion"], "max_speed": speed, "max_turn": turn}
    control = {**model.robot["control"], "speed": speed, "turn": turn}
    sensors = [_simplify_sensor(sensor, model) for sensor in model.robot["sensors"]]
    robot = {**model.robot, "motion": motion, "control": control, "sensors": sensors}
    return dataclasses.replace(model, robot=robot, max_speed=speed, max_turn=turn)


def _simplify_sensor(sensor: dict[str, Any], model: RobotModel) -> dict[str, Any]:
    if sensor["kind"] == "sonar":
        ray = {"cone": 0.0, "rays": 1, "incidence": 1.57, "crosstalk": 0.0, "at_once": 0}
        return {**sensor, **ray, "rate": 10, "sigma": SONAR_NOISE / math.sqrt(12)}
    if sensor["kind"] == "lidar":
        mount = {"x": 0.0} if model.name.startswith("p3dx") else {}
        return {**sensor, **mount, "sweep": 0.0, "sigma": LASER_NOISE / math.sqrt(12)}
    return sensor
