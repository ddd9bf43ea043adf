"""Motions: each file has one kind, which moves the truth; `limits` has what they share."""

from astray.robot.motion.ackermann import Ackermann
from astray.robot.motion.differential import Differential
from astray.robot.motion.integrator import Integrator
from astray.robot.motion.mecanum import Omni
from astray.robot.motion.unicycle import Unicycle

__all__ = ["Ackermann", "Differential", "Integrator", "Omni", "Unicycle"]
