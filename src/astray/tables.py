"""Tables: one row per robot, named columns, SI units; and the layouts that parts exchange.

Tables are NumPy arrays of records, so kernels read `s.yaw` and users read `truth["yaw"]`. Poses are
in the map frame, velocities and accelerations in the body frame (x forward, y left), angles in rad,
counter-clockwise, yaw in (−π, π] (REP 103).
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

WHEELS_PER_ROBOT = 4
"""Front left, front right, rear left, rear right; robots with two wheels use the first two."""


class Column(NamedTuple):
    """One named value of a row.

    Attributes:
        name: The name; NumPy's own attributes of records are refused.
        unit: The unit, for people.
        type: The NumPy type.
        shape: The shape of the value; a scalar by default.
    """

    name: str
    unit: str = ""
    type: Any = "f8"
    shape: tuple[int, ...] = ()


_columns_of: dict[Columns, Mapping[str, Column]] = {}


def columns(*parts: Column | str | Columns) -> Columns:
    """Make the layout of a table.

    Args:
        *parts: "name unit" for a float column, a Column, or a layout whose columns are all
        included.

    Returns:
        The layout, for `table`.

    Raises:
        PluginError: A name is an attribute of NumPy's records.
    """
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
    _columns_of[layout] = {c.name: c for c in flat}
    return layout


def record_type(parts: Sequence[tuple[Any, ...]]) -> Columns:
    """Make an aligned record type, whose columns are attributes of a row.

    Args:
        parts: (name, type) or (name, type, shape) of each column.

    Returns:
        The type.

    Raises:
        PluginError: A name is an attribute of NumPy's records.
    """
    taken = [part[0] for part in parts if hasattr(np.void, part[0])]
    if taken:
        raise PluginError(f"a column cannot be called {taken[0]!r}: NumPy uses that name itself")
    return np.dtype((np.record, np.dtype(list(parts), align=True)))


def columns_of(layout: Columns) -> Mapping[str, Column]:
    """The columns of a layout.

    Args:
        layout: A layout that `columns` made.

    Returns:
        The columns by name, with their units.
    """
    return _columns_of[layout]


def table(layout: Columns, n: int, fill: float = 0.0) -> Table:
    """Make a table of n rows.

    Args:
        layout: The columns.
        n: How many rows.
        fill: The value of the float columns; all others are zero.

    Returns:
        The table, (n,).
    """
    made = np.zeros(n, layout)
    if fill != 0.0:
        for name in layout.names or ():
            if made[name].dtype.kind == "f":
                made[name] = fill
    return made


def write_records(target: Table, rows: Rows, records: Table) -> None:
    """Write whole records to some rows, as bytes, many times as fast as NumPy copies columns.

    Args:
        target: The table to write to, (n, ...).
        rows: Indices, (k,).
        records: One record for all of these rows, (1,), or one for each, (k, ...).
    """
    raw = _bytes_of(target.dtype.itemsize)
    np.ndarray(target.shape, raw, target)[rows] = np.ndarray(records.shape, raw, records)


def set_rows(column: Array, rows: Rows, values: Array) -> None:
    """Write one value to each of some rows of a column.

    Args:
        column: A column or an array, (n, ...).
        rows: Indices, (k,).
        values: (k, ...).
    """
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


def clear_rows(target: Table, rows: Rows) -> None:
    """Write zeros to all columns of some rows.

    Args:
        target: The table, (n,).
        rows: Indices, (k,).
    """
    raw = _bytes_of(target.dtype.itemsize)
    np.ndarray(target.shape, raw, target)[rows] = np.zeros((), raw)


@functools.cache
def _bytes_of(size: int) -> np.dtype[Any]:
    """A record type of so many bytes."""
    return np.dtype((np.void, size))


def copy_rows(source: Array, rows: Rows) -> Array:
    """Copy some rows; a whole table is copied as bytes, which is faster.

    Args:
        source: A table or an array, (n, ...).
        rows: Indices, (k,), in ascending order.

    Returns:
        (k, ...).
    """
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
"""Which robot a row is: its world, its number in its group and world, and its episode."""

ADDRESS = columns(Column("tick", "", "i8"), IDENTITY)
"""The counter of noise: which robot draws a random number, and at which tick."""

# ADDRESS is no prefix of STATE: numba would accept a state for an address, with a warning.
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
"""The state of a robot, of truth and belief alike. cov is the covariance of (x, y, yaw); it is zero
in the truth, and so are z and vz."""

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
"""What the autonomy commands. From speed to turn_decel they are limits; nan means the robot's own.
In mode servo a distance or heading of nan leaves its axis to vx or wz, and a new serial starts a
new distance."""

TWIST, CURVATURE, MOVE, HEADING, SERVO = range(5)
MODES = ("twist", "curvature", "move", "heading", "servo")
LIMITS = ("speed", "accel", "decel", "turn", "turn_accel", "turn_decel")
STOP = table(COMMAND, 1)
for _limit in LIMITS:
    STOP[_limit] = np.nan
STOP.setflags(write=False)
"""The initial command of a robot: stop, (1,)."""

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
"""What the control asks of the motion. The curvature is nan where wz is asked for instead; limits
are nan where the robot's own apply."""

