"""Detections of other robots: range and bearing from a mount, with misses and false alarms.

Another robot is detected if its origin is within range and in the field of view, no wall and, if
`robots`, no other robot occludes it, and with the probability of detection. Then

    range = r + (range_sd + range_sd_per_m · r) n        bearing = b + bearing_sd n

Its identity is its number in its world, with the probability `confusion` that of another robot, and
−1 if the sensor does not identify robots. False alarms are added: their number is Poisson, their
positions are uniform over the field of view, their identities uniform over the robots.

Other robots are found in the cells of the robot grid, so the cost is proportional to the pairs in
range. The noise of a pair depends on the two robots alone.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from annotated_types import Ge, Le

from astray.numerics import (
    TAU,
    atan2,
    exp,
    inlined_kernel,
    kernel,
    log_normal,
    random_bits,
    sincos,
    sincos_quarters,
    uniform_pair,
    wrap,
)
from astray.plugin import NonNegative, Positive, Reading, Scene, Sensor
from astray.robot.sensors.error_models import Probability
from astray.robot.sensors.landmarks import DetectionArrays, Detections
from astray.robot.sensors.ranging import mount_position
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

MAX_FALSE_ALARMS = 64  # in one reading
PER_WORD = 2.0**-32
PAIR_SHIFT = np.uint64(20)  # in the key of a pair the number of the other robot is above the draws


class RobotNumbers(NamedTuple):
    """The numbers of robots, and the key of the noise of their detections."""

    key: np.uint64
    first_row: int
    """The row of the group's first robot in `all_truth`."""
    per_world: int
    """How many robots there are in each world."""
    numbers: Array
    """The number of each row of `all_truth` in its world."""


@inlined_kernel
def insert(o: Row, d: Detections, distance: float, bearing: float, identity: int) -> None:
    """Insert a detection by range; if the slots are full, the farthest is dropped."""
    ranges, bearings, identities = d.range, d.bearing, d.identity
    k = o.count
    if k < len(ranges):
        o.count += 1
    else:
        k -= 1
        if distance >= ranges[k]:
            return
    while k > 0 and ranges[k - 1] > distance:
        ranges[k], bearings[k] = ranges[k - 1], bearings[k - 1]
        identities[k] = identities[k - 1]
        k -= 1
    ranges[k], bearings[k], identities[k] = distance, bearing, identity


@kernel
def is_behind_walls(scene: RaycastScene, world: int, ray: Ray, distance: float) -> bool:
    """Whether a wall is on a ray before this range."""
    limit = 1.0 / distance
    return cast_ray_at_walls(scene, world, ray, limit) > limit


@kernel
def is_behind_robots(
    scene: RaycastScene, world: int, ray: Ray, distance: float, pair: tuple[int, int]
) -> bool:
    """Whether another robot than this pair of rows is on a ray before this range."""
    robots, limit = scene.robots, 1.0 / distance
    g = robots.grids[world]
    x, y, c, s = ray
    left, right = cell_columns(g, x + 0.5 * distance * c, 0.5 * distance * abs(c) + g.reach)
    low, high = cell_rows(g, y + 0.5 * distance * s, 0.5 * distance * abs(s) + g.reach)
    for row in range(low, high + 1 if left <= right else low):
        cell = g.first + row * g.width
        for k in range(robots.starts[cell + left], robots.starts[cell + right + 1]):
            b = robots.bodies[k]
            if b.row == pair[0] or b.row == pair[1]:
                continue
            shape = scene.shapes.table[b.footprint]
            if intersect_ray_robot(b, shape, scene.shapes.corners, ray) > limit:
                return True
    return False


@kernel
def add_false_alarms(o: Row, d: Detections, p: Row, s: Row, robots: RobotNumbers) -> None:
    """Add detections where there is no robot."""
    uniform = uniform_pair(s, robots.key, 0)[0]
    term = exp(-p.false_alarms)
    total, count = term, 0
    while uniform >= total and count < MAX_FALSE_ALARMS:  # Poisson, by its distribution function
        count += 1
        term *= p.false_alarms / count
        total += term
    near = p.min_range * p.min_range
    for k in range(count):
        u, v = uniform_pair(s, robots.key, 1 + 2 * k)
        distance = math.sqrt(near + u * (p.max_range * p.max_range - near))
        identity = -1
        if p.identified:
            identity = int(uniform_pair(s, robots.key, 2 + 2 * k)[0] * robots.per_world)
        insert(o, d, distance, (v - 0.5) * p.field_of_view, identity)


@inlined_kernel
def bits_to_uniform(word: np.uint64) -> float:
    """A uniform in [0, 1) from 32 bits."""
    return PER_WORD * float(np.int64(word))


@inlined_kernel
def bits_to_normals(first: np.uint64, second: np.uint64) -> tuple[float, float]:
    """Two standard normals from 32 bits each."""
    radius = math.sqrt(-2.0 * log_normal((float(np.int64(first)) + 0.5) * PER_WORD))
    sine, cosine = sincos_quarters(4.0 * PER_WORD * float(np.int64(second)))
    return radius * cosine, radius * sine


