"""The state of the error-state Kalman filter, and the model that it is given of robot and sensors.

The moving states come first. They change with every step:

    x y yaw               always                                        m, m, rad
    vx vy                 by an IMU: velocity in the body's axes        m/s
    dx dy dyaw            by an IMU: displacement since the wheels were last read, the integral
                          of velocity and turn rate in the body's axes  m, m, rad
    dyaw                  by wheels with an IMU: turn since the IMU was last read   rad

The displacement is a state of its own because it is what the other sensor measures: a mean over
time, not the speed of a moment.

The sensor errors follow. They are constant, walk at random, or are first-order Gauss-Markov
processes. A state has an index only if the datasheet of its sensor calls for it, else `NONE`:

    gyro, accel (2)              biases of the IMU: turn-on bias and random walk
    gyro_drift, accel_drift (2)  biases of the IMU: Gauss-Markov part
    gyro_scale                   relative error of the turn rate
    wheel (1 to 4), arm_error    relative errors of the wheels' radii and of the baseline
    fix (2)                      lasting error of the fixes of each GNSS receiver
    compass                      lasting error of each compass

As in every error-state filter the covariance is that of the errors of the states, and an estimated
error is added to the nominal state as soon as it is found (Solà, Quaternion kinematics for the
error-state Kalman filter, 2017).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from astray.errors import PluginError
from astray.numerics import rotation_matrix
from astray.plugin import Datasheet
from astray.robot.estimators.odometry import quantization, wheel_kinematics
from astray.tables import WHEELS_PER_ROBOT, Array, Column, columns

MAX_STATES = 24
MAX_MOVING = 8
X, Y, YAW, VX, VY, DX, DY, DYAW = range(MAX_MOVING)
NONE = -1
"""The index of a state that the filter does not have."""
MAX_SENSORS = 3
"""GNSS receivers, compasses, and landmark sensors that a robot may have, of each."""

FROM_IMU, FROM_WHEELS, FROM_GYRO, FROM_COMPASS, FROM_FIX, FROM_LANDMARK = range(6)
"""What a measurement is from. Of measurements of the same stamp they are taken in this order.

