"""What is wrong, where, and what would be right: pydantic's findings in our words."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from astray.errors import Fault, Path
from astray.errors import format_path as format_path
from astray.files import Marked
from astray.plugin import KINDS, parameters_of
from astray.scenario.layers import suggest
from astray.scenario.schema import SLOTS, robot_model, scenario_model
from astray.scenario.start import Start

NEEDED = " is needed"
MAPPING = f"a mapping of keys to values{NEEDED}"
NUMBER, WHOLE, YES_OR_NO = f"a number{NEEDED}", f"a whole number{NEEDED}", f"true or false{NEEDED}"
WORDS = {
    "string_type": f"a text{NEEDED}",
    "string_pattern_mismatch": "a name of letters, digits, _ and - is needed, a letter or _ first",
    "float_type": NUMBER,
    "float_parsing": NUMBER,
    "finite_number": "a finite number is needed",
    "int_type": WHOLE,
    "int_parsing": WHOLE,
    "int_from_float": WHOLE,
    "bool_type": YES_OR_NO,
    "bool_parsing": YES_OR_NO,
    **dict.fromkeys(
        ("model_type", "model_attributes_type", "dict_type", "dataclass_type"), MAPPING
    ),
    "list_type": "a list is needed",
    "tuple_type": "a list is needed",
    "greater_than": "must be greater than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "too_short": "needs at least {min_length} entries",
    "too_long": "takes at most {max_length} entries",
    "literal_error": "{expected} is needed",
}
"""What the value should have been, by the type of a finding."""
CHOICES = ("str", "tuple[float, float]")
"""What pydantic calls the things that a value may be."""


def explain_all(errors: Sequence[Any], tree: Marked) -> list[Fault]:
    """Findings as faults: where a value may be one thing or another, what it is nearest to."""
    found: dict[Path | int, list[Any]] = {}
    for k, error in enumerate(errors):
        place = _path(error["loc"], tree)[1]
        found.setdefault(k if place is None else place, []).append(error)
    faults: list[Fault] = []
    for group in found.values():
        near = [error for error in group if not error["type"].endswith("_type")]
        explained = [explain(error, tree) for error in near or group]
        faults += explained if near or len(group) == 1 else [_any_of(explained)]
    return faults


def _any_of(faults: list[Fault]) -> Fault:
    """One fault for a value that is none of the things that it may be."""
    end = faults[0].message.partition(NEEDED)[2]
    wanted = [fault.message.partition(NEEDED)[0] for fault in faults]
    return replace(faults[0], message=" or ".join(dict.fromkeys(wanted)) + NEEDED + end)


def explain(error: Any, tree: Marked) -> Fault:
    """One finding as a fault with its origin."""
    path, _ = _path(error["loc"], tree)
    what, of_key = error["type"], False
    if what in ("extra_forbidden", "unexpected_keyword_argument"):
        of_key = True
        known = _known_keys(path[:-1], tree)
        listed = f" ({', '.join(known)})" if known else ""
        message = f"no key {path[-1]!r} here{suggest(str(path[-1]), known)}{listed}"
    elif what == "missing" and isinstance(path[-1], int):
        path = path[:-1]
        message = f"has too few entries: {_short(error['input'])}"
    elif what == "missing":
        path, missing = path[:-1], path[-1]
        message = f"needs {missing!r}"
    elif what == "union_tag_invalid":
        path = (*path, "kind")
        kinds = sorted(KINDS[_family(path)])
        got = str(error["ctx"]["tag"])
        message = f"no kind {got!r}{suggest(got, kinds)} ({', '.join(kinds)})"
    elif what == "union_tag_not_found":
        message = f"needs a kind ({', '.join(sorted(KINDS[_family(path)]))})"
    elif path and path[-1] == "estimator" and isinstance(error["input"], list):
        message = "one estimator owns the belief: put the others under rivals"
    else:
        message = describe_fault(error)
    return Fault(tree.nearest(path, of_key), format_path(path), message)


def describe_fault(error: Any) -> str:
    """What a finding says of a value, in our words."""
    what, ctx = error["type"], error.get("ctx", {})
    if what == "number":
        return str(error["msg"])
    if what == "value_error":
        return str(ctx["error"])
    if what == "too_short" and ctx["min_length"] == 1:
        return "needs at least one entry"
    if what in WORDS:
        message = WORDS[what].format(**ctx)
    else:  # of a type that only strangers' plugins have
        message = error["msg"][0].lower() + error["msg"][1:]
    return f"{message}, not {_short(error['input'])}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 40 else text[:37] + "..."


def _path(loc: tuple[str | int, ...], tree: Marked) -> tuple[Path, Path | None]:
    """Where a finding is in the file: pydantic's path without the kinds that it adds.

    Besides, where a value may be one of several things, of which pydantic names one.
    """
    path: Path = ()
    choice: Path | None = None
    here: Marked | None = tree
    for k, part in enumerate(loc):
        value = here.value if here is not None else None
        inside = isinstance(value, dict) and part in value
        if inside or (isinstance(value, list) and isinstance(part, int)):
            path = (*path, part)
            here = tree.at(path)
        elif isinstance(value, dict) and "kind" in value and value["kind"].value == part:
            continue
        elif here is not None and (not isinstance(value, dict) or part in CHOICES):
            choice = path
        else:
            return ((*path, part) if k == len(loc) - 1 else path), choice
    return path, choice


def _family(path: Path) -> str:
    return next((SLOTS[part] for part in reversed(path) if part in SLOTS), "motion")


def _known_keys(path: Path, tree: Marked) -> list[str]:
    """The keys that a mapping may have."""
    if path == ():
        return list(_of_scenario())
    if len(path) == 2 and path[0] == "robots":
        return [*_of_robot(), "preset"]
    if path[-1] == "start":
        return [field.name for field in dataclasses.fields(Start)]
    kind = tree.at((*path, "kind"))
    cls = KINDS[_family(path)].get(str(kind.value)) if kind else None
    return ["kind", "name", *(p.name for p in parameters_of(cls))] if cls else []


# Models are made anew whenever they are asked for, since plugins may have been declared: their
# values depend on that, their keys do not.


@functools.cache
def _of_scenario() -> tuple[str, ...]:
    return tuple(scenario_model().model_fields)


@functools.cache
def _of_robot() -> tuple[str, ...]:
    return tuple(robot_model().model_fields)
