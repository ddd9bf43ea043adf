"""Scenarios: from YAML to a checked `Scenario`, with all faults at once. Read `load` first."""

from astray.scenario.export import (
    BUNDLE_FOLDER,
    BUNDLED_NAME,
    bundle_files,
    bundle_maps,
    embed_maps,
    plain_value,
)
from astray.scenario.faults import describe_error
from astray.scenario.layers import merge_layers, with_presets
from astray.scenario.load import Source, load_scenario
from astray.scenario.plugin_files import load_plugins
from astray.scenario.references import MapPlan
from astray.scenario.scenario import GroupPlan, Scenario
from astray.scenario.schema import BUILT_IN_PACKAGES, json_schema
from astray.scenario.start import START_TRIES

__all__ = [
    "BUILT_IN_PACKAGES",
    "BUNDLED_NAME",
    "BUNDLE_FOLDER",
    "START_TRIES",
    "GroupPlan",
    "MapPlan",
    "Scenario",
    "Source",
    "bundle_files",
    "bundle_maps",
    "describe_error",
    "embed_maps",
    "json_schema",
    "load_plugins",
    "load_scenario",
    "merge_layers",
    "plain_value",
    "with_presets",
]
