"""An error-state Kalman filter that fuses what is on board: IMU, wheels, fixes, compass, beacons.

The state and its errors are in `ekf_state.py`, which of them there are in `ekf_layout.py`; how they
go on is in `ekf_predict.py`, how they are corrected in `ekf_update.py`, by what in `ekf_measure.py`
and `ekf_beacons.py`, and what becomes of late readings in `ekf_history.py`; `ekf_events.py` has the
loop over rows; how a filter finds back that was moved is in `ekf_lost.py` and `ekf_relocate.py`.
In short: the filter goes on by the IMU, or by the wheels where there is none, and corrects

    wheels (with an IMU)   along and turn since they were last read, of a robot that does not slide
    fix                    p + Rot(yaw) l + drift, and with an IMU the velocity of the antenna
    compass                yaw + bias
    beacon                 range and bearing from the mount; recognised if it has no name

Everything it knows of the sensors is in their datasheets: densities, standard deviations, mounts.
What is written there as lasting (biases, radius errors, correlated errors of fixes) is estimated.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Gt, Lt

from astray.errors import PluginError
from astray.plugin import Datasheets, Estimator, Known, NonNegative, Reading
from astray.robot.estimators.ekf.measurement_intake import (
    estimate_all,
    take_fixes,
    take_headings,
    take_sightings,
)
from astray.robot.estimators.ekf.state import AGREED, EVENT, FILTER, MOST_ALIKE, PLAN, YAW
from astray.robot.estimators.ekf.state_layout import lay_beacons, lay_out, numbered
from astray.tables import COMPASS, FIX, IMU, LANDMARKS, WHEELS, Array, Columns, Rows, Table

SPARE = 8  # events of the history beyond those that are expected
ASSUMED_RATE = 100.0  # Hz, of a sensor whose datasheet gives none
FUSED: dict[str, Columns] = {
    "imu": IMU,
    "wheels": WHEELS,
    "compass": COMPASS,
    "fix": FIX,
    "landmarks": LANDMARKS,
}
BULK = ("range", "bearing", "identity", "seen")


class Ekf(Estimator, kind="ekf"):
    """Fuses IMU, wheels, fixes, compass and beacons, whichever are on board, and their errors."""

    remembers = PLAN
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
    by: Literal["auto", "imu", "wheels"] = "auto"  # what it goes by: the IMU if there is one
    start_sd: NonNegative = 0.0  # m, of the first position in x and in y
    start_yaw_sd: NonNegative = 0.0  # rad, of the first heading
    start_speed_sd: NonNegative = 0.0  # m/s, of the first velocity
    gate: Annotated[float, Gt(0), Lt(1)] = 0.999  # share of good measurements that are let in
    patience: NonNegative = 5.0  # s of refusing a source before it is believed against the filter
    history: NonNegative | None = None  # s kept for late readings; by their latency unless given
    fix_sd: NonNegative = 1.0  # m, of a fix that claims no covariance
    compass_sd: NonNegative = 0.1  # rad, of a heading that claims no standard deviation
    rests: bool = False  # whether an IMU without wheels that feels nothing is taken to stand still

    def bind(self, n: int, sheets: Datasheets) -> None:
        """See what is on board."""
        self.names = {
            what: next((name for name, s in sheets.items() if s.measures == layout), "")
            for what, layout in FUSED.items()
        }
        if self.by != "auto" and not self.names[self.by]:
            raise PluginError(f"ekf cannot go by {self.by}: the robot has none")
        if not self.names["imu"] and not self.names["wheels"]:
            raise PluginError("ekf needs an imu or wheels to go by, and the robot has neither")
        if self.by == "wheels":
            self.names["imu"] = ""
        self.sheets = {what: sheets[name] for what, name in self.names.items() if name}
        self.more: list[tuple[Any, str, int]] = []
        verbs = {"fix": take_fixes, "compass": take_headings, "landmarks": take_sightings}
        for what, verb in verbs.items():
            alike = [name for name, s in sheets.items() if s.measures == FUSED[what]]
            if len(alike) > MOST_ALIKE:
                raise PluginError(
                    f"ekf takes {MOST_ALIKE} sensors of one kind at most, and the robot has "
                    f"{len(alike)}: {', '.join(alike)}"
                )
            for k, name in enumerate(alike[1:], 1):
                self.sheets[numbered(what, k)] = sheets[name]
                self.more.append((verb, name, k))
        self.plan = lay_out(sheets["motion"], self.sheets)
        alone = "imu" in self.sheets and "wheels" not in self.sheets
        self.plan["rests"] = self.rests and alone and not self.plan["sideways"]
        nothing = np.zeros((n, 0))
        self.absent = {what: Reading(layout, n) for what, layout in FUSED.items()}
        self.absent["landmarks"].arrays = dict.fromkeys(BULK, nothing)
        self.beacons = lay_beacons(self.plan, self.sheets)
        self.lag, depth = self._depth()
        self.arrays = {
            "filters": np.zeros((n, 2), FILTER),
            "ring": np.zeros((n, depth), EVENT),
            "event": np.zeros(n, EVENT),
        }

    def _depth(self) -> tuple[float, int]:
        """How long the past is kept, s, and how many events that is."""
        late = [
            float(s.values.get("latency") or 0.0) + float(s.values.get("jitter") or 0.0)
            for s in self.sheets.values()
        ]
        lag = self.history if self.history is not None else max(late)
        if lag == 0.0:
            return 0.0, 0
        each = 0.0
        for what, sheet in self.sheets.items():
            rate = sheet.values.get("rate") or (1.0 / self.dt if self.dt else ASSUMED_RATE)
            slots = sheet.values.get("slots") or len(sheet.values.get("beacons", [0]))
            each += (lag * rate + 2.0) * (slots if what.startswith("landmarks") else 1)
        return lag, int(each) + SPARE

    def reset(self, rows: Rows) -> None:
        """Lay out the filters of these rows."""
        p = self.params
        self.memory[rows] = self.plan
        self.memory["lag"][rows] = self.lag
        self.memory["counts"][rows] = True
        self.memory["patience"][rows] = p["patience"][rows]
        self.memory["fix_variance"][rows] = p["fix_sd"][rows] ** 2
        self.memory["compass_variance"][rows] = p["compass_sd"][rows] ** 2
        for i in rows:
            self.memory["gate"][i] = gates(float(p["gate"][i]))

    def start(self, rows: Rows, belief: Table) -> None:
        """Begin where the robots are said to be, as sure of it as the parameters say."""
        p = self.params
        belief["cov"][rows, 0, 0] += p["start_sd"][rows] ** 2
        belief["cov"][rows, 1, 1] += p["start_sd"][rows] ** 2
        belief["cov"][rows, 2, 2] += p["start_yaw_sd"][rows] ** 2
        first = self.arrays["filters"][:, 0]
        every = np.arange(int(self.plan["states"]))
        sd = np.tile(self.plan["sd"][every], (len(rows), 1))
        if self.plan["moved"] > YAW + 1:
            sd[:, YAW + 1] = p["start_speed_sd"][rows]
            sd[:, YAW + 2] = p["start_speed_sd"][rows] * bool(self.plan["sideways"])
        first["cov"][np.ix_(rows, every, every)] = 0.0
        first["cov"][rows[:, None], every, every] = sd**2
        for column in ("stamp", "vx", "vy", "wz"):
            first[column][rows] = belief[column][rows]
        self.believe(rows, belief)

    def believe(self, rows: Rows, belief: Table) -> None:
        """Start over from a pose that was set from outside; it owes nothing to the sensors."""
        first = self.arrays["filters"][:, 0]
        for column in ("x", "y", "yaw"):
            first[column][rows] = belief[column][rows]
        first["cov"][rows, : YAW + 1, :] = 0.0
        first["cov"][rows, :, : YAW + 1] = 0.0
        first["cov"][rows, : YAW + 1, : YAW + 1] = belief["cov"][rows]
        first["refused"][rows] = 0
        first["bent"][rows] = first["bending"][rows] = 0.0
        first["lost"][rows] = False
        first["felt_count"][rows] = -1
        for column in AGREED:
            first[column][rows] = 0
        self.arrays["filters"][rows, 1] = first[rows]
        self.memory["waiting"][rows] = 0

    def innovations(self) -> Array:
        """Squares and degrees of freedom of what was let in by the last estimate, (n, 2)."""
        first = self.arrays["filters"][:, 0]
        return np.stack([first["squares"], first["freedom"]], axis=1)

    def estimate(self, rows: Rows, known: Known, belief: Table) -> None:
        """Take in the fresh readings of these rows."""
        got: dict[str, Any] = {
            what: known.readings[name] if name else self.absent[what]
            for what, name in self.names.items()
        }
        a, seen = self.arrays, got["landmarks"]
        own = (a["filters"], a["ring"], a["event"], self.memory)
        readings = tuple(got[what].table for what in FUSED)
        site = (self.beacons, *(seen[name] for name in BULK))
        estimate_all(belief, own, readings, site, rows)
        for verb, name, k in self.more:
            more = known.readings[name]
            around: Any = self.beacons
            if verb is take_sightings:
                around = (self.beacons, *(more[bulk] for bulk in BULK))
            verb(belief, own, more.table, around, rows, k)


def gates(share: float) -> tuple[float, float, float]:
    """The NIS of 0, 1 and 2 degrees of freedom that this share of good measurements stays below."""
    one = NormalDist().inv_cdf(0.5 * (1.0 + share)) ** 2
    return 0.0, one, float(-2.0 * np.log(1.0 - share))
