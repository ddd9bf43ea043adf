"""What a scenario says in one place has to agree with what it says in another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from astray.errors import Fault, Path, WrongInput, format_path, suggest
from astray.files import Marked
from astray.plugin import Estimator, nominal
from astray.robot.autonomy import Follow, Navigate
from astray.robot.autonomy.navigate import spots_of
from astray.scenario.maps import MapPlan
from astray.scenario.scenario import GroupPlan, Scenario
from astray.scenario.start import place_of
from astray.world import Map

Complaint = tuple[Path, str]
"""The path of a value, and what is wrong with it."""


def check_agreement(scenario: Scenario, tree: Marked, faults: list[Fault]) -> None:
    """Find names of nothing, numbers that would be left out, and plugins that could do nothing."""
    found = [*_metrics(scenario)]
    for k, plan in enumerate(scenario.robots):
        rows = tree.at(("robots", k, "capacity"))
        if rows is not None and rows.value is not None and rows.value < plan.count:
            message = f"{rows.value} is less than the count of {plan.count}"
            found.append((("robots", k, "capacity"), message))
        within = [*_names(scenario, plan), *_ranges(plan), *_maps(scenario, plan)]
        found += [(("robots", k, *path), message) for path, message in within]
    faults.extend(Fault(tree.nearest(path), format_path(path), message) for path, message in found)


def _metrics(scenario: Scenario) -> Iterator[Complaint]:
    for k, metric in enumerate(scenario.metrics):
        if metric.rate is None and metric.offset > 0.0:
            yield ("metrics", k, "offset"), "needs a rate: without one, every new belief is judged"


def _names(scenario: Scenario, plan: GroupPlan) -> Iterator[Complaint]:
    start, autonomy = plan.start, plan.autonomy
    around, known = _map(scenario.map), _map(plan.map or scenario.map)
    if start.place and around is not None:
        yield from _complaint(("start", "place"), partial(place_of, around, start.place))
    if isinstance(autonomy, Follow):
        yield from _target(scenario, autonomy)
    if isinstance(autonomy, Navigate) and known is not None:
        for j, goal in enumerate(autonomy.goals):
            yield from _complaint(("autonomy", "goals", j), partial(spots_of, [goal], known))


def _ranges(plan: GroupPlan) -> Iterator[Complaint]:
    """Sensors that can measure nothing, by what their datasheets say."""
    for j, sensor in enumerate(plan.sensors):
        written: list[Any] = [getattr(sensor, name, None) for name in ("min_range", "max_range")]
        near, far = map(nominal, written)
        if isinstance(near, (int, float)) and isinstance(far, (int, float)) and near > far:
            message = f"{near:g} m is more than the max_range of {far:g} m"
            yield ("sensors", j, "min_range"), message


def _maps(scenario: Scenario, plan: GroupPlan) -> Iterator[Complaint]:
    """Estimators that find themselves on a map, and have none."""
    known = _map(plan.map or scenario.map)
    if known is None or len(known):
        return
    slots: list[tuple[Path, Estimator | None]] = [(("estimator",), plan.estimator)]
    slots += [(("rivals", j), rival) for j, rival in enumerate(plan.rivals)]
    for path, estimator in slots:
        if estimator is not None and estimator.needs_map:
            message = f"{estimator.kind} needs a map with walls: under world, or of the robot"
            yield path, message


def _map(plan: MapPlan | None) -> Map | None:
    """The map of a plan; None of one that is made, since that may be another in each world."""
    return Map() if plan is None else plan.read


def _complaint(path: Path, look: Callable[[], object]) -> Iterator[Complaint]:
    try:
        look()
    except WrongInput as problem:
        yield path, str(problem).removeprefix("start: ")  # which the path says


def _target(scenario: Scenario, follow: Follow) -> Iterator[Complaint]:
    robots = {plan.name: plan.capacity for plan in scenario.robots}
    there = robots.get(follow.target)
    if there is None:
        names = f"({', '.join(robots)}){suggest(follow.target, robots)}"
        message = f"{follow.name} finds no robots {follow.target!r} {names}"
        yield ("autonomy", "target"), message
    elif follow.robot >= there:
        message = f"{follow.name} finds no robot {follow.robot} of {follow.target!r}, which has"
        yield ("autonomy", "robot"), f"{message} {there}"
