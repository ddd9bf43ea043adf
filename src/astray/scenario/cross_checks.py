"""Checks of what the schema cannot express: that the parts of a scenario fit together.

`check_tree` and `choose_dt` check values as they are written, before validation; `check_scenario`
checks the plugins that were made of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from astray.errors import Fault, Path, PluginError, WrongInput, format_path, suggest
from astray.files import Marked, iterate_values
from astray.numerics import (
    MAX_DT,
    MAX_TICK_RATE,
    MIN_RATE,
    common_dt,
    divides_tick_rate,
    nearest_rates,
)
from astray.plugin import ContactMetric, Estimator, Plugin, nominal
from astray.robot.autonomy import Follow, Navigate
from astray.robot.autonomy.navigate import goal_positions
from astray.scenario.layers import MERGED_BY_NAME, name_of
from astray.scenario.references import MapPlan
from astray.scenario.scenario import GroupPlan, Scenario
from astray.scenario.schema import SLOTS
from astray.scenario.start import find_place
from astray.tables import ADDRESS, table
from astray.world import Map
from astray.world.geometry import Footprint

DEFAULT_DT = 0.01  # s

PathFault = tuple[Path, str]
"""The path of a value, and what is wrong with it."""


def check_tree(tree: Marked, faults: list[Fault]) -> None:
    """Check names, rivals, starts and footprints before validation."""
    _check_unique_names(tree, faults)
    robots = tree.at(("robots",))
    for k, robot in enumerate(robots.value if robots and isinstance(robots.value, list) else ()):
        _check_rivals(robot, ("robots", k), faults)
        _check_start(robot, ("robots", k), faults)
        _check_footprint(robot, ("robots", k), faults)


def _check_unique_names(tree: Marked, faults: list[Fault]) -> None:
    """Names must differ within a list."""
    for path, node in iterate_values(tree):
        if not path or path[-1] not in MERGED_BY_NAME:
            continue
        seen: set[str] = set()
        for k, entry in enumerate(node.value if isinstance(node.value, list) else ()):
            name = name_of(entry)
            if name and name in seen:
                origin = (entry.at(("name",)) or entry.at(("kind",)) or entry).origin
                message = f"the name {name!r} is taken; give it another"
                faults.append(Fault(origin, format_path((*path, k)), message))
            seen.add(name)


def _check_rivals(robot: Marked, path: Path, faults: list[Fault]) -> None:
    """Rivals need an estimator to be compared with, and names of their own."""
    rivals, estimator = robot.at(("rivals",)), robot.at(("estimator",))
    if not rivals:
        return
    taken = {"belief", "truth", name_of(estimator or Marked({}, robot.origin))}
    for j, rival in enumerate(rivals.value if isinstance(rivals.value, list) else ()):
        if name_of(rival) in taken:
            message = f"the name {name_of(rival)!r} is taken; give it another"
            faults.append(Fault(rival.origin, format_path((*path, "rivals", j)), message))
    if not estimator:
        message = "rivals need an estimator: without one the robot believes the truth"
        faults.append(Fault(rivals.origin, format_path((*path, "rivals")), message))


def _check_start(robot: Marked, path: Path, faults: list[Fault]) -> None:
    """A start is a place of the map or a free spot with a clearance."""
    place, clearance = robot.at(("start", "place")), robot.at(("start", "clearance"))
    if place and place.value and clearance and clearance.value is not None:
        message = "give a place or a clearance, not both"
        faults.append(Fault(clearance.origin, format_path((*path, "start")), message))


def _check_footprint(robot: Marked, path: Path, faults: list[Fault]) -> None:
    """A footprint is a circle, a box or a polygon."""
    footprint = robot.at(("footprint",))
    if footprint is None or not isinstance(footprint.value, dict):
        return
    at = format_path((*path, "footprint"))
    given = {key for key in ("radius", "length", "width", "corners") if key in footprint.value}
    if given not in ({"radius"}, {"length", "width"}, {"corners"}):
        message = "needs radius, or length and width, or corners"
        faults.append(Fault(footprint.origin, at, message))
    elif "corners" in given and not _encloses_area(footprint.value["corners"].plain()):
        faults.append(Fault(footprint.origin, at, "the corners enclose no area"))
        del footprint.value["corners"]
    for key in ("x", "y"):
        if "corners" in given and key in footprint.value:
            message = "is for circles and boxes: the corners are already in the body frame"
            faults.append(Fault(footprint.value[key].origin, f"{at}.{key}", message))


def _encloses_area(corners: Any) -> bool:
    try:
        Footprint.polygon(corners)
    except WrongInput:
        return False
    except (TypeError, ValueError):
        return True  # no corners at all, which the schema refuses
    return True


def choose_dt(tree: Marked, faults: list[Fault]) -> float:
    """The length of a tick, s: the given one, or else the largest that all rates fit.

    Args:
        tree: The scenario.
        faults: A fault is appended for every rate that does not divide the tick rate.

    Returns:
        The length of a tick, s.
    """
    rates = {
        path: node
        for path, node in iterate_values(tree)
        if path and path[-1] == "rate" and _is_positive(node.value)
    }
    for path, node in list(rates.items()):
        if not MIN_RATE <= node.value <= MAX_TICK_RATE:
            message = f"must be from {MIN_RATE:g} to {MAX_TICK_RATE:g} Hz, not {node.value:g}"
            faults.append(Fault(node.origin, format_path(path), message))
            del rates[path]
    fitting = common_dt(node.value for node in rates.values())
    given = tree.at(("dt",))
    if given is None or not _is_valid_dt(given.value):
        if fitting is None:
            for path, node in rates.items():
                message = (
                    f"no tick of a microsecond or more fits {node.value} Hz and the other rates"
                )
                faults.append(Fault(node.origin, format_path(path), message))
        return fitting or DEFAULT_DT
    dt = float(given.value)
    for path, node in rates.items():
        if not divides_tick_rate(node.value, dt):
            near = " or ".join(f"{rate:g}" for rate in nearest_rates(node.value, dt))
            largest = "" if fitting is None else f"; dt: {fitting} would fit all rates"
            message = (
                f"{node.value:g} Hz does not divide the {1 / dt:g} ticks per second of dt: {dt:g}; "
                f"the nearest that do are {near} Hz{largest}"
            )
            faults.append(Fault(node.origin, format_path(path), message))
    return dt


def _is_valid_dt(value: object) -> bool:
    return _is_positive(value) and 1 / MAX_TICK_RATE <= value <= MAX_DT  # type: ignore[operator]


def _is_positive(value: object) -> bool:
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and 0 < value <= sys.float_info.max
    )


def check_scenario(scenario: Scenario, tree: Marked, faults: list[Fault]) -> None:
    """Check that names exist, that no robot is too many, and that every plugin can do its work."""
    found = [*_check_metrics(scenario)]
    for k, plan in enumerate(scenario.robots):
        capacity = tree.at(("robots", k, "capacity"))
        of_plan = [
            *_check_capacity(capacity, plan),
            *_check_names(scenario, plan),
            *_check_ranges(plan),
            *_check_maps(scenario, plan),
            *_check_attaching(plan, scenario.dt),
        ]
        found += [(("robots", k, *path), message) for path, message in of_plan]
    faults.extend(Fault(tree.nearest(path), format_path(path), message) for path, message in found)


def _check_metrics(scenario: Scenario) -> Iterator[PathFault]:
    """A metric with an offset needs a rate; a metric of contacts needs a tracker."""
    has_tracker = any(plan.contacts for plan in scenario.robots)
    for k, metric in enumerate(scenario.metrics):
        if metric.rate is None and metric.offset > 0.0:
            yield (
                ("metrics", k, "offset"),
                "needs a rate: without one, every new belief is evaluated",
            )
        if isinstance(metric, ContactMetric) and not has_tracker:
            message = (
                f"{metric.kind} evaluates contacts, but no robot has a tracker under `contacts`"
            )
            yield ("metrics", k), message


def _check_capacity(capacity: Marked | None, plan: GroupPlan) -> Iterator[PathFault]:
    if capacity is not None and capacity.value is not None and capacity.value < plan.count:
        yield ("capacity",), f"{capacity.value} is less than the count of {plan.count}"


def _check_names(scenario: Scenario, plan: GroupPlan) -> Iterator[PathFault]:
    """Places of maps, goals and robots that a group names must exist."""
    start, autonomy = plan.start, plan.autonomy
    world_map, known_map = _loaded_map(scenario.map), _loaded_map(plan.map or scenario.map)
    if start.place and world_map is not None:
        yield from _as_fault(("start", "place"), partial(find_place, world_map, start.place))
    if isinstance(autonomy, Follow):
        yield from _check_target(scenario, autonomy)
    if isinstance(autonomy, Navigate) and known_map is not None:
        for j, goal in enumerate(autonomy.goals):
            yield from _as_fault(
                ("autonomy", "goals", j), partial(goal_positions, [goal], known_map)
            )


def _as_fault(path: Path, check: Callable[[], object]) -> Iterator[PathFault]:
    try:
        check()
    except WrongInput as problem:
        yield path, str(problem).removeprefix("start: ")  # the path has it


def _check_target(scenario: Scenario, follow: Follow) -> Iterator[PathFault]:
    capacities = {plan.name: plan.capacity for plan in scenario.robots}
    capacity = capacities.get(follow.target)
    if capacity is None:
        names = f"({', '.join(capacities)}){suggest(follow.target, capacities)}"
        message = f"{follow.name}: there are no robots {follow.target!r} {names}"
        yield ("autonomy", "target"), message
    elif follow.robot >= capacity:
        message = f"{follow.name}: there is no robot {follow.robot} of {follow.target!r}, which has"
        yield ("autonomy", "robot"), f"{message} {capacity}"


def _check_ranges(plan: GroupPlan) -> Iterator[PathFault]:
    """The nominal min_range of a sensor must not exceed its max_range."""
    for j, sensor in enumerate(plan.sensors):
        ranges: list[Any] = [getattr(sensor, name, None) for name in ("min_range", "max_range")]
        low, high = map(nominal, ranges)
        if isinstance(low, (int, float)) and isinstance(high, (int, float)) and low > high:
            message = f"{low:g} m is more than the max_range of {high:g} m"
            yield ("sensors", j, "min_range"), message


def _check_maps(scenario: Scenario, plan: GroupPlan) -> Iterator[PathFault]:
    """Estimators that localise on a map need one with walls."""
    known_map = _loaded_map(plan.map or scenario.map)
    if known_map is None or len(known_map):
        return
    slots: list[tuple[Path, Estimator | None]] = [(("estimator",), plan.estimator)]
    slots += [(("rivals", j), rival) for j, rival in enumerate(plan.rivals)]
    for path, estimator in slots:
        if estimator is not None and estimator.needs_map:
            message = f"{estimator.kind} needs a map with walls: under world, or of the robot"
            yield path, message


def _loaded_map(plan: MapPlan | None) -> Map | None:
    """The map of a plan; None for a generated one, which may differ between worlds."""
    return Map() if plan is None else plan.loaded


def _check_attaching(plan: GroupPlan, dt: float) -> Iterator[PathFault]:
    """Attach every plugin once, to find what a robot lacks for it."""
    sheets = plan.sheets()
    for slot in SLOTS:
        held = getattr(plan, slot, None)
        for j, plugin in enumerate(held if isinstance(held, list) else [held] if held else []):
            problem = _attach_problem(plugin, sheets, dt)
            if problem:
                yield ((slot, j) if isinstance(held, list) else (slot,)), problem


def _attach_problem(plugin: Plugin, sheets: Any, dt: float) -> str:
    try:
        plugin.attach(table(ADDRESS, 1), sheets, dt, 0, "")
    except PluginError as problem:
        return str(problem)
    except Exception as problem:  # noqa: BLE001 - a plugin may raise anything
        return f"{plugin.kind} cannot be initialised: {type(problem).__name__}: {problem}"
    return ""
