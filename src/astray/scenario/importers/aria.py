"""ARIA's parameter files (.p): sections of `Key value` lines that describe one type of robot.

A semicolon begins a comment; keys and sections are not case-sensitive. Lengths are in mm, angles in
degrees. Unknown keys are ignored, as ARIA does. A value of 0 means the robot's default where 0
makes no sense.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from astray.scenario.importers.robot_file import (
    MAX_SONARS,
    WHEEL_RADIUS,
    RobotFile,
    chamfered_box,
    lidar,
    mobilesim_lidar_type,
    pioneer_encoders,
    raise_faults,
    read_text,
    sonar,
    wheel_baseline,
)

CONVERSION_FACTORS = {
    "distconvfactor": ("distance_factor", float),
    "angleconvfactor": ("angle_factor", float),
    "velconvfactor": ("speed_factor", float),
    "rangeconvfactor": ("range_factor", float),
    "diffconvfactor": ("wheel_factor", float),
    "vel2divisor": ("vel2_divisor", int),
}
ACCELERATIONS = (
    ("transaccel", "accel", 0.001),
    ("transdecel", "decel", 0.001),
    ("rotaccel", "turn_accel", math.radians(1)),
    ("rotdecel", "turn_decel", math.radians(1)),
)
"""Key, parameter of the model, and the factor to m/s² or rad/s²."""
MISSING_SONAR = (0.0, 0.0, math.pi)  # the mount of a number without a SonarUnit
BUMPER_HALF_ANGLE = 1.4  # rad to either side that bumpers cover


@dataclass
class ParameterFile:
    """The entries of a file by section and key, each with its words and its line number."""

    sections: dict[str, dict[str, tuple[list[str], int]]] = field(default_factory=dict)
    sonar_units: list[tuple[list[str], int]] = field(default_factory=list)
    faults: list[tuple[int, str]] = field(default_factory=list)
    """Line numbers and messages."""

    def find(self, key: str, section: str | None = None) -> tuple[list[str], int] | None:
        """The entry of a key in a section, or by default in the first section that has it."""
        if section is not None:
            return self.sections.get(section, {}).get(key)
        return next((s[key] for s in self.sections.values() if key in s), None)

    def number(
        self, key: str, default: float, section: str | None = None, least: float = 0.0
    ) -> float:
        """A number of at least `least`; the default, and a fault, if it is not one."""
        entry = self.find(key, section)
        if entry is None or not entry[0]:
            return default
        (word, *_), line = entry
        value = _parse_number(word)
        if value is None or value < least:
            allowed = "a number" if least < 0.0 else f"a number from {least:g} on"
            self.faults.append((line, f"{key} is {word[:40]!r}: it must be {allowed}"))
            return default
        return value

    def nonzero(self, key: str, default: float) -> float:
        """A number of which 0 means the default."""
        return self.number(key, 0.0) or default

    def word(self, key: str, section: str | None = None) -> str:
        """The first word of an entry; empty if there is none."""
        entry = self.find(key, section)
        return entry[0][0] if entry and entry[0] else ""


def read_aria_robot(file: str | Path) -> RobotFile:
    """Read the robot of a parameter file.

    Args:
        file: The file.

    Returns:
        The robot.

    Raises:
        WrongInput: With every fault and its line.
    """
    file = Path(file)
    parameters = _parse(read_text(file))
    name = parameters.word("subclass").lower()
    if not name:
        parameters.faults.append((1, "no Subclass: ARIA could not tell which robot this is"))
    robot, model_parameters = _robot(parameters), _model_parameters(parameters)
    raise_faults(parameters.faults, file)
    return RobotFile(name, robot, model_parameters)


def _parse(text: str) -> ParameterFile:
    parameters, section = ParameterFile(), ""
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition(";")[0].split()
        if not words:
            continue
        key = words[0].lower()
        if key == "section":
            section = " ".join(words[1:]).lower()
        elif key == "sonarunit":
            parameters.sonar_units.append((words[1:], number))
        else:
            parameters.sections.setdefault(section, {})[key] = (words[1:], number)
    return parameters


def _model_parameters(parameters: ParameterFile) -> dict[str, Any]:
    """The conversion factors and accelerations of the robot's protocol."""
    found: dict[str, Any] = {"robot_class": parameters.word("class") or "Pioneer"}
    for key, (name, number_type) in CONVERSION_FACTORS.items():
        value = parameters.number(key, 0.0)
        if value > 0.0:
            found[name] = number_type(value)
    if parameters.number("maxlatvelocity", 0.0) > 0.0:
        found["lateral"] = True
    section = _laser_section(parameters)
    if section is not None:
        found["laser_type"] = mobilesim_lidar_type(parameters.word("lasertype", section))
    for key, name, unit in ACCELERATIONS:
        value = parameters.number(key, 0.0)
        if value > 0.0:
            found[name] = value * unit
    return found