FROM_GYRO is an IMU beside wheels that propagate the filter.
"""
FROM_VELOCITY = 6
"""The velocity of a fix: gated by itself, since it may fit where the position does not."""
SOURCES = 7

FILTER = columns(
    Column("started", "", "?"),  # by the IMU, or by the wheels without one
    Column("wheels_started", "", "?"),
    Column("gyro_started", "", "?"),  # beside wheels
    # Nominal state.
    "stamp s",
    "x m",
    "y m",
    "yaw rad",
    "vx m/s",
    "vy m/s",
    "wz rad/s",
    "dx m",
    "dy m",
    "dyaw rad",
    # Inputs.
    "imu_stamp s",
    Column("imu_reading", "rad/s, m/s²", "f8", (3,)),  # turn rate, acceleration forward and left
    Column("wheel_angle", "rad", "f8", (WHEELS_PER_ROBOT,)),  # at `stamp`
    Column("wheel_reading", "rad", "f8", (WHEELS_PER_ROBOT,)),  # at `wheel_stamp`
    Column("wheel_rate", "rad/s", "f8", (WHEELS_PER_ROBOT,)),
    "wheel_stamp s",
    "turn_rate_change rad/s",  # at the last reading of what propagates the filter
    "accel_change m/s²",  # likewise, by an IMU
    "still_since s",  # when a wheel was last seen to turn
    Column("at_rest", "", "?"),  # by the wheels
    "steer rad",
    # Of the displacements that the wheels measured: ahead, to the left, and the turn.
    Column("residual", "m, m, rad", "f8", (3,)),
    Column("residual_cov", "m², m·rad, rad²", "f8", (3, 3)),
    # Sensor errors, and the covariance of all states.
    Column("error", "", "f8", (MAX_STATES,)),  # at their state indices
    Column("cov", "", "f8", (MAX_STATES, MAX_STATES)),
    # Gating: update.py.
    Column("rejected", "", "i8", (SOURCES,)),  # measurements in a row
    Column("rejected_since", "s", "f8", (SOURCES,)),
    Column("landmark", "s, , m, m, m, m", "f8", (6,)),  # RejectedLandmark of recovery.py
    "nis_sum",  # of the newest measurements
    "nis_dof",  # their degrees of freedom
    # Second-order noise: covariance.py.
    "lateral_sd m",  # of the displacement by errors of speed and heading together
    "lateral_rate m/s",
    # Readings of the IMU in the window of zero_velocity.py.
    "window_start s",
    Column("window_count", "", "i8"),
    Column("window_mean", "rad/s, m/s²", "f8", (3,)),
    Column("window_squares", "rad²/s², m²/s⁴", "f8", (3,)),  # of the differences from the mean
    # Recovery by fixes: recovery.py.
    Column("heading_lost", "", "?"),
    "lost_distance m",  # since the last position
    Column("fixes", "", "i8"),  # rejected ones that fit each other
    Column("outliers", "", "i8"),  # in a row, that do not
    "fixes_since s",
    "fix_stamp s",  # of the last one
    "yaw_variance rad²",  # before the first one
    Column("correction", "m", "f8", (2,)),  # of the position by the fixes meanwhile
    Column("reckoned", "m", "f8", (2,)),  # the antenna by dead reckoning, at the last fix
    Column("reckoned_mean", "m", "f8", (2,)),
    Column("fixed", "m", "f8", (2,)),  # the antenna by the last fix
    Column("fixed_mean", "m", "f8", (2,)),
    "dot m²",  # Σ of the dot products of the centred points
    "cross m²",  # Σ of their cross products
    "scatter m²",  # Σ of the squares of the reckoned ones
    Column("faded_sum", "m", "f8", (2,)),  # of reckoned points, with the drift's time constant
    "faded_count",
)
"""The state of one filter."""

REJECTED_FIXES = (
    "fixes",
    "outliers",
    "correction",
    "reckoned_mean",
    "fixed_mean",
    "dot",
    "cross",
    "scatter",
    "faded_sum",
    "faded_count",
)
"""The columns of FILTER that are about rejected fixes, and zero without any."""

MODEL = columns(
    # State indices.
    Column("states", "", "i8"),  # how many there are
    Column("moving", "", "i8"),  # how many of them are moving states
    Column("by_imu", "", "?"),  # what propagates it: the IMU, or the wheels
    Column("gyro", "", "i8"),
    Column("accel", "", "i8"),
    Column("gyro_drift", "", "i8"),
    Column("accel_drift", "", "i8"),
    Column("gyro_scale", "", "i8"),
    Column("wheel", "", "i8", (WHEELS_PER_ROBOT,)),
    Column("arm_error", "", "i8"),
    Column("fix", "", "i8", (MAX_SENSORS,)),
    Column("compass", "", "i8", (MAX_SENSORS,)),
    # Processes of the errors.
    Column("sd", "", "f8", (MAX_STATES,)),
    Column("tau", "s", "f8", (MAX_STATES,)),  # time constant
    Column("walk", "", "f8", (MAX_STATES,)),  # density of a random walk
    # Body, with the wheel kinematics of odometry.py.
    Column("sideways", "", "?"),  # whether it can go so
    "radius m",
    "wheelbase m",
    "arm m",
    Column("forward", "", "f8", (WHEELS_PER_ROBOT,)),
    Column("left", "", "f8", (WHEELS_PER_ROBOT,)),
    Column("turn", "", "f8", (WHEELS_PER_ROBOT,)),
    "slip_density m/√m",
    "encoder_tick m",
    "quantization_variance m²",
    "turn_quantization_variance rad²",
    # IMU.
    "imu_x m",
    "imu_y m",
    "imu_period s",
    Column("axes", "", "f8", (3, 3)),  # rotation from the IMU to the body
    "gyro_density rad/s/√Hz",
    "accel_density m/s²/√Hz",
    "gyro_rounding rad²/s²",  # variance by a limited resolution
    "accel_rounding m²/s⁴",
    Column("zero_velocity", "", "?"),  # whether to make zero-velocity updates
    # GNSS receivers.
    Column("antenna_x", "m", "f8", (MAX_SENSORS,)),
    Column("antenna_y", "m", "f8", (MAX_SENSORS,)),
    Column("drift_variance", "m²", "f8", (MAX_SENSORS,)),  # the part of a claim that is a state
    "fix_variance m²",  # of a fix that claims none
    # Compasses.
    Column("compass_error_variance", "rad²", "f8", (MAX_SENSORS,)),  # the part that is a state
    "compass_variance rad²",  # of a heading that claims none
    # Landmark sensors.
    Column("mount_x", "m", "f8", (MAX_SENSORS,)),
    Column("mount_y", "m", "f8", (MAX_SENSORS,)),
    Column("mount_yaw", "rad", "f8", (MAX_SENSORS,)),
    Column("range_sd", "m", "f8", (MAX_SENSORS,)),
    Column("range_sd_per_m", "", "f8", (MAX_SENSORS,)),
    Column("bearing_sd", "rad", "f8", (MAX_SENSORS,)),
    Column("beacons", "", "i8", (MAX_SENSORS, 2)),  # first and last + 1 of those of each sensor
    # Settings.
    Column("gate", "", "f8", (3,)),  # of the NIS, for 0, 1 and 2 degrees of freedom
    "patience s",
    # The queue of delayed_measurements.py.
    "horizon s",
    Column("oldest", "", "i8"),  # its index
    Column("queued", "", "i8"),  # how many there are
    # What follows is the workspace of one step.
    Column("count_nis", "", "?"),  # whether the measurement is a new one
    Column("has_compass", "", "?"),
    Column("corrected", "", "i8"),  # how many states an update corrects, the first ones
    Column("next_angle", "rad", "f8", (WHEELS_PER_ROBOT,)),  # to which the wheels turn
    Column("distance", "m", "f8", (WHEELS_PER_ROBOT,)),  # that each wheel rolls
    Column("transition", "", "f8", (MAX_MOVING, MAX_STATES)),  # F, rows of the moving states
    Column("transition_cov", "", "f8", (MAX_MOVING, MAX_STATES)),  # F P
    Column("noise_input", "", "f8", (MAX_MOVING, WHEELS_PER_ROBOT)),  # G
    Column("noise_variance", "", "f8", (WHEELS_PER_ROBOT,)),  # q
    Column("jacobian", "", "f8", (2, MAX_STATES)),  # H
    Column("innovation", "", "f8", (2,)),  # ν
    Column("noise", "", "f8", (2, 2)),  # R
    Column("innovation_cov", "", "f8", (2, 2)),  # S
    Column("cross_cov", "", "f8", (MAX_STATES, 2)),  # P Hᵀ
    Column("gain", "", "f8", (MAX_STATES, 2)),  # K
    Column("reduced_cov", "", "f8", (MAX_STATES, MAX_STATES)),  # (I − K H) P
)
"""What one filter knows of its robot by the datasheets, and the matrices of its present step."""

SIDEWAYS = ("omni", "integrator")
"""Motions that can go sideways."""
IMU_ERRORS = ("gyro", "accel", "gyro_drift", "accel_drift", "gyro_scale")
OTHER_ERRORS = ("wheel", "arm_error", "fix", "compass")
"""The columns of MODEL that are indices of sensor errors."""
MIN_TICK = 1e-4  # m; encoders that claim to be finer, or perfect, are trusted as far as this
MIN_RANGE_SD, MIN_BEARING_SD = 1e-6, 1e-7  # m and rad; landmark sensors likewise


class ErrorStates:
    """Appends sensor errors to the state vector of a model, after the moving states."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.count = int(model["moving"])

    def add(self, sd: float, size: int = 1, tau: float = math.inf, walk: float = 0.0) -> int:
        """Append errors of one kind; give the index of the first, NONE if they are all zero."""
        if not sd > 0.0 and not walk > 0.0:
            return NONE
        first, self.count = self.count, self.count + size
        if self.count > MAX_STATES:
            raise PluginError(f"ekf has at most {MAX_STATES} states, and these sensors need more")
        self.model["sd"][first : self.count] = sd
        self.model["tau"][first : self.count] = tau
        self.model["walk"][first : self.count] = walk
        return first


