"""Limits that every motion shares."""

from __future__ import annotations

from astray.kernel import kernel


@kernel
def approach(now: float, goal: float, accel: float, decel: float, dt: float) -> float:
    """The constant rate for one tick that brings `now` towards `goal` and lands exactly on it.

    Away from zero it is limited by accel, towards zero by decel; a change of sign first stops.
    """
    if now * goal < 0.0:
        goal = 0.0
    limit = accel if abs(goal) > abs(now) else decel
    rate = (goal - now) / dt
    return min(max(rate, -limit), limit)