def _robot(parameters: ParameterFile) -> dict[str, Any]:
    """The robot as plain data, as in a scenario."""
    diameter_mm = 2 * parameters.nonzero("robotradius", 250.0)
    length_mm = parameters.nonzero("robotlength", diameter_mm)
    front = parameters.nonzero("robotlengthfront", length_mm / 2) / 1000
    rear = parameters.nonzero("robotlengthrear", length_mm / 2) / 1000
    width = parameters.nonzero("robotwidth", diameter_mm) / 1000
    half_front = parameters.nonzero("robotdiagonal", 500 * width) / 1000
    sensors = [*_sonars(parameters), *_laser(parameters), *_bumpers(parameters)]
    return {
        "motion": _motion(parameters, width),
        "footprint": {"corners": chamfered_box(front, rear, width, half_front)},
        "sensors": [pioneer_encoders(), *sensors],
        "estimator": {"kind": "odometry"},
        "autonomy": {"kind": "remote"},
    }


def _motion(parameters: ParameterFile, width: float) -> dict[str, Any]:
    limits = {
        "radius": WHEEL_RADIUS,
        "max_speed": parameters.nonzero("maxvelocity", 1200.0) / 1000,
        "max_turn": math.radians(parameters.nonzero("maxrvelocity", 300.0)),
    }
    baseline = wheel_baseline(parameters.nonzero("diffconvfactor", 0.0056), width)
    if parameters.number("maxlatvelocity", 0.0) > 0.0:
        half = 0.5 * baseline
        return {"kind": "omni", "half_length": half, "half_width": half, **limits}
    return {"kind": "differential", "baseline": baseline, **limits}


def _sonars(parameters: ParameterFile) -> list[dict[str, Any]]:
    """The ring of sonars; numbers that are left out look back from the middle, as in ARIA."""
    mounts: dict[int, tuple[float, float, float]] = {}
    for words, line in parameters.sonar_units:
        numbers = [_parse_number(word) for word in words[:4]]
        if len(numbers) < 4 or any(value is None for value in numbers):
            message = "SonarUnit needs a number, x and y in mm, and degrees"
            parameters.faults.append((line, message))
            continue
        k, x_mm, y_mm, heading_deg = (value or 0.0 for value in numbers)
        if k != int(k) or not 0 <= k < MAX_SONARS:
            message = f"sonars are numbered from 0 to {MAX_SONARS - 1}, not {words[0][:20]}"
            parameters.faults.append((line, message))
            continue
        mounts[int(k)] = (x_mm / 1000, y_mm / 1000, math.radians(heading_deg))
    entry = parameters.find("sonarnum")
    count = parameters.number("sonarnum", float(len(mounts)))
    if entry and count > MAX_SONARS:
        parameters.faults.append((entry[1], f"{count:g} sonars are more than {MAX_SONARS}"))
    if not mounts or not 1 <= count <= MAX_SONARS:
        return []
    return [sonar([mounts.get(k, MISSING_SONAR) for k in range(int(count))])]


def _laser_section(parameters: ParameterFile) -> str | None:
    """The section of the first laser that has a type."""
    return next((s for s in parameters.sections if parameters.word("lasertype", s)), None)


def _laser(parameters: ParameterFile) -> list[dict[str, Any]]:
    section = _laser_section(parameters)
    if section is None:
        return []
    x_mm, y_mm, yaw_deg = (
        parameters.number(key, 0.0, section, -math.inf) for key in ("laserx", "lasery", "laserth")
    )
    name = parameters.word("lasertype", section)
    return [lidar(name, x_mm / 1000, y_mm / 1000, math.radians(yaw_deg))]


def _bumpers(parameters: ParameterFile) -> list[dict[str, Any]]:
    arcs: list[list[float]] = []
    for side, middle in (("front", 0.0), ("rear", math.pi)):
        count = int(parameters.number(f"num{side}bumpers", 0.0))
        if parameters.word(f"{side}bumpers").lower() == "true" and 1 <= count <= 8:
            start, step = middle - BUMPER_HALF_ANGLE, 2 * BUMPER_HALF_ANGLE / count
            arcs += [[start + k * step, start + (k + 1) * step] for k in range(count)]
    return [{"kind": "bumper", "rate": 50, "arcs": arcs}] if arcs else []


def _parse_number(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) < 1e9 else None