def make_model(body: Datasheet, sheets: Mapping[str, Datasheet], by_wheels: bool = False) -> Any:
    """The MODEL record of a body with sensors: imu, wheels, compass, fix, landmarks.

    Further sensors of a kind are "fix.1", "compass.1", "landmarks.1" and so on. The filter is
    propagated by the IMU if there is one, unless it is said to be propagated by the wheels.
    """
    model = np.zeros((), MODEL)
    model["tau"] = math.inf
    model["sideways"] = body.kind in SIDEWAYS
    model["moving"] = MAX_MOVING if "imu" in sheets else YAW + 1
    model["by_imu"] = "imu" in sheets and not by_wheels
    for name in (*IMU_ERRORS, *OTHER_ERRORS):
        model[name] = NONE
    errors = ErrorStates(model)
    if "imu" in sheets:
        _add_imu(model, errors, sheets["imu"].values)
    if "wheels" in sheets:
        _add_wheels(model, errors, sheets["wheels"].values, body)
    for k in range(MAX_SENSORS):
        for kind, add in (("fix", _add_fix), ("compass", _add_compass)):
            if numbered(kind, k) in sheets:
                add(model, errors, sheets[numbered(kind, k)].values, k)
        if numbered("landmarks", k) in sheets:
            _add_landmarks(model, sheets[numbered("landmarks", k)].values, k)
    model["has_compass"] = "compass" in sheets
    model["states"] = errors.count
    return model


