"""What plugins are, how they are declared, and what they are handed."""

from astray.numerics.schedule import NEVER as NEVER
from astray.plugin.families import Autonomy as Autonomy
from astray.plugin.families import ContactMetric as ContactMetric
from astray.plugin.families import Control as Control
from astray.plugin.families import Estimator as Estimator
from astray.plugin.families import Interaction as Interaction
from astray.plugin.families import Metric as Metric
from astray.plugin.families import Motion as Motion
from astray.plugin.families import NonNegative as NonNegative
from astray.plugin.families import Positive as Positive
from astray.plugin.families import Sensor as Sensor
from astray.plugin.families import Tracker as Tracker
from astray.plugin.plugin import KINDS as KINDS
from astray.plugin.plugin import Datasheet as Datasheet
from astray.plugin.plugin import Datasheets as Datasheets
from astray.plugin.plugin import Plugin as Plugin
from astray.plugin.plugin import sensor_that_measures as sensor_that_measures
from astray.plugin.views import Known as Known
from astray.plugin.views import Scene as Scene
