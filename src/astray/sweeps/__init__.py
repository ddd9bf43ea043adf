"""Monte-Carlo sweeps: a scenario in many cases and worlds, on all cores, that goes on if killed.

`plan` says what is to be run, `work` runs a part of it, `run` gives the parts to workers, `ledger`
keeps what they found, `results` and `plot` tell what it came to.
"""

from astray.sweeps.cases import SweepPlan, as_text, make_plan, read_vary
from astray.sweeps.results import Sweep, figure
from astray.sweeps.run_sweep import read_sweep, run_plan, sweep

__all__ = [
    "Sweep",
    "SweepPlan",
    "as_text",
    "figure",
    "make_plan",
    "read_sweep",
    "read_vary",
    "run_plan",
    "sweep",
]
