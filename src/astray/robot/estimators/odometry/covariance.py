"""How the error of dead reckoning spreads: by errors that stay, and by random slip.

Wheel k rolled d_k metres, and the body moved by

    u = Σ along_k d_k        v = Σ across_k d_k        w = Σ around_k d_k / arm

To first order, with c and s the cosine and sine of the mean heading, the pose and the wheels
change what comes out by

    F = [[1, 0, tx], [0, 1, ty], [0, 0, 1]]       tx = −s u − c v,  ty = c u − s v
    g_k = [c along_k − s across_k + tx a_k / 2, s along_k + c across_k + ty a_k / 2, a_k]ᵀ

where a_k = around_k / arm. A relative error of wheel k's radius drives the pose by d_k g_k, one
of the arm by −w [tx / 2, ty / 2, 1]ᵀ. Those errors stay, and so the covariance of pose and errors
together is carried along: a filter that takes them for white is sure of itself where it should
not be. Random slip of wheel k adds slip_density² |d_k| g_k g_kᵀ.

Counting in whole ticks is an error too, of up to a tick per wheel. It never adds up, so it is not
carried along but put on top of what is reported.
"""

from __future__ import annotations

from astray.numerics import kernel, sincos
from astray.tables import WHEELS_PER_ROBOT, Column, Row, columns

ARM = WHEELS_PER_ROBOT  # the lasting error after those of the wheels
ERRORS = WHEELS_PER_ROBOT + 1

SPREAD = columns(
    "arm m",
    "slip_density m/√m",
    Column("along", "", "f8", (WHEELS_PER_ROBOT,)),
    Column("across", "", "f8", (WHEELS_PER_ROBOT,)),
    Column("around", "", "f8", (WHEELS_PER_ROBOT,)),
    Column("rolled", "m", "f8", (WHEELS_PER_ROBOT,)),
    "rounding m²",
    "turn_rounding rad²",
    Column("cov", "m², m·rad, rad²", "f8", (3, 3)),
    Column("variance", "", "f8", (ERRORS,)),
    Column("cross", "m, rad", "f8", (3, ERRORS)),
    Column("gain", "m, rad", "f8", (3, ERRORS)),
    Column("wheel_gain", "m, rad", "f8", (3, WHEELS_PER_ROBOT)),
)
"""How wheels move the body, what they rolled, and how pose and lasting errors vary together."""

Move = tuple[float, float, float]


@kernel
def moved(m: Row) -> Move:
    """What the body moved along, across and around while its wheels rolled."""
    along, across, around = 0.0, 0.0, 0.0
    for k in range(WHEELS_PER_ROBOT):
        along += m.along[k] * m.rolled[k]
        across += m.across[k] * m.rolled[k]
        around += m.around[k] * m.rolled[k]
    return along, across, around / m.arm


@kernel
def gains(b: Row, m: Row, move: Move) -> tuple[float, float]:
    """Note what each error does to the pose of this move; what a turned heading does to x and y."""
    u, v, w = move
    s, c = sincos(b.yaw + 0.5 * w)
    to_x, to_y = -(s * u + c * v), c * u - s * v
    for k in range(WHEELS_PER_ROBOT):
        turning = m.around[k] / m.arm
        m.wheel_gain[0, k] = m.along[k] * c - m.across[k] * s + turning * (0.5 * to_x)
        m.wheel_gain[1, k] = m.along[k] * s + m.across[k] * c + turning * (0.5 * to_y)
        m.wheel_gain[2, k] = turning
        along, across = m.along[k] * m.rolled[k], m.across[k] * m.rolled[k]
        around = m.around[k] * m.rolled[k] / m.arm
        m.gain[0, k] = c * along - s * across + 0.5 * to_x * around
        m.gain[1, k] = s * along + c * across + 0.5 * to_y * around
        m.gain[2, k] = around
    m.gain[0, ARM] = 0.5 * to_x * -w
    m.gain[1, ARM] = 0.5 * to_y * -w
    m.gain[2, ARM] = -w
    return to_x, to_y


@kernel
def spread(b: Row, m: Row, move: Move) -> None:
    """Carry the covariance of one belief along a move that starts at its present pose."""
    to_x, to_y = gains(b, m, move)
    for k in range(ERRORS):  # F · cross, in place: the last row of F is that of the identity
        m.cross[0, k] += to_x * m.cross[2, k]
        m.cross[1, k] += to_y * m.cross[2, k]
    for j in range(3):  # F · cov · Fᵀ, in place
        m.cov[0, j] += to_x * m.cov[2, j]
        m.cov[1, j] += to_y * m.cov[2, j]
    for i in range(3):
        m.cov[i, 0] += to_x * m.cov[i, 2]
        m.cov[i, 1] += to_y * m.cov[i, 2]
    slip = m.slip_density * m.slip_density
    for i in range(3):
        for j in range(i + 1):
            grown = m.cov[i, j]
            for k in range(ERRORS):
                grown += m.cross[i, k] * m.gain[j, k] + m.gain[i, k] * m.cross[j, k]
                grown += m.variance[k] * m.gain[i, k] * m.gain[j, k]
            for k in range(WHEELS_PER_ROBOT):
                way = abs(m.rolled[k])
                grown += slip * way * m.wheel_gain[i, k] * m.wheel_gain[j, k]
            m.cov[i, j] = grown
            m.cov[j, i] = grown
    for i in range(3):
        for k in range(ERRORS):
            m.cross[i, k] += m.variance[k] * m.gain[i, k]
        for j in range(3):
            b.cov[i, j] = m.cov[i, j]
        b.cov[i, i] += m.rounding if i < 2 else m.turn_rounding
