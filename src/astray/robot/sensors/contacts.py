"""Detections of other robots: range and bearing from a mount, some missed, some of nobody.

Another robot is detected if its origin is within range and in the field of view, no wall and, if
they hide each other, no other robot is in the way, and with the probability of detection. Then

    range = r + (range_sd + range_sd_per_m · r) n        bearing = b + bearing_sd n

Its identity is its number in its world, or another's where it is confused with that, or −1 if the
sensor cannot tell robots apart. Besides, there are false alarms: their number is Poisson, their
places are uniform over the field of view, and they look like anyone.

The others are found in the crowd's cells, so the cost goes with the pairs in range. What a pair is
dealt depends on who the two are and on nobody else.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from annotated_types import Ge, Le

from astray.numerics import (
    TAU,
    atan2,
    exp,
    inlined_kernel,
    kernel,
    log_normal,
    random_words,
    sincos,
    sincos_quarters,
    uniform_pair,
    wrap,
)
from astray.plugin import NonNegative, Positive, Reading, Scene, Sensor
from astray.tables import CONTACTS, Array, Row, Rows, Table
from astray.world.geometry import cell_columns, cell_rows
from astray.world.raycast import (
    Ray,
    RaycastScene,
    SceneArrays,
    cast_ray_at_walls,
    intersect_ray_robot,
    named_scene,
)

MOST_ALARMS = 64  # in one reading
SCALE = 2.0**-32
SHIFT = np.uint64(20)  # the number of the other is put above the draws in the key of a pair
Share = Annotated[float, Ge(0), Le(1)]
Slots = tuple[Array, Array, Array, Array]
"""Range, bearing, identity and seen: of one row (slots,), of all (n, slots)."""
Who = tuple[np.uint64, int, int, Array]
"""The noise's key, the group's first row among everyone, how many numbers there are, numbers."""
Spot = tuple[float, float, int]
"""True range and bearing of a robot, and its number."""


@inlined_kernel
def insert(o: Row, slots: Slots, far: float, aside: float, identity: int) -> None:
    """Put a detection among the others, nearest first; where slots are full the farthest goes."""
    ranges, bearings, identities = slots[0], slots[1], slots[2]
    k = o.count
    if k < len(ranges):
        o.count += 1
    else:
        k -= 1
        if far >= ranges[k]:
            return
    while k > 0 and ranges[k - 1] > far:
        ranges[k], bearings[k] = ranges[k - 1], bearings[k - 1]
        identities[k] = identities[k - 1]
        k -= 1
    ranges[k], bearings[k], identities[k] = far, aside, identity


@kernel
def behind_walls(view: RaycastScene, world: int, ray: Ray, far: float) -> bool:
    """Whether a wall is on a ray before this range."""
    limit = 1.0 / far
    return cast_ray_at_walls(view, world, ray, limit) > limit


@kernel
def behind_robots(
    view: RaycastScene, world: int, ray: Ray, far: float, pair: tuple[int, int]
) -> bool:
    """Whether another robot than this pair of rows is on a ray before this range."""
    g, limit = view.robots.grids[world], 1.0 / far
    x, y, c, s = ray
    left, right = cell_columns(g, x + 0.5 * far * c, 0.5 * far * abs(c) + g.reach)
    low, high = cell_rows(g, y + 0.5 * far * s, 0.5 * far * abs(s) + g.reach)
    for row in range(low, high + 1 if left <= right else low):
        cell = g.first + row * g.width
        for k in range(view.robots.starts[cell + left], view.robots.starts[cell + right + 1]):
            b = view.robots.bodies[k]
            if b.row == pair[0] or b.row == pair[1]:
                continue
            shape = view.shapes.table[b.footprint]
            if intersect_ray_robot(b, shape, view.shapes.corners, ray) > limit:
                return True
    return False


@kernel
def raise_alarms(o: Row, slots: Slots, p: Row, s: Row, who: Who) -> None:
    """Add detections of nobody."""
    key, _, population, _ = who
    luck = uniform_pair(s, key, 0)[0]
    term = exp(-p.false_alarms)
    total, count = term, 0
    while luck >= total and count < MOST_ALARMS:
        count += 1
        term *= p.false_alarms / count
        total += term
    near = p.min_range * p.min_range
    for k in range(count):
        u, v = uniform_pair(s, key, 1 + 2 * k)
        far = math.sqrt(near + u * (p.max_range * p.max_range - near))
        identity = -1
        if p.identified:
            identity = int(uniform_pair(s, key, 2 + 2 * k)[0] * population)
        insert(o, slots, far, (v - 0.5) * p.field_of_view, identity)


@inlined_kernel
def share_of(word: np.uint64) -> float:
    """A uniform in [0, 1) of 32 bits."""
    return SCALE * float(np.int64(word))


@inlined_kernel
def normals_of(one: np.uint64, other: np.uint64) -> tuple[float, float]:
    """Two standard normals of 32 bits each."""
    radius = math.sqrt(-2.0 * log_normal((float(np.int64(one)) + 0.5) * SCALE))
    sine, cosine = sincos_quarters(4.0 * SCALE * float(np.int64(other)))
    return radius * cosine, radius * sine


@inlined_kernel
def detect(o: Row, slots: Slots, p: Row, s: Row, spot: Spot, who: Who) -> None:
    """Detect one other robot or miss it; one draw has all that a pair is dealt."""
    key, _, population, _ = who
    far, aside, number = spot
    w0, w1, w2, w3 = random_words(s, key ^ (np.uint64(number + 1) << SHIFT), 0)
    if share_of(w0) >= p.detection:
        return
    identity = number
    if p.confusion > 0.0:
        confused = share_of(w1)
        if confused < p.confusion and population > 1:  # one of the others, all as likely
            identity = (number + 1 + int(confused / p.confusion * (population - 1))) % population
    if not p.identified:
        identity = -1
    a, b = normals_of(w2, w3)
    measured = max(0.0, far + (p.range_sd + p.range_sd_per_m * far) * a)
    insert(o, slots, measured, wrap(aside + p.bearing_sd * b), identity)


@inlined_kernel
def look_around(
    rec: tuple[Row, Row, Row], slots: Slots, view: RaycastScene, me: int, world: int, who: Who
) -> None:
    """Detect whoever is in sight of one robot, `me` among everyone."""
    o, p, s = rec
    sine, cosine = sincos(s.yaw)
    x, y = s.x + cosine * p.x - sine * p.y, s.y + sine * p.x + cosine * p.y
    if p.yaw != 0.0:
        sine, cosine = sincos(s.yaw + p.yaw)
    g = view.robots.grids[world]
    # A body is in the cell of its origin, and no nearer to be seen than that.
    left, right = cell_columns(g, x, p.max_range)
    low, high = cell_rows(g, y, p.max_range)
    if left > right:
        return
    walls = p.walls and view.walls.maps[view.map_of_world[world]].count > 0
    square, nearest, half = p.max_range * p.max_range, p.min_range, 0.5 * p.field_of_view
    for row in range(low, high + 1):
        cell = g.first + row * g.width
        for k in range(view.robots.starts[cell + left], view.robots.starts[cell + right + 1]):
            b = view.robots.bodies[k]
            dx, dy = b.x - x, b.y - y
            far = dx * dx + dy * dy
            if b.row == me or far > square or not far > 0.0:
                continue
            far = math.sqrt(far)
            aside = atan2(cosine * dy - sine * dx, cosine * dx + sine * dy)
            if far < nearest or abs(aside) > half:
                continue
            ray = Ray(x, y, dx / far, dy / far)
            if walls and behind_walls(view, world, ray, far):
                continue
            if p.robots and behind_robots(view, world, ray, far, (me, b.row)):
                continue
            detect(o, slots, p, s, (far, aside, who[3][b.row]), who)


@kernel
def sense_all(
    out: Table,
    slots: Slots,
    tables: tuple[Table, Table, Array],
    rows: Rows,
    seen: SceneArrays,
    who: Who,
) -> None:
    """Detect the others for these rows, of their parameters, truth and worlds."""
    params, truth, worlds = tables
    view = named_scene(seen)
    for i in rows:
        o, p, s = out[i], params[i], truth[i]
        mine = (slots[0][i], slots[1][i], slots[2][i], slots[3][i])
        o.count, o.min_range, o.max_range = 0, p.min_range, p.max_range
        o.field_of_view = p.field_of_view
        look_around((o, p, s), mine, view, who[1] + i, worlds[i], who)
        if p.false_alarms > 0.0:
            raise_alarms(o, mine, p, s, who)
        for k in range(len(mine[3])):
            mine[3][k] = 1.0 if k < o.count else 0.0
            if k >= o.count:
                mine[0][k], mine[1][k], mine[2][k] = 0.0, 0.0, -1.0


class ContactSensor(Sensor, kind="contacts"):
    """Range and bearing to other robots in sight: some missed, confused, or not there at all."""

    measures = CONTACTS
    stateless = True
    rows_per_thread = 256
    default_rate = 10.0
    fixed = ("slots",)
    rate: NonNegative | None = None  # Hz; about 10 unless given, 0 only when it is asked for
    x: float = 0.0  # m, of the mount in the body frame
    y: float = 0.0  # m, of the mount in the body frame
    yaw: float = 0.0  # rad, of the mount
    slots: Annotated[int, Ge(1), Le(1024)] = 16  # detections in one reading, the nearest ones
    min_range: NonNegative = 0.0  # m
    max_range: Positive = 10.0  # m
    field_of_view: Annotated[float, Ge(0), Le(TAU)] = TAU  # rad, half of it on either side
    range_sd: NonNegative = 0.05  # m, white
    range_sd_per_m: NonNegative = 0.0  # and as much more per metre of range
    bearing_sd: NonNegative = 0.02  # rad, white
    detection: Share = 1.0  # probability that a robot in sight is detected
    false_alarms: Annotated[float, Ge(0), Le(20)] = 0.0  # per reading, on average
    identified: bool = True  # whether the sensor can tell robots apart
    confusion: Share = 0.0  # probability of taking a robot for another one
    walls: bool = True  # whether walls hide robots
    robots: bool = False  # whether robots hide those behind them

    def array_shapes(self) -> dict[str, tuple[int, ...]]:
        """What is measured of each robot."""
        shape = (self.slots,)
        return {"range": shape, "bearing": shape, "identity": shape, "seen": shape}

    @property
    def sees_robots(self) -> bool:
        """It looks at nothing else."""
        return True

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Detect the others for these rows."""
        a = out.arrays
        slots = (a["range"], a["bearing"], a["identity"], a["seen"])
        tables = (self.params, scene.truth, scene.worlds)
        who = (self.key, scene.first_row, scene.robots_per_world, scene.robot_numbers)
        sense_all(out.table, slots, tables, rows, scene.raycast_arrays, who)
