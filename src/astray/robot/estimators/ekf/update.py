"""Measurement update of the error-state Kalman filter: NIS gate, gain, Joseph form.

With the innovation ν, the Jacobian H of the measurement by the errors, and the noise R,

    S = H P Hᵀ + R        NIS = νᵀ S⁻¹ ν        K = P Hᵀ S⁻¹
    P ← (I − K H) P (I − K H)ᵀ + K R Kᵀ

The Joseph form holds for any gain. So a state can be considered but not corrected: its rows of K
are zero (Schmidt; Bar-Shalom, Li and Kirubarajan, Estimation with Applications to Tracking and
Navigation, 2001).

A measurement whose NIS exceeds the gate is rejected. If a source has been rejected for longer than
the patience, the filter is wrong: it was moved, or it diverged. Then the variance of the doubtful
states is inflated until the measurement fits, and it is accepted. As long as one source that
measures the pose is rejected, other such sources correct the pose only: a robot that was moved may
happen to fit them, and that must not change the estimated sensor errors.
"""

from __future__ import annotations

import math

from astray.numerics import kernel, wrap
from astray.robot.estimators.ekf.state_layout import (
    DX,
    DY,
    DYAW,
    FROM_COMPASS,
    FROM_FIX,
    FROM_GYRO,
    FROM_LANDMARK,
    FROM_VELOCITY,
    FROM_WHEELS,
    VX,
    VY,
    YAW,
    X,
    Y,
)
from astray.tables import Row

MIN_REJECTED = 5  # in a row, before a source is believed against the filter
MAX_INFLATIONS, MAX_FACTOR = 8, 1e6  # how often a variance grows, and by how much at once
MIN_INFLATED = 1e-6  # m² or m²/s², of an inflated variance
MIN_ELAPSED = 1e-3  # s between two readings of wheels
MIN_INFLATED_YAW, MAX_INFLATED_YAW = 0.25, 1.0  # rad²


@kernel
def clear_measurement(model: Row) -> None:
    """Begin a measurement: H ← 0, R ← 0, all states are corrected."""
    for a in range(2):
        for i in range(model.states):
            model.jacobian[a, i] = 0.0
        model.noise[a, 0] = model.noise[a, 1] = 0.0
    model.corrected = model.states


@kernel
def compute_nis(state: Row, model: Row, m: int) -> float:
    """Write P Hᵀ and S of a measurement of m numbers; give its NIS, inf if S is singular."""
    h, ph, s, nu = model.jacobian, model.cross_cov, model.innovation_cov, model.innovation
    for i in range(model.states):
        for a in range(m):
            total = 0.0
            for j in range(model.states):
                if h[a, j] != 0.0:
                    total += state.cov[i, j] * h[a, j]
            ph[i, a] = total
    for a in range(m):
        for b in range(m):
            total = model.noise[a, b]
            for i in range(model.states):
                if h[a, i] != 0.0:
                    total += h[a, i] * ph[i, b]
            s[a, b] = total
    if m == 1:
        return float(nu[0] * nu[0] / s[0, 0]) if s[0, 0] > 0.0 else math.inf
    determinant = s[0, 0] * s[1, 1] - s[0, 1] * s[1, 0]
    if not determinant > 0.0:
        return math.inf
    square = nu[0] * nu[0] * s[1, 1] + nu[1] * nu[1] * s[0, 0]
    return float((square - 2.0 * nu[0] * nu[1] * s[0, 1]) / determinant)


@kernel
def add_error(state: Row, model: Row, i: int, error: float) -> None:
    """Add an estimated error to the nominal state of index i."""
    if i == X:
        state.x += error
    elif i == Y:
        state.y += error
    elif i == YAW:
        state.yaw = wrap(state.yaw + error)
    elif i >= model.moving:
        state.error[i] += error
    elif i == VX:
        state.vx += error
    elif i == VY:
        state.vy += error
    elif i == DX:
        state.dx += error
    elif i == DY:
        state.dy += error
    elif i == DYAW:
        state.dyaw += error


@kernel
def kalman_update(state: Row, model: Row, m: int) -> None:
    """Update state and covariance by a measurement of m numbers, after `compute_nis`."""
    n = model.states
    h, ph, s, k = model.jacobian, model.cross_cov, model.innovation_cov, model.gain
    reduced_cov = model.reduced_cov
    for i in range(n):
        if i >= model.corrected:
            k[i, 0] = k[i, 1] = 0.0
        elif m == 1:
            k[i, 0] = ph[i, 0] / s[0, 0]
        else:
            determinant = s[0, 0] * s[1, 1] - s[0, 1] * s[1, 0]
            k[i, 0] = (ph[i, 0] * s[1, 1] - ph[i, 1] * s[1, 0]) / determinant
            k[i, 1] = (ph[i, 1] * s[0, 0] - ph[i, 0] * s[0, 1]) / determinant
    for i in range(n):
        error = 0.0
        for a in range(m):
            error += k[i, a] * model.innovation[a]
        add_error(state, model, i, error)
        for j in range(n):  # (I − K H) P
            total = state.cov[i, j]
            for a in range(m):
                total -= k[i, a] * ph[j, a]
            reduced_cov[i, j] = total
    for i in range(n):
        for a in range(m):  # (I − K H) P Hᵀ, in place of P Hᵀ
            total = 0.0
            for j in range(n):
                if h[a, j] != 0.0:
                    total += reduced_cov[i, j] * h[a, j]
            ph[i, a] = total
    for i in range(n):
        for j in range(i + 1):  # Joseph form
            total = reduced_cov[i, j]
            for a in range(m):
                total -= ph[i, a] * k[j, a]
                for b in range(m):
                    total += k[i, a] * model.noise[a, b] * k[j, b]
            state.cov[i, j] = total
            state.cov[j, i] = total


