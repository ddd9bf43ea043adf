"""Signals: values over time, from Python, YAML or ROS parameter files, also inside kernels."""

from astray.signals.csv import file_digest
from astray.signals.evaluate import accumulate, integral_among, value_among
from astray.signals.faults import SignalFaults
from astray.signals.interval import IntervalConfig, Samples, SimType, Sine
from astray.signals.plugin_field import Channels, channel_names
from astray.signals.read import INTERVAL_KEY, SETTING_KEYS, read_signals
from astray.signals.signal import Bank, Signal, bank, compute_value, constant, segments
from astray.signals.signals import Signals

__all__ = [
    "INTERVAL_KEY",
    "SETTING_KEYS",
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
    "channel_names",
    "compute_value",
    "constant",
    "file_digest",
    "integral_among",
    "read_signals",
    "segments",
    "value_among",
]
