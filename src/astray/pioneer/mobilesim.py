"""A model as MobileSim has it: simpler sensors, its own limits, an odometry that hardly drifts.

A sonar is one ray that comes back from whatever it meets, and all of them are heard with every
packet; a scan is taken at once. Errors of ranges are uniform there and normal here, with the same
standard deviation. The laser is in the middle of a p3dx, where ARIA takes it to be 18 mm ahead.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from astray.pioneer.model import RobotModel
from astray.pioneer.odometry import odometry_errors

SPEEDS = {
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
"""The most that its robots do, m/s and rad/s; one with -sh is as the one without."""

SONAR_NOISE, LASER_NOISE = 0.0005, 0.005  # m, from the least to the most
ODOMETRY = "random_each_update"


def like_mobilesim(model: RobotModel) -> RobotModel:
    """The model with what MobileSim has in the place of sensors, limits and wheels."""
    model = odometry_errors(model, ODOMETRY)
    plain = model.name.removesuffix("-sh")
    own = (model.max_speed, model.max_turn)
    speed, turn = SPEEDS.get(model.name, SPEEDS.get(plain, own))
    motion = {**model.robot["motion"], "max_speed": speed, "max_turn": turn}
    control = {**model.robot["control"], "speed": speed, "turn": turn}
    sensors = [_simpler(sensor, model) for sensor in model.robot["sensors"]]
    robot = {**model.robot, "motion": motion, "control": control, "sensors": sensors}
    return dataclasses.replace(model, robot=robot, max_speed=speed, max_turn=turn)


def _simpler(sensor: dict[str, Any], model: RobotModel) -> dict[str, Any]:
    if sensor["kind"] == "sonar":
        ray = {"cone": 0.0, "rays": 1, "incidence": 1.57, "crosstalk": 0.0, "at_once": 0}
        return {**sensor, **ray, "rate": 10, "sigma": SONAR_NOISE / math.sqrt(12)}
    if sensor["kind"] == "lidar":
        middle = {"x": 0.0} if model.name.startswith("p3dx") else {}
        return {**sensor, **middle, "sweep": 0.0, "sigma": LASER_NOISE / math.sqrt(12)}
    return sensor
