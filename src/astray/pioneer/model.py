"""Which robot answers on the wire: a robot as scenarios have it, and how ARIA writes its numbers.

A session may ask for gentler or harsher limits than a robot begins with, so the motion of a model
has those of the hardware. What a session begins with, and has to post with every command, are the
`accel`, `decel`, `turn_accel` and `turn_decel` of the model.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astray.errors import Fault, ScenarioError, WrongInput, suggest
from astray.files import Marked, read_yaml
from astray.pioneer.adaptation import fit
from astray.scenario.importers import read_aria_robot, read_stage_robot

BUNDLED = Path(__file__).with_name("models.yaml")
ALIASES = {"peoplebot": "peoplebot-sh", "patrolbot": "patrolbot-sh"}
"""What people say for subclasses that ARIA spells otherwise."""

ERRORS = ("way_error", "turn_error")
KINDS = {
    float: "a positive number",
    int: "a positive whole number",
    bool: "true or false",
    str: "a word",
}
FOUND = {"name", "robot", "sonar", "laser", "bumper"}  # what no file says of a model
NAME = re.compile(r"[A-Za-z0-9][\w.+-]{0,39}\Z", re.ASCII)  # that fits a packet and a file's name


@dataclass(frozen=True, kw_only=True)
class RobotModel:
    """A kind of robot as ARIA knows it."""

    name: str
    """ARIA's subclass, lower case: it reads the parameter file of that name."""
    robot: Mapping[str, Any]
    """A robot as scenarios take it, but for its name, its count and its start."""
    robot_class: str = "Pioneer"
    distance_factor: float = 0.485  # mm per unit of x and y
    angle_factor: float = 0.001534  # rad per unit
    speed_factor: float = 1.0  # mm/s per unit
    range_factor: float = 1.0  # mm per unit
    wheel_factor: float = 0.0056  # rad/s of the body per mm/s of a wheel that turns it on the spot
    vel2_divisor: int = 20  # mm/s per unit of VEL2
    lateral: bool = False  # can move sideways
    default_speed: float = 1.5  # m/s, of MOVE
    default_turn: float = 1.3  # rad/s, of HEAD and DHEAD
    accel: float = 0.3  # m/s², that a session begins with
    decel: float = 0.6  # m/s²
    turn_accel: float = math.radians(100)  # rad/s²
    turn_decel: float = math.radians(100)  # rad/s²
    told_speed: float = 3.0  # m/s, the limit that CONFIG tells and ARIA sets
    told_turn: float = math.radians(150)  # rad/s
    told_decel: float = 0.3  # m/s²; MobileSim tells another than it begins with
    max_speed: float = 1.2  # m/s, that the robot can do
    max_turn: float = 5.2  # rad/s
    sonar: str | None = None
    """The names of the sensors in `robot` that the packets tell of; None where it has none."""
    laser: str | None = None
    bumper: str | None = None
    laser_type: str = "sicklms200"
    watchdog: float = 2.0  # s without a command after which it stops
    battery: float = 13.0  # V
    way_error: float = 0.0075  # share of the way, in MobileSim's modes of odometry error
    turn_error: float = math.radians(0.0075)  # share of the turn: MobileSim reads it as degrees

    def sensor(self, name: str | None) -> Mapping[str, Any]:
        """A sensor of the robot by its name, as scenarios take it; empty if there is none."""
        sensors = self.robot["sensors"]
        return next((s for s in sensors if name and s.get("name", s["kind"]) == name), {})


def model_names() -> list[str]:
    """The names of the bundled models."""
    return sorted(_bundled())


def find_model(name: str) -> RobotModel:
    """A bundled model, or one of a file: ARIA's .p, MobileSim's .inc, or .yaml.

    Of an .inc that defines several robots it is the last one, or that of `file.inc#name`.
    """
    known = _bundled()
    name = ALIASES.get(name, name)
    if name in known:
        return _make(name, known[name], BUNDLED.parent)
    file, _, part = name.partition("#")
    if (reader := READERS.get(Path(file).suffix)) is not None:
        return reader(Path(file), part)
    raise WrongInput(
        f"no robot model {name!r}{suggest(name, [*known, *ALIASES])} ({', '.join(known)}, "
        "or a file .p, .inc or .yaml)"
    )


