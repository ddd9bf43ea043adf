"""ARIA's parameter files: sections of `Key value` lines that describe one kind of robot.

A semicolon begins a comment; keys and sections are the same in upper and lower case. Lengths are in
mm and angles in degrees. What is not asked for is passed over, as ARIA does, and so is what is 0
where that means the robot's own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from astray.scenario.importers.robot_file import (
    WHEEL_RADIUS,
    RobotFile,
    baseline,
    corners,
    lidar,
    lidar_type,
    refuse,
    sonar,
    text_of,
    wheels,
)

FIGURES = {
    "distconvfactor": ("distance_factor", float),
    "angleconvfactor": ("angle_factor", float),
    "velconvfactor": ("speed_factor", float),
    "rangeconvfactor": ("range_factor", float),
    "diffconvfactor": ("wheel_factor", float),
    "vel2divisor": ("vel2_divisor", int),
}
MOST_SONARS = 64
UNUSED = (0.0, 0.0, math.pi)  # a number that no transducer has
BUMPER_REACH = 1.4  # rad to either side that bumpers cover


@dataclass
class Entries:
    """The entries of a file by section, each with its words and its line; and what is wrong."""

    sections: dict[str, dict[str, tuple[list[str], int]]] = field(default_factory=dict)
    sonars: list[tuple[list[str], int]] = field(default_factory=list)
    faults: list[tuple[int, str]] = field(default_factory=list)

    def find(self, key: str, section: str | None = None) -> tuple[list[str], int] | None:
        """The entry of a key in a section, or the first one in any."""
        if section is not None:
            return self.sections.get(section, {}).get(key)
        return next((s[key] for s in self.sections.values() if key in s), None)

    def number(
        self, key: str, default: float, section: str | None = None, least: float = 0.0
    ) -> float:
        """A number that must not be less than `least`; the default if nothing is said."""
        entry = self.find(key, section)
        if entry is None or not entry[0]:
            return default
        (word, *_), line = entry
        value = _number(word)
        if value is None or value < least:
            allowed = "a number" if least < 0.0 else f"a number from {least:g} on"
            self.faults.append((line, f"{key} is {word[:40]!r}: it must be {allowed}"))
            return default
        return value

    def own(self, key: str, default: float) -> float:
        """A number of which 0 says that the robot's own holds."""
        return self.number(key, 0.0) or default

    def word(self, key: str, section: str | None = None) -> str:
        """The first word of an entry; empty if there is none."""
        entry = self.find(key, section)
        return entry[0][0] if entry and entry[0] else ""


def read_aria_robot(file: str | Path) -> RobotFile:
    """The robot of a parameter file; WrongInput has every fault with its line."""
    file = Path(file)
    entries = _entries(text_of(file))
    name = entries.word("subclass").lower()
    if not name:
        entries.faults.append((1, "no Subclass: ARIA could not tell which robot this is"))
    robot, figures = _robot(entries), _figures(entries)
    refuse(entries.faults, file)
    return RobotFile(name, robot, figures)


def _entries(text: str) -> Entries:
    entries, section = Entries(), ""
    for line, written in enumerate(text.splitlines(), 1):
        words = written.partition(";")[0].split()
        if not words:
            continue
        key = words[0].lower()
        if key == "section":
            section = " ".join(words[1:]).lower()
        elif key == "sonarunit":
            entries.sonars.append((words[1:], line))
        else:
            entries.sections.setdefault(section, {})[key] = (words[1:], line)
    return entries


def _figures(entries: Entries) -> dict[str, Any]:
    """How the robot's numbers are written."""
    figures: dict[str, Any] = {"robot_class": entries.word("class") or "Pioneer"}
    for key, (name, kind) in FIGURES.items():
        value = entries.number(key, 0.0)
        if value > 0.0:
            figures[name] = kind(value)
    if entries.number("maxlatvelocity", 0.0) > 0.0:
        figures["lateral"] = True
    section = _laser_section(entries)
    if section is not None:
        figures["laser_type"] = lidar_type(entries.word("lasertype", section))
    for key, name, unit in (
        ("transaccel", "accel", 0.001),
        ("transdecel", "decel", 0.001),
        ("rotaccel", "turn_accel", math.radians(1)),
        ("rotdecel", "turn_decel", math.radians(1)),
    ):
        value = entries.number(key, 0.0)
        if value > 0.0:
            figures[name] = value * unit
    return figures