def numbered(kind: str, k: int) -> str:
    """The name of the k-th sensor of a kind."""
    return f"{kind}.{k}" if k else kind


def _number(sheet: Mapping[str, Any], name: str) -> float:
    """A parameter of a datasheet; 0 where it has none."""
    return float(sheet.get(name) or 0.0)


def _add_imu(model: Any, errors: ErrorStates, sheet: Mapping[str, Any]) -> None:
    """Add the mount, the noise and the biases of the IMU."""
    angles = [np.array([float(sheet.get(name, 0.0))]) for name in ("roll", "pitch", "yaw")]
    model["axes"] = rotation_matrix(angles[0], angles[1], angles[2])[0]
    model["imu_x"], model["imu_y"] = sheet.get("x", 0.0), sheet.get("y", 0.0)
    model["imu_period"] = 1.0 / sheet["rate"] if sheet.get("rate") else 0.0
    # An axis that is not upright measures a share of gravity, which counts as a bias.
    leak = _number(sheet, "misalignment_sd") * _number(sheet, "gravity")
    parts = (("gyro", 1, 0.0), ("accel", 2, leak))
    for name, size, extra_sd in parts if model["by_imu"] else parts[:1]:
        model[f"{name}_density"] = _number(sheet, f"{name}_density")
        model[f"{name}_rounding"] = _number(sheet, f"{name}_resolution") ** 2 / 12.0
        bias, walk = _number(sheet, f"{name}_bias_sd"), _number(sheet, f"{name}_walk")
        model[name] = errors.add(math.hypot(bias, extra_sd), size, walk=walk)
        sd, tau = _number(sheet, f"{name}_drift_sd"), sheet.get(f"{name}_drift_tau", math.inf)
        model[f"{name}_drift"] = errors.add(sd, size, tau=tau)
    model["gyro_scale"] = errors.add(_number(sheet, "gyro_scale_sd"))