@inlined_kernel
def detect(
    o: Row,
    d: Detections,
    p: Row,
    s: Row,
    distance: float,
    bearing: float,
    number: int,
    robots: RobotNumbers,
) -> None:
    """Detect one visible robot or miss it; one draw gives all random numbers of a pair."""
    count = robots.per_world
    pair_key = robots.key ^ (np.uint64(number + 1) << PAIR_SHIFT)
    w0, w1, w2, w3 = random_bits(s, pair_key, 0)
    if bits_to_uniform(w0) >= p.detection:
        return
    identity = number
    if p.confusion > 0.0:
        confused = bits_to_uniform(w1)
        if confused < p.confusion and count > 1:  # any of the others, with equal probability
            identity = (number + 1 + int(confused / p.confusion * (count - 1))) % count
    if not p.identified:
        identity = -1
    a, b = bits_to_normals(w2, w3)
    measured = max(0.0, distance + (p.range_sd + p.range_sd_per_m * distance) * a)
    insert(o, d, measured, wrap(bearing + p.bearing_sd * b), identity)


@inlined_kernel
def detect_visible(
    o: Row,
    d: Detections,
    p: Row,
    s: Row,
    scene: RaycastScene,
    own_row: int,
    world: int,
    robots: RobotNumbers,
) -> None:
    """Detect the robots that are visible to one robot; own_row is its row in `all_truth`."""
    sine, cosine = sincos(s.yaw)
    x, y = mount_position(s, p, sine, cosine)
    if p.yaw != 0.0:
        sine, cosine = sincos(s.yaw + p.yaw)
    grid = scene.robots
    g = grid.grids[world]
    # A robot is in the cell of its origin, and its range is that of its origin.
    left, right = cell_columns(g, x, p.max_range)
    low, high = cell_rows(g, y, p.max_range)
    if left > right:
        return
    walls = p.walls and scene.walls.maps[scene.map_of_world[world]].count > 0
    max_square, nearest, half = p.max_range * p.max_range, p.min_range, 0.5 * p.field_of_view
    for row in range(low, high + 1):
        cell = g.first + row * g.width
        for k in range(grid.starts[cell + left], grid.starts[cell + right + 1]):
            b = grid.bodies[k]
            dx, dy = b.x - x, b.y - y
            square = dx * dx + dy * dy
            if b.row == own_row or square > max_square or not square > 0.0:
                continue
            distance = math.sqrt(square)
            bearing = atan2(cosine * dy - sine * dx, cosine * dx + sine * dy)
            if distance < nearest or abs(bearing) > half:
                continue
            ray = Ray(x, y, dx / distance, dy / distance)
            if walls and is_behind_walls(scene, world, ray, distance):
                continue
            if p.robots and is_behind_robots(scene, world, ray, distance, (own_row, b.row)):
                continue
            detect(o, d, p, s, distance, bearing, robots.numbers[b.row], robots)


@kernel
def sense_all(
    out: Table,
    arrays: DetectionArrays,
    params: Table,
    truth: Table,
    worlds: Array,
    rows: Rows,
    scene_arrays: SceneArrays,
    robot_fields: tuple[np.uint64, int, int, Array],
) -> None:
    """Detect other robots for these rows; robot_fields are those of RobotNumbers."""
    scene, robots = named_scene(scene_arrays), RobotNumbers(*robot_fields)
    for i in rows:
        o, p, s = out[i], params[i], truth[i]
        d = Detections(arrays[0][i], arrays[1][i], arrays[2][i], arrays[3][i])
        o.count, o.min_range, o.max_range = 0, p.min_range, p.max_range
        o.field_of_view = p.field_of_view
        detect_visible(o, d, p, s, scene, robots.first_row + i, worlds[i], robots)
        if p.false_alarms > 0.0:
            add_false_alarms(o, d, p, s, robots)
        for k in range(len(d.seen)):
            d.seen[k] = 1.0 if k < o.count else 0.0
            if k >= o.count:
                d.range[k], d.bearing[k], d.identity[k] = 0.0, 0.0, -1.0


class ContactSensor(Sensor, kind="contacts"):
    """Range and bearing to other robots, with misses, confusions and false alarms."""

    measures = CONTACTS
    stateless = True
    rows_per_thread = 256
    default_rate = 10.0
    fixed = ("slots",)
    rate: NonNegative | None = None  # Hz; about 10 by default; 0: sampled by `look` only
    x: float = 0.0  # m, of the mount in the body frame
    y: float = 0.0  # m, of the mount in the body frame
    yaw: float = 0.0  # rad, of the mount
    slots: Annotated[int, Ge(1), Le(1024)] = 16  # detections in one reading, the nearest ones
    min_range: NonNegative = 0.0  # m
    max_range: Positive = 10.0  # m
    field_of_view: Annotated[float, Ge(0), Le(TAU)] = TAU  # rad, full angle about the axis
    range_sd: NonNegative = 0.05  # m, white
    range_sd_per_m: NonNegative = 0.0  # relative; added per metre of range
    bearing_sd: NonNegative = 0.02  # rad, white
    detection: Probability = 1.0  # probability that a robot in sight is detected
    false_alarms: Annotated[float, Ge(0), Le(20)] = 0.0  # per reading, on average
    identified: bool = True  # whether the sensor can tell robots apart
    confusion: Probability = 0.0  # probability of taking a robot for another one
    walls: bool = True  # whether walls occlude robots
    robots: bool = False  # whether robots occlude those behind them

    def array_shapes(self) -> dict[str, tuple[int, ...]]:
        """The measurements of each robot."""
        shape = (self.slots,)
        return {"range": shape, "bearing": shape, "identity": shape, "seen": shape}

    @property
    def sees_robots(self) -> bool:
        """Always: it detects nothing else."""
        return True

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Detect other robots for these rows."""
        a, params = out.arrays, self.params
        arrays = a["range"], a["bearing"], a["identity"], a["seen"]
        robots = self.key, scene.first_row, scene.robots_per_world, scene.robot_numbers
        tables = params, scene.truth, scene.worlds
        sense_all(out.table, arrays, *tables, rows, scene.raycast_arrays, robots)
