"""What a run came to, in a few numbers: per group, per metric, per belief."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from astray.judge import Judge

if TYPE_CHECKING:
    from astray.group import Group
    from astray.sim import Sim


def summary(sim: Sim) -> dict[str, Any]:
    """The run as plain data: what it was, and every metric of every belief over all its rows."""
    return {
        "scenario": sim.scenario.name,
        "seed": sim.seed,
        "worlds": len(sim.worlds),
        "dt": sim.dt,
        "time": sim.steps * sim.dt,
        "digest": sim.digest(),
        "robots": {name: _group(group) for name, group in sim.robots.items()},
    }


def _group(group: Group) -> dict[str, Any]:
    metrics: dict[str, dict[str, Any]] = {}
    for judge in group.judges:
        metrics.setdefault(judge.metric.name, {})[judge.subject] = statistics(judge)
    return {
        "robots": len(group.rows),
        "estimator": group.estimator.kind if group.estimator else None,
        "rivals": list(group.rivals),
        "apart_at_the_end": _apart(group),
        "metrics": metrics,
    }


def _apart(group: Group) -> dict[str, float]:
    """Mean distance of each belief from the truth now, m."""
    rows = group.rows
    apart = {}
    for who, belief in group.beliefs().items():
        dx = belief["x"][rows] - group.truth["x"][rows]
        dy = belief["y"][rows] - group.truth["y"][rows]
        apart[who] = float(np.hypot(dx, dy).mean()) if len(rows) else 0.0
    return apart


def statistics(judge: Judge) -> dict[str, Any]:
    """A metric over time and over rows: rms, mean, worst, last and how the last ones spread."""
    found = judge.statistics[judge.statistics["count"] > 0]
    if not len(found):
        return {"unit": judge.metric.unit, "values": 0}
    count = int(found["count"].sum())
    return {
        "unit": judge.metric.unit,
        "values": count,
        "rms": float(np.sqrt(found["squares"].sum() / count)),
        "mean": float(found["total"].sum() / count),
        "most": float(found["most"].max()),
        "last": float(found["last"].mean()),
        "last_sd": float(found["last"].std(ddof=1)) if len(found) > 1 else 0.0,
    }
