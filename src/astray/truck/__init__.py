"""A truck to drive by calls: the engine of simulator-2d over the parts that scenarios use."""

from astray.truck.engine import Engine as Engine
from astray.truck.model import TruckModel as TruckModel
from astray.truck.model import read_model as read_model
from astray.truck.state import Pose as Pose
from astray.truck.state import RearState as RearState
from astray.truck.state import Status as Status
from astray.truck.state import Steering as Steering
from astray.truck.state import TruckState as TruckState
from astray.truck.state import Twist as Twist
from astray.truck.state import WheelVelocity as WheelVelocity
