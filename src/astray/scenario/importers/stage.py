"""MobileSim's robots in Stage's world files: `define name pioneer ( key value … )`.

A file has blocks in blocks. A hash begins a comment; a value is a number, a word, a "text" or a
[list]. A block inherits from its parents in the same file. Lengths are in m, the angles of poses,
views and odometry errors in degrees, speeds and accelerations [along across around] in m and rad.
Keys without a meaning here, such as colours and laser returns, are ignored.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from astray.errors import WrongInput, suggest
from astray.scenario.importers.robot_file import (
    MAX_SONARS,
    WHEEL_RADIUS,
    RobotFile,
    lidar,
    pioneer_encoders,
    raise_faults,
    read_text,
    sonar,
    wheel_baseline,
)

TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)|(?P<text>"[^"\n]*")|(?P<bracket>[()\[\]])"""
    r"""|(?P<word>[^\s()\[\]"#]+(?:\[\d+\][^\s()\[\]"#]*)*)|(?P<odd>")"""
)
MAX_DEPTH = 32  # blocks in blocks
ROBOT_TYPES = ("pioneer", "position")  # the roots that robots descend from
CONVERSION_FACTORS = {
    "pioneer_distconv": "distance_factor",
    "pioneer_angleconv": "angle_factor",
    "pioneer_velconv": "speed_factor",
    "pioneer_rangeconv": "range_factor",
    "pioneer_diffconv": "wheel_factor",
}
ALONG, AROUND = 0, -1  # indices in [along across around]

Value = tuple[list[str], int]
"""The words of a value and their line number."""


class Token(NamedTuple):
    """A word, a text or a bracket of a file."""

    kind: str
    text: str
    line: int


@dataclass
class Block:
    """A block: its name, what it is derived from, its keys and the blocks in it."""

    name: str
    parent: str
    line: int
    keys: dict[str, Value] = field(default_factory=dict)
    children: list[Block] = field(default_factory=list)


@dataclass
class StageReader:
    """The tokens of a file, the position of the next one, and the faults so far."""

    tokens: list[Token]
    position: int = 0
    faults: list[tuple[int, str]] = field(default_factory=list)
    """Line numbers and messages."""

    @property
    def at_end(self) -> bool:
        """Whether all tokens are read."""
        return self.position >= len(self.tokens)

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.position]

    def peek(self, ahead: int) -> str:
        """The text of a later token; empty after the end."""
        k = self.position + ahead
        return self.tokens[k].text if k < len(self.tokens) else ""


def read_stage_robot(file: str | Path, name: str = "") -> RobotFile:
    """Read a robot of a world file.

    Args:
        file: The file.
        name: The name of the robot; by default the last one.

    Returns:
        The robot.

    Raises:
        WrongInput: With every fault and its line; or there is no such robot.
    """
    file = Path(file)
    reader = StageReader(_tokens(read_text(file)))
    known = {block.name: block for block in _parse_blocks(reader) if block.name}
    raise_faults(reader.faults, file)
    robots = [b for b in known.values() if _is_robot(b, known)]
    if not robots:
        raise WrongInput(f"{file}: defines no robot (define name pioneer ( … ))")
    names = [block.name for block in robots]
    if name and name not in names:
        raise WrongInput(
            f"{file}: unknown robot {name!r}{suggest(name, names)} ({', '.join(names)})"
        )
    chosen = robots[-1] if not name else known[name]
    robot = _inherited(chosen, known)
    subtype = robot.keys.get("pioneer_robot_subtype", ([], 0))[0] or [chosen.name]
    spec, model_parameters = _robot(robot, known, reader), _model_parameters(robot, reader)
    raise_faults(reader.faults, file)
    return RobotFile(subtype[0].lower(), spec, model_parameters)


