"""From a file to a scenario: parse, load plugins, merge, validate, and say everything at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

from pydantic import BaseModel, ValidationError

from astray.errors import Fault, Origin, PluginError, ScenarioError, WrongInput
from astray.files import Marked, iterate_values, mark, read_yaml
from astray.numerics import (
    MAX_DT,
    MAX_TICK_RATE,
    common_dt,
    divides_tick_rate,
    nearest_rates,
)
from astray.plugin import KINDS, ContactMetric, Plugin
from astray.presets import SCENARIOS
from astray.scenario.cross_checks import check_agreement
from astray.scenario.fault_messages import explain_all, format_path
from astray.scenario.foreign_plugins import load_plugins
from astray.scenario.layers import name_of, suggest, with_overrides, with_presets
from astray.scenario.maps import read_maps
from astray.scenario.scenario import GroupPlan, Scenario
from astray.scenario.schema import SLOTS, scenario_model
from astray.scenario.signals import read_all_signals
from astray.scenario.start import Start
from astray.scenario.write import effective
from astray.tables import ADDRESS, table
from astray.world.geometry import Footprint

BUNDLED = SCENARIOS
EARLY = re.compile(r"(^|\.)(preset|plugins)$")

Source = str | Path | Mapping[str, Any]


def bundled() -> dict[str, Path]:
    """The scenarios that come with astray, by name."""
    return {file.stem: file for file in sorted(BUNDLED.glob("*.yaml"))}


def load_scenario(source: Source, overrides: str | Sequence[str] = ()) -> Scenario:
    """Read a scenario from a file, a bundled name or a mapping; ScenarioError has every fault."""
    faults: list[Fault] = []
    tree, folder, name = _read(source, faults)
    if tree is None:
        raise ScenarioError(faults)
    if not isinstance(tree.value, dict):
        raise ScenarioError([Fault(tree.origin, "", "a scenario is a mapping of keys to values")])
    # A preset is chosen before it is merged, everything else is set after.
    numbered = dict(enumerate([overrides] if isinstance(overrides, str) else overrides, 1))
    early = {k: o for k, o in numbered.items() if EARLY.search(str(o).partition("=")[0])}
    tree = with_overrides(tree, early, faults)
    load_plugins(tree, folder, faults)
    tree = with_presets(tree, folder, faults)
    tree = with_overrides(tree, {k: o for k, o in numbered.items() if k not in early}, faults)
    read_all_signals(tree, faults)
    read_maps(tree, faults)
    _check_names(tree, faults)
    _check_choices(tree, faults)
    dt = _choose_dt(tree, faults)
    model = _validate(tree, faults)
    if model is None:
        raise ScenarioError(faults)
    scenario = _plan(model, name, dt)
    _check_robots(scenario, tree, faults)
    _check_judges(scenario, tree, faults)
    check_agreement(scenario, tree, faults)
    if faults:
        raise ScenarioError(faults)
    return scenario


def _read(source: Source, faults: list[Fault]) -> tuple[Marked | None, Path, str]:
    if isinstance(source, Mapping):
        return mark(source, "scenario"), Path.cwd(), "scenario"
    known = bundled()
    path = known.get(str(source), Path(source))
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        faults.append(Fault(Origin(str(path)), "", f"not a text file in UTF-8{_hint(path)}"))
    except IsADirectoryError:
        faults.append(Fault(Origin(str(path)), "", "a folder, not a file"))
    except (OSError, ValueError) as problem:  # a name may hold what no file system takes
        hint = suggest(str(source), known)
        if isinstance(problem, FileNotFoundError):
            names = f"; bundled scenarios: {', '.join(known)}"
            message = f"no such file, and no bundled scenario of that name{hint}{names}"
        else:
            message = getattr(problem, "strerror", None) or str(problem)
        faults.append(Fault(Origin(str(path)), "", message))
    else:
        return read_yaml(text, str(path), faults), path.resolve().parent, path.stem
    return None, Path.cwd(), ""


def _hint(path: Path) -> str:
    """What to do with a file that is no scenario, if it is something else of ours."""
    if is_zipfile(path):  # as files of arrays are
        return f'; if it is a saved run, `astray.resume("{path}")` of Python goes on with it'
    if path.suffix == ".mcap":
        return f"; if it is a recording, `astray replay {path}` shows it"
    return ""


def _validate(tree: Marked, faults: list[Fault]) -> BaseModel | None:
    try:
        return scenario_model().model_validate(tree.plain())
    except ValidationError as problem:
        faults.extend(explain_all(problem.errors(include_url=False), tree))
        return None


def _choose_dt(tree: Marked, faults: list[Fault]) -> float:
    """The dt that is given, with every rate checked against it, or else the one that fits all."""
    rates = {
        path: item
        for path, item in iterate_values(tree)
        if path and path[-1] == "rate" and _is_positive(item.value)
    }
    fitting = common_dt(item.value for item in rates.values())
    given = tree.at(("dt",))
    if (
        given is None
        or not _is_positive(given.value)
        or not 1 / MAX_TICK_RATE <= given.value <= MAX_DT
    ):
        if fitting is None:
            for path, item in rates.items():
                message = (
                    f"no tick of a microsecond or more fits {item.value} Hz and the other rates"
                )
                faults.append(Fault(item.origin, format_path(path), message))
        return fitting or 0.01
    dt = float(given.value)
    for path, item in rates.items():
        if not divides_tick_rate(item.value, dt):
            near = " or ".join(f"{rate:g}" for rate in nearest_rates(item.value, dt))
            largest = "" if fitting is None else f"; dt: {fitting} would fit all rates"
            message = (
                f"{item.value:g} Hz does not divide the {1 / dt:g} ticks per second of dt: {dt:g}; "
                f"the nearest that do are {near} Hz{largest}"
            )
            faults.append(Fault(item.origin, format_path(path), message))
    return dt


def _is_positive(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e300


def _check_names(tree: Marked, faults: list[Fault]) -> None:
    """Names must differ within a list, and a preset's name must not be needed twice."""
    for path, item in iterate_values(tree):
        if not path or path[-1] not in ("robots", "sensors", "rivals", "metrics", "interactions"):
            continue
        seen: set[str] = set()
        for k, entry in enumerate(item.value if isinstance(item.value, list) else ()):
            name = name_of(entry)
            if name and name in seen:
                origin = (entry.at(("name",)) or entry.at(("kind",)) or entry).origin
                where = format_path((*path, k))
                faults.append(Fault(origin, where, f"the name {name!r} is taken; give it another"))
            seen.add(name)
    robots = tree.at(("robots",))
    for k, robot in enumerate(robots.value if robots and isinstance(robots.value, list) else ()):
        taken = {"belief", "truth", name_of(robot.at(("estimator",)) or Marked({}, robot.origin))}
        listed = robot.at(("rivals",))
        entries = listed.value if listed and isinstance(listed.value, list) else []
        for j, rival in enumerate(entries):
            if name_of(rival) in taken:
                message = f"the name {name_of(rival)!r} is taken; give it another"
                faults.append(Fault(rival.origin, format_path(("robots", k, "rivals", j)), message))
        if (rivals := robot.at(("rivals",))) and not robot.at(("estimator",)):
            message = "rivals need an estimator to rival: without one the robot believes the truth"
            faults.append(Fault(rivals.origin, format_path(("robots", k, "rivals")), message))


