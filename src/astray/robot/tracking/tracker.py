"""Multi-target tracking: from detections of other robots to tracks with covariances.

    detections → map   from the believed pose at their stamp     constant_velocity.py, ego_pose.py
    predict            each track to that stamp                  constant_velocity.py
    associate          detections with tracks                    association.py
    update             tracks that were detected, start others   track_lifecycle.py
    publish            with the covariance of the observer       track_lifecycle.py, ego_pose.py

Tracks are in the map frame by the observer's belief.
"""

from __future__ import annotations

import threading
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from astray import plugin
from astray.errors import PluginError
from astray.numerics import TAU, Pose, exp, kernel, log
from astray.plugin import Datasheet, Datasheets, Known, NonNegative, Positive, Tracks
from astray.robot.tracking.association import UNASSIGNED, assign, gated_pairs
from astray.robot.tracking.constant_velocity import (
    DET_X,
    DETECTION_ROWS,
    IDENTITY,
    TRACK,
    TRACK_FILTER,
    DetectionSensor,
    polar_to_map,
    predict,
)
from astray.robot.tracking.ego_pose import (
    LENGTH,
    accumulate_drift,
    add_drift,
    add_pose_error,
    mount_in_map,
    pose_at,
    record_acceleration,
    record_ego,
    record_pose,
)
from astray.robot.tracking.track_lifecycle import (
    FREE,
    Look,
    confirm_and_delete,
    publish_tracks,
    update_tracks,
)
from astray.tables import CONTACTS, Array, Column, Row, Rows, Table, columns

ALTERNATIVES = 10.0  # robots that one may be confused with, for the cost of an identity
MIN_FIELD = 1e-12  # m² of a field of view, and false alarms in one
MIN_CONFUSION = 1e-3  # no sensor identifies without error
MEMORY = columns(
    Column("started", "", "?"),
    "stamp s",  # of the last detections
    Column("used", "", "i8"),  # slots
    Column("numbered", "", "i8"),  # tracks that got a number
    Column("recorded", "", "i8"),  # poses in the history
    "ego_x m",  # the own position at the last belief
    "ego_y m",
    "ego_stamp s",
    "ego_interval s",  # between the last two beliefs
    "ego_age s",  # of the belief at the last detections, 0 if they were late
    "velocity_stamp s",
    Column("ego_velocity", "m/s, rad/s", "f8", (3,)),
    Column("ego_accel_square", "m²/s⁴, rad²/s⁴", "f8", (3,)),
    Column("ego_cov", "m², m·rad, rad²", "f8", (6,)),
    Column("drift_cov", "m², m·rad, rad²", "f8", (6,)),  # ego drift since the last detections
)
"""What a tracker keeps of an observer beside its tracks."""


class TrackingTables(NamedTuple):
    """The tables of all observers, by row."""

    summary: Table
    """TRACKS, published."""
    published: Table
    """TRACK (n, slots)."""
    tracks: Table
    """TRACK_FILTER (n, slots)."""
    memory: Table
    params: Table
    belief: Table
    histories: Array
    """(n, LENGTH, 4): see ego_pose.py."""


class DetectionReadings(NamedTuple):
    """The readings of a sensor of other robots, as tables.py has them."""

    table: Table
    ranges: Array
    bearings: Array
    identities: Array


@kernel
def write_detections(
    out: Array, readings: DetectionReadings, i: int, mount: Pose, sensor: DetectionSensor
) -> int:
    """Write the detections of one observer, in the map; how many they are."""
    count = int(readings.table[i].count)
    for j in range(count):
        position = polar_to_map(readings.ranges[i, j], readings.bearings[i, j], mount, sensor)
        for k in range(5):
            out[DET_X + k, j] = position[k]
        out[IDENTITY, j], out[TRACK, j] = readings.identities[i, j], UNASSIGNED
    return count


@kernel
def predict_all(tracks: Table, memory: Row, stamp: float, q: float, pose: Pose) -> None:
    """Propagate the tracks of an observer to a stamp, at which it is at a pose."""
    elapsed = stamp - memory.stamp if memory.started else 0.0
    memory.started, memory.stamp = True, stamp
    if elapsed > 0.0:
        for k in range(memory.used):
            if tracks[k].status != FREE:
                predict(tracks[k], elapsed, q)
                add_drift(tracks[k], memory, pose)
        for k in range(6):
            memory.drift_cov[k] = 0.0


@kernel
def track_all(
    tables: TrackingTables,
    readings: DetectionReadings,
    detections: Array,
    pairs: Array,
    rows: Rows,
    sensor: DetectionSensor,
) -> None:
    """Take the fresh detections of these rows; named tuples come as plain ones.

    `detections` (DETECTION_ROWS, n) and `pairs` (n, 4) are the workspace of one observer.
    """
    tables, readings = TrackingTables(*tables), DetectionReadings(*readings)
    sensor = DetectionSensor(*sensor)
    for i in rows:
        reading, m, p = readings.table[i], tables.memory[i], tables.params[i]
        if not reading.fresh or (m.started and reading.stamp < m.stamp):
            continue  # tracks are not propagated backwards
        belief, tracks = tables.belief[i], tables.tracks[i]
        pose, gap = pose_at(tables.histories[i], m, belief, reading.stamp)
        m.ego_age = max(0.0, reading.stamp - belief.stamp)
        mount = mount_in_map(pose, sensor.mount)
        predict_all(tracks, m, reading.stamp, p.accel_density, pose)
        count = write_detections(detections, readings, i, mount, sensor)
        add_pose_error(detections, count, m, pose, gap)
        gate = -2.0 * log(1.0 - p.gate)  # of chi-square with two degrees of freedom
        n = gated_pairs(pairs, tracks, m.used, detections, count, gate, sensor)
        assign(pairs, n, detections)
        look = Look(mount, reading.stamp, sensor.source, gate)
        update_tracks(tracks, m, p, detections, count, look)
        confirm_and_delete(tracks, m, p, reading, look)
        publish_tracks(tables.summary[i], tables.published[i], tracks, m, belief, pose)


