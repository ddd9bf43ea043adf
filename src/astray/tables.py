"""What a row holds: everything that flows is a table, one row per robot, named columns, SI units.

Tables are NumPy arrays of records, so kernels read `s.yaw` and users read `truth["yaw"]`. Poses are
in the map frame, velocities and accelerations in the body frame (x forward, y left), angles in
rad, counter-clockwise, yaw in (−π, π].
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from astray.errors import PluginError

Array: TypeAlias = npt.NDArray[Any]
Table: TypeAlias = npt.NDArray[Any]  # of records
Rows: TypeAlias = npt.NDArray[np.int64]
Row: TypeAlias = Any  # one record: its columns are attributes
Columns: TypeAlias = np.dtype[Any]

WHEELS_PER_ROBOT = (
    4  # front left, front right, rear left, rear right; two-wheelers use the first two
)


class Column(NamedTuple):
    """One named value of a row."""

    name: str
    unit: str = ""
    type: Any = "f8"
    shape: tuple[int, ...] = ()


_about: dict[Columns, Mapping[str, Column]] = {}


def columns(*parts: Column | str | Columns) -> Columns:
    """The layout of a table; "name unit" is a float column, a layout is taken over whole."""
    flat: list[Column] = []
    for part in parts:
        if isinstance(part, str):
            name, _, unit = part.partition(" ")
            flat.append(Column(name, unit))
        elif isinstance(part, Column):
            flat.append(part)
        else:
            flat.extend(columns_of(part).values())
    layout = record_type([(c.name, c.type, c.shape) for c in flat])
    _about[layout] = {c.name: c for c in flat}
    return layout


def record_type(parts: Sequence[tuple[Any, ...]]) -> Columns:
    """An aligned record type; its columns are attributes of a row, so NumPy's own are refused."""
    taken = [part[0] for part in parts if hasattr(np.void, part[0])]
    if taken:
        raise PluginError(f"a column cannot be called {taken[0]!r}: NumPy uses that name itself")
    return np.dtype((np.record, np.dtype(list(parts), align=True)))


def columns_of(layout: Columns) -> Mapping[str, Column]:
    """The columns of a layout by name, with their units."""
    return _about[layout]


def table(layout: Columns, n: int, fill: float = 0.0) -> Table:
    """A table of n rows; `fill` goes to the float columns, all else is zero."""
    made = np.zeros(n, layout)
    if fill != 0.0:
        for name in layout.names or ():
            if made[name].dtype.kind == "f":
                made[name] = fill
    return made


def write_records(goal: Table, rows: Rows, records: Table) -> None:
    """Write whole records to some rows: one for all, or one for each.

    Bytes are copied many times as fast as NumPy copies columns.
    """
    raw = _bytes_of(goal.dtype.itemsize)
    np.ndarray(goal.shape, raw, goal)[rows] = np.ndarray(records.shape, raw, records)


def set_rows(column: Array, rows: Rows, values: Array) -> None:
    """Write values, one each, to some rows of a column; to all of them in one go."""
    if len(rows) == len(column):
        column[:] = values
    else:
        column[rows] = values


def read_only(array: Array) -> Array:
    """A view of the same memory that NumPy refuses to write to.

    Args:
        array: A table, a column or an array.

    Returns:
        The view; the array itself if it is read-only already.
    """
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def clear_rows(goal: Table, rows: Rows) -> None:
    """Write zeros to all columns of some rows."""
    raw = _bytes_of(goal.dtype.itemsize)
    np.ndarray(goal.shape, raw, goal)[rows] = np.zeros((), raw)


@functools.cache
def _bytes_of(size: int) -> np.dtype[Any]:
    """A record of so many bytes, whatever they mean."""
    return np.dtype((np.void, size))


def copy_rows(source: Array, rows: Rows) -> Array:
    """These rows of a table or an array, to keep; all of them as bytes, if it is all."""
    if len(rows) < len(source):
        return source[rows]
    if source.dtype.names is None:
        return source.copy()
    return source.view(np.uint8).copy().view(source.dtype)


IDENTITY = columns(
    Column("world", "", "i4"),
    Column("robot", "", "i4"),
    Column("episode", "", "i4"),
)
"""Which robot a row is: its world, its number in its group and world, and which start this is."""

ADDRESS = columns(Column("tick", "", "i8"), IDENTITY)
"""Who asks for noise, and when."""

# ADDRESS is no prefix of STATE on purpose: numba would take a state for an address, with a warning.
STATE = columns(
    IDENTITY,
    Column("tick", "", "i8"),
    Column("alive", "", "?"),
    Column("footprint", "", "i4"),
    "stamp s",
    "x m",
    "y m",
    "z m",
    "yaw rad",
    "vx m/s",
    "vy m/s",
    "vz m/s",
    "wz rad/s",
    "ax m/s²",
    "ay m/s²",
    "alpha rad/s²",
    "steer rad",
    "steer_rate rad/s",
    Column("wheel", "rad", "f8", (WHEELS_PER_ROBOT,)),
    Column("wheel_rate", "rad/s", "f8", (WHEELS_PER_ROBOT,)),
    Column("cov", "m², m·rad, rad²", "f8", (3, 3)),
)
"""Truth and belief alike. cov is that of (x, y, yaw), zero in the truth; z and vz stay 0 there."""

COMMAND = columns(
    Column("mode", "", "i4"),
    "stamp s",
    "vx m/s",
    "vy m/s",
    "wz rad/s",
    "curvature 1/m",
    "distance m",
    "heading rad",
    "speed m/s",
    "accel m/s²",
    "decel m/s²",
    "turn rad/s",
    "turn_accel rad/s²",
    "turn_decel rad/s²",
    Column("serial", "", "i8"),
)
"""What autonomy asks for; from speed to turn_decel they are limits, nan means the robot's own. In
mode servo a distance or heading of nan leaves its axis to vx or wz, and a new serial begins a
distance anew."""

