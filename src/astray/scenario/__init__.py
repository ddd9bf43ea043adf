"""Scenarios: YAML in, a checked plan out, every fault at once."""

from astray.scenario.bundle import (
    BUNDLE_FOLDER,
    BUNDLED_NAME,
    bundle_files,
    bundle_maps,
    embed_maps,
)
from astray.scenario.fault_messages import describe_fault
from astray.scenario.foreign_plugins import load_plugins
from astray.scenario.layers import merge_layers, suggest, with_presets
from astray.scenario.load import Source, load_scenario
from astray.scenario.maps import MapPlan
from astray.scenario.scenario import GroupPlan, Scenario
from astray.scenario.schema import BUILT_IN_PACKAGES, json_schema
from astray.scenario.start import START_TRIES
from astray.scenario.write import plain_value

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
    "describe_fault",
    "embed_maps",
    "json_schema",
    "load_plugins",
    "load_scenario",
    "merge_layers",
    "plain_value",
    "suggest",
    "with_presets",
]
