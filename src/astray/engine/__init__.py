"""The engine: a run with its groups of robots, clocks and event queue, and the tick.

`Run` (run.py) holds the state; `Stepper` (stepper.py) is the tick; `Robots` (robots.py) is a group.
"""

from astray.engine.error_attribution import attribute_error
from astray.engine.event_queue import Event, is_whole, numbered_events, read_events
from astray.engine.log import GroupLog, Log
from astray.engine.manual_override import ManualOverride
from astray.engine.pacing import FOREVER, Pace
from astray.engine.path_log import Paths
from astray.engine.robots import Robots
from astray.engine.run import Run
from astray.engine.run_summary import summary
from astray.engine.sensor_pipeline import SensorPipeline
from astray.engine.state_arrays import group_arrays, state_arrays
from astray.engine.stepper import PHASES
from astray.engine.worlds import Worlds

__all__ = [
    "FOREVER",
    "PHASES",
    "Event",
    "GroupLog",
    "Log",
    "ManualOverride",
    "Pace",
    "Paths",
    "Robots",
    "Run",
    "SensorPipeline",
    "Worlds",
    "attribute_error",
    "group_arrays",
    "is_whole",
    "numbered_events",
    "read_events",
    "state_arrays",
    "summary",
]
