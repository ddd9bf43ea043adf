"""Events that set the truth or a belief: place, believe."""

from __future__ import annotations

from astray.engine.event_queue import Event
from astray.engine.events.base import (
    EventKind,
    active_rows_of,
    check_columns,
    check_selection,
    group_of,
    write_columns,
)
from astray.engine.run import Run
from astray.errors import EventError

PLACE_VALUES = ("x", "y", "yaw", "vx", "vy", "wz", "steer")
BELIEVE_VALUES = (*PLACE_VALUES, "z", "vz", "ax", "ay", "alpha", "stamp", "cov")


def check_place(run: Run, event: Event) -> list[Event]:
    """Finite values for columns of the pose."""
    group = check_selection(run, event)
    check_columns(group, event.values, PLACE_VALUES, "place")
    return [event]


def apply_place(run: Run, event: Event) -> None:
    """Set the truth; beliefs stay as they are."""
    group = group_of(run, event)
    rows = active_rows_of(run, group, event)
    if len(rows):
        write_columns(group, group.truth, rows, event.values)
        for pipeline in group.pipelines.values():
            pipeline.sensor.placed(rows, group.scene)
    run.environment.robots_placed(group.scene.first_row + rows)


def check_believe(run: Run, event: Event) -> list[Event]:
    """Finite values for columns of a belief that exists."""
    group, values = check_selection(run, event), event.values
    name = values.get("estimator", "belief")
    if name == "belief" and group.estimator is None:
        raise EventError(f"{group.name!r} has no estimator: it believes the truth")
    if not isinstance(name, str) or name not in group.beliefs():
        raise EventError(f"believe: unknown estimator {name!r} ({', '.join(group.beliefs())})")
    columns = {k: v for k, v in values.items() if k != "estimator"}
    check_columns(group, columns, BELIEVE_VALUES, "believe")
    return [event]


def apply_believe(run: Run, event: Event) -> None:
    """Set the belief, and the state of its estimator."""
    group, values = group_of(run, event), event.values
    rows = active_rows_of(run, group, event)
    if not len(rows):
        return
    belief = group.beliefs()[values.get("estimator", "belief")]
    write_columns(group, belief, rows, {k: v for k, v in values.items() if k != "estimator"})
    if "stamp" not in values:
        belief["stamp"][rows] = group.time[rows]
    if "cov" not in values:
        belief["cov"][rows] = 0.0
    for estimator, owned, _ in group.estimators:
        if owned is belief:
            estimator.believe(rows, belief)
    group.evaluation.evaluate_set_belief(rows, belief, group.truth)


KINDS = (
    EventKind("place", check_place, apply_place),
    EventKind("believe", check_believe, apply_believe),
)
