"""Signals: values over time, from Python, YAML or ROS parameter files, also inside kernels."""

from astray.signals.csv import digest_of
from astray.signals.evaluate import accumulate, integral_among, value_among
from astray.signals.faults import SignalFaults
from astray.signals.interval import IntervalConfig, Samples, SimType, Sine
from astray.signals.plugin_field import Channels, channels
from astray.signals.read import NUMBERED, SETTINGS, read_signals
from astray.signals.signal import Bank, Signal, bank, compute_value, constant, segments
from astray.signals.signals import Signals

__all__ = [
    "NUMBERED",
    "SETTINGS",
    "Bank",
    "Channels",
    "IntervalConfig",
    "Samples",
    "Signal",
    "SignalFaults",
    "Signals",
    "SimType",
    "Sine",
    "accumulate",
    "bank",
    "channels",
    "compute_value",
    "constant",
    "digest_of",
    "integral_among",
    "read_signals",
    "segments",
    "value_among",
]
