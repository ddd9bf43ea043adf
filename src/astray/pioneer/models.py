"""Robot models: a robot as scenarios describe it, and how ARIA encodes its numbers.

A model is bundled (`models.yaml`), or read from a file of ARIA (.p), of MobileSim (.inc) or of ours
(.yaml). A client may set softer or harder limits than a session begins with. So the motion of a
model gets the limits of the hardware, and the session posts its own `accel`, `decel`, `turn_accel`
and `turn_decel` with every command.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from astray.errors import Fault, ScenarioError, WrongInput, suggest
from astray.files import Marked, mark, read_yaml
from astray.plugin import distributions
from astray.scenario import load_scenario, merge_layers, with_presets
from astray.scenario.importers import pioneer_encoders, read_aria_robot, read_stage_robot

PoseTuple = tuple[float, float, float]
"""x and y in m, yaw in rad."""

BUNDLED = Path(__file__).with_name("models.yaml")
ALIASES = {"peoplebot": "peoplebot-sh", "patrolbot": "patrolbot-sh"}
"""Common names of subclasses that ARIA spells otherwise."""

MAX_ACCEL, MAX_DECEL, MAX_TURN_ACCEL = 2.0, 10.0, 6.28
"""The largest limits that a session may set, m/s² and rad/s²; an emergency stop takes 9.999."""

# MobileSim turns at 1/s of the remaining angle, ten times per second: 0.9 of it remain each time.
HEADING_GAIN = -10.0 * math.log(0.9)  # 1/s
SERVO = {
    "kind": "servo",
    "gain": HEADING_GAIN,
    "slow_within": 1.0,
    "tolerance": 0.0001,
    "turn_tolerance": 0.0003,
    "creep": 0.002,
    "turn_creep": 0.007,
    "decel": MAX_DECEL,
    "turn_decel": MAX_TURN_ACCEL,
}
"""The control that closes MOVE, HEAD and DHEAD."""

LASER_RATE = 10.0  # Hz: one scan per cycle
MOTIONS = ("differential", "omni")  # with limits of forward and angular speed, and wheels
DEVICES = {"sonar": "sonar", "laser": "lidar", "bumper": "bumper"}  # of a model, to sensor kinds
GROUP_KEYS = ("name", "count", "capacity", "start", "map")  # of a group in a run, not of a model

NAME = re.compile(r"[A-Za-z0-9][\w.+-]{0,39}\Z", re.ASCII)  # fits a packet and a file name
ERROR_FIELDS = ("way_error", "turn_error")  # may be 0
TYPE_NAMES = {
    float: "a positive number",
    int: "a positive whole number",
    bool: "true or false",
    str: "a word",
}
DERIVED_FIELDS = {"name", "robot", "sonar", "laser", "bumper"}  # that a file cannot set
RENAMED_FIELDS = {
    "told_speed": "reported_speed",
    "told_turn": "reported_turn",
    "told_decel": "reported_decel",
}


@dataclass(frozen=True, kw_only=True)
class RobotModel:
    """A kind of robot as ARIA knows it. Its fields are the keys of a model file."""

    name: str
    """ARIA's subclass in lower case; ARIA reads the parameter file of that name."""
    robot: Mapping[str, Any]
    """A robot of a scenario without its name, count and start."""
    robot_class: str = "Pioneer"
    distance_factor: float = 0.485  # mm per firmware unit of x and y
    angle_factor: float = 0.001534  # rad per firmware unit
    speed_factor: float = 1.0  # mm/s per firmware unit
    range_factor: float = 1.0  # mm per firmware unit
    wheel_factor: float = 0.0056  # rad/s of a turn on the spot per mm/s of wheel speed
    vel2_divisor: int = 20  # mm/s per unit of VEL2
    lateral: bool = False  # can move sideways
    default_speed: float = 1.5  # m/s, of MOVE
    default_turn: float = 1.3  # rad/s, of HEAD and DHEAD
    accel: float = 0.3  # m/s², at the start of a session
    decel: float = 0.6  # m/s², at the start of a session
    turn_accel: float = math.radians(100)  # rad/s², at the start of a session
    turn_decel: float = math.radians(100)  # rad/s², at the start of a session
    reported_speed: float = 3.0  # m/s, limit in CONFIG, which ARIA then sets
    reported_turn: float = math.radians(150)  # rad/s, limit in CONFIG
    reported_decel: float = 0.3  # m/s², in CONFIG; MobileSim's differs from its default
    max_speed: float = 1.2  # m/s, of the hardware
    max_turn: float = 5.2  # rad/s, of the hardware
    sonar: str | None = None
    """Names of the sensors in `robot` that packets report; None for a robot without one."""
    laser: str | None = None
    bumper: str | None = None
    laser_type: str = "sicklms200"
    watchdog: float = 2.0  # s without a packet after which the robot stops
    battery: float = 13.0  # V
    way_error: float = 0.0075  # share of the distance, of MobileSim's odometry errors
    turn_error: float = math.radians(0.0075)  # share of the angle; MobileSim takes it for degrees

    def sensor(self, name: str | None) -> Mapping[str, Any]:
        """A sensor of the robot as scenarios describe it; empty without one of that name."""
        sensors = self.robot["sensors"]
        return next((s for s in sensors if name and s.get("name", s["kind"]) == name), {})