def _tokens(text: str) -> list[Token]:
    """All tokens except comments."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for match in TOKEN.finditer(line):
            kind = match.lastgroup or ""
            if kind != "comment":
                found.append(Token(kind, match.group().strip('"'), number))
    return found


def _parse_blocks(reader: StageReader) -> list[Block]:
    """The blocks of a file; what stands between them is ignored."""
    found: list[Block] = []
    while not reader.at_end:
        kind, word, line = reader.token
        if word == ")" and kind == "bracket":
            reader.faults.append((line, "a ) without its ("))
            reader.position += 1
        elif word == "define" and reader.peek(3) == "(":
            found.append(_parse_block(reader, reader.peek(1), reader.peek(2), 4))
        elif reader.peek(1) == "(" and kind != "bracket":
            found.append(_parse_block(reader, "", word, 2))
        else:
            if word == "define":
                reader.faults.append((line, "define needs a name, a parent and a block ( … )"))
            reader.position += 1
    return found


def _parse_block(reader: StageReader, name: str, parent: str, skip: int, depth: int = 0) -> Block:
    """One block, after the `skip` tokens of its head, to its closing bracket."""
    block = Block(name, parent, reader.token.line)
    reader.position += skip
    if depth >= MAX_DEPTH:
        reader.faults.append((block.line, f"more than {MAX_DEPTH} blocks in each other"))
        reader.position = len(reader.tokens)
        return block
    while not reader.at_end:
        kind, word, line = reader.token
        if kind == "bracket" and word == ")":
            reader.position += 1
            return block
        if kind == "word" and reader.peek(1) == "(":
            block.children.append(_parse_block(reader, "", word, 2, depth + 1))
        elif kind == "word":
            reader.position += 1
            block.keys[word] = (_parse_value(reader), line)
        else:
            reader.faults.append((line, f"{word!r} where a key was expected"))
            reader.position += 1
    reader.faults.append((block.line, f"the block of {name or parent!r} is never closed"))
    return block


def _parse_value(reader: StageReader) -> list[str]:
    """The words of a value: of a list, or a single one."""
    if reader.at_end:
        return []
    kind, word, line = reader.token
    if kind in ("word", "text"):
        reader.position += 1
        return [word]
    if word != "[":
        return []
    words: list[str] = []
    reader.position += 1
    while not reader.at_end:
        kind, word, _ = reader.token
        reader.position += 1
        if kind == "bracket":
            if word == "]":
                return words
            break
        words.append(word)
    reader.faults.append((line, "a [ without its ]"))
    return words


def _ancestry(block: Block, known: dict[str, Block]) -> list[Block]:
    """The blocks that a block is derived from, the root first and itself last."""
    line = [block]
    while line[0].parent in known and known[line[0].parent] not in line:
        line.insert(0, known[line[0].parent])
    return line


def _inherited(block: Block, known: dict[str, Block]) -> Block:
    """A block with the keys and children that it inherits."""
    whole = Block(block.name, block.parent, block.line)
    for ancestor in _ancestry(block, known):
        whole.keys.update(ancestor.keys)
        whole.children += ancestor.children
    return whole


def _is_robot(block: Block, known: dict[str, Block]) -> bool:
    """Whether a block is derived from a robot type, but is not the type itself."""
    root = _ancestry(block, known)[0]
    return block.name not in ROBOT_TYPES and (
        root.parent in ROBOT_TYPES or root.name in ROBOT_TYPES
    )


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


def _positive(
    block: Block, key: str, reader: StageReader, default: list[float], index: int
) -> float:
    """One of the numbers of a key, which must be positive."""
    value = _numbers(block, key, reader, default)[index]
    if value <= 0.0:
        reader.faults.append((block.keys[key][1], f"{key} is {value:g}: it must be positive"))
        return default[index]
    return value


def _model_parameters(robot: Block, reader: StageReader) -> dict[str, Any]:
    """The conversion factors of the robot's protocol, and the defaults of a session."""
    found: dict[str, Any] = {
        name: _positive(robot, key, reader, [1.0], 0)
        for key, name in CONVERSION_FACTORS.items()
        if key in robot.keys
    }
    if "pioneer_vel2div" in robot.keys:
        found["vel2_divisor"] = max(1, int(_positive(robot, "pioneer_vel2div", reader, [20], 0)))
    for key, along, around, default in (
        ("default_speed", "default_speed", "default_turn", [1.5, 1.3]),
        ("accel", "accel", "turn_accel", [0.3, 1.74]),
        ("decel", "decel", "turn_decel", [0.6, 1.74]),
    ):
        # MobileSim has 0 for robots whose values cannot be set: they have their own.
        values = _numbers(robot, key, reader, default)
        found[along] = values[ALONG] if values[ALONG] > 0.0 else default[ALONG]
        found[around] = values[AROUND] if values[AROUND] > 0.0 else default[AROUND]
    errors = _numbers(robot, "odom_error", reader, [0.0075, 0.0075])
    found["way_error"] = abs(errors[ALONG])
    found["turn_error"] = math.radians(abs(errors[AROUND]))
    found["lateral"] = _is_omni(robot)
    return found


