"""Numbers with units in a scenario: `yaw: 90 deg`, `speed: 5 km/h`, `rate: 50 Hz`.

A number of a scenario is in m, rad and s. Where a field has a unit, which is known from its
comment, a text may stand instead: a number with any unit of the same dimensions. Here each one
becomes the number in the field's own unit, before anything else looks at the scenario. A wrong unit
is a fault. A number of radians that is more than a turn is warned of: most are degrees.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import typing
import warnings
from types import UnionType
from typing import Any, NamedTuple

from astray.errors import Fault, Path, ScenarioWarning, format_path
from astray.files import Marked
from astray.numerics import TAU
from astray.plugin import KINDS, field_comments, parameters_of
from astray.scenario.schema import SLOTS, footprint_model, scenario_model
from astray.scenario.start import Start
from astray.scenario.units import BadUnit, convert_quantity, is_quantity, units_of_comment

TURN = TAU * (1.0 + 1e-9)  # rad, and what rounding adds
DISTRIBUTIONS = ("normal", "uniform", "choice")


class QuantityField(NamedTuple):
    """A field of a section: its type and its units."""

    hint: Any
    units: tuple[str, ...]
    """One for all numbers; several, one for each entry of a list; or none."""


Section = dict[str, QuantityField]


def convert_quantities(tree: Marked, faults: list[Fault]) -> None:
    """Replace every number with a unit by the number in the unit of its field.

    Args:
        tree: The scenario; it is changed in place.
        faults: A fault is appended for every unit that is wrong.
    """
    _convert_section(tree, _scenario_fields(), (), faults)
    _convert_plugins(tree, (), faults)
    robots = tree.at(("robots",))
    for k, robot in enumerate(robots.value if robots and isinstance(robots.value, list) else ()):
        path: Path = ("robots", k)
        for key, fields in (("start", _class_fields(Start)), ("footprint", _footprint_fields())):
            if (section := robot.at((key,))) is not None:
                _convert_section(section, fields, (*path, key), faults)
        _convert_plugins(robot, path, faults)


def _convert_plugins(owner: Marked, path: Path, faults: list[Fault]) -> None:
    """Convert the quantities of the plugins in the slots of a robot, or of the scenario."""
    for slot, family in SLOTS.items():
        held = owner.at((slot,))
        if held is None:
            continue
        many = isinstance(held.value, list)
        for j, node in enumerate(held.value if many else [held]):
            kind = node.at(("kind",))
            cls = KINDS[family].get(str(kind.value)) if kind else None
            if cls is not None:
                at = (*path, slot, j) if many else (*path, slot)
                _convert_section(node, _class_fields(cls), at, faults)


@functools.cache
def _class_fields(cls: type) -> Section:
    comments = field_comments(cls)
    return {
        p.name: QuantityField(p.type, units_of_comment(comments.get(p.name, "")))
        for p in parameters_of(cls)
    }


@functools.cache
def _footprint_fields() -> Section:
    return _model_fields(footprint_model())


@functools.cache
def _scenario_fields() -> Section:
    # The model is built anew when plugins are declared, but these two fields stay.
    fields = _model_fields(scenario_model())
    return {name: fields[name] for name in ("duration", "dt")}


def _model_fields(model: Any) -> Section:
    return {
        name: QuantityField(field.annotation, units_of_comment(field.description or ""))
        for name, field in model.model_fields.items()
    }


def _convert_section(node: Marked, fields: Section, path: Path, faults: list[Fault]) -> None:
    """Convert the values of a mapping."""
    if isinstance(node.value, dict):
        for key, value in node.value.items():
            if key in fields:
                _convert(value, *fields[key], (*path, key), faults)


def _convert(
    node: Marked, hint: Any, units: tuple[str, ...], path: Path, faults: list[Fault]
) -> None:
    """Convert a value of a type, and those within it."""
    hints = _members(hint)
    if isinstance(node.value, list):
        for inner in hints:
            if (entry := _entry_types(inner, len(node.value))) is not None:
                # Of mounts, a list of lists, only the inner ones have as many entries as units.
                each = len(units) > 1 and typing.get_origin(inner) is tuple
                for k, value in enumerate(node.value):
                    own = units[k : k + 1] if each else units
                    _convert(value, entry[k], own, (*path, k), faults)
                return
    elif isinstance(node.value, dict):
        for inner in hints:
            if dataclasses.is_dataclass(inner) and isinstance(inner, type):
                _convert_section(node, _class_fields(inner), path, faults)
                return
        if float in hints:
            for key in DISTRIBUTIONS:
                if (numbers := node.at((key,))) and isinstance(numbers.value, list):
                    for k, value in enumerate(numbers.value):
                        _convert_number(value, units, (*path, key, k), faults)
    elif (float in hints or int in hints) and str not in hints:
        _convert_number(node, units, path, faults)


def _convert_number(node: Marked, units: tuple[str, ...], path: Path, faults: list[Fault]) -> None:
    unit = units[0] if len(units) == 1 else ""
    value = node.value
    if isinstance(value, str) and is_quantity(value):
        try:
            node.value = convert_quantity(value, unit)
        except BadUnit as problem:
            faults.append(Fault(node.origin, format_path(path), str(problem)))
    elif unit == "rad" and isinstance(value, (int, float)) and TURN < abs(value) < math.inf:
        message = f"{value:g} rad is more than a turn; degrees are written '{value:g} deg'"
        fault = Fault(node.origin, format_path(path), message)
        warnings.warn(str(fault), ScenarioWarning, stacklevel=2)


def _members(hint: Any) -> list[Any]:
    """The types that a value may have, without their bounds."""
    if typing.get_origin(hint) is typing.Annotated:
        return _members(typing.get_args(hint)[0])
    if typing.get_origin(hint) in (typing.Union, UnionType):
        return [member for part in typing.get_args(hint) for member in _members(part)]
    return [hint]


def _entry_types(hint: Any, count: int) -> list[Any] | None:
    """The type of each of `count` entries of a list or a tuple; None for another type."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is list:
        return [args[0]] * count
    if origin is tuple and args[-1] is Ellipsis:
        return [args[0]] * count
    if origin is tuple:
        return [args[min(k, len(args) - 1)] for k in range(count)]
    return None