@dataclass
class ServedRobot:
    """A robot that is served: its name, its model, and its row in the run.

    Args:
        name: The name of the robot in logs and SIMINFO.
        model: Its model.
        group: The name of its group in the run.
        index: Its index in the group.
        home: The pose to which SIM_RESET brings it, m and rad.
        bumpers: The number of bumpers in front and behind.
        bumper_bits: The bit in `Sip.stall` of each bumper.
    """

    name: str
    model: RobotModel
    group: str
    index: int = 0
    home: PoseTuple = (0.0, 0.0, 0.0)
    bumpers: tuple[int, int] = (0, 0)
    bumper_bits: tuple[int, ...] = ()


def model_names() -> list[str]:
    """The names of the bundled models, sorted."""
    return sorted(_bundled_models())


def find_model(name: str) -> RobotModel:
    """Find a bundled model, or read one from a file.

    Args:
        name: The name of a bundled model, or the path of a file of ARIA (.p), of MobileSim (.inc)
            or of ours (.yaml). Of an .inc with several robots it is the last one, or the one named
            by `file.inc#name`.

    Returns:
        The model.

    Raises:
        WrongInput: There is no such model, or its file is wrong.
    """
    bundled = _bundled_models()
    name = ALIASES.get(name, name)
    if name in bundled:
        return _make_model(name, bundled[name], BUNDLED.parent)
    file, _, part = name.partition("#")
    if (reader := READERS.get(Path(file).suffix)) is not None:
        return reader(Path(file), part)
    raise WrongInput(
        f"unknown robot model {name!r}{suggest(name, [*bundled, *ALIASES])} ({', '.join(bundled)}, "
        "or a file .p, .inc or .yaml)"
    )


@functools.cache
def _bundled_models() -> dict[str, dict[str, Any]]:
    """The fields of the bundled models by name, with those of the model that each is `like`."""
    models = _read_mapping(BUNDLED).plain()
    for fields in models.values():
        while "like" in fields:
            base = models[fields.pop("like")]
            fields.update({key: value for key, value in base.items() if key not in fields})
    return dict(models)


def _bundled_fields(name: str) -> dict[str, Any]:
    """The fields of a bundled model, without its robot; none for an unknown name."""
    return {k: v for k, v in _bundled_models().get(name, {}).items() if k != "preset"}


# Files.


