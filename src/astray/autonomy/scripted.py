"""A fixed course: steps that follow each other, each for some seconds."""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from astray.clock import ticks_in
from astray.plugin import NEVER, Autonomy, Known, Positive, Sheets
from astray.table import TWIST, Rows, Table


@dataclass(kw_only=True)
class Step:
    """One stretch of the course at constant speed."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    lasts: Positive  # s
    vx: float = 0.0  # m/s
    vy: float = 0.0  # m/s
    wz: float = 0.0  # rad/s


class Scripted(Autonomy, kind="scripted"):
    """Drives a list of steps one after the other, then stops or starts over."""

    steps: list[Step] = field(default_factory=list)  # lasts s, vx m/s, vy m/s, wz rad/s
    loop: bool = False  # begin again after the last step

    def bind(self, n: int, sheets: Sheets) -> None:
        """Put the borders between steps on ticks."""
        ends = np.cumsum([0.0, *(step.lasts for step in self.steps)])
        self.border_list = [ticks_in(float(end), self.dt) for end in ends]
        self.borders = np.array(self.border_list)
        self.values = np.array([(s.vx, s.vy, s.wz) for s in self.steps] + [(0.0, 0.0, 0.0)])

    def decide(self, rows: Rows, known: Known, command: Table) -> None:
        """Ask for the speeds of the step that these rows are in."""
        ticks = self.address["tick"][rows]
        if self.loop and self.borders[-1] > 0:
            ticks = ticks % self.borders[-1]
        values = self.values[np.searchsorted(self.borders, ticks, side="right") - 1]
        command["mode"][rows] = TWIST
        for k, column in enumerate(("vx", "vy", "wz")):
            command[column][rows] = values[:, k]

    def next_due(self, tick: int) -> int:
        """The next border between two steps."""
        length = self.border_list[-1]
        lap = tick // length * length if self.loop and length > 0 else 0
        k = bisect.bisect_left(self.border_list, tick - lap)
        return lap + self.border_list[k] if k < len(self.border_list) else NEVER
