"""Plugins: the base classes, their parameters, and the views of a run that they get.

`plugin` has the base class, `families` the eight families, `views` the truth and the knowledge that
they get, `parameters` and `distributions` their keys in a scenario, `declaration_checks` the checks
of a class.
"""

from astray.numerics import NEVER
from astray.plugin import distributions
from astray.plugin.distributions import DrawnParameter, nominal, sample_values, to_scenario
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
from astray.plugin.parameters import (
    TIMING,
    Parameter,
    choices,
    field_comments,
    out_of_bounds,
    parameters_of,
)
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
    "choices",
    "distributions",
    "field_comments",
    "find_sensor",
    "nominal",
    "out_of_bounds",
    "parameters_of",
    "sample_values",
    "to_scenario",
]
