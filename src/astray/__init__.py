"""astray: a fast 2D mobile-robot simulator in which every robot has a truth and a belief.

import astray

sim = astray.load("drift")
log = sim.run(60, log=0.1)
sim.plot()
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from astray.version import __version__

# The public names and where they live; a module is imported when one of its names is used.
_HOMES = {
    "load": "astray.sim",
    "resume": "astray.sim",
    "Sim": "astray.sim",
    "Event": "astray.engine.event_queue",
    "read_events": "astray.engine.event_queue",
    "record": "astray.recording.recorder",
    "read_recording": "astray.recording.recording",
    "Recording": "astray.recording.recording",
    "Log": "astray.engine.log",
    "summary": "astray.engine.summary",
    "sweep": "astray.sweeps.sweep",
    "read_sweep": "astray.sweeps.sweep",
    "Sweep": "astray.sweeps.results",
    "check_plugin": "astray.plugin_contract",
    "Autonomy": "astray.plugin",
    "Control": "astray.plugin",
    "Motion": "astray.plugin",
    "Sensor": "astray.plugin",
    "Estimator": "astray.plugin",
    "Tracker": "astray.plugin",
    "Metric": "astray.plugin",
    "ContactMetric": "astray.plugin",
    "Interaction": "astray.plugin",
    "Scene": "astray.plugin",
    "Known": "astray.plugin",
    "Positive": "astray.plugin",
    "NonNegative": "astray.plugin",
    "Reading": "astray.plugin.reading",
    "Tracks": "astray.plugin.tracks",
    "columns": "astray.tables",
    "Column": "astray.tables",
    "READING": "astray.tables",
    "STATE": "astray.tables",
    "COMMAND": "astray.tables",
    "DRIVE": "astray.tables",
    "WHEELS": "astray.tables",
    "IMU": "astray.tables",
    "INS": "astray.tables",
    "FIX": "astray.tables",
    "COMPASS": "astray.tables",
    "LANDMARKS": "astray.tables",
    "CONTACTS": "astray.tables",
    "SCAN": "astray.tables",
    "RANGE": "astray.tables",
    "SONAR": "astray.tables",
    "BUMP": "astray.tables",
    "TRACK": "astray.tables",
    "Signal": "astray.signals",
    "Signals": "astray.signals",
    "SimType": "astray.signals",
    "IntervalConfig": "astray.signals",
    "Sine": "astray.signals",
    "Samples": "astray.signals",
    "compute_value": "astray.signals",
    "read_ros_parameters": "astray.scenario.importers",
    "write_ros_parameters": "astray.scenario.importers",
    "AstrayError": "astray.errors",
    "WrongInput": "astray.errors",
    "ScenarioError": "astray.errors",
    "PluginError": "astray.errors",
    "EventError": "astray.errors",
    "SignalError": "astray.errors",
    "MapError": "astray.errors",
    "LogError": "astray.errors",
    "RecordingError": "astray.errors",
    "RecordingFailed": "astray.errors",
    "WritingFailed": "astray.errors",
    "SavedError": "astray.errors",
    "LockstepTimeout": "astray.errors",
}
__all__ = ["__version__", *_HOMES]

if TYPE_CHECKING:
    from astray.engine.event_queue import Event as Event
    from astray.engine.event_queue import read_events as read_events
    from astray.engine.log import Log as Log
    from astray.engine.summary import summary as summary
    from astray.errors import AstrayError as AstrayError
    from astray.errors import EventError as EventError
    from astray.errors import LockstepTimeout as LockstepTimeout
    from astray.errors import LogError as LogError
    from astray.errors import MapError as MapError
    from astray.errors import PluginError as PluginError
    from astray.errors import RecordingError as RecordingError
    from astray.errors import RecordingFailed as RecordingFailed
    from astray.errors import SavedError as SavedError
    from astray.errors import ScenarioError as ScenarioError
    from astray.errors import SignalError as SignalError
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
    from astray.plugin import Scene as Scene
    from astray.plugin import Sensor as Sensor
    from astray.plugin import Tracker as Tracker
    from astray.plugin.reading import Reading as Reading
    from astray.plugin.tracks import Tracks as Tracks
    from astray.plugin_contract import check_plugin as check_plugin
    from astray.recording.recorder import record as record
    from astray.recording.recording import Recording as Recording
    from astray.recording.recording import read_recording as read_recording
    from astray.scenario.importers import read_ros_parameters as read_ros_parameters
    from astray.scenario.importers import write_ros_parameters as write_ros_parameters
    from astray.signals import IntervalConfig as IntervalConfig
    from astray.signals import Samples as Samples
    from astray.signals import Signal as Signal
    from astray.signals import Signals as Signals
    from astray.signals import SimType as SimType
    from astray.signals import Sine as Sine
    from astray.signals import compute_value as compute_value
    from astray.sim import Sim as Sim
    from astray.sim import load as load
    from astray.sim import resume as resume
    from astray.sweeps.results import Sweep as Sweep
    from astray.sweeps.sweep import read_sweep as read_sweep
    from astray.sweeps.sweep import sweep as sweep
    from astray.tables import BUMP as BUMP
    from astray.tables import COMMAND as COMMAND
    from astray.tables import COMPASS as COMPASS
    from astray.tables import CONTACTS as CONTACTS
    from astray.tables import DRIVE as DRIVE
    from astray.tables import FIX as FIX
    from astray.tables import IMU as IMU
    from astray.tables import INS as INS
    from astray.tables import LANDMARKS as LANDMARKS
    from astray.tables import RANGE as RANGE
    from astray.tables import READING as READING
    from astray.tables import SCAN as SCAN
    from astray.tables import SONAR as SONAR
    from astray.tables import STATE as STATE
    from astray.tables import TRACK as TRACK
    from astray.tables import WHEELS as WHEELS
    from astray.tables import Column as Column
    from astray.tables import columns as columns


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'astray' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