TWIST, CURVATURE, MOVE, HEADING, SERVO = range(5)
MODES = ("twist", "curvature", "move", "heading", "servo")
LIMITS = ("speed", "accel", "decel", "turn", "turn_accel", "turn_decel")
STOP = table(COMMAND, 1)
for _limit in LIMITS:
    STOP[_limit] = np.nan
STOP.setflags(write=False)
"""The command of a robot that was told nothing, (1,)."""

DRIVE = columns(
    "vx m/s",
    "vy m/s",
    "wz rad/s",
    "curvature 1/m",
    "accel m/s²",
    "decel m/s²",
    "turn_accel rad/s²",
    "turn_decel rad/s²",
)
"""What control asks of the motion; curvature is nan unless it, and not wz, is asked for, and so are
limits where the robot's own hold."""

READING = columns(Column("fresh", "", "?"), "stamp s")
"""What every reading has: when it was taken, and whether it arrived in this very tick."""

WHEELS = columns(
    READING,
    Column("count", "ticks", "i8", (WHEELS_PER_ROBOT,)),
    Column("angle", "rad", "f8", (WHEELS_PER_ROBOT,)),
    Column("rate", "rad/s", "f8", (WHEELS_PER_ROBOT,)),
    "steer rad",
)
"""Wheel encoders: cumulative counts, the angle they stand for, and its mean rate since the last."""

IMU = columns(
    READING,
    "wx rad/s",
    "wy rad/s",
    "wz rad/s",
    "ax m/s²",
    "ay m/s²",
    "az m/s²",
)
"""Rates and specific force in the sensor's own axes: level and at rest, az is +9.81."""

INS = columns(
    READING,
    "x m",
    "y m",
    "yaw rad",
    "vx m/s",
    "vy m/s",
    "wz rad/s",
    Column("cov", "m², m·rad, rad²", "f8", (3, 3)),
)
"""A navigation system's answer: pose in the map, velocity in the body, covariance of the pose."""

SCAN = columns(
    READING,
    "start rad",
    "step rad",
    "min_range m",
    "max_range m",
    "duration s",
)
"""A scan: `ranges` beside it, (rays,) m; ray k points start + k step from the sensor's axis and was
taken (rays − 1 − k) / rays of the duration before the stamp."""

RANGE = columns(READING, "range m", "min_range m", "max_range m", "cone rad")
"""The range of one beam, or the least within a cone of this half-angle."""

SONAR = columns(
    READING,
    "min_range m",
    "max_range m",
    "cone rad",
    Column("first", "", "i8"),
    Column("fired", "", "i8"),
)
"""A ring of sonars: `ranges` beside it, (transducers,) m. `fired` of them are new, evenly spread
from the number `first` on; the others are as they were last heard."""

BUMP = columns(READING, Column("pressed", "", "?"))
"""Bumpers: whether any is pressed; `arcs` beside it, (arcs,), has 1 where one is, else 0."""

COLLISION_STATE = columns(
    Column("touching", "", "?"),
    Column("stalled", "", "?"),
    Column("other", "", "i8"),
    "x m",
    "y m",
    "bearing rad",
    "speed m/s",
)
"""What a robot ran into in this tick: a robot by its row, or a wall (−1); where in the map, in
which direction from the body, how fast; stalled while it cannot go where it drives."""

FIX = columns(
    READING,
    Column("lost", "", "?"),
    "x m",
    "y m",
    Column("cov", "m²", "f8", (2, 2)),
    "map_vx m/s",
    "map_vy m/s",
    "velocity_sd m/s",
)
"""A position in the map, with the covariance that the device claims (zero: it claims none). While
the fix is `lost` nothing else counts. The velocity is that of the antenna in the map, as Doppler
gives it; a `velocity_sd` of zero says that none is measured."""

COMPASS = columns(READING, "yaw rad", "sd rad")
"""A heading in the map, and the standard deviation that the device claims (zero: none)."""

LANDMARKS = columns(READING, Column("count", "", "i8"))
"""Beacons that were seen: beside it, (slots,), `range` m and `bearing` rad from the mount,
`identity`, the number of the beacon or −1 where it is not known, and `seen`, 1 where the slot holds
one, else 0; `count` slots do. Where the beacons are is in the datasheet, as `beacons`."""

CONTACTS = columns(
    READING, Column("count", "", "i8"), "min_range m", "max_range m", "field_of_view rad"
)
"""Other robots that were detected: beside it, (slots,), `range` m and `bearing` rad from the mount,
nearest first, `identity`, the number of the robot in its world or −1 where it is not known, and
`seen`, 1 where the slot holds one, else 0; `count` slots do. Some may be nobody."""

TRACKS = columns("stamp s", Column("count", "", "i8"))
"""What a robot believes of others: of which time, and how many of its tracks are confirmed."""

TRACK = columns(
    Column("number", "", "i8"),
    Column("identity", "", "i8"),
    Column("confirmed", "", "?"),
    Column("source", "", "i4"),
    "stamp s",
    "age s",
    "unseen s",
    "x m",
    "y m",
    "map_vx m/s",
    "map_vy m/s",
    Column("cov", "m², m²/s, m²/s²", "f8", (4, 4)),
)
"""One other robot as it is believed: position and velocity in the map frame as the believer has it,
and their covariance, in which that of the believer's own pose is included. `number` stays the same
for the life of a track, 0 until it is confirmed; `identity` is the number of the robot that it is
taken for, −1 if unknown; `source` that of the sensor that saw it last; `age` since it was first
seen, `unseen` since the last time. An empty slot has a stamp of nan."""
