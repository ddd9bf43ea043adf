"""What plugins are, how they are declared, and what they are handed."""

from astray.numerics import NEVER
from astray.plugin.distributions import DrawnParameter, nominal, values_of, written
from astray.plugin.families import (
    Autonomy,
    ContactMetric,
    Control,
    Estimator,
    Interaction,
    Metric,
    Motion,
    NonNegative,
    Positive,
    Sensor,
    Tracker,
)
from astray.plugin.parameters import TIMING, Parameter, out_of_bounds, parameters_of, units
from astray.plugin.plugin import KINDS, Datasheet, Datasheets, Plugin, sensor_that_measures
from astray.plugin.reading import Reading
from astray.plugin.row_initializer import InitialValue, RowInitializer
from astray.plugin.tracks import Tracks
from astray.plugin.views import Known, Scene

__all__ = [
    "KINDS",
    "NEVER",
    "TIMING",
    "Autonomy",
    "ContactMetric",
    "Control",
    "Datasheet",
    "Datasheets",
    "DrawnParameter",
    "Estimator",
    "InitialValue",
    "Interaction",
    "Known",
    "Metric",
    "Motion",
    "NonNegative",
    "Parameter",
    "Plugin",
    "Positive",
    "Reading",
    "RowInitializer",
    "Scene",
    "Sensor",
    "Tracker",
    "Tracks",
    "nominal",
    "out_of_bounds",
    "parameters_of",
    "sensor_that_measures",
    "units",
    "values_of",
    "written",
]
