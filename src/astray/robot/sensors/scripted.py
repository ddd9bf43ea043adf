"""Scripted sensors: an IMU and wheels whose readings are signals and do not depend on the truth.

The IMU gives its signals as they are. Its datasheet says whether they contain the centripetal term
v w, which a real unit measures in a curve (`centripetal`): estimators rely on it.

Wheels have a signal each for their rate. Their angle is its exact integral,

    angle(t) = ∫₀ᵗ rate        count = ⌊angle ticks / 2π⌋

so that a reading is right at any rate of the sensor.
"""

from __future__ import annotations

import math
from dataclasses import field
from functools import cached_property
from typing import Annotated

import numpy as np

from astray.errors import PluginError
from astray.numerics import TAU, kernel
from astray.plugin import Datasheets, Reading, Scene, Sensor
from astray.signals import (
    Bank,
    Channels,
    Signal,
    Signals,
    accumulate,
    bank,
    constant,
    integral_among,
    value_among,
)
from astray.tables import IMU, WHEELS, Array, Row, Rows, Table

GRAVITY = 9.81  # m/s², which the position approximator subtracts
IMU_CHANNELS = ("angular_x", "angular_y", "angular_z", "linear_x", "linear_y", "linear_z")
WHEEL_CHANNELS = ("wheel_fl", "wheel_fr", "wheel_rl", "wheel_rr")

Forces = Annotated[Signals, Channels(("linear_x", "linear_y", "linear_z", *IMU_CHANNELS[:3]))]
Rates = Annotated[Signals, Channels(WHEEL_CHANNELS)]


@kernel
def read_imu(o: Row, table: Table, first: Array, t: float) -> None:
    """Read the signals of one IMU at their time t."""
    o.wx = value_among(table, first[0], first[1], t)
    o.wy = value_among(table, first[1], first[2], t)
    o.wz = value_among(table, first[2], first[3], t)
    o.ax = value_among(table, first[3], first[4], t)
    o.ay = value_among(table, first[4], first[5], t)
    o.az = value_among(table, first[5], first[6], t)


@kernel
def read_imu_all(
    out: Table, params: Table, truth: Table, table: Table, first: Array, rows: Rows
) -> None:
    """Read the IMUs of these rows; rows that have the same time share the values."""
    previous, same = np.nan, 0
    for i in rows:
        t, o = truth[i].stamp - params[i].origin, out[i]
        if t != previous:
            read_imu(o, table, first, t)
        else:
            b = out[same]
            o.wx, o.wy, o.wz, o.ax, o.ay, o.az = b.wx, b.wy, b.wz, b.ax, b.ay, b.az
        previous, same = t, i


@kernel
def read_wheels_all(
    out: Table, params: Table, truth: Table, table: Table, first: Array, rows: Rows
) -> None:
    """Read the wheels of these rows; rows that have the same time share the values."""
    previous, same = np.nan, 0
    for i in rows:
        t, o = truth[i].stamp - params[i].origin, out[i]
        for k in range(len(first) - 1):
            if t != previous:
                o.rate[k] = value_among(table, first[k], first[k + 1], t)
                o.angle[k] = integral_among(table, first[k], first[k + 1], t)
            else:
                o.rate[k], o.angle[k] = out[same].rate[k], out[same].angle[k]
            o.count[k] = math.floor(o.angle[k] * params[i].ticks / TAU)
        previous, same = t, i


def _refuse_file(file: str | None) -> None:
    if file is not None:
        raise PluginError("file is read with a scenario; in Python, give its signals")


class ScriptedImu(Sensor, kind="scripted_imu"):
    """An IMU whose readings are signals; they do not depend on the robot."""

    measures = IMU
    signals: Forces = field(default_factory=Signals)  # linear m/s², angular rad/s over s
    file: str | None = None  # ROS 2 parameter file with these signals
    node: str | None = None  # node of the file, if it has signals of several
    origin: float = 0.0  # s; time of the clock at which the time of the signals is 0
    centripetal: bool = False  # whether the signals contain the term v·w

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Put the signals into one table; without a signal linear_z is gravity."""
        _refuse_file(self.file)
        signals = {"linear_z": constant(GRAVITY), **self.signals}
        self.bank = bank([signals.get(name, Signal()) for name in IMU_CHANNELS])

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Read the signals at the present time."""
        read_imu_all(out.table, self.params, scene.truth, self.bank.table, self.bank.first, rows)


class ScriptedWheels(Sensor, kind="scripted_wheels"):
    """Wheel encoders whose rates are signals; they do not depend on the robot."""

    measures = WHEELS
    signals: Rates = field(default_factory=Signals)  # rad/s over s
    file: str | None = None  # ROS 2 parameter file with these signals
    node: str | None = None  # node of the file, if it has signals of several
    origin: float = 0.0  # s; time of the clock at which the time of the signals is 0
    ticks: int = 2048  # per turn of the wheel, for the count; the angle is not rounded to them

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Refuse a file, which is read with the scenario."""
        _refuse_file(self.file)

    @cached_property
    def bank(self) -> Bank:
        """The signals and their integrals in one table; made at first use, as it runs a kernel."""
        made = bank([self.signals.get(name, Signal()) for name in WHEEL_CHANNELS])
        for k in range(len(WHEEL_CHANNELS)):
            accumulate(made.table, made.first[k], made.first[k + 1])
        return made

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Read the signals at the present time."""
        read_wheels_all(out.table, self.params, scene.truth, self.bank.table, self.bank.first, rows)
