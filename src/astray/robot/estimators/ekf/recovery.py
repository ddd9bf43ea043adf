"""Recovery of a filter whose pose is wrong: by fixes that were rejected, or by two landmarks.

By fixes. Rejected fixes z_i show which path the robot took; dead reckoning o_i of the filter shows
it too. If the robot was moved, one path is the other one, rotated and shifted. The rotation is the
solution of the Procrustes problem; with white errors σ, and a drift of variance s² and time
constant τ, over the time T

    yaw correction = atan2(Σ (o_i − ō) × (z_i − z̄), Σ (o_i − ō) · (z_i − z̄))
    variance = (σ² + 2 n s² (1 − e^(−T/τ)) / π²) / Σ |o_i − ō|²

since n q T / π² is the largest variance that a random walk of density q has in any one direction of
its n values. The growth of the filter's own yaw variance meanwhile is added. The yaw correction and
the drift d of the newest fix have correlated errors, which matters as soon as the robot moves on:

    cov(yaw, d) = s² ⟂g / Σ |o_i − ō|²        g = Σ e^(−(t − t_i)/τ) (o_i − ō), rotated

Once fixes were rejected for longer than the patience, the position is that of the newest fix. A
compass then gives the heading. Without one the heading is unknown ("lost"): the filter follows the
fixes, which correct nothing but the pose, until the variance of the yaw correction is small enough.
A fix whose distance to the fix before does not fit dead reckoning is an outlier; after two of them
in a row the record of fixes starts anew.

By landmarks. Two landmarks observed at the same time, at a and b in the body frame and at A and B
in the map, give the pose: yaw is the direction of B − A less that of b − a, the position is A −
Rot(yaw) a. Two landmarks without identity may be any two with the same distance. They are taken for
the pair that moves the filter least, if no other pair comes near that: a filter far off among
landmarks that look alike stays lost.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from astray.numerics import PI, Pose, atan2, exp, kernel, sincos, wrap
from astray.robot.estimators.ekf.measurements import LandmarkMeasurement
from astray.robot.estimators.ekf.state_layout import FROM_LANDMARK, YAW, X, Y
from astray.robot.estimators.ekf.update import MIN_REJECTED
from astray.tables import Array, Row

Point = tuple[float, float]
SIGMAS = 4.0  # standard deviations: what differs by more does not fit
MAX_YAW_VARIANCE = 0.04  # rad², of a yaw correction that is applied
UNKNOWN_YAW = PI * PI / 3.0  # rad², of a heading that may be any
UNKNOWN_POSITION = 1e6  # m², of a position before a fix is taken
MAX_CORRELATION = 0.8  # squared, of yaw and drift
MAX_OUTLIERS = 2  # in a row
SAME_TIME = 1e-9  # s between two landmarks of one reading
MIN_BASELINE = 0.5  # m between two landmarks that give a heading
METRES_PER_RADIAN = 2.0  # of a turn, where poses are compared
MIN_RATIO = 4.0  # squared distance of the second best pose over that of the best
UNIDENTIFIED = -1

TwoPoints = tuple[float, float, float, float]
"""x and y of two points."""


@kernel
def clear_pose_covariance(state: Row, model: Row) -> None:
    """Set variances and covariances of the pose to zero."""
    for i in range(YAW + 1):
        for j in range(model.states):
            state.cov[i, j] = 0.0
            state.cov[j, i] = 0.0


# By rejected fixes.


@kernel
def forget_fixes(state: Row) -> None:
    """Clear the record of rejected fixes."""
    state.fixes = state.outliers = 0
    state.dot = state.cross = state.scatter = 0.0
    state.faded_sum[0] = state.faded_sum[1] = state.faded_count = 0.0
    state.correction[0] = state.correction[1] = 0.0
    state.reckoned_mean[0] = state.reckoned_mean[1] = 0.0
    state.fixed_mean[0] = state.fixed_mean[1] = 0.0


@kernel
def fits_last_fix(state: Row, reckoned: Point, fixed: Point, variance: float) -> bool:
    """Whether the distance between the last fix and this one is that of dead reckoning."""
    ax, ay = reckoned[0] - state.reckoned[0], reckoned[1] - state.reckoned[1]
    bx, by = fixed[0] - state.fixed[0], fixed[1] - state.fixed[1]
    by_reckoning, by_fixes = math.sqrt(ax * ax + ay * ay), math.sqrt(bx * bx + by * by)
    return bool(abs(by_reckoning - by_fixes) <= SIGMAS * math.sqrt(2.0 * variance))


@kernel
def record_fix(state: Row, predicted: Point, fixed: Point, variance: float, tau: float) -> bool:
    """Record a rejected fix of the antenna and its predicted position.

    Returns whether it and enough fixes before it fit dead reckoning.
    """
    reckoned = (predicted[0] - state.correction[0], predicted[1] - state.correction[1])
    if state.fixes > 0 and not fits_last_fix(state, reckoned, fixed, variance):
        state.outliers += 1
        if state.outliers < MAX_OUTLIERS:
            return False
        forget_fixes(state)
        reckoned = predicted
    if state.fixes == 0:
        state.fixes_since, state.fix_stamp = state.stamp, state.stamp
        state.yaw_variance = state.cov[YAW, YAW]
    decay = exp(-(state.stamp - state.fix_stamp) / tau)
    state.fix_stamp, state.faded_count = state.stamp, decay * state.faded_count + 1.0
    state.faded_sum[0] = decay * state.faded_sum[0] + reckoned[0]
    state.faded_sum[1] = decay * state.faded_sum[1] + reckoned[1]
    state.outliers = 0
    state.fixes += 1
    weight = 1.0 / state.fixes  # Welford's update of means and centred sums
    ax, ay = reckoned[0] - state.reckoned_mean[0], reckoned[1] - state.reckoned_mean[1]
    bx, by = fixed[0] - state.fixed_mean[0], fixed[1] - state.fixed_mean[1]
    state.dot += (1.0 - weight) * (ax * bx + ay * by)
    state.cross += (1.0 - weight) * (ax * by - ay * bx)
    state.scatter += (1.0 - weight) * (ax * ax + ay * ay)
    state.reckoned_mean[0] += weight * ax
    state.reckoned_mean[1] += weight * ay
    state.fixed_mean[0] += weight * bx
    state.fixed_mean[1] += weight * by
    state.reckoned[0], state.reckoned[1] = reckoned
    state.fixed[0], state.fixed[1] = fixed
    return bool(state.fixes >= MIN_REJECTED)


@kernel
def yaw_correction_variance(state: Row, model: Row, white: float, drift: int) -> float:
    """The variance of the yaw correction by fixes of this white variance and drift, rad²."""
    if not state.scatter > 0.0:
        return math.inf
    variance = white
    if drift >= 0:
        share = 1.0 - exp(-(state.stamp - state.fixes_since) / model.tau[drift])
        drift_variance = 2.0 * state.fixes * model.sd[drift] * model.sd[drift] * share
        variance += drift_variance / (PI * PI)
    return float(variance / state.scatter)


@kernel
def correlate_yaw_with_drift(state: Row, model: Row, drift: int, turn: float) -> None:
    """Write the covariance of yaw and drift, which both come from the same fixes."""
    s, c = sincos(turn)
    gx = state.faded_sum[0] - state.reckoned_mean[0] * state.faded_count
    gy = state.faded_sum[1] - state.reckoned_mean[1] * state.faded_count
    scale = model.sd[drift] * model.sd[drift] / state.scatter
    x, y = scale * (s * gx + c * gy), -scale * (c * gx - s * gy)
    drift_variance = min(state.cov[drift, drift], state.cov[drift + 1, drift + 1])
    limit = MAX_CORRELATION * state.cov[YAW, YAW] * drift_variance
    square = x * x + y * y
    if square > limit:
        x, y = x * math.sqrt(limit / square), y * math.sqrt(limit / square)
    state.cov[YAW, drift] = state.cov[drift, YAW] = x
    state.cov[YAW, drift + 1] = state.cov[drift + 1, YAW] = y


@kernel
def reset_pose_for_fix(state: Row, model: Row, white: float, drift: int) -> None:
    """Make the position unknown, and correct the yaw by the recorded fixes or make it unknown."""
    growth = max(0.0, state.cov[YAW, YAW] - state.yaw_variance)
    variance = yaw_correction_variance(state, model, white, drift) + growth
    state.heading_lost, state.lost_distance = variance > MAX_YAW_VARIANCE, 0.0
    clear_pose_covariance(state, model)
    state.cov[X, X] = state.cov[Y, Y] = UNKNOWN_POSITION
    if state.heading_lost:
        state.cov[YAW, YAW] = UNKNOWN_YAW + growth
        state.yaw_variance = UNKNOWN_YAW
        return
    state.cov[YAW, YAW] = variance
    turn = atan2(state.cross, state.dot)
    state.yaw = wrap(state.yaw + turn)
    if drift >= 0:
        correlate_yaw_with_drift(state, model, drift, turn)


# By two landmarks.


class RejectedLandmark(NamedTuple):
    """What FILTER keeps in `landmark`: the last landmark that was rejected."""

    stamp: float
    identity: float
    x: float
    """In the body frame, m."""
    y: float
    range: float
    sd: float
    """Of the position, m."""


@kernel
def landmark_in_body(model: Row, landmark: LandmarkMeasurement) -> Point:
    """The position in the body frame of a landmark that was measured."""
    k = landmark.sensor
    s, c = sincos(model.mount_yaw[k] + landmark.bearing)
    return model.mount_x[k] + landmark.range * c, model.mount_y[k] + landmark.range * s


@kernel
def landmark_position_sd(model: Row, landmark: LandmarkMeasurement) -> float:
    """A bound of the standard deviation of that position, m."""
    k = landmark.sensor
    per_metre = model.range_sd_per_m[k] + model.bearing_sd[k]
    return float(model.range_sd[k] + per_metre * landmark.range)


@kernel
def pose_from_two_landmarks(observed: TwoPoints, beacons: Array, first: int, second: int) -> Pose:
    """The pose of a body that observed two beacons at these points of its frame."""
    ax, ay, bx, by = observed
    dx, dy = beacons[second, 0] - beacons[first, 0], beacons[second, 1] - beacons[first, 1]
    yaw = wrap(atan2(dy, dx) - atan2(by - ay, bx - ax))
    s, c = sincos(yaw)
    return beacons[first, 0] - c * ax + s * ay, beacons[first, 1] - s * ax - c * ay, yaw


@kernel
def is_same_distance(
    observed: TwoPoints, beacons: Array, first: int, second: int, sd: float
) -> bool:
    """Whether two beacons are as far apart as two observed points, and far enough."""
    ax, ay, bx, by = observed
    dx, dy = beacons[second, 0] - beacons[first, 0], beacons[second, 1] - beacons[first, 1]
    distance = math.sqrt(dx * dx + dy * dy)
    measured = math.sqrt((bx - ax) * (bx - ax) + (by - ay) * (by - ay))
    return bool(distance >= MIN_BASELINE and abs(distance - measured) <= SIGMAS * sd)


@kernel
def identify_two_landmarks(
    state: Row, observed: TwoPoints, beacons: Array, sd: float
) -> tuple[int, int]:
    """The pair of beacons that moves the filter least; UNIDENTIFIED if none does so clearly."""
    first, second, least, runner_up = UNIDENTIFIED, UNIDENTIFIED, math.inf, math.inf
    for i in range(len(beacons)):
        for j in range(len(beacons)):
            if i == j or not is_same_distance(observed, beacons, i, j, sd):
                continue
            x, y, yaw = pose_from_two_landmarks(observed, beacons, i, j)
            turn = METRES_PER_RADIAN * wrap(yaw - state.yaw)
            square = (x - state.x) * (x - state.x) + (y - state.y) * (y - state.y) + turn * turn
            if square < least:
                first, second, least, runner_up = i, j, square, least
            elif square < runner_up:
                runner_up = square
    if runner_up < MIN_RATIO * least:
        return UNIDENTIFIED, UNIDENTIFIED
    return first, second


@kernel
def reset_pose(state: Row, model: Row, pose: Pose, sd: float, yaw_sd: float) -> None:
    """Set the pose, with these standard deviations of position and heading."""
    state.x, state.y, state.yaw = pose
    clear_pose_covariance(state, model)
    state.cov[YAW, YAW] = yaw_sd * yaw_sd
    state.cov[X, X] = state.cov[Y, Y] = sd * sd
    state.rejected[FROM_LANDMARK] = 0
    state.heading_lost = False
    forget_fixes(state)


@kernel
def relocalise(
    state: Row, model: Row, landmark: LandmarkMeasurement, beacons: Array, identity: int
) -> bool:
    """Reset the pose by a rejected landmark and the one rejected before; whether that was possible.

    Both have to be of the same time. The newer one is kept for the next call.
    """
    v = state.landmark
    before = RejectedLandmark(v[0], v[1], v[2], v[3], v[4], v[5])
    x, y = landmark_in_body(model, landmark)
    landmark_sd = landmark_position_sd(model, landmark)
    v[0], v[1], v[2], v[3], v[4], v[5] = RejectedLandmark(
        state.stamp, identity, x, y, landmark.range, landmark_sd
    )
    first, second = int(before.identity), identity
    if abs(before.stamp - state.stamp) > SAME_TIME or (first == second and first >= 0):
        return False
    observed = (before.x, before.y, x, y)
    distance, sd = max(before.range, landmark.range), max(before.sd, landmark_sd)
    if first < 0 or second < 0:
        first, second = identify_two_landmarks(state, observed, beacons, sd)
    if first < 0 or not is_same_distance(observed, beacons, first, second, sd):
        return False
    dx, dy = beacons[second, 0] - beacons[first, 0], beacons[second, 1] - beacons[first, 1]
    yaw_sd = SIGMAS * sd / math.sqrt(dx * dx + dy * dy)
    position_sd = math.sqrt(SIGMAS * SIGMAS * sd * sd + yaw_sd * yaw_sd * distance * distance)
    pose = pose_from_two_landmarks(observed, beacons, first, second)
    reset_pose(state, model, pose, position_sd, yaw_sd)
    return True
