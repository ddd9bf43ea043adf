"""How robots move: what changes the truth."""

from astray.motion.ackermann import Ackermann as Ackermann
from astray.motion.differential import Differential as Differential
from astray.motion.integrator import Integrator as Integrator
from astray.motion.omni import Omni as Omni
from astray.motion.unicycle import Unicycle as Unicycle