# Gating, and what follows when a source stays rejected.


@kernel
def gated_update(state: Row, model: Row, m: int, source: int) -> None:
    """Update by a measurement of m numbers if its NIS is within the gate, else reject it."""
    nis = compute_nis(state, model, m)
    if nis <= model.gate[m]:
        accept(state, model, m, source, nis)
        return
    reject(state, source)
    # One landmark fixes little of a lost pose: it waits twice as long, for two at a time.
    if is_rejected_for_long(state, model, source, 2.0 if source == FROM_LANDMARK else 1.0):
        inflate_and_accept(state, model, m, source)


@kernel
def accept(state: Row, model: Row, m: int, source: int, nis: float) -> None:
    """Update by a measurement within the gate."""
    if model.count_nis:
        state.nis_sum += nis
        state.nis_dof += m
    state.rejected[source] = 0
    if is_pose_disputed(state, source):
        model.corrected = YAW + 1
    kalman_update(state, model, m)


@kernel
def reject(state: Row, source: int) -> None:
    """Count a rejected measurement of a source."""
    if state.rejected[source] == 0:
        state.rejected_since[source] = state.stamp
    state.rejected[source] += 1


@kernel
def is_rejected_for_long(state: Row, model: Row, source: int, factor: float) -> bool:
    """Whether a source has been rejected for longer than a multiple of the patience."""
    elapsed = state.stamp - state.rejected_since[source]
    return bool(state.rejected[source] >= MIN_REJECTED and elapsed >= factor * model.patience)


@kernel
def is_pose_disputed(state: Row, source: int) -> bool:
    """Whether another source of the pose than this one is being rejected.

    Wheels and gyros are no sources of it.
    """
    if source in (FROM_WHEELS, FROM_GYRO):
        return False
    for other in (FROM_COMPASS, FROM_FIX, FROM_LANDMARK, FROM_VELOCITY):
        if other != source and state.rejected[other] > 0:
            return True
    return False


@kernel
def inflate_and_accept(state: Row, model: Row, m: int, source: int) -> None:
    """Inflate the variance of doubtful states until a measurement fits, then update by it."""
    nis = compute_nis(state, model, m)
    if source == FROM_WHEELS:
        doubt_velocity(state, model)
        nis = compute_nis(state, model, m)
    else:
        for _ in range(MAX_INFLATIONS):
            if nis > 1.0:
                inflate(state, model, source, min(nis, MAX_FACTOR))
                nis = compute_nis(state, model, m)
    state.rejected[source] = 0
    if nis < math.inf:
        kalman_update(state, model, m)


@kernel
def doubt_velocity(state: Row, model: Row) -> None:
    """Let the velocity be as wrong as the displacement that the wheels contradict.

    A turn that they contradict is left as it is: they may slip.
    """
    elapsed = max(state.stamp - state.wheel_stamp, MIN_ELAPSED)
    displacement, velocity = (DX, VX) if model.jacobian[0, DX] != 0.0 else (DY, VY)
    error = model.innovation[0] * model.innovation[0]
    for j in range(model.states):
        state.cov[velocity, j] = state.cov[j, velocity] = 0.0
        state.cov[displacement, j] = state.cov[j, displacement] = 0.0
        if displacement == DX:
            state.cov[DYAW, j] = state.cov[j, DYAW] = 0.0
    state.cov[velocity, velocity] = error / (elapsed * elapsed) + MIN_INFLATED
    state.cov[displacement, displacement] = error
    state.cov[velocity, displacement] = state.cov[displacement, velocity] = error / elapsed
    if displacement == DX:
        state.cov[DYAW, DYAW] = model.innovation[1] * model.innovation[1]


@kernel
def inflate(state: Row, model: Row, source: int, factor: float) -> None:
    """Multiply the variances of the states that a source puts in doubt.

    Their covariances become zero, above all those with sensor errors: these are not what is wrong.
    """
    for i in range(min(model.moving, VY + 1)):
        if is_doubtful(model, i, source):
            variance = max(state.cov[i, i] * factor, MIN_INFLATED)
            if i == YAW:
                variance = min(max(variance, MIN_INFLATED_YAW), MAX_INFLATED_YAW)
            for j in range(model.states):
                state.cov[i, j] = 0.0
                state.cov[j, i] = 0.0
            state.cov[i, i] = variance


@kernel
def is_doubtful(model: Row, i: int, source: int) -> bool:
    """Whether a rejected source puts a state in doubt.

    That is what it measures, and for fixes the heading too, since it leads a filter away from them.
    Of wheels see `doubt_velocity`.
    """
    measured = model.jacobian[0, i] != 0.0 or model.jacobian[1, i] != 0.0
    return bool(measured or (i <= YAW and source == FROM_FIX))
