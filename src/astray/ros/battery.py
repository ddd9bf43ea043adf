"""The charge of a robot's battery, once per second: full, since no robot here runs out of it.

Programs that dock at a low charge want to hear of one. What is not modelled (voltage, current,
temperature) is nan, as the message's definition asks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from astray.ros.layout import Layout
from astray.ros.names import BASE, Robot
from astray.ros.poses import Paced
from astray.ros.speaker import Taken, stamp
from astray.table import Array, Rows, Table

PERIOD = 1.0  # s
UNKNOWN = ("voltage", "temperature", "current", "charge", "capacity", "design_capacity")
DISCHARGING, GOOD = 2, 1  # BatteryState


class Battery(Paced):
    """Says that the battery is full."""

    def __init__(self, robots: Sequence[Robot], truth: Table, dt: float) -> None:
        layout = Layout(
            "sensor_msgs/msg/BatteryState", texts={"header.frame_id": robots[0].frame(BASE)}
        )
        super().__init__(robots, "battery_state", layout, round(PERIOD / dt) or 1, truth["alive"])
        self._stamps = truth["stamp"]
        self._frames = self.texts(lambda robot: robot.frame(BASE))

    def take(self, rows: Rows) -> Taken:
        """The time."""
        return rows, self._stamps[rows]

    def fill(self, out: Array, taken: Taken) -> None:
        """Full, and well."""
        rows, time = taken
        stamp(out, time)
        out["header.frame_id"] = self._frames[rows]
        for name in UNKNOWN:
            out[name] = np.nan
        out["percentage"], out["present"] = 1.0, True
        out["power_supply_status"], out["power_supply_health"] = DISCHARGING, GOOD
