"""MobileSim's robot definitions in Stage's world files: `define name pioneer ( … )`.

Lengths are in m, the angles of poses, views and odometry errors in degrees, and speeds and
accelerations [along across around] in m and rad. Keys that mean nothing to a robot here, as colours
and returns, are passed over.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from astray.errors import WrongInput, suggest
from astray.scenario.importers.robot_file import (
    WHEEL_RADIUS,
    RobotFile,
    baseline,
    lidar,
    refuse,
    sonar,
    text_of,
    wheels,
)
from astray.scenario.importers.stage_world import Block, StageReader, chain, read_blocks, whole

MOST_SONARS = 64
ROBOTS = ("pioneer", "position")  # from which robots descend
FIGURES = {
    "pioneer_distconv": "distance_factor",
    "pioneer_angleconv": "angle_factor",
    "pioneer_velconv": "speed_factor",
    "pioneer_rangeconv": "range_factor",
    "pioneer_diffconv": "wheel_factor",
}
ALONG, AROUND = 0, -1  # in [along across around]


def read_stage_robot(file: str | Path, name: str = "") -> RobotFile:
    """A robot of a file, the last one unless named; WrongInput has every fault with its line."""
    file = Path(file)
    blocks, reader = read_blocks(text_of(file))
    known = {block.name: block for block in blocks if block.name}
    refuse(reader.faults, file)
    robots = [b for b in known.values() if _is_robot(b, known)]
    if not robots:
        raise WrongInput(f"{file}: defines no robot (define name pioneer ( … ))")
    names = [block.name for block in robots]
    if name and name not in names:
        raise WrongInput(f"{file}: no robot {name!r}{suggest(name, names)} ({', '.join(names)})")
    chosen = robots[-1] if not name else known[name]
    robot = whole(chosen, known)
    subtype = robot.keys.get("pioneer_robot_subtype", ([], 0))[0] or [chosen.name]
    made, figures = _robot(robot, known, reader), _figures(robot, reader)
    refuse(reader.faults, file)
    return RobotFile(subtype[0].lower(), made, figures)


def _is_robot(block: Block, known: dict[str, Block]) -> bool:
    """Whether a block descends from a robot; the one that only says what all have in common not."""
    root = chain(block, known)[0]
    return block.name not in ROBOTS and (root.parent in ROBOTS or root.name in ROBOTS)


def _numbers(block: Block, key: str, reader: StageReader, default: list[float]) -> list[float]:
    """The numbers of a key, at least as many as the default has."""
    if key not in block.keys:
        return default
    words, line = block.keys[key]
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    if len(values) < len(default) or not all(math.isfinite(v) for v in values):
        reader.faults.append((line, f"{key} needs {len(default)} numbers, not {' '.join(words)!r}"))
        return default
    return values


def _positive(block: Block, key: str, reader: StageReader, default: list[float], at: int) -> float:
    """One of the numbers of a key, which must be positive."""
    value = _numbers(block, key, reader, default)[at]
    if value <= 0.0:
        reader.faults.append((block.keys[key][1], f"{key} is {value:g}: it must be positive"))
        return default[at]
    return value


def _figures(robot: Block, reader: StageReader) -> dict[str, Any]:
    """How the robot's numbers are written, and what a session begins with."""
    figures: dict[str, Any] = {
        name: _positive(robot, key, reader, [1.0], 0)
        for key, name in FIGURES.items()
        if key in robot.keys
    }
    if "pioneer_vel2div" in robot.keys:
        figures["vel2_divisor"] = max(1, int(_positive(robot, "pioneer_vel2div", reader, [20], 0)))
    for key, along, around, default in (
        ("default_speed", "default_speed", "default_turn", [1.5, 1.3]),
        ("accel", "accel", "turn_accel", [0.3, 1.74]),
        ("decel", "decel", "turn_decel", [0.6, 1.74]),
    ):
        # 0 is what MobileSim has for robots that cannot be told: they have their own.
        values = _numbers(robot, key, reader, default)
        figures[along] = values[ALONG] if values[ALONG] > 0.0 else default[ALONG]
        figures[around] = values[AROUND] if values[AROUND] > 0.0 else default[AROUND]
    errors = _numbers(robot, "odom_error", reader, [0.0075, 0.0075])
    figures["way_error"] = abs(errors[ALONG])
    figures["turn_error"] = math.radians(abs(errors[AROUND]))
    figures["lateral"] = _is_omni(robot)
    return figures