def _read_mapping(file: Path) -> Marked:
    """Read a YAML file that is a mapping."""
    faults: list[Fault] = []
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or "not a text file in UTF-8"
        raise WrongInput(f"{file}: {reason}") from None
    tree = read_yaml(text, str(file), faults)
    if faults:
        raise ScenarioError(faults)
    if tree is None or not isinstance(tree.value, dict):
        raise WrongInput(f"{file}:1: a robot is a mapping of keys to values")
    return tree


def _read_yaml_model(file: Path, _: str) -> RobotModel:
    """Read a model with a key `robot`, or a robot alone, which then is like a p3dx-sh."""
    fields = _read_mapping(file).plain()
    if "robot" not in fields:
        fields = {"robot": fields}
    like = fields.pop("like", "p3dx-sh")
    bundled = _bundled_models()
    if not isinstance(like, str) or like not in bundled:
        raise WrongInput(f"{file}: like: unknown robot model {like!r}{suggest(str(like), bundled)}")
    name = fields.pop("name", like)
    return _make_model(str(name), _bundled_fields(like) | fields, file.parent, str(file))


def _read_aria_model(file: Path, _: str) -> RobotModel:
    """Read a parameter file of ARIA."""
    found = read_aria_robot(file)
    fields = {"robot": found.robot, **found.model_parameters}
    return _make_model(found.name, fields, file.parent, str(file))


def _read_mobilesim_model(file: Path, name: str) -> RobotModel:
    """Read a robot definition of MobileSim."""
    found = read_stage_robot(file, name)
    fields = {"distance_factor": 1.0, **_bundled_fields(found.name), "robot": found.robot}
    return _make_model(found.name, fields | found.model_parameters, file.parent, str(file))


READERS = {
    ".yaml": _read_yaml_model,
    ".yml": _read_yaml_model,
    ".p": _read_aria_model,
    ".inc": _read_mobilesim_model,
}


def _make_model(name: str, fields: Mapping[str, Any], folder: Path, file: str = "") -> RobotModel:
    """Make a model of its fields, of which `robot` or `preset` is its robot."""
    fields = dict(fields)
    robot = fields.pop("robot") if "robot" in fields else {"preset": fields.pop("preset")}
    if not NAME.match(name):
        raise WrongInput(f"{file}: ARIA could not find a parameter file by the name {name[:60]!r}")
    _check_fields(fields, file or name)
    adapted = adapt_robot(robot, folder, file)
    figures = adapted.limits | fields
    figures.setdefault("turn_decel", figures.get("turn_accel", RobotModel.turn_decel))
    return RobotModel(name=name.lower(), robot=adapted.robot, **(figures | adapted.devices))


def _check_fields(fields: Mapping[str, Any], source: str) -> None:
    """Refuse unknown keys and values of a wrong type or sign."""
    known = {f.name: f.default for f in dataclasses.fields(RobotModel)}
    known = {name: default for name, default in known.items() if name not in DERIVED_FIELDS}
    for key, value in fields.items():
        if key in RENAMED_FIELDS:
            raise WrongInput(f"{source}: {key} is called {RENAMED_FIELDS[key]} now")
        if key not in known:
            raise WrongInput(f"{source}: unknown key {key!r}{suggest(key, known)}")
        kind = type(known[key])
        if not _is_valid(value, kind, key):
            wanted = "a number from 0 on" if key in ERROR_FIELDS else TYPE_NAMES[kind]
            raise WrongInput(f"{source}: {key} is {value!r}: it must be {wanted}")


def _is_valid(value: object, kind: type, key: str) -> bool:
    """Whether a value has the type of a field, and is positive if it is a number."""
    if kind is bool or isinstance(value, bool):
        return isinstance(value, bool) and kind is bool
    if isinstance(value, str) or kind is str:
        return isinstance(value, str) and kind is str and bool(value)
    if not isinstance(value, int if kind is int else (int, float)) or not math.isfinite(value):
        return False
    return value > 0 or (value == 0 and key in ERROR_FIELDS)


