"""`imu_data_simulator`: signals as the readings of an IMU, sensor_msgs/Imu.

Parameters are the signals `linear_x` to `angular_z` of the signal simulator's document, and those
of `playing.py`. Without `linear_z` the unit feels gravity, 9.81 m/s².
"""

from __future__ import annotations

from dataclasses import dataclass

from astray.robot.sensors import AXES, ScriptedImu
from astray.ros.dds import Node
from astray.ros.nodes.signal_playback import Player, Playing, Unit, alone, restamped
from astray.ros.publishers import ReadingPublisher
from astray.scenario.importers import signals_of
from astray.signals import SETTING_KEYS


@dataclass(frozen=True)
class ImuDataSettings(Playing):
    """The parameters besides the signals."""

    frame_id: str = "imu_link"
    imu_topic: str = "imu_data"


class ImuDataSimulator(Player):
    """Plays signals as an IMU."""

    def __init__(self, node: Node) -> None:
        settings = node.arguments.settings(ImuDataSettings, (*AXES, *SETTING_KEYS))
        signals = signals_of(node.arguments.parameters, AXES)
        super().__init__(node, Unit(ScriptedImu(signals=signals), settings.rate), settings)
        robot = alone(settings.frame_id)
        self._report = ReadingPublisher([robot], self.unit.channel, "imu_data", settings.frame_id)
        self.writer = node.publish(settings.imu_topic, self._report.layout.type)

    def message(self, ns: int) -> bytes:
        """The reading that has just arrived, stamped."""
        return restamped(self._report, ns)
