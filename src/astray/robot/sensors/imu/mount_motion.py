"""What the mount of an inertial unit feels: its turning and its acceleration.

The mount is at r in the body frame. There the point moves with v + w × r, and feels the
acceleration

    a = a_body + alpha × r − w² r

A reading is the mean over the time since the last one, as a device gives that adds up increments:
the change of the mount's true velocity, seen at the middle heading, and the change of heading.
So whatever happened between two readings is in them. `sampling: instant` gives the values of the
moment instead.
"""

from __future__ import annotations

from astray.numerics import inlined_kernel, kernel, wrap
from astray.tables import Row, Rows, Table

Direction = tuple[float, float]
"""Sine and cosine of an angle."""


@kernel
def look(m: Row, s: Row, p: Row) -> None:
    """Note heading, rate and the velocity of the mount in the body frame."""
    m.along, m.across = s.vx - s.wz * p.y, s.vy + s.wz * p.x
    m.yaw, m.wz, m.stamp = s.yaw, s.wz, s.stamp


@kernel
def look_all(memory: Table, truth: Table, params: Table, rows: Rows) -> None:
    """Note the present motion of these rows as if nothing had happened before."""
    for i in rows:
        look(memory[i], truth[i], params[i])


@inlined_kernel
def turned_by(m: Row, s: Row) -> float:
    """How far a robot has turned since the last reading."""
    # It may have turned more than once: its rates tell how often.
    guess = 0.5 * (m.wz + s.wz) * (s.stamp - m.stamp)
    return float(guess + wrap(s.yaw - m.yaw - guess))


@kernel
def feel(m: Row, s: Row, p: Row, turned: float, half: Direction) -> tuple[float, float, float]:
    """Rate about the vertical and acceleration of the mount in the body frame.

    Given how far it has turned since the last reading, and sine and cosine of half of that.
    """
    elapsed = s.stamp - m.stamp
    if m.instant or not m.started or elapsed <= 0.0:
        look(m, s, p)
        m.started = True
        ax = s.ax - s.alpha * p.y - s.wz * s.wz * p.x
        ay = s.ay + s.alpha * p.x - s.wz * s.wz * p.y
        return s.wz, ax, ay
    along, across = m.along, m.across
    look(m, s, p)
    # Seen at the middle heading, the old velocity is turned back and the new one on by half.
    sine, cosine = half
    ax = cosine * (m.along - along) - sine * (m.across + across)
    ay = cosine * (m.across - across) + sine * (m.along + along)
    per = 1.0 / elapsed
    return turned * per, ax * per, ay * per
