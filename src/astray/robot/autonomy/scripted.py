"""Scripted: a course over time, given as steps of constant speed or as signals."""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np

from astray.errors import PluginError
from astray.numerics import kernel, ticks_in
from astray.plugin import NEVER, Autonomy, Datasheets, Known, Positive
from astray.signals import Channels, Signal, Signals, bank, value_among
from astray.tables import CURVATURE, TWIST, Array, Rows, Table

CHANNELS = ("vx", "vy", "wz", "curvature")
LAP_ROUNDING = 1e-9  # of a lap; a time just before the end of one belongs to the next

Course = Annotated[Signals, Channels(CHANNELS)]


@dataclass(kw_only=True)
class ScriptStep:
    """One step of the course, at constant speed."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    lasts: Positive  # s
    vx: float = 0.0  # m/s
    vy: float = 0.0  # m/s
    wz: float = 0.0  # rad/s


@kernel
def follow_all(command: Table, times: Array, table: Table, first: Array, rows: Rows) -> None:
    """Command the values of four signals, each row at its own time."""
    previous, vx, vy, wz, curvature = np.nan, 0.0, 0.0, 0.0, 0.0
    for k in range(len(rows)):
        t = times[k]
        if t != previous:  # most rows have the same time
            vx = value_among(table, first[0], first[1], t)
            vy = value_among(table, first[1], first[2], t)
            wz = value_among(table, first[2], first[3], t)
            curvature = value_among(table, first[3], first[4], t)
            previous = t
        c = command[rows[k]]
        c.vx, c.vy, c.wz, c.curvature = vx, vy, wz, curvature


class Scripted(Autonomy, kind="scripted"):
    """Drives steps one after the other, or signals, then stops or begins again."""

    fixed = ("loop",)
    steps: list[ScriptStep] = field(default_factory=list)  # lasts s, vx m/s, vy m/s, wz rad/s
    signals: Course = field(default_factory=Signals)  # vx, vy m/s, wz rad/s, curvature 1/m over s
    file: str | None = None  # ROS 2 parameter file with these signals
    node: str | None = None  # node of the file, if it has signals of several
    origin: float = 0.0  # s; time of the clock at which the time of the signals is 0
    loop: bool = False  # start again after the last step, or after the last signal

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Put the boundaries of the steps on ticks, and the signals into one table."""
        if self.file is not None:
            raise PluginError("file is read with a scenario; in Python, give its signals")
        if self.steps and self.signals:
            raise PluginError("takes steps or signals, not both")
        ends = np.cumsum([0.0, *(step.lasts for step in self.steps)])
        self.boundary_list = [ticks_in(float(end), self.dt) for end in ends]
        self.boundaries = np.array(self.boundary_list)
        self.values = np.array([(s.vx, s.vy, s.wz) for s in self.steps] + [(0.0, 0.0, 0.0)])
        self.bank = bank([self.signals.get(name, Signal()) for name in CHANNELS])
        self.lap = max((signal.t_end for signal in self.signals.values()), default=0.0)
        has_curvature = "curvature" in self.signals
        self.mode = CURVATURE if has_curvature else TWIST
        if has_curvature and (clash := [name for name in ("vy", "wz") if name in self.signals]):
            raise PluginError(f"curvature and {' and '.join(clash)} exclude each other")

    def decide(self, rows: Rows, known: Known, command: Table) -> None:
        """Command the speeds of the present time."""
        command["mode"][rows] = self.mode
        if self.signals:
            times = known.time[rows] - self.params["origin"][rows]
            if self.loop and 0.0 < self.lap < np.inf:
                laps = np.maximum(np.floor(times / self.lap + LAP_ROUNDING), 0.0)
                times = np.where(laps > 0.0, np.maximum(times - laps * self.lap, 0.0), times)
            follow_all(command, times, self.bank.table, self.bank.first, rows)
            return
        ticks = self.address["tick"][rows]
        if self.loop and self.boundaries[-1] > 0:
            ticks = ticks % self.boundaries[-1]
        values = self.values[np.searchsorted(self.boundaries, ticks, side="right") - 1]
        for k, column in enumerate(("vx", "vy", "wz")):
            command[column][rows] = values[:, k]

    def next_due(self, tick: int) -> int:
        """The next boundary between two steps; with signals, every tick."""
        if self.signals:
            return tick
        length = self.boundary_list[-1]
        lap = tick // length * length if self.loop and length > 0 else 0
        k = bisect.bisect_left(self.boundary_list, tick - lap)
        return lap + self.boundary_list[k] if k < len(self.boundary_list) else NEVER
