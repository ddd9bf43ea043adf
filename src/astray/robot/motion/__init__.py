"""How robots move: what changes the truth."""

from astray.robot.motion.ackermann import Ackermann as Ackermann
from astray.robot.motion.differential import Differential as Differential
from astray.robot.motion.integrator import Integrator as Integrator
from astray.robot.motion.mecanum import Omni as Omni
from astray.robot.motion.unicycle import Unicycle as Unicycle
