"""`imu_data_simulator` and `wheel_data_simulator`: signals, published as the readings of a sensor.

The IMU's parameters are the signals `linear_x` to `angular_z` of the signal simulator's document;
without `linear_z` it measures gravity, 9.81 m/s². The wheels' are `wheel_fl`, `wheel_fr`,
`wheel_rl` and `wheel_rr`, rad/s.

The time of the signals is 0 when the node starts, and reading k has exactly the time k / rate,
whenever it is published; a node that was held up publishes what is missing. With `use_sim_time` the
time of the signals is that of the topic /clock.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from astray.engine import SensorPipeline
from astray.errors import WrongInput
from astray.plugin import Scene, Sensor
from astray.robot.sensors import IMU_CHANNELS, WHEEL_CHANNELS, ScriptedImu, ScriptedWheels
from astray.ros.dds import POLL_PERIOD, DdsWriter, Node
from astray.ros.messages import MessageLayout
from astray.ros.nodes.standalone import (
    NS_PER_S,
    ROW,
    WHEEL_RATES,
    WheelMessage,
    message_with_stamp,
    standalone_robot,
)
from astray.ros.publishers import CLOCK, ReadingPublisher
from astray.scenario.importers import select_signals
from astray.signals import SETTING_KEYS
from astray.tables import ADDRESS, STATE, table

MAX_CATCH_UP = 1.0  # s of /clock for which missed readings are published


@dataclass(frozen=True)
class PlaybackSettings:
    """The parameters of a node that publishes signals.

    Args:
        rate: Readings per second, Hz.
        frame_id: The frame of the messages.
        use_sim_time: Whether time is that of the topic /clock.
        wait_for_subscriber: Whether the time of the signals begins with the first subscriber.

    Raises:
        WrongInput: The rate is not above 0.
    """

    rate: float = 100.0
    frame_id: str = ""
    use_sim_time: bool = False
    wait_for_subscriber: bool = False

    def __post_init__(self) -> None:
        if not self.rate > 0.0:
            raise WrongInput(f"rate: it must be above 0, not {self.rate:g}")


class StandaloneSensor:
    """A sensor without a robot, which can be read at any time.

    Args:
        sensor: The sensor.
        rate: Readings per second, Hz.
    """

    def __init__(self, sensor: Sensor, rate: float) -> None:
        bound = sensor.attach(table(ADDRESS, 1), {}, 1.0 / rate, 0, "")
        bound.begin(ROW)
        self.pipeline = SensorPipeline(bound, 1)
        """The sensor and its latest reading."""
        self._truth = table(STATE, 1)
        self._scene = Scene(self._truth, self._truth, self._truth).read_only()
        self.read(0.0)  # compiles or loads every kernel before a reading is due

    def read(self, seconds: float) -> None:
        """Take a reading at a time, s."""
        self._truth["stamp"] = seconds
        self.pipeline.sense(ROW, self._scene)
        self.pipeline.send(ROW, np.array([seconds]))


class SignalPlayer(ABC):
    """A node that publishes a reading at each k / rate."""

    writer: DdsWriter

    def __init__(self, node: Node, sensor: StandaloneSensor, settings: PlaybackSettings) -> None:
        self.node, self.sensor, self.settings = node, sensor, settings
        self._next = 0  # the reading to be published next
        if settings.use_sim_time:
            node.create_subscription(CLOCK, "/clock", self._take_clock)

    @abstractmethod
    def message(self, ns: int) -> bytes:
        """The latest reading with a stamp in ns, CDR bytes."""

    def run(self) -> None:
        """Publish until the node is stopped."""
        while self.settings.wait_for_subscriber and not self.writer.readers:
            if self.node.is_stopped:
                return
            self.node.spin_once(0.01)
        begun, start = time.time_ns(), time.monotonic()
        while not self.node.is_stopped:
            if self.settings.use_sim_time:
                self.node.spin_once()
                continue
            now = time.monotonic() - start
            due = self._next / self.settings.rate
            if due > now:
                self.node.spin_once(min(POLL_PERIOD, due - now))
            else:
                self._publish_next(begun)

    def _publish_next(self, begun: int) -> None:
        seconds = self._next / self.settings.rate
        self.sensor.read(seconds)
        self.writer.write(self.message(begun + round(seconds * NS_PER_S)))
        self._next += 1

    def _take_clock(self, message: Any) -> None:
        now = int(message.clock.sec) + int(message.clock.nanosec) * 1e-9
        latest = int(now * self.settings.rate + 1e-6)
        if latest + 1 < self._next:  # the clock was reset
            self._next = latest
        if latest - self._next > MAX_CATCH_UP * self.settings.rate:
            self._next = latest
        while self._next <= latest:
            self._publish_next(0)


@dataclass(frozen=True)
class ImuDataSettings(PlaybackSettings):
    """The parameters of `imu_data_simulator` besides the signals."""

    frame_id: str = "imu_link"
    imu_topic: str = "imu_data"


class ImuDataSimulator(SignalPlayer):
    """The node `imu_data_simulator`: signals as sensor_msgs/Imu."""

    def __init__(self, node: Node) -> None:
        settings = node.arguments.settings(ImuDataSettings, (*IMU_CHANNELS, *SETTING_KEYS))
        imu = ScriptedImu(signals=select_signals(node.arguments.parameters, IMU_CHANNELS))
        super().__init__(node, StandaloneSensor(imu, settings.rate), settings)
        robots, frame = [standalone_robot(settings.frame_id)], settings.frame_id
        self._publisher = ReadingPublisher(robots, self.sensor.pipeline, "imu_data", frame)
        self.writer = node.create_publisher(self._publisher.layout.type, settings.imu_topic)

    def message(self, ns: int) -> bytes:
        """The latest reading with a stamp in ns, CDR bytes."""
        return message_with_stamp(self._publisher, ns)


@dataclass(frozen=True)
class WheelDataSettings(PlaybackSettings):
    """The parameters of `wheel_data_simulator` besides the signals.

    With `message_type:=Float64MultiArray` a message has only the four rates, in the order front
    left, front right, rear left, rear right.
    """

    frame_id: str = "base_link"
    wheel_topic: str = "wheel_data"
    message_type: WheelMessage = "JointState"


class WheelDataSimulator(SignalPlayer):
    """The node `wheel_data_simulator`: signals as sensor_msgs/JointState or Float64MultiArray."""

    def __init__(self, node: Node) -> None:
        settings = node.arguments.settings(WheelDataSettings, (*WHEEL_CHANNELS, *SETTING_KEYS))
        wheels = ScriptedWheels(signals=select_signals(node.arguments.parameters, WHEEL_CHANNELS))
        super().__init__(node, StandaloneSensor(wheels, settings.rate), settings)
        robots, frame = [standalone_robot(settings.frame_id)], settings.frame_id
        self._publisher = ReadingPublisher(robots, self.sensor.pipeline, "wheel_data", frame)
        self._rates: MessageLayout | None = None
        if settings.message_type == "Float64MultiArray":
            self._rates = MessageLayout(WHEEL_RATES, {"data": len(WHEEL_CHANNELS)})
        layout = self._rates or self._publisher.layout
        self.writer = node.create_publisher(layout.type, settings.wheel_topic)

    def message(self, ns: int) -> bytes:
        """The latest reading, with a stamp in ns if its type has one, CDR bytes."""
        if self._rates is None:
            return message_with_stamp(self._publisher, ns)
        message = self._rates.zeros(1)
        message["data"] = self.sensor.pipeline.arrived["rate"]
        return bytes(message.tobytes())
