"""What is wrong with an inertial unit for life: turn-on biases, scales, axes, the first drift."""

from __future__ import annotations

from astray.numerics import kernel, rotation_from_euler
from astray.tables import Array, Row, Rows, Table


@kernel
def wrong(scale: float, aside: float, n: Array, i: int, j: int) -> float:
    """Element (i, j) of I + S + M, of standard normals (9,)."""
    return float(1.0 + scale * n[4 * i] if i == j else aside * n[3 * i + j])


@kernel
def start(m: Row, p: Row, n: Array) -> None:
    """Turn the axes of one unit and make up what is wrong with it for life, of 30 normals."""
    r = rotation_from_euler(p.roll, p.pitch, p.yaw)
    for i in range(3):
        m.bias[i], m.bias[3 + i] = p.gyro_bias_sd * n[i], p.accel_bias_sd * n[3 + i]
        m.drift[i], m.drift[3 + i] = p.gyro_drift_sd * n[6 + i], p.accel_drift_sd * n[9 + i]
        # The matrix turns from the sensor's axes to the body's: here it is the other way round.
        m.turn_axes[i] = 0.0
        for k in range(3):
            m.turn_axes[i] += wrong(p.gyro_scale_sd, p.misalignment_sd, n[12:21], i, k) * r[2][k]
        for j in range(3):
            m.axes[i, j] = 0.0
            for k in range(3):
                m.axes[i, j] += wrong(p.accel_scale_sd, p.misalignment_sd, n[21:30], i, k) * r[j][k]
    if p.planar:
        m.drift[0], m.drift[1], m.drift[5] = 0.0, 0.0, 0.0
    errs = p.gyro_drift_sd > 0.0 or p.gyro_range > 0.0 or p.gyro_resolution > 0.0
    m.errs = errs or p.accel_drift_sd > 0.0 or p.accel_range > 0.0 or p.accel_resolution > 0.0


@kernel
def start_all(
    memory: Table, params: Table, n: Array, rows: Rows, instant: bool, period: float
) -> None:
    """Start the units of these rows, of standard normals (len(rows), 30)."""
    for j in range(len(rows)):
        m = memory[rows[j]]
        m.instant, m.period = instant, period
        start(m, params[rows[j]], n[j])
