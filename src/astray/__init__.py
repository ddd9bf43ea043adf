"""astray: a fast 2D mobile-robot simulator in which every robot has a truth and a belief.

import astray

sim = astray.load("drift")
log = sim.run(60, log=0.1)
sim.plot()

Names that only some programs need are in packages: `astray.tables` (column layouts),
`astray.signals`, `astray.world`, `astray.datasets`, `astray.gym`, `astray.truck`, `astray.pioneer`,
`astray.ros`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from astray.version import __version__

if TYPE_CHECKING:
    from astray.engine import Event as Event
    from astray.engine import Log as Log
    from astray.engine import Robots as Robots
    from astray.engine import read_events as read_events
    from astray.engine import summary as summary
    from astray.errors import AstrayError as AstrayError
    from astray.errors import EventError as EventError
    from astray.errors import LockstepTimeout as LockstepTimeout
    from astray.errors import LogError as LogError
    from astray.errors import MapError as MapError
    from astray.errors import PluginError as PluginError
    from astray.errors import PluginFailed as PluginFailed
    from astray.errors import RecordingError as RecordingError
    from astray.errors import RecordingFailed as RecordingFailed
    from astray.errors import SavedError as SavedError
    from astray.errors import ScenarioError as ScenarioError
    from astray.errors import SignalError as SignalError
    from astray.errors import UnknownName as UnknownName
    from astray.errors import WritingFailed as WritingFailed
    from astray.errors import WrongInput as WrongInput
    from astray.plugin import Autonomy as Autonomy
    from astray.plugin import ContactMetric as ContactMetric
    from astray.plugin import Control as Control
    from astray.plugin import Estimator as Estimator
    from astray.plugin import Interaction as Interaction
    from astray.plugin import Known as Known
    from astray.plugin import Metric as Metric
    from astray.plugin import Motion as Motion
    from astray.plugin import NonNegative as NonNegative
    from astray.plugin import Positive as Positive
    from astray.plugin import Reading as Reading
    from astray.plugin import Scene as Scene
    from astray.plugin import Sensor as Sensor
    from astray.plugin import Tracker as Tracker
    from astray.plugin import Tracks as Tracks
    from astray.plugin_contract import check_plugin as check_plugin
    from astray.recording import Recording as Recording
    from astray.recording import read_recording as read_recording
    from astray.recording import record as record
    from astray.sim import Sim as Sim
    from astray.sim import load as load
    from astray.sim import resume as resume
    from astray.sweeps import Sweep as Sweep
    from astray.sweeps import read_sweep as read_sweep
    from astray.sweeps import sweep as sweep
    from astray.tables import Column as Column
    from astray.tables import columns as columns

# The public names and where they live. A module is imported when one of its names is used.
_HOMES = {
    "astray.sim": ("Sim", "load", "resume"),
    "astray.engine": ("Event", "Log", "Robots", "read_events", "summary"),
    "astray.recording": ("Recording", "read_recording", "record"),
    "astray.sweeps": ("Sweep", "read_sweep", "sweep"),
    "astray.plugin_contract": ("check_plugin",),
    "astray.plugin": (
        "Autonomy",
        "Control",
        "Motion",
        "Sensor",
        "Estimator",
        "Tracker",
        "Interaction",
        "Metric",
        "ContactMetric",
        "Known",
        "Scene",
        "Reading",
        "Tracks",
        "Positive",
        "NonNegative",
    ),
    "astray.tables": ("Column", "columns"),
    "astray.errors": (
        "AstrayError",
        "WrongInput",
        "UnknownName",
        "ScenarioError",
        "PluginError",
        "PluginFailed",
        "EventError",
        "SignalError",
        "MapError",
        "LogError",
        "RecordingError",
        "RecordingFailed",
        "SavedError",
        "WritingFailed",
        "LockstepTimeout",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_PACKAGES = (
    "datasets",
    "engine",
    "errors",
    "gym",
    "numerics",
    "pioneer",
    "plots",
    "plugin",
    "recording",
    "robot",
    "ros",
    "scenario",
    "signals",
    "sweeps",
    "tables",
    "truck",
    "viewer",
    "world",
)
_MOVED = {
    **dict.fromkeys(
        (
            *("ADDRESS", "BUMP", "COMMAND", "COMPASS", "CONTACTS", "DRIVE", "FIX", "IMU", "INS"),
            *("LANDMARKS", "RANGE", "READING", "SCAN", "SONAR", "STATE", "TRACK", "WHEELS"),
        ),
        "astray.tables",
    ),
    **dict.fromkeys(
        ("IntervalConfig", "Samples", "Signal", "Signals", "SimType", "Sine", "compute_value"),
        "astray.signals",
    ),
    **dict.fromkeys(("read_ros_parameters", "write_ros_parameters"), "astray.scenario.importers"),
}
__all__ = ["__version__", *_HOME_OF]


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        return getattr(importlib.import_module(_HOME_OF[name]), name)
    if name in _PACKAGES:
        return importlib.import_module(f"astray.{name}")
    hint = f"; it is in {_MOVED[name]} now" if name in _MOVED else ""
    raise AttributeError(f"module 'astray' has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_PACKAGES])
