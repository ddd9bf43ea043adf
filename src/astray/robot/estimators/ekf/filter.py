"""An error-state Kalman filter that fuses IMU, wheels, GNSS fixes, compass and landmarks.

    state_layout.py           which states a robot has, and what the datasheets say of its sensors
    covariance.py             propagation of the covariance, given the Jacobians
    propagation.py            by the IMU, with its Jacobians, and between readings
    wheel_propagation.py      by the wheels, and the displacement that they measure
    update.py                 innovation covariance, NIS gate, gain, Joseph form
    measurements.py           readings of all sensors in one layout
    measurement_models.py     innovation, Jacobian and noise of each sensor
    delayed_measurements.py   measurements in the order of their stamps, late ones too
    zero_velocity.py          updates at rest, seen by the wheels or by the IMU
    recovery.py               a new pose for a filter that was moved
    filter.py                 the loop over robots, and the class

The filter propagates by the IMU, or by the wheels where there is none or where they are read more
often, and is corrected by

    wheels (by an IMU)     displacement and turn since they were last read
    gyro (by wheels)       turn since it was last read
    fix                    p + Rot(yaw) l + drift, and with an IMU the velocity of the antenna
    compass                yaw + lasting error
    landmark               range and bearing from the mount; without identity, by the gate

All that it knows of the sensors is in their datasheets: densities, standard deviations, mounts.
What a datasheet gives as a lasting error (biases, radii, correlated errors of fixes) is estimated.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import NormalDist
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from annotated_types import Gt, Lt

from astray.errors import PluginError
from astray.numerics import kernel
from astray.plugin import Datasheet, Datasheets, Estimator, Known, NonNegative, Reading
from astray.robot.estimators.ekf.delayed_measurements import take_measurement
from astray.robot.estimators.ekf.measurements import (
    MEASUREMENT,
    pack_compass,
    pack_fix,
    pack_imu,
    pack_landmark,
    pack_wheels,
)
from astray.robot.estimators.ekf.state_layout import (
    FILTER,
    MAX_SENSORS,
    MODEL,
    REJECTED_FIXES,
    VX,
    VY,
    YAW,
    make_beacons,
    make_model,
    numbered,
)
from astray.tables import (
    COMPASS,
    FIX,
    IMU,
    LANDMARKS,
    WHEELS,
    Array,
    Columns,
    Row,
    Rows,
    Table,
    read_only,
)

SPARE_SLOTS = 8  # of the queue, beyond the measurements that are expected
ASSUMED_RATE = 100.0  # Hz, of a sensor whose datasheet gives none


class FilterTables(NamedTuple):
    """The tables of all filters, by row, and the beacons that they know."""

    filters: Table
    """FILTER (n, 2): the filter and its base, see delayed_measurements.py."""
    queues: Table
    """MEASUREMENT (n, depth)."""
    incoming: Table
    """MEASUREMENT (n,): the one that is being taken."""
    models: Table
    """MODEL (n,)."""
    beacons: Array
    """x and y in the map, (beacons, 2) m."""


class LandmarkReadings(NamedTuple):
    """The readings of a landmark sensor, as tables.py has them."""

    table: Table
    ranges: Array
    bearings: Array
    identities: Array
    seen: Array


class FusedReadings(NamedTuple):
    """The newest readings of one sensor of each kind, by row."""

    imu: Table
    wheels: Table
    compass: Table
    fix: Table
    landmarks: LandmarkReadings


@kernel
def publish_belief(belief: Row, state: Row, model: Row) -> None:
    """Write the state of the filter to the belief."""
    belief.stamp, belief.x, belief.y, belief.yaw = state.stamp, state.x, state.y, state.yaw
    belief.vx, belief.vy, belief.wz, belief.steer = state.vx, state.vy, state.wz, state.steer
    for i in range(YAW + 1):
        for j in range(YAW + 1):
            belief.cov[i, j] = state.cov[i, j]
    if not model.by_imu:  # counting in whole ticks is an error that does not accumulate
        belief.cov[0, 0] += model.quantization_variance
        belief.cov[1, 1] += model.quantization_variance
        belief.cov[2, 2] += model.turn_quantization_variance


@kernel
def take_incoming(tables: FilterTables, i: int) -> None:
    """Take the incoming measurement of one row."""
    take_measurement(
        tables.filters[i], tables.queues[i], tables.models[i], tables.incoming[i], tables.beacons
    )


@kernel
def take_landmarks(tables: FilterTables, readings: LandmarkReadings, i: int, sensor: int) -> None:
    """Take the landmarks that one sensor of a row observed."""
    stamp = readings.table[i].stamp
    for k in range(readings.ranges.shape[1]):
        if readings.seen[i, k] > 0.0:
            distance, bearing = readings.ranges[i, k], readings.bearings[i, k]
            identity = readings.identities[i, k]
            pack_landmark(tables.incoming[i], stamp, distance, bearing, identity, sensor)
            take_incoming(tables, i)


@kernel
def estimate_all(
    belief: Table, tables: FilterTables, readings: FusedReadings, rows: Rows, sensor: int
) -> None:
    """Take the fresh readings of these rows: IMU and wheels, and one sensor of each other kind.

    `sensor` is its number among those of its kind. Named tuples come as plain ones: those take less
    time to get into a kernel.
    """
    tables, readings = FilterTables(*tables), FusedReadings(*readings)
    landmarks = LandmarkReadings(*readings.landmarks)
    for i in rows:
        imu, wheels = readings.imu[i], readings.wheels[i]
        compass, fix = readings.compass[i], readings.fix[i]
        measurement, model, state = tables.incoming[i], tables.models[i], tables.filters[i, 0]
        if sensor == 0:
            state.nis_sum = state.nis_dof = 0.0
        if imu.fresh and model.by_imu:
            pack_imu(measurement, model, imu)
            take_incoming(tables, i)
        if wheels.fresh:
            pack_wheels(measurement, wheels)
            take_incoming(tables, i)
        if imu.fresh and not model.by_imu:
            pack_imu(measurement, model, imu)
            take_incoming(tables, i)
        if compass.fresh:
            pack_compass(measurement, compass, sensor)
            take_incoming(tables, i)
        if fix.fresh and not fix.lost:
            pack_fix(measurement, fix, sensor)
            take_incoming(tables, i)
        if landmarks.table[i].fresh:
            take_landmarks(tables, landmarks, i, sensor)
        if state.started:
            publish_belief(belief[i], state, model)


FUSED: dict[str, Columns] = {
    "imu": IMU,
    "wheels": WHEELS,
    "compass": COMPASS,
    "fix": FIX,
    "landmarks": LANDMARKS,
}
"""What the filter fuses, by the names of state_layout.py, and how its readings are laid out."""
LANDMARK_ARRAYS = ("range", "bearing", "identity", "seen")


class FurtherSensor(NamedTuple):
    """A second or third sensor of a kind."""

    name: str
    kind: str
    number: int


class Ekf(Estimator, kind="ekf"):
    """Fuses IMU, wheels, GNSS, compass and beacons, and estimates the errors of these sensors."""

    remembers = MODEL
    rows_per_thread = 256
    fixed = (
        "start_sd",
        "start_yaw_sd",
        "start_speed_sd",
        "gate",
        "patience",
        "history",
        "fix_sd",
        "compass_sd",
        "rests",
    )
    by: Literal["auto", "imu", "wheels"] = "auto"  # sensor that propagates; wheels: without the IMU
    start_sd: NonNegative = 0.0  # m, standard deviation of the first x and y
    start_yaw_sd: NonNegative = 0.0  # rad, standard deviation of the first heading
    start_speed_sd: NonNegative = 0.0  # m/s, standard deviation of the first velocity
    gate: Annotated[float, Gt(0), Lt(1)] = 0.999  # share of correct measurements accepted
    patience: NonNegative = 5.0  # s that a sensor is rejected before it is accepted
    history: NonNegative | None = None  # s kept for late readings; by default the latency
    fix_sd: NonNegative = 1.0  # m, for fixes without a covariance
    compass_sd: NonNegative = 0.1  # rad, for headings without a standard deviation
    rests: bool = False  # zero-velocity updates by an IMU without wheels

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Find the sensors and make the model.

        Raises:
            PluginError: The robot has neither IMU nor wheels, not the one of `by`, or more than
                three sensors of a kind; or its sensors need more states than there are.
        """
        self.names = {
            kind: next((name for name, s in sheets.items() if s.measures == layout), "")
            for kind, layout in FUSED.items()
        }
        if self.by != "auto" and not self.names[self.by]:
            raise PluginError(f"ekf cannot propagate by {self.by}: the robot has none")
        if not self.names["imu"] and not self.names["wheels"]:
            raise PluginError("ekf needs an imu or wheels to propagate by; the robot has neither")
        if self.by == "wheels":
            self.names["imu"] = ""
        self.sheets = {kind: sheets[name] for kind, name in self.names.items() if name}
        self.further: list[FurtherSensor] = []
        for kind in ("fix", "compass", "landmarks"):
            names = [name for name, s in sheets.items() if s.measures == FUSED[kind]]
            if len(names) > MAX_SENSORS:
                raise PluginError(
                    f"ekf takes {MAX_SENSORS} sensors of one kind at most, and the robot has "
                    f"{len(names)}: {', '.join(names)}"
                )
            for k, name in enumerate(names[1:], 1):
                self.sheets[numbered(kind, k)] = sheets[name]
                self.further.append(FurtherSensor(name, kind, k))
        self.model = make_model(sheets["motion"], self.sheets, self._is_led_by_wheels())
        only_imu = "imu" in self.sheets and "wheels" not in self.sheets
        self.model["zero_velocity"] = self.rests and only_imu and not self.model["sideways"]
        self.absent = {kind: Reading(layout, n).read_only() for kind, layout in FUSED.items()}
        self.absent["landmarks"].arrays = dict.fromkeys(
            LANDMARK_ARRAYS, read_only(np.zeros((n, 0)))
        )
        self.beacons = make_beacons(self.model, self.sheets)
        self.horizon, depth = self._queue_size()
        self.arrays = {
            "filters": np.zeros((n, 2), FILTER),
            "ring": np.zeros((n, depth), MEASUREMENT),
            "event": np.zeros(n, MEASUREMENT),
        }

    def _is_led_by_wheels(self) -> bool:
        """Whether wheels propagate the filter: they do if they are read more often than the IMU."""
        if self.by != "auto" or not (self.names["imu"] and self.names["wheels"]):
            return False
        return self._rate(self.sheets["wheels"]) > self._rate(self.sheets["imu"])

    def _rate(self, sheet: Datasheet) -> float:
        """How often a sensor is read, Hz."""
        return float(sheet.values.get("rate") or (1.0 / self.dt if self.dt else ASSUMED_RATE))

    def _queue_size(self) -> tuple[float, int]:
        """The horizon of the queue, s, and how many measurements it holds."""
        delays = [
            float(s.values.get("latency") or 0.0) + float(s.values.get("jitter") or 0.0)
            for s in self.sheets.values()
        ]
        horizon = self.history if self.history is not None else max(delays)
        if horizon == 0.0:
            return 0.0, 0
        count = 0.0
        for kind, sheet in self.sheets.items():
            per_reading = 1
            if kind.startswith("landmarks"):
                per_reading = sheet.values.get("slots") or len(sheet.values.get("beacons", [0]))
            count += (horizon * self._rate(sheet) + 2.0) * per_reading
        return horizon, int(count) + SPARE_SLOTS

    def reset(self, rows: Rows) -> None:
        """Write the model and the settings of these rows."""
        p = self.params
        self.memory[rows] = self.model
        self.memory["horizon"][rows] = self.horizon
        self.memory["count_nis"][rows] = True
        self.memory["patience"][rows] = p["patience"][rows]
        self.memory["fix_variance"][rows] = p["fix_sd"][rows] ** 2
        self.memory["compass_variance"][rows] = p["compass_sd"][rows] ** 2
        for i in rows:
            self.memory["gate"][i] = nis_gates(float(p["gate"][i]))

    def start(self, rows: Rows, belief: Table) -> None:
        """Start at the belief, with the standard deviations of the parameters."""
        p = self.params
        belief["cov"][rows, 0, 0] += p["start_sd"][rows] ** 2
        belief["cov"][rows, 1, 1] += p["start_sd"][rows] ** 2
        belief["cov"][rows, 2, 2] += p["start_yaw_sd"][rows] ** 2
        states = self.arrays["filters"][:, 0]
        indices = np.arange(int(self.model["states"]))
        sd = np.tile(self.model["sd"][indices], (len(rows), 1))
        if self.model["by_imu"]:
            sd[:, VX] = p["start_speed_sd"][rows]
            sd[:, VY] = p["start_speed_sd"][rows] * bool(self.model["sideways"])
        states["cov"][np.ix_(rows, indices, indices)] = 0.0
        states["cov"][rows[:, None], indices, indices] = sd**2
        for column in ("stamp", "vx", "vy", "wz"):
            states[column][rows] = belief[column][rows]
        self.believe(rows, belief)

    def believe(self, rows: Rows, belief: Table) -> None:
        """Continue from a pose that was set from outside: it is independent of sensor errors."""
        states = self.arrays["filters"][:, 0]
        for column in ("x", "y", "yaw"):
            states[column][rows] = belief[column][rows]
        states["cov"][rows, : YAW + 1, :] = 0.0
        states["cov"][rows, :, : YAW + 1] = 0.0
        states["cov"][rows, : YAW + 1, : YAW + 1] = belief["cov"][rows]
        states["rejected"][rows] = 0
        states["gyro_started"][rows] = False
        states["lateral_sd"][rows] = states["lateral_rate"][rows] = 0.0
        states["heading_lost"][rows] = False
        states["window_count"][rows] = -1
        for column in REJECTED_FIXES:
            states[column][rows] = 0
        self.arrays["filters"][rows, 1] = states[rows]
        self.memory["queued"][rows] = 0

    def innovations(self) -> Array:
        """NIS and degrees of freedom of what the last estimate accepted, (n, 2)."""
        states = self.arrays["filters"][:, 0]
        return np.stack([states["nis_sum"], states["nis_dof"]], axis=1)

    def estimate(self, rows: Rows, known: Known, belief: Table) -> None:
        """Take the fresh readings of these rows."""
        readings = {k: known.readings[name] for k, name in self.names.items() if name}
        self._estimate(rows, readings, belief, 0)
        for name, kind, number in self.further:
            self._estimate(rows, {kind: known.readings[name]}, belief, number)

    def _estimate(
        self, rows: Rows, readings: Mapping[str, Reading], belief: Table, number: int
    ) -> None:
        """Take the readings of one sensor of each kind, where there is one."""
        a = self.arrays
        tables: Any = (a["filters"], a["ring"], a["event"], self.memory, self.beacons)
        imu, wheels, compass, fix, landmarks = (
            readings.get(kind, absent) for kind, absent in self.absent.items()
        )
        fused: Any = (
            *(imu.table, wheels.table, compass.table, fix.table),
            (landmarks.table, *(landmarks[name] for name in LANDMARK_ARRAYS)),
        )
        estimate_all(belief, tables, fused, rows, number)


def nis_gates(share: float) -> tuple[float, float, float]:
    """The NIS of 0, 1 and 2 degrees of freedom that this share of good measurements is below."""
    one = NormalDist().inv_cdf(0.5 * (1.0 + share)) ** 2
    return 0.0, one, float(-2.0 * np.log(1.0 - share))
