"""The standalone nodes of `astray node`: simulated sensor data, and positions estimated from it.

They are the nodes of the documents about the signal simulator and the position approximator. The
command starts one, with the parameters of a file, here a simulated IMU and its position estimate:

    astray node imu_data_simulator --params-file course.yaml
    astray node imu_position_approximator -p initial_x:=1.5
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from astray.lazy import lazy_exports

if TYPE_CHECKING:
    from astray.ros.nodes.data_simulators import ImuDataSimulator as ImuDataSimulator
    from astray.ros.nodes.data_simulators import WheelDataSimulator as WheelDataSimulator
    from astray.ros.nodes.imu_position_approximator import (
        ImuPositionApproximator as ImuPositionApproximator,
    )
    from astray.ros.nodes.wheel_position_approximator import (
        WheelPositionApproximator as WheelPositionApproximator,
    )

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "astray.ros.nodes.data_simulators": ("ImuDataSimulator", "WheelDataSimulator"),
        "astray.ros.nodes.imu_position_approximator": ("ImuPositionApproximator",),
        "astray.ros.nodes.wheel_position_approximator": ("WheelPositionApproximator",),
    },
)
