"""Faults from pydantic's errors: where, what is wrong, and what would be right."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

from astray.errors import Fault, Path, format_path, suggest
from astray.files import Marked
from astray.plugin import KINDS, parameters_of
from astray.scenario.schema import SLOTS, robot_model, scenario_model
from astray.scenario.start import Start

NEEDED = " is needed"
MAPPING = f"a mapping of keys to values{NEEDED}"
NUMBER, WHOLE, YES_OR_NO = f"a number{NEEDED}", f"a whole number{NEEDED}", f"true or false{NEEDED}"
MESSAGES = {
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
    "model_type": MAPPING,
    "model_attributes_type": MAPPING,
    "dict_type": MAPPING,
    "dataclass_type": MAPPING,
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
"""What the value should be, by the type of pydantic's error."""
UNION_MEMBERS = ("str", "tuple[float, float]")
"""The names of types that pydantic adds to the path of a value that has several types."""


def explain_all(errors: Sequence[Any], tree: Marked) -> list[Fault]:
    """All errors as faults; of a value that has several types, those of the nearest type."""
    grouped: dict[Path | int, list[Any]] = {}
    for k, error in enumerate(errors):
        union = _path(error["loc"], tree)[1]
        grouped.setdefault(k if union is None else union, []).append(error)
    faults: list[Fault] = []
    for group in grouped.values():
        of_right_type = [error for error in group if not error["type"].endswith("_type")]
        explained = [explain(error, tree) for error in of_right_type or group]
        single = of_right_type or len(group) == 1
        faults += explained if single else [_any_of(explained)]
    return faults


def _any_of(faults: list[Fault]) -> Fault:
    """One fault for a value that has none of the types that it may have."""
    end = faults[0].message.partition(NEEDED)[2]
    wanted = [fault.message.partition(NEEDED)[0] for fault in faults]
    message = " or ".join(dict.fromkeys(wanted)) + NEEDED + end
    return dataclasses.replace(faults[0], message=message)


def explain(error: Any, tree: Marked) -> Fault:
    """An error as a fault with the origin of its value or key."""
    path, _ = _path(error["loc"], tree)
    kind, of_key = error["type"], False
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        of_key = True
        known = _known_keys(path[:-1], tree)
        listed = f" ({', '.join(known)})" if known else ""
        message = f"unknown key {path[-1]!r}{suggest(str(path[-1]), known)}{listed}"
    elif kind == "missing" and isinstance(path[-1], int):
        path = path[:-1]
        message = f"has too few entries: {_shorten(error['input'])}"
    elif kind == "missing":
        path, missing = path[:-1], path[-1]
        message = f"needs {missing!r}"
    elif kind == "union_tag_invalid":
        path = (*path, "kind")
        kinds = sorted(KINDS[_family(path)])
        got = str(error["ctx"]["tag"])
        message = f"unknown kind {got!r}{suggest(got, kinds)} ({', '.join(kinds)})"
    elif kind == "union_tag_not_found":
        message = f"needs a kind ({', '.join(sorted(KINDS[_family(path)]))})"
    elif path and path[-1] == "estimator" and isinstance(error["input"], list):
        message = "one estimator owns the belief: put the others under rivals"
    else:
        message = describe_error(error)
    return Fault(tree.nearest(path, of_key), format_path(path), message)


def describe_error(error: Any) -> str:
    """What is wrong with a value.

    Args:
        error: One of pydantic's `ValidationError.errors()`.

    Returns:
        The message, without path and origin.
    """
    kind, ctx = error["type"], error.get("ctx", {})
    if kind == "number":
        return str(error["msg"])
    if kind == "value_error":
        return str(ctx["error"])
    if kind == "too_short" and ctx["min_length"] == 1:
        return "needs at least one entry"
    if kind in MESSAGES:
        message = MESSAGES[kind].format(**ctx)
    else:  # of a type that only plugins from outside have
        message = error["msg"][0].lower() + error["msg"][1:]
    return f"{message}, not {_shorten(error['input'])}"


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) < 40 else text[:37] + "..."


def _path(loc: tuple[str | int, ...], tree: Marked) -> tuple[Path, Path | None]:
    """The path in the file: pydantic's without the kinds and types that it adds.

    And the path of the value that may have several types, if the error is of one of them.
    """
    path: Path = ()
    union: Path | None = None
    node: Marked | None = tree
    for k, part in enumerate(loc):
        value = node.value if node is not None else None
        inside = isinstance(value, dict) and part in value
        if inside or (isinstance(value, list) and isinstance(part, int)):
            path = (*path, part)
            node = tree.at(path)
        elif isinstance(value, dict) and "kind" in value and value["kind"].value == part:
            continue
        elif node is not None and (not isinstance(value, dict) or part in UNION_MEMBERS):
            union = path
        else:
            return ((*path, part) if k == len(loc) - 1 else path), union
    return path, union


def _family(path: Path) -> str:
    return next((SLOTS[part] for part in reversed(path) if part in SLOTS), "motion")


def _known_keys(path: Path, tree: Marked) -> list[str]:
    """The keys that the mapping at a path may have."""
    if path == ():
        return list(_scenario_keys())
    if len(path) == 2 and path[0] == "robots":
        return [*_robot_keys(), "preset"]
    if path[-1] == "start":
        return [field.name for field in dataclasses.fields(Start)]
    kind = tree.at((*path, "kind"))
    cls = KINDS[_family(path)].get(str(kind.value)) if kind else None
    return ["kind", "name", *(p.name for p in parameters_of(cls))] if cls else []


# The models are built anew at every call, since plugins may have been declared. Their values depend
# on that, their keys do not.


@functools.cache
def _scenario_keys() -> tuple[str, ...]:
    return tuple(scenario_model().model_fields)


@functools.cache
def _robot_keys() -> tuple[str, ...]:
    return tuple(robot_model().model_fields)
