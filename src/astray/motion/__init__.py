"""How robots move: what changes the truth."""

from astray.motion.differential import Differential as Differential