def _plugin(model: BaseModel, family: str) -> Any:
    values = dict(model)
    return KINDS[family][values.pop("kind")](**values)


def _plan(model: BaseModel, name: str, dt: float) -> Scenario:
    data: Any = model
    groups = []
    for robot in data.robots:
        parts = {
            slot: _plugin(getattr(robot, slot), slot) for slot in ("motion", "control", "autonomy")
        }
        groups.append(
            GroupPlan(
                name=robot.name,
                count=robot.count,
                capacity=max(robot.count, robot.capacity or 0),
                start=Start(**dict(robot.start)),
                sensors=[_plugin(s, "sensor") for s in robot.sensors],
                estimator=_plugin(robot.estimator, "estimator") if robot.estimator else None,
                rivals=[_plugin(r, "estimator") for r in robot.rivals],
                contacts=_plugin(robot.contacts, "tracker") if robot.contacts else None,
                footprint=_footprint(robot.footprint),
                map=robot.map,
                **parts,
            )
        )
    scenario = Scenario(
        name=data.name or name,
        dt=dt,
        duration=data.duration,
        seed=data.seed,
        robots=groups,
        metrics=[_plugin(m, "metric") for m in data.metrics],
        map=data.world.map if data.world else None,
        interactions=_interactions(data),
    )
    scenario.effective = effective(scenario, data.plugins)
    return scenario