READING = columns(Column("fresh", "", "?"), "stamp s")
"""The columns of every reading: when it was taken, and whether it arrived in this very tick."""

WHEELS = columns(
    READING,
    Column("count", "ticks", "i8", (WHEELS_PER_ROBOT,)),
    Column("angle", "rad", "f8", (WHEELS_PER_ROBOT,)),
    Column("rate", "rad/s", "f8", (WHEELS_PER_ROBOT,)),
    "steer rad",
)
"""Wheel encoders: cumulative counts, their angle, and its mean rate since the last reading."""

IMU = columns(
    READING,
    "wx rad/s",
    "wy rad/s",
    "wz rad/s",
    "ax m/s²",
    "ay m/s²",
    "az m/s²",
)
"""Angular rates and specific force in the sensor's axes: level and at rest, az is +9.81."""

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
"""The output of a navigation system: pose in the map, velocity in the body, covariance of the
pose."""

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
"""The range along one beam, or the least within a cone of this half-angle."""

SONAR = columns(
    READING,
    "min_range m",
    "max_range m",
    "cone rad",
    Column("first", "", "i8"),
    Column("fired", "", "i8"),
)
"""A ring of sonars: `ranges` beside it, (transducers,) m. `fired` of them are new, evenly spread
from the number `first` on; the others are as last measured."""

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
"""The collision of a robot in this tick: with a robot by its row, or with a wall (−1); the contact
point in the map, its bearing in the body frame, and the impact speed. The robot is stalled while it
cannot go where it drives."""

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
"""A position in the map, with the covariance that the device reports (zero: none). While the fix is
`lost` the other columns are invalid. The velocity is that of the antenna in the map, from
Doppler; a `velocity_sd` of zero means that none is measured."""

COMPASS = columns(READING, "yaw rad", "sd rad")
"""A heading in the map, and the standard deviation that the device reports (zero: none)."""

LANDMARKS = columns(READING, Column("count", "", "i8"))
"""Beacons that were seen: beside it, (slots,), `range` m and `bearing` rad from the mount,
`identity`, the number of the beacon or −1 where it is not known, and `seen`, 1 where the slot holds
one, else 0; `count` slots do. Where the beacons are is in the datasheet, as `beacons`."""

CONTACTS = columns(
    READING, Column("count", "", "i8"), "min_range m", "max_range m", "field_of_view rad"
)
"""Other robots that were detected: beside it, (slots,), `range` m and `bearing` rad from the mount,
nearest first, `identity`, the number of the robot in its world or −1 where it is not known, and
`seen`, 1 where the slot holds one, else 0; `count` slots do. Some may be false alarms."""

TRACKS = columns("stamp s", Column("count", "", "i8"))
"""The tracks of one observer: their stamp, and how many are confirmed."""

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
"""A track of another robot: position and velocity in the map frame of the observer's belief, and
their covariance, which includes that of the observer's own pose. `number` is constant for a track,
0 until it is confirmed; `identity` is the number of the robot that it is associated with, −1 if
unknown; `source` is the index of the sensor that detected it last; `age` is the time since the
first detection, `unseen` since the last. An empty slot has a stamp of nan."""
