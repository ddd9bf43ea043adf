"""Monte-Carlo sweeps: a scenario in many cases and worlds, on all cores, resumed if killed.

`cases` checks every combination of the varied values, `workers` runs their worlds as tasks in
processes, `results_database` keeps what each task returned, `results` and `plot` summarise it.
"""

from astray.sweeps.cases import SweepPlan, make_plan, parse_vary, yaml_text
from astray.sweeps.results import Sweep, format_interval
from astray.sweeps.run_sweep import read_sweep, run_plan, sweep
from astray.sweeps.workers import Activity

__all__ = [
    "Activity",
    "Sweep",
    "SweepPlan",
    "format_interval",
    "make_plan",
    "parse_vary",
    "read_sweep",
    "run_plan",
    "sweep",
    "yaml_text",
]