@kernel
def record_ego_all(
    histories: Array, memory: Table, belief: Table, rows: Rows, interval: float
) -> None:
    """Record the own beliefs of these rows; poses at this interval, none if it is 0."""
    for i in rows:
        record_acceleration(memory[i], belief[i])
        if memory[i].started:
            accumulate_drift(memory[i], belief[i])
        else:
            record_ego(memory[i], belief[i])
        if interval > 0.0:
            record_pose(histories[i], memory[i], belief[i], interval)


class MultiTargetTracker(plugin.Tracker, kind="tracker"):
    """Tracks of other robots at nearly constant velocity, from range and bearing."""

    remembers = MEMORY
    rows_per_thread = 256
    accel_density: NonNegative = 0.5  # m/s²/√Hz, white acceleration of the other robots
    speed_sd: Positive = 1.0  # m/s, of the velocity of a new track, in x and in y
    gate: Annotated[float, Gt(0), Lt(1)] = 0.999  # probability that a track's own detection passes
    hits: Annotated[int, Ge(1), Le(1000)] = 3  # detections that confirm a track
    looks: Annotated[int, Ge(1), Le(1000)] = 5  # first readings in which these have to be
    coast: Positive = 3.0  # s that a track is kept without a detection

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Find the sensors of other robots, and allocate the tracks.

        Raises:
            PluginError: The robot has no such sensor, or `hits` exceed `looks`.
        """
        if self.hits > self.looks:
            raise PluginError(f"{self.hits} hits cannot come in {self.looks} looks")
        self.sources = tuple(k for k, sheet in sheets.items() if sheet.measures == CONTACTS)
        if not self.sources:
            raise PluginError("tracker needs a sensor that detects others, and the robot has none")
        self.sensors: list[Any] = [
            tuple(_detection_sensor(sheets[name], k)) for k, name in enumerate(self.sources)
        ]
        self.max_latency = max(
            float(sheets[name]["latency"] + sheets[name]["jitter"]) for name in self.sources
        )
        self.arrays["kept"] = np.zeros((n, self.slots), TRACK_FILTER)
        self.arrays["trail"] = np.zeros((n, LENGTH if self.max_latency else 0, 4))
        self.max_detections = max(int(sheets[name]["slots"]) for name in self.sources)
        self._workspace = threading.local()

    def track(self, rows: Rows, known: Known, contacts: Tracks) -> None:
        """Take the fresh detections of these rows."""
        detections, pairs = self._thread_workspace()
        histories, belief = self.arrays["trail"], known.belief
        record_ego_all(histories, self.memory, belief, rows, 2.0 * self.max_latency / LENGTH)
        tables: Any = (
            contacts.table,
            contacts.tracks,
            self.arrays["kept"],
            self.memory,
            self.params,
            belief,
            histories,
        )
        for name, sensor in zip(self.sources, self.sensors, strict=True):
            reading = known.readings[name]
            a = reading.arrays
            readings: Any = (reading.table, a["range"], a["bearing"], a["identity"])
            track_all(tables, readings, detections, pairs, rows, sensor)

    def _thread_workspace(self) -> tuple[Array, Array]:
        """Arrays for the detections and the pairs of one observer; each thread has its own."""
        if not hasattr(self._workspace, "arrays"):
            detections = np.empty((DETECTION_ROWS, self.max_detections))
            pairs = np.empty((self.max_detections * self.slots, 4))
            self._workspace.arrays = detections, pairs
        arrays: tuple[Array, Array] = self._workspace.arrays
        return arrays


def _detection_sensor(sheet: Datasheet, number: int) -> DetectionSensor:
    """The model of a sensor by its datasheet."""
    confusion = max(float(sheet["confusion"]), MIN_CONFUSION)
    shrink = exp(-0.5 * float(sheet["bearing_sd"]) ** 2)
    half_angle = 0.5 * float(sheet["field_of_view"])
    area = half_angle * (float(sheet["max_range"]) ** 2 - float(sheet["min_range"]) ** 2)
    density = float(sheet["false_alarms"]) / max(area, MIN_FIELD)
    return DetectionSensor(
        mount=(float(sheet["x"]), float(sheet["y"]), float(sheet["yaw"])),
        range_sd=float(sheet["range_sd"]),
        range_sd_per_m=float(sheet["range_sd_per_m"]),
        unbias=1.0 / shrink,
        shrink_4=shrink**4,
        wrong_identity_cost=-2.0 * log(confusion / ALTERNATIVES),
        false_alarm_cost=-2.0 * log(max(density, MIN_FIELD)) - 2.0 * log(TAU),
        source=number,
    )
