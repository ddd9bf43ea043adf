"""The result of a run in a few numbers: per group, per metric, per belief."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from astray.engine.evaluation import BeliefEvaluator, TrackEvaluator
from astray.engine.robots import Robots
from astray.engine.run import Run
from astray.numerics import student_t_95
from astray.tables import Array, Table

Evaluator = BeliefEvaluator | TrackEvaluator
MAX_ROWS = 100  # that a summary lists one by one


def summary(run: Run) -> dict[str, Any]:
    """The result of a run as plain data.

    Args:
        run: A run.

    Returns:
        Scenario, seed, worlds, time and digest; per group of robots the statistics of every metric
        of every belief over all rows, with rivals compared row by row, and the collisions.
    """
    return {
        "scenario": run.scenario.name,
        "seed": run.seed,
        "worlds": len(run.worlds),
        "dt": run.dt,
        "time": run.steps * run.dt,
        "digest": run.digest(),
        "robots": {name: _group(group, run) for name, group in run.robots.items()},
    }


def _group(group: Robots, run: Run) -> dict[str, Any]:
    metrics: dict[str, dict[str, Any]] = {}
    for evaluator in group.evaluators:
        metrics.setdefault(evaluator.metric.name, {})[evaluator.subject] = statistics(evaluator)
    for name, subjects in metrics.items():
        of = {e.subject: e for e in group.evaluators if e.metric.name == name}
        for rival in group.rivals if "belief" in subjects else ():
            subjects[rival]["against_belief"] = compare(of[rival], of["belief"])
    found: dict[str, Any] = {
        "robots": len(group.rows),
        "estimator": group.estimator.kind if group.estimator else None,
        "rivals": list(group.rivals),
        "apart_at_the_end": _final_distance(group),
        "metrics": metrics,
    }
    if run.environment.interactions:
        first, rows = group.scene.first_row, run.collisions["row"]
        found["collisions"] = int(((rows >= first) & (rows < first + len(group.truth))).sum())
    return found


def _final_distance(group: Robots) -> dict[str, float]:
    """Mean distance of each belief from the truth now, m."""
    rows = group.rows
    distance = {}
    for name, belief in group.beliefs().items():
        dx = belief["x"][rows] - group.truth["x"][rows]
        dy = belief["y"][rows] - group.truth["y"][rows]
        distance[name] = float(np.hypot(dx, dy).mean()) if len(rows) else 0.0
    return distance


def statistics(evaluator: Evaluator) -> dict[str, Any]:
    """A metric over time and rows: rms, mean, largest and last value, and standard deviations.

    `average` is "rms" or "mean": the one that the metric is usually reported as.
    """
    evaluated = evaluator.statistics["count"] > 0
    found = evaluator.statistics[evaluated]
    if not len(found):
        return {"unit": evaluator.metric.unit, "values": 0}
    count = int(found["count"].sum())
    return {
        "unit": evaluator.metric.unit,
        "average": evaluator.metric.average,
        "values": count,
        "rms": float(np.sqrt(found["squares"].sum() / count)),
        "mean": float(found["total"].sum() / count),
        "most": float(found["most"].max()),
        "last": float(found["last"].mean()),
        "last_sd": _standard_deviation(found["last"]),
        "rms_sd": _standard_deviation(_rms(found)),
        "rows": _rows(evaluator.belief[evaluated], found),
    }


def _rms(found: Table) -> Array:
    return np.asarray(np.sqrt(found["squares"] / found["count"]))


def _mean(found: Table) -> Array:
    return np.asarray(found["total"] / found["count"])


def _standard_deviation(values: Array) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0


def _rows(belief: Table, found: Table) -> list[dict[str, Any]]:
    """The statistics of each row; none for more rows than a person reads."""
    if len(found) > MAX_ROWS:
        return []
    columns = (belief["world"], belief["robot"], _rms(found), found["most"], found["last"])
    return [
        {"world": int(w), "robot": int(r), "rms": float(rms), "most": float(m), "last": float(last)}
        for w, r, rms, m, last in zip(*columns, strict=True)
    ]


def compare(rival: Evaluator, owner: Evaluator) -> dict[str, Any]:
    """The difference of a rival from the belief, row by row: its mean and 95 % interval."""
    both = (rival.statistics["count"] > 0) & (owner.statistics["count"] > 0)
    average = _rms if rival.metric.average == "rms" else _mean
    difference = average(rival.statistics[both]) - average(owner.statistics[both])
    name = f"{rival.metric.average}_difference"
    if len(difference) < 2:
        return {"rows": len(difference), name: float(difference.sum())}
    half = (
        student_t_95(len(difference) - 1)
        * _standard_deviation(difference)
        / math.sqrt(len(difference))
    )
    mean = float(difference.mean())
    return {
        "rows": len(difference),
        name: mean,
        "low": mean - half,
        "high": mean + half,
    }