# The robot of a model.


class AdaptedRobot(NamedTuple):
    """A robot that sessions can drive, the names of its devices, and the limits of its motion."""

    robot: dict[str, Any]
    devices: dict[str, str | None]
    limits: dict[str, float]


def adapt_robot(description: Any, folder: Path, file: str = "") -> AdaptedRobot:
    """Adapt a robot of a scenario: the control of sessions, wider limits, and a belief to set.

    Presets are looked up in the folder, too. A robot without a file is one of ours and not checked.
    """
    if not isinstance(description, Mapping):
        raise WrongInput(f"{file}: robot: a robot is a mapping of keys to values")
    robot = _apply_presets(description, folder)
    robot = {key: value for key, value in robot.items() if key not in GROUP_KEYS}
    robot.setdefault("motion", {"kind": "differential"})
    robot.setdefault("sensors", [])
    _check_robot(robot, file)
    motion = robot["motion"]
    if motion["kind"] not in MOTIONS:
        kinds = ", ".join(MOTIONS)
        raise WrongInput(f"{file}: ARIA cannot drive a motion {motion['kind']!r} ({kinds})")
    if not robot.get("estimator"):  # clients set the odometry, so there must be a belief
        has_wheels = any(sensor["kind"] == "wheels" for sensor in robot["sensors"])
        robot["sensors"] = [*robot["sensors"], *([] if has_wheels else [pioneer_encoders()])]
        robot["estimator"] = {"kind": "odometry"}
    devices = {device: _first_sensor(robot, kind) for device, kind in DEVICES.items()}
    limits = {
        name: distributions.nominal(distributions.parse(motion[name]))
        for name in ("accel", "decel", "turn_accel", "max_speed", "max_turn")
        if name in motion
    }
    if robot.get("control", SERVO)["kind"] != "servo":
        del robot["control"]
    layer = mark(_session_layer(devices, limits), "robot")
    return AdaptedRobot(merge_layers(mark(robot, "robot"), layer).plain(), devices, limits)


def _session_layer(
    devices: Mapping[str, str | None], limits: Mapping[str, float]
) -> dict[str, Any]:
    """The layer over a robot that makes it follow a session."""
    sensors: list[dict[str, Any]] = []
    if devices["sonar"]:
        sensors.append({"kind": "sonar", "name": devices["sonar"], "clamp": True})
    if devices["laser"]:
        sensors.append({"kind": "lidar", "name": devices["laser"], "rate": LASER_RATE})
    speeds = {"speed": "max_speed", "turn": "max_turn"}
    return {
        "motion": {"accel": MAX_ACCEL, "decel": MAX_DECEL, "turn_accel": MAX_TURN_ACCEL},
        "control": SERVO | {key: limits[limit] for key, limit in speeds.items() if limit in limits},
        "autonomy": {"kind": "remote"},
        "sensors": sensors,
    }


def _apply_presets(robot: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Merge the presets that a robot names."""
    faults: list[Fault] = []
    tree = with_presets(mark({"robots": [dict(robot)]}, "robot"), folder, faults)
    if faults:
        raise ScenarioError(faults)
    merged: dict[str, Any] = tree.plain()["robots"][0]
    return merged


def _check_robot(robot: Mapping[str, Any], file: str) -> None:
    """Refuse a robot that no scenario would take."""
    if not file:
        return
    try:
        load_scenario({"robots": [{**robot, "name": "robot"}]})
    except ScenarioError as problem:
        faults = [(fault.path.replace("robots[0]", "robot"), fault) for fault in problem.faults]
        lines = [f"{file}: {path}: {fault.message}" for path, fault in faults]
        raise WrongInput("\n".join(lines)) from None


def _first_sensor(robot: Mapping[str, Any], kind: str) -> str | None:
    """The name of the first sensor of a kind."""
    return next((str(s.get("name", kind)) for s in robot["sensors"] if s["kind"] == kind), None)
