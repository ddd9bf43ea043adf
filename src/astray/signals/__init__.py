"""Signals: values over time, from Python, YAML or ROS parameter files, also inside kernels."""

from astray.signals.interval import IntervalConfig as IntervalConfig
from astray.signals.interval import Samples as Samples
from astray.signals.interval import SimType as SimType
from astray.signals.interval import Sine as Sine
from astray.signals.plugin_field import Channels as Channels
from astray.signals.plugin_field import channels as channels
from astray.signals.signal import Bank as Bank
from astray.signals.signal import Signal as Signal
from astray.signals.signal import bank as bank
from astray.signals.signal import compute_value as compute_value
from astray.signals.signal import constant as constant
from astray.signals.signals import Signals as Signals
