"""Fits a robot of a scenario for the wire: limits that a session sets, and its firmware's servo."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astray.errors import Fault, ScenarioError, WrongInput
from astray.files import mark
from astray.plugin import distributions
from astray.scenario import load_scenario, merge_layers, with_presets
from astray.scenario.importers import wheels

MOST_ACCEL, MOST_DECEL, MOST_TURN_ACCEL = 2.0, 10.0, 6.28
"""The most that a session may ask of a robot, m/s² and rad/s²; an emergency stop takes 9.999."""

# MobileSim turns by 1/s of what is left, ten times per second: it leaves 0.9 of it each time.
HEADING_GAIN = -10.0 * math.log(0.9)  # 1/s
SERVO = {
    "kind": "servo",
    "gain": HEADING_GAIN,
    "slow_within": 1.0,
    "tolerance": 0.0001,
    "turn_tolerance": 0.0003,
    "creep": 0.002,
    "turn_creep": 0.007,
    "decel": MOST_DECEL,
    "turn_decel": MOST_TURN_ACCEL,
}
"""How MOVE, HEAD and DHEAD are closed."""

LASER_RATE = 10.0  # Hz: a scan with every packet of the robot
MOTIONS = ("differential", "omni")  # that have limits along and around, and wheels to believe
DEVICES = {"sonar": "sonar", "laser": "lidar", "bumper": "bumper"}
OWN = ("name", "count", "capacity", "start", "map")  # of a group in a run, not of a kind of robot


@dataclass(frozen=True)
class Fitted:
    """A robot for the wire, the names of its devices, and the limits of its motion."""

    robot: dict[str, Any]
    devices: dict[str, str | None]
    limits: dict[str, float]


def fit(written: Any, folder: Path, file: str = "") -> Fitted:
    """Fit a robot as scenarios take it; presets are looked for in the folder, too."""
    if not isinstance(written, Mapping):
        raise WrongInput(f"{file}: robot: a robot is a mapping of keys to values")
    robot = _with_presets(written, folder)
    robot = {key: value for key, value in robot.items() if key not in OWN}
    robot.setdefault("motion", {"kind": "differential"})
    robot.setdefault("sensors", [])
    _check(robot, file)
    motion = robot["motion"]
    if motion["kind"] not in MOTIONS:
        kinds = ", ".join(MOTIONS)
        raise WrongInput(f"{file}: ARIA cannot drive a motion {motion['kind']!r} ({kinds})")
    if not robot.get("estimator"):  # it has to believe something that its clients can set
        own = {s["kind"] for s in robot["sensors"]}
        robot["sensors"] = [*robot["sensors"], *([] if "wheels" in own else [wheels()])]
        robot["estimator"] = {"kind": "odometry"}
    devices = {device: _first(robot, kind) for device, kind in DEVICES.items()}
    limits = {
        name: distributions.nominal(distributions.parse(motion[name]))
        for name in ("accel", "decel", "turn_accel", "max_speed", "max_turn")
        if name in motion
    }
    if robot.get("control", SERVO)["kind"] != "servo":
        del robot["control"]
    above = mark(_above(devices, limits), "robot")
    return Fitted(merge_layers(mark(robot, "robot"), above).plain(), devices, limits)


def _above(devices: Mapping[str, str | None], limits: Mapping[str, float]) -> dict[str, Any]:
    """What a robot has on the wire over what it has in any scenario."""
    sensors: list[dict[str, Any]] = []
    if devices["sonar"]:
        sensors.append({"kind": "sonar", "name": devices["sonar"], "clamp": True})
    if devices["laser"]:
        sensors.append({"kind": "lidar", "name": devices["laser"], "rate": LASER_RATE})
    servo = {"speed": "max_speed", "turn": "max_turn"}
    return {
        "motion": {"accel": MOST_ACCEL, "decel": MOST_DECEL, "turn_accel": MOST_TURN_ACCEL},
        "control": SERVO | {own: limits[name] for own, name in servo.items() if name in limits},
        "autonomy": {"kind": "remote"},
        "sensors": sensors,
    }


def _with_presets(robot: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A robot with the presets that it names merged into it."""
    faults: list[Fault] = []
    tree = with_presets(mark({"robots": [dict(robot)]}, "robot"), folder, faults)
    if faults:
        raise ScenarioError(faults)
    merged: dict[str, Any] = tree.plain()["robots"][0]
    return merged


def _check(robot: Mapping[str, Any], file: str) -> None:
    """Refuse a robot that no scenario would take; those that come with astray are right."""
    if not file:
        return
    try:
        load_scenario({"robots": [{**robot, "name": "robot"}]})
    except ScenarioError as problem:
        faults = [(fault.path.replace("robots[0]", "robot"), fault) for fault in problem.faults]
        lines = [f"{file}: {path}: {fault.message}" for path, fault in faults]
        raise WrongInput("\n".join(lines)) from None


def _first(robot: Mapping[str, Any], kind: str) -> str | None:
    """The name of the first sensor of a kind."""
    return next((str(s.get("name", kind)) for s in robot["sensors"] if s["kind"] == kind), None)
