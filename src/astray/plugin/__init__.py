"""What plugins are, how they are declared, and what they are handed."""

from astray.numerics import NEVER
from astray.plugin import distributions
from astray.plugin.distributions import DrawnParameter, nominal, values_of, written
from astray.plugin.families import (
    OUTPUTS,
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
from astray.plugin.plugin import KINDS, Datasheet, Datasheets, Plugin, find_sensor
from astray.plugin.row_initializer import InitialValue, RowInitializer
from astray.plugin.views import Known, Reading, Scene, Tracks

__all__ = [
    "KINDS",
    "NEVER",
    "OUTPUTS",
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
    "distributions",
    "find_sensor",
    "nominal",
    "out_of_bounds",
    "parameters_of",
    "units",
    "values_of",
    "written",
]
