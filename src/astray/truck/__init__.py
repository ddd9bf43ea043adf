"""A truck driven by function calls: the engine of simulator-2d, with the parts of scenarios."""

from astray.truck.engine import Engine
from astray.truck.model import Model, read_model
from astray.truck.state import Pose, RearState, Status, Steering, TruckState, Twist, WheelVelocity

__all__ = [
    "Engine",
    "Model",
    "Pose",
    "RearState",
    "Status",
    "Steering",
    "TruckState",
    "Twist",
    "WheelVelocity",
    "read_model",
]