def _is_omni(robot: Block) -> bool:
    return robot.keys.get("drive", (["diff"], 0))[0] == ["omni"]


def _robot(robot: Block, known: dict[str, Block], reader: StageReader) -> dict[str, Any]:
    """The robot as plain data, as in a scenario."""
    return {
        "motion": _motion(robot, reader),
        "footprint": {"corners": _outline(robot, reader)},
        "sensors": [pioneer_encoders(), *_sensors(robot, known, reader)],
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
    factor = _positive(robot, "pioneer_diffconv", reader, [0.0056], 0)
    baseline = wheel_baseline(factor, width)
    if _is_omni(robot):
        return {"kind": "omni", "half_length": baseline / 2, "half_width": baseline / 2, **limits}
    return {"kind": "differential", "baseline": baseline, **limits}


def _outline(robot: Block, reader: StageReader) -> list[list[float]]:
    """The first polygon, or a box, scaled to the size and moved to the origin."""
    length = _positive(robot, "size", reader, [0.5, 0.4], 0)
    width = _positive(robot, "size", reader, [0.5, 0.4], 1)
    x, y = _numbers(robot, "origin", reader, [0.0, 0.0])[:2]
    keys = [key for key in robot.keys if key.startswith("polygon[0].point[")]
    points = [_numbers(robot, key, reader, [0.0, 0.0])[:2] for key in keys]
    if len(points) < 3:
        points = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]
    bounds = [(min(p[k] for p in points), max(p[k] for p in points)) for k in (0, 1)]
    if any(high - low <= 0.0 for low, high in bounds):
        reader.faults.append((robot.line, "the points of polygon[0] enclose no area"))
        return []
    scale = (length / (bounds[0][1] - bounds[0][0]), width / (bounds[1][1] - bounds[1][0]))
    middle = [0.5 * (low + high) for low, high in bounds]
    return [[x + (p[0] - middle[0]) * scale[0], y + (p[1] - middle[1]) * scale[1]] for p in points]


def _sensors(robot: Block, known: dict[str, Block], reader: StageReader) -> list[dict[str, Any]]:
    """The first ring of sonars and the first laser among the blocks in a robot."""
    found: dict[str, dict[str, Any]] = {}
    for block in robot.children:
        types = {block.parent, *(b.parent for b in _ancestry(block, known))}
        device = _inherited(block, known)
        x, y, heading_deg = (*_numbers(device, "pose", reader, [0.0, 0.0]), 0.0)[:3]
        if types & {"ranger", "pioneerSonar"} and "sonar" not in found:
            mounts = _sonar_mounts(device, reader)
            if mounts:
                found["sonar"] = sonar(mounts)
        elif types & {"laser"} or any("lms" in t or t.startswith("sick") for t in types):
            defaults = lidar(block.parent, x, y, math.radians(heading_deg))
            found.setdefault("lidar", {**defaults, **_laser_view(device, reader)})
    return list(found.values())


def _sonar_mounts(ring: Block, reader: StageReader) -> list[tuple[float, float, float]]:
    count = _numbers(ring, "scount", reader, [0.0])[0]
    if not 0 <= count <= MAX_SONARS:
        reader.faults.append((ring.keys["scount"][1], f"{count:g} is no number of sonars"))
        return []
    mounts = []
    for k in range(int(count)):
        x, y, heading_deg = _numbers(ring, f"spose[{k}]", reader, [0.0, 0.0, 180.0])[:3]
        mounts.append((x, y, math.radians(heading_deg)))
    return mounts


def _laser_view(laser: Block, reader: StageReader) -> dict[str, Any]:
    """The parameters of a laser that its block has."""
    view: dict[str, Any] = {}
    if "samples" in laser.keys:
        rays = _positive(laser, "samples", reader, [181], 0)
        view["rays"] = int(min(rays, 4096))
    if "fov" in laser.keys:
        fov_deg = _positive(laser, "fov", reader, [180], 0)
        view["field_of_view"] = math.radians(min(fov_deg, 360.0))
    if "range_max" in laser.keys:
        view["max_range"] = _positive(laser, "range_max", reader, [32.0], 0)
    return view
