"""What a run came to, in a few numbers: per group, per metric, per belief."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from astray.engine.evaluation.belief_evaluator import Judge
from astray.engine.evaluation.track_evaluator import ContactJudge
from astray.tables import Array, Table

MOST_ROWS = 100  # that a summary lists one by one

if TYPE_CHECKING:
    from astray.engine.robots import Group
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
        "robots": {name: _group(group, sim) for name, group in sim.robots.items()},
    }


def _group(group: Group, sim: Sim) -> dict[str, Any]:
    metrics: dict[str, dict[str, Any]] = {}
    for judge in group.judges:
        metrics.setdefault(judge.metric.name, {})[judge.subject] = statistics(judge)
    for name, subjects in metrics.items():
        judges = {j.subject: j for j in group.judges if j.metric.name == name}
        for rival in group.rivals if "belief" in subjects else ():
            subjects[rival]["against_belief"] = compare(judges[rival], judges["belief"])
    found: dict[str, Any] = {
        "robots": len(group.rows),
        "estimator": group.estimator.kind if group.estimator else None,
        "rivals": list(group.rivals),
        "apart_at_the_end": _apart(group),
        "metrics": metrics,
    }
    if sim.scenery.interactions:
        first, rows = group.scene.first, sim.collisions["row"]
        found["collisions"] = int(((rows >= first) & (rows < first + len(group.truth))).sum())
    return found


def _apart(group: Group) -> dict[str, float]:
    """Mean distance of each belief from the truth now, m."""
    rows = group.rows
    apart = {}
    for who, belief in group.beliefs().items():
        dx = belief["x"][rows] - group.truth["x"][rows]
        dy = belief["y"][rows] - group.truth["y"][rows]
        apart[who] = float(np.hypot(dx, dy).mean()) if len(rows) else 0.0
    return apart


def statistics(judge: Judge | ContactJudge) -> dict[str, Any]:
    """A metric over time and over rows: rms, mean, worst, last and how the last ones spread.

    By which of rms and mean it is judged is its `average`.
    """
    measured = judge.statistics["count"] > 0
    found = judge.statistics[measured]
    if not len(found):
        return {"unit": judge.metric.unit, "values": 0}
    count = int(found["count"].sum())
    return {
        "unit": judge.metric.unit,
        "average": judge.metric.average,
        "values": count,
        "rms": float(np.sqrt(found["squares"].sum() / count)),
        "mean": float(found["total"].sum() / count),
        "most": float(found["most"].max()),
        "last": float(found["last"].mean()),
        "last_sd": _spread(found["last"]),
        "rms_sd": _spread(_rms(found)),
        "rows": _rows(judge.belief[measured], found),
    }


def _rms(found: Table) -> Array:
    return np.asarray(np.sqrt(found["squares"] / found["count"]))


def _mean(found: Table) -> Array:
    return np.asarray(found["total"] / found["count"])


def _spread(values: Array) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0


def _rows(belief: Table, found: Table) -> list[dict[str, Any]]:
    """Each robot of each world on its own, as long as that is readable."""
    if len(found) > MOST_ROWS:
        return []
    columns = (belief["world"], belief["robot"], _rms(found), found["most"], found["last"])
    return [
        {"world": int(w), "robot": int(r), "rms": float(rms), "most": float(m), "last": float(last)}
        for w, r, rms, m, last in zip(*columns, strict=True)
    ]


def compare(rival: Judge | ContactJudge, owner: Judge | ContactJudge) -> dict[str, Any]:
    """The rival's average less the owner's, row by row: its mean and a 95 % interval of that."""
    both = (rival.statistics["count"] > 0) & (owner.statistics["count"] > 0)
    average = _rms if rival.metric.average == "rms" else _mean
    difference = average(rival.statistics[both]) - average(owner.statistics[both])
    name = f"{rival.metric.average}_difference"
    if len(difference) < 2:
        return {"rows": len(difference), name: float(difference.sum())}
    half = student_95(len(difference) - 1) * _spread(difference) / math.sqrt(len(difference))
    mean = float(difference.mean())
    return {
        "rows": len(difference),
        name: mean,
        "low": mean - half,
        "high": mean + half,
    }


def student_95(freedom: int) -> float:
    """The two-sided 95 % point of Student's t, by bisection on its distribution.

    A few lines instead of a dependency on scipy for one number.
    """
    low, high = 0.0, 13.0  # 12.7 is that of a single degree of freedom
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    scale /= math.sqrt(freedom * math.pi)
    while high - low > 1e-9:
        middle = (low + high) / 2
        grid = np.linspace(0.0, middle, 2001)
        density = scale * (1.0 + grid * grid / freedom) ** (-(freedom + 1) / 2)
        simpson = density[0] + 4 * density[1::2].sum() + 2 * density[2:-1:2].sum() + density[-1]
        below = simpson * middle / 6000 < 0.475
        low, high = (middle, high) if below else (low, middle)
    return (low + high) / 2