def _add_wheels(model: Any, errors: ErrorStates, sheet: Mapping[str, Any], body: Datasheet) -> None:
    """Add the wheel kinematics, the noise of encoders and slip, and the errors of radii and arm."""
    wheels = wheel_kinematics(body, "ekf")
    wheels.write(model, ())
    model["slip_density"] = _number(sheet, "slip_density")
    tick, variance, turn_variance = quantization(wheels, sheet)
    model["encoder_tick"] = max(tick, MIN_TICK)
    model["quantization_variance"] = variance
    model["turn_quantization_variance"] = turn_variance
    for k in range(WHEELS_PER_ROBOT):
        if wheels.forward[k] or wheels.turn[k]:
            model["wheel"][k] = errors.add(_number(sheet, "radius_sd"))
    model["arm_error"] = errors.add(_number(sheet, "baseline_sd"))


def _add_fix(model: Any, errors: ErrorStates, sheet: Mapping[str, Any], k: int) -> None:
    """Add the antenna of a GNSS receiver, and the lasting error of its fixes."""
    model["antenna_x"][k], model["antenna_y"][k] = sheet.get("x", 0.0), sheet.get("y", 0.0)
    drift, claim = _number(sheet, "drift_sd"), sheet.get("claim", 1.0)
    model["drift_variance"][k] = (claim * drift) ** 2
    model["fix"][k] = errors.add(drift, 2, tau=sheet.get("drift_tau", math.inf))


def _add_compass(model: Any, errors: ErrorStates, sheet: Mapping[str, Any], k: int) -> None:
    """Add the lasting error of a compass: bias and drift as one, Gauss-Markov without a bias."""
    bias, drift = _number(sheet, "bias_sd"), _number(sheet, "drift_sd")
    model["compass_error_variance"][k] = (sheet.get("claim", 1.0) ** 2) * (bias**2 + drift**2)
    tau = sheet.get("drift_tau", math.inf) if not bias else math.inf
    walk = drift * math.sqrt(2.0 / sheet["drift_tau"]) if bias and drift else 0.0
    model["compass"][k] = errors.add(math.hypot(bias, drift), tau=tau, walk=walk)


def _add_landmarks(model: Any, sheet: Mapping[str, Any], k: int) -> None:
    """Add the mount and the noise of a landmark sensor."""
    model["mount_x"][k], model["mount_y"][k] = sheet.get("x", 0.0), sheet.get("y", 0.0)
    model["mount_yaw"][k] = sheet.get("yaw", 0.0)
    model["range_sd"][k] = max(_number(sheet, "range_sd"), MIN_RANGE_SD)
    model["range_sd_per_m"][k] = _number(sheet, "range_sd_per_m")
    model["bearing_sd"][k] = max(_number(sheet, "bearing_sd"), MIN_BEARING_SD)


def make_beacons(model: Any, sheets: Mapping[str, Datasheet]) -> Array:
    """The beacons of all landmark sensors, (n, 2) m; each sensor's range of them goes to its model.

    Sensors with the same list of beacons share it.
    """
    lists: list[list[list[float]]] = []
    for k in range(MAX_SENSORS):
        sheet = sheets.get(numbered("landmarks", k))
        if sheet is None:
            continue
        beacons = [[float(x), float(y)] for x, y in sheet["beacons"]]
        if beacons not in lists:
            lists.append(beacons)
        first = sum(len(earlier) for earlier in lists[: lists.index(beacons)])
        model["beacons"][k] = first, first + len(beacons)
    return np.array([beacon for beacons in lists for beacon in beacons], float).reshape(-1, 2)
