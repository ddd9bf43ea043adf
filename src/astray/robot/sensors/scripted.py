"""Readings straight from signals, whatever the truth does: an IMU and wheels that are made up.

An IMU gives its signals as they are. Whether they contain the centripetal term v w, which a real
unit feels in a curve, is on its datasheet, `centripetal`: estimators go by it.

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

GRAVITY = 9.81  # m/s²; what the document's position approximator takes off
AXES = ("angular_x", "angular_y", "angular_z", "linear_x", "linear_y", "linear_z")
WHEEL = ("wheel_fl", "wheel_fr", "wheel_rl", "wheel_rr")

Forces = Annotated[Signals, Channels(("linear_x", "linear_y", "linear_z", *AXES[:3]))]
Rates = Annotated[Signals, Channels(WHEEL)]


@kernel
def feel(o: Row, table: Table, first: Array, t: float) -> None:
    """Read one made-up IMU at the time t of its signals."""
    o.wx = value_among(table, first[0], first[1], t)
    o.wy = value_among(table, first[1], first[2], t)
    o.wz = value_among(table, first[2], first[3], t)
    o.ax = value_among(table, first[3], first[4], t)
    o.ay = value_among(table, first[4], first[5], t)
    o.az = value_among(table, first[5], first[6], t)


@kernel
def feel_all(
    out: Table, params: Table, truth: Table, table: Table, first: Array, rows: Rows
) -> None:
    """Read the made-up IMUs of these rows; of the truth only the time counts."""
    previous, done = np.nan, 0
    for i in rows:
        t, o = truth[i].stamp - params[i].origin, out[i]
        if t != previous:
            feel(o, table, first, t)
        else:  # most rows have the same clock
            b = out[done]
            o.wx, o.wy, o.wz, o.ax, o.ay, o.az = b.wx, b.wy, b.wz, b.ax, b.ay, b.az
        previous, done = t, i


@kernel
def roll_all(
    out: Table, params: Table, truth: Table, table: Table, first: Array, rows: Rows
) -> None:
    """Read the made-up wheels of these rows; of the truth only the time counts."""
    previous, done = np.nan, 0
    for i in rows:
        t, o = truth[i].stamp - params[i].origin, out[i]
        for k in range(len(first) - 1):
            if t != previous:
                o.rate[k] = value_among(table, first[k], first[k + 1], t)
                o.angle[k] = integral_among(table, first[k], first[k + 1], t)
            else:
                o.rate[k], o.angle[k] = out[done].rate[k], out[done].angle[k]
            o.count[k] = math.floor(o.angle[k] * params[i].ticks / TAU)
        previous, done = t, i


def _refuse_file(file: str | None) -> None:
    if file is not None:
        raise PluginError("file is read with a scenario; in Python, give its signals")


class ScriptedImu(Sensor, kind="scripted_imu"):
    """An IMU whose readings are signals, whatever the robot does."""

    measures = IMU
    signals: Forces = field(default_factory=Signals)  # linear m/s², angular rad/s over s
    file: str | None = None  # ROS 2 parameter file with these signals
    node: str | None = None  # of that file, where it has signals of several
    origin: float = 0.0  # s; time of the clock at which the time of the signals is 0
    centripetal: bool = False  # whether the signals contain the term v·w

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Put the signals into one table; at rest a unit feels gravity."""
        _refuse_file(self.file)
        signals = {"linear_z": constant(GRAVITY), **self.signals}
        self.bank = bank([signals.get(name, Signal()) for name in AXES])

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Give the values of this moment."""
        feel_all(out.table, self.params, scene.truth, self.bank.table, self.bank.first, rows)


class ScriptedWheels(Sensor, kind="scripted_wheels"):
    """Wheel encoders whose rates are signals, whatever the robot does."""

    measures = WHEELS
    signals: Rates = field(default_factory=Signals)  # rad/s over s
    file: str | None = None  # ROS 2 parameter file with these signals
    node: str | None = None  # of that file, where it has signals of several
    origin: float = 0.0  # s; time of the clock at which the time of the signals is 0
    ticks: int = 2048  # per turn of the wheel, for the count; the angle is not rounded to them

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Refuse what only a scenario can resolve."""
        _refuse_file(self.file)

    @cached_property
    def bank(self) -> Bank:
        """The signals in one table with their integrals; made late, since that runs a kernel."""
        made = bank([self.signals.get(name, Signal()) for name in WHEEL])
        for k in range(len(WHEEL)):
            accumulate(made.table, made.first[k], made.first[k + 1])
        return made

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Give the values of this moment."""
        roll_all(out.table, self.params, scene.truth, self.bank.table, self.bank.first, rows)
