"""Signals: values over time from Python, YAML, text files and ROS 2 parameter files."""

from astray.signals.csv import file_digest
from astray.signals.evaluate import accumulate, integral_among, value_among
from astray.signals.interval import IntervalConfig, Samples, SimType, Sine
from astray.signals.named_signals import Channels, Signals, channel_names
from astray.signals.read import INTERVAL_KEY, SETTING_KEYS, SignalFaults, read_signals
from astray.signals.signal import Bank, Signal, bank, compute_value, constant, segments

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
