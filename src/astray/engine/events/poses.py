"""Events that set the truth or a belief: place, believe."""

from __future__ import annotations

from astray.engine.event_queue import Event
from astray.engine.events.kinds import EventKind
from astray.engine.events.selectors import check_rows, group_of, living_rows_of
from astray.engine.events.values import check_columns, write_columns
from astray.engine.run import Run
from astray.errors import EventError

PLACED = ("x", "y", "yaw", "vx", "vy", "wz", "steer")
BELIEVED = (*PLACED, "z", "vz", "ax", "ay", "alpha", "stamp", "cov")


def check_place(run: Run, event: Event) -> list[Event]:
    """Finite values for columns of the pose."""
    group = group_of(run, event)
    check_rows(run, group, event)
    check_columns(group, event.values, PLACED, "place")
    return [event]


def apply_place(run: Run, event: Event) -> None:
    """Move the truth; beliefs are not told."""
    group = group_of(run, event)
    rows = living_rows_of(run, group, event)
    if len(rows):
        write_columns(group, group.truth, rows, event.values)
        for pipeline in group.pipelines.values():
            pipeline.sensor.placed(rows, group.scene)
    run.environment.placed(group.scene.first + rows)


def check_believe(run: Run, event: Event) -> list[Event]:
    """Finite values for columns of a belief that there is."""
    group, values = group_of(run, event), event.values
    check_rows(run, group, event)
    who = values.get("estimator", "belief")
    if who == "belief" and group.estimator is None:
        raise EventError(f"{group.name!r} has no estimator: it believes the truth")
    if not isinstance(who, str) or who not in group.beliefs():
        raise EventError(f"believe: no estimator {who!r} ({', '.join(group.beliefs())})")
    beliefs = {k: v for k, v in values.items() if k != "estimator"}
    check_columns(group, beliefs, BELIEVED, "believe")
    return [event]


def apply_believe(run: Run, event: Event) -> None:
    """Set the belief, and tell its estimator."""
    group, values = group_of(run, event), event.values
    rows = living_rows_of(run, group, event)
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
