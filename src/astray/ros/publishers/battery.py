"""The charge of a robot's battery, once per second: full, since no robot here runs out of it.

Programs that dock at a low charge want to hear of one. What is not modelled (voltage, current,
temperature) is nan, as the message's definition asks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from astray.ros.messages import MessageLayout
from astray.ros.names import BASE, RosRobot
from astray.ros.publishers.poses import PeriodicPublisher
from astray.tables import Table

PERIOD = 1.0  # s
UNKNOWN = ("voltage", "temperature", "current", "charge", "capacity", "design_capacity")
DISCHARGING, GOOD = 2, 1  # BatteryState


class BatteryPublisher(PeriodicPublisher):
    """Says that the battery is full."""

    def __init__(self, robots: Sequence[RosRobot], truth: Table, dt: float) -> None:
        layout = MessageLayout(
            "sensor_msgs/msg/BatteryState", texts={"header.frame_id": robots[0].frame(BASE)}
        )
        period = round(PERIOD / dt) or 1
        alive = truth["alive"]
        super().__init__(robots, "battery_state", layout, [truth], period=period, alive=alive)
        self.words.text("header.frame_id", lambda robot: robot.frame(BASE))
        self.words.stamp(0)
        blank = self.words.blank
        for name in UNKNOWN:
            blank[name] = np.nan
        blank["percentage"], blank["present"] = 1.0, True
        blank["power_supply_status"], blank["power_supply_health"] = DISCHARGING, GOOD