@functools.cache
def _bundled() -> dict[str, dict[str, Any]]:
    """The bundled models by name: fields of a Model and the preset of the robot."""
    written = _read(BUNDLED).plain()
    for about in written.values():
        while "like" in about:
            below = written[about.pop("like")]
            about.update({key: value for key, value in below.items() if key not in about})
    return dict(written)


def _read(file: Path) -> Marked:
    """A YAML file that is a mapping."""
    faults: list[Fault] = []
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        why = getattr(problem, "strerror", None) or "not a text file in UTF-8"
        raise WrongInput(f"{file}: {why}") from None
    tree = read_yaml(text, str(file), faults)
    if faults:
        raise ScenarioError(faults)
    if tree is None or not isinstance(tree.value, dict):
        raise WrongInput(f"{file}:1: a robot is a mapping of keys to values")
    return tree


def _from_yaml(file: Path, _: str) -> RobotModel:
    """A model with a `robot`, or a robot alone, as a preset is, which is then like a p3dx."""
    written = _read(file).plain()
    if "robot" not in written:
        written = {"robot": written}
    like = written.pop("like", "p3dx-sh")
    known = _bundled()
    if not isinstance(like, str) or like not in known:
        raise WrongInput(f"{file}: like: no robot model {like!r}{suggest(str(like), known)}")
    below = {k: v for k, v in known[like].items() if k != "preset"}
    name = written.pop("name", like)
    return _make(str(name), {**below, **written}, file.parent, str(file))


def _from_aria(file: Path, _: str) -> RobotModel:
    """The model of a parameter file of ARIA."""
    found = read_aria_robot(file)
    return _make(found.name, {"robot": found.robot, **found.figures}, file.parent, str(file))


def _from_stage(file: Path, name: str) -> RobotModel:
    """The model of a robot that a file of MobileSim defines."""
    found = read_stage_robot(file, name)
    below = {k: v for k, v in _bundled().get(found.name, {}).items() if k != "preset"}
    about = {"distance_factor": 1.0, **below, "robot": found.robot, **found.figures}
    return _make(found.name, about, file.parent, str(file))


READERS = {".yaml": _from_yaml, ".yml": _from_yaml, ".p": _from_aria, ".inc": _from_stage}


def _make(name: str, about: Mapping[str, Any], folder: Path, file: str = "") -> RobotModel:
    """A model of its fields and of a robot, or the preset of one."""
    given: dict[str, Any] = dict(about)
    written = given.pop("robot") if "robot" in given else {"preset": given.pop("preset")}
    if not NAME.match(name):
        raise WrongInput(f"{file}: ARIA could not find a parameter file by the name {name[:60]!r}")
    _check_fields(given, file or name)
    fitted = fit(written, folder, file)
    figures = fitted.limits | given
    figures.setdefault("turn_decel", figures.get("turn_accel", RobotModel.turn_decel))
    return RobotModel(name=name.lower(), robot=fitted.robot, **(figures | fitted.devices))


def _check_fields(given: Mapping[str, Any], where: str) -> None:
    """Refuse what is no field of a model, or not what it may be."""
    known = {f.name: f.default for f in dataclasses.fields(RobotModel) if f.name not in FOUND}
    for key, value in given.items():
        if key not in known:
            raise WrongInput(f"{where}: no key {key!r}{suggest(key, known)}")
        kind = type(known[key])
        if not _fits(value, kind, key):
            what = "a number from 0 on" if key in ERRORS else KINDS[kind]
            raise WrongInput(f"{where}: {key} is {value!r}: it must be {what}")


def _fits(value: object, kind: type, key: str) -> bool:
    """Whether a value fits a field: of its type, and positive where it is a number but no error."""
    if kind is bool or isinstance(value, bool):
        return isinstance(value, bool) and kind is bool
    if isinstance(value, str) or kind is str:
        return isinstance(value, str) and kind is str and bool(value)
    if not isinstance(value, int if kind is int else (int, float)) or not math.isfinite(value):
        return False
    return value > 0 or (value == 0 and key in ERRORS)