def _footprint(written: Any) -> Footprint:
    if written is None:
        return Footprint()
    if written.corners is not None:
        return Footprint.polygon(written.corners)
    if written.length is not None and written.width is not None:
        return Footprint.box(written.length, written.width, written.x, written.y)
    return Footprint(written.x, written.y, written.radius or Footprint.radius)


def _check_choices(tree: Marked, faults: list[Fault]) -> None:
    """A footprint is one of circle, box and polygon; a start is a place or anywhere."""
    robots = tree.at(("robots",))
    for k, robot in enumerate(robots.value if robots and isinstance(robots.value, list) else ()):
        place, room = robot.at(("start", "place")), robot.at(("start", "clearance"))
        if place and place.value and room and room.value is not None:
            message = "a robot starts at a place or anywhere with room, not both"
            faults.append(Fault(room.origin, format_path(("robots", k, "start")), message))
        written = robot.at(("footprint",))
        if written is None or not isinstance(written.value, dict):
            continue
        given = {key for key in ("radius", "length", "width", "corners") if key in written.value}
        if given not in ({"radius"}, {"length", "width"}, {"corners"}):
            message = "needs radius, or length and width, or corners"
            faults.append(Fault(written.origin, format_path(("robots", k, "footprint")), message))
        elif "corners" in given and not _encloses(written.value["corners"].plain()):
            message = "the corners enclose no area"
            faults.append(Fault(written.origin, format_path(("robots", k, "footprint")), message))
            del written.value["corners"]
        for key in ("x", "y"):
            if "corners" in given and key in written.value:
                message = "is for circles and boxes: corners stand in the body frame"
                where = format_path(("robots", k, "footprint", key))
                faults.append(Fault(written.value[key].origin, where, message))


def _encloses(corners: Any) -> bool:
    try:
        Footprint.polygon(corners)
    except WrongInput:
        return False
    except (TypeError, ValueError):
        return True  # no corners at all: validation says so
    return True


def _interactions(data: Any) -> list[Any]:
    """What is asked for; robots in a world run into things unless that is ruled out."""
    if data.interactions is None:
        return [KINDS["interaction"]["collisions"]()] if data.world else []
    return [_plugin(i, "interaction") for i in data.interactions]


def _check_robots(scenario: Scenario, tree: Marked, faults: list[Fault]) -> None:
    """Attach every plugin once, so that a robot that lacks something is refused here."""
    for k, plan in enumerate(scenario.robots):
        sheets = plan.sheets()
        for slot in SLOTS:
            held = getattr(plan, slot, None)
            for j, plugin in enumerate(held if isinstance(held, list) else [held] if held else []):
                path = ("robots", k, slot, j) if isinstance(held, list) else ("robots", k, slot)
                problem = _attach_problem(plugin, sheets, scenario.dt)
                if problem:
                    faults.append(Fault(tree.nearest(path), format_path(path), problem))


def _check_judges(scenario: Scenario, tree: Marked, faults: list[Fault]) -> None:
    """A metric of what robots believe of others needs one that believes anything of them."""
    if any(plan.contacts for plan in scenario.robots):
        return
    for k, metric in enumerate(scenario.metrics):
        if isinstance(metric, ContactMetric):
            message = f"{metric.kind} judges contacts, and no robot has a tracker under `contacts`"
            path = ("metrics", k)
            faults.append(Fault(tree.nearest(path), format_path(path), message))


def _attach_problem(plugin: Plugin, sheets: Any, dt: float) -> str:
    try:
        plugin.attach(table(ADDRESS, 1), sheets, dt, 0, "")
    except PluginError as problem:
        return str(problem)
    except Exception as problem:  # noqa: BLE001 - a stranger's code may raise anything
        return f"{plugin.kind} cannot be prepared: {type(problem).__name__}: {problem}"
    return ""
