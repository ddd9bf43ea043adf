"""Propagation of the covariance of the error-state Kalman filter over one step.

With F the Jacobian of the moving states (`transition`), and white noise of variance q_j over the
step that enters along g_j (the columns of `noise_input`),

    P ← F P Fᵀ + Σ q_j g_j g_jᵀ

propagation.py and wheel_propagation.py write F, g and q.

One second-order term matters where the covariance is small: an error of the heading turns the true
speed, not the believed one. Lasting errors δv and δyaw displace the body sideways by ∫ δv δyaw dt,
with the standard deviation Σ √(P_vv P_yy + P_vy²) dt. It is added as noise, and shrinks as those
two do when they are corrected.
"""

from __future__ import annotations

import math

from astray.numerics import exp, kernel, sincos
from astray.robot.estimators.ekf.state_layout import DX, DYAW, VX, YAW, X, Y
from astray.tables import WHEELS_PER_ROBOT, Row


@kernel
def propagate_covariance(state: Row, model: Row) -> None:
    """P ← F P Fᵀ + Σ q g gᵀ: F is the identity but for the rows of the moving states."""
    n, moving = model.states, model.moving
    for r in range(moving):
        for j in range(n):
            model.transition_cov[r, j] = 0.0
        for i in range(n):
            factor = model.transition[r, i]
            if factor != 0.0:
                for j in range(n):
                    model.transition_cov[r, j] += factor * state.cov[i, j]
    for r in range(moving):
        for j in range(moving, n):
            state.cov[r, j] = model.transition_cov[r, j]
            state.cov[j, r] = model.transition_cov[r, j]
        for c in range(r + 1):
            total = 0.0
            for i in range(n):
                total += model.transition_cov[r, i] * model.transition[c, i]
            for q in range(WHEELS_PER_ROBOT):
                total += model.noise_variance[q] * model.noise_input[r, q] * model.noise_input[c, q]
            state.cov[r, c] = total
            state.cov[c, r] = total


@kernel
def clear_transition(model: Row) -> None:
    """F ← I, without noise."""
    for r in range(model.moving):
        for i in range(model.states):
            model.transition[r, i] = 1.0 if r == i else 0.0
        for q in range(WHEELS_PER_ROBOT):
            model.noise_input[r, q] = 0.0
    for q in range(WHEELS_PER_ROBOT):
        model.noise_variance[q] = 0.0


@kernel
def propagate_displacement(state: Row, model: Row) -> None:
    """`propagate_covariance` where F adds sensor errors to the displacement and changes no more.

    It is done at each reading of wheels, so it leaves out what stays as it is.
    """
    f, g, cov = model.transition, model.noise_input, state.cov
    for r in range(DX, DYAW + 1):  # rows of F P
        for i in range(model.moving, model.states):
            if f[r, i] != 0.0:
                for j in range(model.states):
                    cov[r, j] += f[r, i] * cov[i, j]
    for r in range(DX, DYAW + 1):
        for c in range(DX, r + 1):
            total = cov[r, c]
            for i in range(model.moving, model.states):
                if f[c, i] != 0.0:
                    total += f[c, i] * cov[r, i]
            for q in range(WHEELS_PER_ROBOT):
                total += model.noise_variance[q] * g[r, q] * g[c, q]
            model.transition_cov[r, c] = total
    for r in range(DX, DYAW + 1):
        for c in range(DX, r + 1):
            cov[r, c] = cov[c, r] = model.transition_cov[r, c]
        for j in range(model.states):
            if j < DX or j > DYAW:
                cov[j, r] = cov[r, j]


@kernel
def propagate_errors(state: Row, model: Row, dt: float) -> None:
    """Propagate the sensor errors: Gauss-Markov ones decay and are driven, others walk."""
    for i in range(model.moving, model.states):
        if model.tau[i] < math.inf:
            decay = exp(-dt / model.tau[i])
            state.error[i] *= decay
            for j in range(model.states):
                state.cov[i, j] *= decay
                state.cov[j, i] *= decay
            state.cov[i, i] += model.sd[i] * model.sd[i] * (1.0 - decay * decay)
        state.cov[i, i] += model.walk[i] * model.walk[i] * dt


@kernel
def add_lateral_noise(state: Row, dt: float) -> None:
    """Add the sideways displacement by errors of speed and heading together (second order)."""
    squared_cov = state.cov[VX, YAW] * state.cov[VX, YAW]
    rate = math.sqrt(max(0.0, state.cov[VX, VX] * state.cov[YAW, YAW] + squared_cov))
    if rate < state.lateral_rate:
        state.lateral_sd *= rate / state.lateral_rate
    state.lateral_rate = rate
    sd = state.lateral_sd + rate * dt
    variance = sd * sd - state.lateral_sd * state.lateral_sd
    state.lateral_sd = sd
    s, c = sincos(state.yaw)
    state.cov[X, X] += s * s * variance
    state.cov[Y, Y] += c * c * variance
    state.cov[X, Y] -= s * c * variance
    state.cov[Y, X] = state.cov[X, Y]


@kernel
def add_lost_heading_noise(state: Row, distance: float) -> None:
    """Add what a displacement does to the position while the heading is unknown.

    Over a distance d in any direction the error along an axis is d (cos − 1) of a uniform angle,
    of the variance 3/2 d².
    """
    total = state.lost_distance + distance
    variance = 1.5 * (total * total - state.lost_distance * state.lost_distance)
    state.lost_distance = total
    state.cov[X, X] += variance
    state.cov[Y, Y] += variance