def _is_omni(robot: Block) -> bool:
    return robot.keys.get("drive", (["diff"], 0))[0] == ["omni"]


def _robot(robot: Block, known: dict[str, Block], reader: StageReader) -> dict[str, Any]:
    """The robot as scenarios take it."""
    return {
        "motion": _motion(robot, reader),
        "footprint": {"corners": _outline(robot, reader)},
        "sensors": [wheels(), *_sensors(robot, known, reader)],
        "estimator": {"kind": "odometry"},
        "autonomy": {"kind": "remote"},
    }


def _motion(robot: Block, reader: StageReader) -> dict[str, Any]:
    limits = {
        "radius": WHEEL_RADIUS,
        "max_speed": _positive(robot, "max_speed", reader, [2.0, 1.74], ALONG),
        "max_turn": _positive(robot, "max_speed", reader, [2.0, 1.74], AROUND),
    }
    width = _positive(robot, "size", reader, [0.5, 0.4], 1)
    apart = baseline(_positive(robot, "pioneer_diffconv", reader, [0.0056], 0), width)
    if _is_omni(robot):
        return {"kind": "omni", "half_length": apart / 2, "half_width": apart / 2, **limits}
    return {"kind": "differential", "baseline": apart, **limits}


def _outline(robot: Block, reader: StageReader) -> list[list[float]]:
    """The first polygon, or a box, as large as the size says and where the origin says."""
    length = _positive(robot, "size", reader, [0.5, 0.4], 0)
    width = _positive(robot, "size", reader, [0.5, 0.4], 1)
    x, y = _numbers(robot, "origin", reader, [0.0, 0.0])[:2]
    keys = [key for key in robot.keys if key.startswith("polygon[0].point[")]
    points = [_numbers(robot, key, reader, [0.0, 0.0])[:2] for key in keys]
    if len(points) < 3:
        points = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]
    spans = [(min(p[k] for p in points), max(p[k] for p in points)) for k in (0, 1)]
    if any(high - low <= 0.0 for low, high in spans):
        reader.faults.append((robot.line, "the points of polygon[0] enclose no area"))
        return []
    scale = (length / (spans[0][1] - spans[0][0]), width / (spans[1][1] - spans[1][0]))
    middle = [0.5 * (low + high) for low, high in spans]
    return [[x + (p[0] - middle[0]) * scale[0], y + (p[1] - middle[1]) * scale[1]] for p in points]


def _sensors(robot: Block, known: dict[str, Block], reader: StageReader) -> list[dict[str, Any]]:
    """The first ring of sonars and the first laser among the blocks in a robot."""
    found: dict[str, dict[str, Any]] = {}
    for block in robot.inside:
        kinds = {block.parent, *(b.parent for b in chain(block, known))}
        device = whole(block, known)
        x, y, heading = (*_numbers(device, "pose", reader, [0.0, 0.0]), 0.0)[:3]
        if kinds & {"ranger", "pioneerSonar"} and "sonar" not in found:
            mounts = _mounts(device, reader)
            if mounts:
                found["sonar"] = sonar(mounts)
        elif kinds & {"laser"} or any("lms" in k or k.startswith("sick") for k in kinds):
            made = lidar(block.parent, x, y, math.radians(heading))
            found.setdefault("lidar", {**made, **_view(device, reader)})
    return list(found.values())


def _mounts(ring: Block, reader: StageReader) -> list[tuple[float, float, float]]:
    count = _numbers(ring, "scount", reader, [0.0])[0]
    if not 0 <= count <= MOST_SONARS:
        reader.faults.append((ring.keys["scount"][1], f"{count:g} is no number of sonars"))
        return []
    mounts = []
    for k in range(int(count)):
        x, y, heading = _numbers(ring, f"spose[{k}]", reader, [0.0, 0.0, 180.0])[:3]
        mounts.append((x, y, math.radians(heading)))
    return mounts


def _view(laser: Block, reader: StageReader) -> dict[str, Any]:
    """What a laser's block says of its rays."""
    view: dict[str, Any] = {}
    if "samples" in laser.keys:
        rays = _positive(laser, "samples", reader, [181], 0)
        view["rays"] = int(min(rays, 4096))
    if "fov" in laser.keys:
        degrees = _positive(laser, "fov", reader, [180], 0)
        view["field_of_view"] = math.radians(min(degrees, 360.0))
    if "range_max" in laser.keys:
        view["max_range"] = _positive(laser, "range_max", reader, [32.0], 0)
    return view
