"""`wheel_data_simulator`: signals as the rates of four wheels, sensor_msgs/JointState.

Parameters are the signals `wheel_fl`, `wheel_fr`, `wheel_rl` and `wheel_rr`, rad/s, and those of
`playing.py`. With `message_type:=Float64MultiArray` only the four rates are said, in this order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from astray.robot.sensors import WHEEL, ScriptedWheels
from astray.ros.dds import Node
from astray.ros.messages import MessageLayout
from astray.ros.nodes.signal_playback import Player, Playing, Unit, alone, restamped
from astray.ros.publishers import ReadingPublisher
from astray.scenario.importers import signals_of
from astray.signals import SETTING_KEYS

ARRAY = "std_msgs/msg/Float64MultiArray"
MessageType = Literal["JointState", "Float64MultiArray"]


@dataclass(frozen=True)
class WheelDataSettings(Playing):
    """The parameters besides the signals."""

    frame_id: str = "base_link"
    wheel_topic: str = "wheel_data"
    message_type: MessageType = "JointState"


class WheelDataSimulator(Player):
    """Plays signals as wheel encoders."""

    def __init__(self, node: Node) -> None:
        settings = node.arguments.settings(WheelDataSettings, (*WHEEL, *SETTING_KEYS))
        signals = signals_of(node.arguments.parameters, WHEEL)
        super().__init__(node, Unit(ScriptedWheels(signals=signals), settings.rate), settings)
        robot = alone(settings.frame_id)
        channel = self.unit.channel
        self._report = ReadingPublisher([robot], channel, "wheel_data", settings.frame_id)
        self._plain: MessageLayout | None = None
        if settings.message_type == "Float64MultiArray":
            self._plain = MessageLayout(ARRAY, {"data": len(WHEEL)})
        layout = self._plain or self._report.layout
        self.writer = node.publish(settings.wheel_topic, layout.type)

    def message(self, ns: int) -> bytes:
        """The reading that has just arrived, stamped if there is room for a stamp."""
        if self._plain is not None:
            rates = self._plain.blank(1)
            rates["data"] = self.unit.channel.arrived["rate"]
            return bytes(rates.tobytes())
        return restamped(self._report, ns)
