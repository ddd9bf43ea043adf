"""Limits that motions share: of acceleration, of steering and of turning."""

from __future__ import annotations

import math

from astray.numerics import effective_limit, kernel
from astray.tables import Row

ROUNDING = 1.0 + 1e-12  # a limit that is missed by less was missed by rounding


@kernel
def turn_limits(u: Row, own: float) -> tuple[float, float]:
    """The limits of angular acceleration, away from zero and towards it."""
    return effective_limit(u.turn_accel, own), effective_limit(u.turn_decel, own)


@kernel
def slew(now: float, goal: float, limit: float, dt: float) -> tuple[float, float]:
    """The value after a tick at a limited rate, which ends exactly at the goal; and the rate."""
    # Selections instead of branches, which processors could not predict.
    rate = (goal - now) / dt
    limited = min(max(rate, -limit), limit)
    reached = abs(rate) <= limit * ROUNDING
    return goal if reached else now + limited * dt, rate if reached else limited


@kernel
def accelerate(
    now: float, goal: float, accel: float, decel: float, dt: float
) -> tuple[float, float]:
    """The velocity after a tick towards the goal, and the constant acceleration of the tick.

    Away from zero it is limited by accel, towards zero by decel; a change of sign first stops.
    """
    if now * goal < 0.0:
        goal = 0.0
    return slew(now, goal, accel if abs(goal) > abs(now) else decel, dt)


@kernel
def acceleration_towards(now: float, goal: float, accel: float, decel: float, dt: float) -> float:
    """The acceleration of `accelerate`."""
    return accelerate(now, goal, accel, decel, dt)[1]


@kernel
def turn_rate(u: Row, vx: float, max_turn: float) -> tuple[float, float]:
    """The limited turn rate of a drive, and the factor of vx that then keeps the curvature."""
    if math.isnan(u.curvature):
        return min(max(u.wz, -max_turn), max_turn), 1.0
    w = vx * u.curvature
    if abs(w) <= max_turn:
        return w, 1.0
    return math.copysign(max_turn, w), max_turn / abs(w)
