"""Which states a filter has and what it makes of the datasheets of the sensors on board."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from astray.errors import PluginError
from astray.numerics import TAU, rotation_matrix
from astray.plugin import Datasheet
from astray.robot.estimators.ekf.state import MOST, MOST_ALIKE, MOST_MOVED, NONE, PLAN, YAW
from astray.robot.estimators.odometry import ACROSS, ALONG, AROUND, arm_of
from astray.tables import WHEELS_PER_ROBOT

SIDEWAYS = ("omni", "integrator")  # motions that can go sideways
ERRORS = (
    "gyro",
    "accel",
    "gyro_drift",
    "accel_drift",
    "gyro_scale",
    "wheel",
    "arm_error",
    "fix",
    "compass",
)
LEAST_TICK = 1e-6  # m; wheels that are said to be perfect are believed as far as this
LEAST_RANGE_SD, LEAST_BEARING_SD = 1e-6, 1e-7  # m and rad, likewise of beacons


class Places:
    """Hands out the places of the lasting errors, one after the other."""

    def __init__(self, plan: Any, moved: int) -> None:
        self.plan = plan
        self.next = moved

    def take(self, sd: float, count: int = 1, tau: float = math.inf, walk: float = 0.0) -> int:
        """The place of some errors of one kind; NONE if there is nothing to estimate."""
        if not sd > 0.0 and not walk > 0.0:
            return NONE
        first, self.next = self.next, self.next + count
        if self.next > MOST:
            raise PluginError(f"ekf has room for {MOST} states, and these sensors call for more")
        self.plan["sd"][first : self.next] = sd
        self.plan["tau"][first : self.next] = tau
        self.plan["walk"][first : self.next] = walk
        return first


def lay_out(body: Datasheet, sheets: Mapping[str, Datasheet]) -> Any:
    """One plan, a record, for a body and what is on board: imu, wheels, compass, fix, landmarks.

    Further ones are "fix.1", "compass.1", "landmarks.1" and so on.
    """
    plan = np.zeros((), PLAN)
    plan["tau"] = math.inf
    plan["sideways"] = body.kind in SIDEWAYS
    moved = MOST_MOVED if "imu" in sheets else YAW + 1
    plan["moved"] = moved
    places = Places(plan, moved)
    for name in ERRORS:
        plan[name] = NONE
    for what, add in (("imu", add_imu), ("wheels", add_wheels)):
        if what in sheets:
            add(plan, places, sheets[what].values, body)
    for k in range(MOST_ALIKE):
        for what, add_one in (("fix", add_fix), ("compass", add_compass)):
            if numbered(what, k) in sheets:
                add_one(plan, places, sheets[numbered(what, k)].values, k)
        if numbered("landmarks", k) in sheets:
            add_landmarks(plan, sheets[numbered("landmarks", k)].values, k)
    plan["headed"] = "compass" in sheets
    plan["states"] = places.next
    return plan


def numbered(what: str, k: int) -> str:
    """What the k-th of several alike is called."""
    return f"{what}.{k}" if k else what


def add_imu(plan: Any, places: Places, said: Mapping[str, Any], body: Datasheet) -> None:
    """The mount and the noise of the IMU, and its biases."""
    angles = [np.array([float(said.get(name, 0.0))]) for name in ("roll", "pitch", "yaw")]
    plan["axes"] = rotation_matrix(angles[0], angles[1], angles[2])[0]
    plan["imu_x"], plan["imu_y"] = said.get("x", 0.0), said.get("y", 0.0)
    # An axis that is not upright feels a share of gravity, which counts as a bias.
    leak = number(said, "misalignment_sd") * number(said, "gravity")
    for name, count, more in (("gyro", 1, 0.0), ("accel", 2, leak)):
        plan[f"{name}_density"] = number(said, f"{name}_density")
        plan[f"{name}_grain"] = number(said, f"{name}_resolution") ** 2 / 12.0
        bias, walk = number(said, f"{name}_bias_sd"), number(said, f"{name}_walk")
        plan[name] = places.take(math.hypot(bias, more), count, walk=walk)
        sd, tau = number(said, f"{name}_drift_sd"), said.get(f"{name}_drift_tau", math.inf)
        plan[f"{name}_drift"] = places.take(sd, count, tau=tau)
    plan["gyro_scale"] = places.take(number(said, "gyro_scale_sd"))


def add_wheels(plan: Any, places: Places, said: Mapping[str, Any], body: Datasheet) -> None:
    """How the wheels move the body, and the errors of their size."""
    if body.kind not in ALONG:
        raise PluginError(f"ekf cannot read the wheels of motion {body.kind!r}")
    kind, radius, arm = body.kind, body["radius"], arm_of(body)
    along, around = np.array(ALONG[kind]), np.array(AROUND[kind])
    plan["radius"], plan["arm"] = radius, arm
    plan["wheelbase"] = body["wheelbase"] if kind == "ackermann" else 0.0
    plan["along"], plan["around"], plan["across"] = along, around, ACROSS.get(kind, 0.0)
    plan["slip_density"] = number(said, "slip_density")
    tick = TAU / said["ticks"] * radius if said.get("ticks") else 0.0
    plan["tick"] = max(tick, LEAST_TICK)
    # A count is too low by anything up to a tick: half a tick on average, a variance of 1/12.
    for name, way in (("rounding", along), ("turn_rounding", around / arm)):
        plan[name] = tick**2 * ((way**2).sum() / 12 + (way.sum() / 2) ** 2)
    for k in range(WHEELS_PER_ROBOT):
        if along[k] or around[k]:
            plan["wheel"][k] = places.take(number(said, "radius_sd"))
    plan["arm_error"] = places.take(number(said, "baseline_sd"))


def add_fix(plan: Any, places: Places, said: Mapping[str, Any], k: int) -> None:
    """The antenna of a receiver, and the error of its fixes that lasts."""
    plan["antenna_x"][k], plan["antenna_y"][k] = said.get("x", 0.0), said.get("y", 0.0)
    drift, claim = number(said, "drift_sd"), said.get("claim", 1.0)
    plan["drift_variance"][k] = (claim * drift) ** 2
    plan["fix"][k] = places.take(drift, 2, tau=said.get("drift_tau", math.inf))


def add_compass(plan: Any, places: Places, said: Mapping[str, Any], k: int) -> None:
    """The errors of a compass that last: as one, that forgets itself only if it all does."""
    bias, drift = number(said, "bias_sd"), number(said, "drift_sd")
    plan["compass_modelled"][k] = (said.get("claim", 1.0) ** 2) * (bias**2 + drift**2)
    tau = said.get("drift_tau", math.inf) if not bias else math.inf
    walk = drift * math.sqrt(2.0 / said["drift_tau"]) if bias and drift else 0.0
    plan["compass"][k] = places.take(math.hypot(bias, drift), tau=tau, walk=walk)


def add_landmarks(plan: Any, said: Mapping[str, Any], k: int) -> None:
    """Where beacons are seen from, and how well."""
    plan["eye_x"][k], plan["eye_y"][k] = said.get("x", 0.0), said.get("y", 0.0)
    plan["eye_yaw"][k] = said.get("yaw", 0.0)
    plan["range_sd"][k] = max(number(said, "range_sd"), LEAST_RANGE_SD)
    plan["range_sd_per_m"][k] = number(said, "range_sd_per_m")
    plan["bearing_sd"][k] = max(number(said, "bearing_sd"), LEAST_BEARING_SD)


def lay_beacons(plan: Any, sheets: Mapping[str, Datasheet]) -> Any:
    """The beacons of all sensors, (n, 2) m, those that several have once; each is told its own."""
    lists: list[list[list[float]]] = []
    for k in range(MOST_ALIKE):
        sheet = sheets.get(numbered("landmarks", k))
        if sheet is None:
            continue
        mine = [[float(x), float(y)] for x, y in sheet["beacons"]]
        if mine not in lists:
            lists.append(mine)
        first = sum(len(one) for one in lists[: lists.index(mine)])
        plan["beacons"][k] = first, first + len(mine)
    return np.array([beacon for one in lists for beacon in one], float).reshape(-1, 2)


def number(said: Mapping[str, Any], name: str) -> float:
    """A number of a datasheet; 0 where it says nothing."""
    return float(said.get(name) or 0.0)
