"""Limits that motions share: how fast a velocity may change, and how fast one may turn."""

from __future__ import annotations

import math

from astray.numerics import effective_limit, kernel
from astray.tables import Row

ROUNDING = 1.0 + 1e-12  # a limit that is missed by less was missed by rounding


@kernel
def turn_limits(u: Row, own: float) -> tuple[float, float]:
    """The angular accelerations that hold, away from zero and towards it."""
    return effective_limit(u.turn_accel, own), effective_limit(u.turn_decel, own)


@kernel
def slew(now: float, goal: float, limit: float, dt: float) -> tuple[float, float]:
    """Where one tick at a limited rate brings `now`, at last exactly to `goal`; and the rate."""
    # Selections instead of branches: whether a goal is reached cannot be predicted.
    rate = (goal - now) / dt
    limited = min(max(rate, -limit), limit)
    reached = abs(rate) <= limit * ROUNDING
    return goal if reached else now + limited * dt, rate if reached else limited


@kernel
def reach(now: float, goal: float, accel: float, decel: float, dt: float) -> tuple[float, float]:
    """Where one tick brings a velocity on its way to `goal`, and its constant acceleration.

    Away from zero it is limited by accel, towards zero by decel; a change of sign first stops.
    """
    if now * goal < 0.0:
        goal = 0.0
    return slew(now, goal, accel if abs(goal) > abs(now) else decel, dt)


@kernel
def approach(now: float, goal: float, accel: float, decel: float, dt: float) -> float:
    """The acceleration of `reach` alone."""
    return reach(now, goal, accel, decel, dt)[1]


@kernel
def turning(u: Row, vx: float, max_turn: float) -> tuple[float, float]:
    """The turn rate that is asked for beside vx, and the share of vx that keeps a curvature."""
    if math.isnan(u.curvature):
        return min(max(u.wz, -max_turn), max_turn), 1.0
    w = vx * u.curvature
    if abs(w) <= max_turn:
        return w, 1.0
    return math.copysign(max_turn, w), max_turn / abs(w)