def _robot(entries: Entries) -> dict[str, Any]:
    """The robot as scenarios take it."""
    length = entries.own("robotlength", 2 * entries.own("robotradius", 250.0))
    front = entries.own("robotlengthfront", length / 2) / 1000
    rear = entries.own("robotlengthrear", length / 2) / 1000
    width = entries.own("robotwidth", 2 * entries.own("robotradius", 250.0)) / 1000
    flat = entries.own("robotdiagonal", 500 * width) / 1000
    return {
        "motion": _motion(entries, width),
        "footprint": {"corners": corners(front, rear, width, flat)},
        "sensors": [wheels(), *_sonars(entries), *_laser(entries), *_bumpers(entries)],
        "estimator": {"kind": "odometry"},
        "autonomy": {"kind": "remote"},
    }


def _motion(entries: Entries, width: float) -> dict[str, Any]:
    limits = {
        "radius": WHEEL_RADIUS,
        "max_speed": entries.own("maxvelocity", 1200.0) / 1000,
        "max_turn": math.radians(entries.own("maxrvelocity", 300.0)),
    }
    apart = baseline(entries.own("diffconvfactor", 0.0056), width)
    if entries.number("maxlatvelocity", 0.0) > 0.0:
        half = 0.5 * apart
        return {"kind": "omni", "half_length": half, "half_width": half, **limits}
    return {"kind": "differential", "baseline": apart, **limits}


def _sonars(entries: Entries) -> list[dict[str, Any]]:
    """The ring; numbers that are left out look back from the middle, as ARIA has them."""
    mounts: dict[int, tuple[float, float, float]] = {}
    for words, line in entries.sonars:
        numbers = [_number(word) for word in words[:4]]
        if len(numbers) < 4 or any(value is None for value in numbers):
            entries.faults.append((line, "SonarUnit needs a number, x and y in mm, and degrees"))
            continue
        k, x, y, heading = (value or 0.0 for value in numbers)
        if k != int(k) or not 0 <= k < MOST_SONARS:
            what = f"sonars are numbered from 0 to {MOST_SONARS - 1}, not {words[0][:20]}"
            entries.faults.append((line, what))
            continue
        mounts[int(k)] = (x / 1000, y / 1000, math.radians(heading))
    entry = entries.find("sonarnum")
    count = entries.number("sonarnum", float(len(mounts)))
    if entry and count > MOST_SONARS:
        entries.faults.append((entry[1], f"{count:g} sonars are more than {MOST_SONARS}"))
    if not mounts or not 1 <= count <= MOST_SONARS:
        return []
    return [sonar([mounts.get(k, UNUSED) for k in range(int(count))])]


def _laser_section(entries: Entries) -> str | None:
    """The section of the first laser that has a type."""
    return next((s for s in entries.sections if entries.word("lasertype", s)), None)


def _laser(entries: Entries) -> list[dict[str, Any]]:
    section = _laser_section(entries)
    if section is None:
        return []
    place = [
        entries.number(key, 0.0, section, -math.inf) for key in ("laserx", "lasery", "laserth")
    ]
    kind = entries.word("lasertype", section)
    return [lidar(kind, place[0] / 1000, place[1] / 1000, math.radians(place[2]))]


def _bumpers(entries: Entries) -> list[dict[str, Any]]:
    arcs: list[list[float]] = []
    for side, middle in (("front", 0.0), ("rear", math.pi)):
        count = int(entries.number(f"num{side}bumpers", 0.0))
        if entries.word(f"{side}bumpers").lower() == "true" and 1 <= count <= 8:
            start, step = middle - BUMPER_REACH, 2 * BUMPER_REACH / count
            arcs += [[start + k * step, start + (k + 1) * step] for k in range(count)]
    return [{"kind": "bumper", "rate": 50, "arcs": arcs}] if arcs else []


def _number(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) < 1e9 else None
