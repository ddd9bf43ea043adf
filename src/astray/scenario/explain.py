"""What is wrong, where, and what would be right: pydantic's findings in our words."""

from __future__ import annotations

import dataclasses
from typing import Any

from astray.errors import Fault, Path
from astray.errors import in_words as in_words
from astray.marks import Marked
from astray.parameters import parameters
from astray.plugin import KINDS
from astray.scenario.merge import suggest
from astray.scenario.model import SLOTS, robot_model, scenario_model
from astray.start import Start


def explain(error: Any, tree: Marked) -> Fault:
    """One finding as a fault with its origin."""
    path = _path(error["loc"], tree)
    what, of_key = error["type"], False
    if what == "extra_forbidden":
        of_key = True
        known = _known_keys(path[:-1], tree)
        listed = f" ({', '.join(known)})" if known else ""
        message = f"no key {path[-1]!r} here{suggest(str(path[-1]), known)}{listed}"
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
    elif what in ("model_type", "model_attributes_type", "dict_type", "dataclass_type"):
        message = f"a mapping of keys to values is needed, not {_short(error['input'])}"
    elif what == "too_short":
        message = "needs at least one entry"
    elif what == "number":
        message = error["msg"]
    else:
        message = f"{error['msg'][0].lower()}{error['msg'][1:]}, not {_short(error['input'])}"
    return Fault(tree.nearest(path, of_key), in_words(path), message)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 40 else text[:37] + "..."


def _path(loc: tuple[str | int, ...], tree: Marked) -> Path:
    """Where a finding is in the file: pydantic's path without the kinds that it adds."""
    path: Path = ()
    here: Marked | None = tree
    for k, part in enumerate(loc):
        value = here.value if here is not None else None
        inside = isinstance(value, dict) and part in value
        if inside or (isinstance(value, list) and isinstance(part, int)):
            path = (*path, part)
            here = tree.at(path)
        elif isinstance(value, dict) and "kind" in value and value["kind"].value == part:
            continue
        else:
            return (*path, part) if k == len(loc) - 1 else path
    return path


def _family(path: Path) -> str:
    return next((SLOTS[part] for part in reversed(path) if part in SLOTS), "motion")


def _known_keys(path: Path, tree: Marked) -> list[str]:
    """The keys that a mapping may have."""
    if path == ():
        return list(scenario_model().model_fields)
    if len(path) == 2 and path[0] == "robots":
        return [*robot_model().model_fields, "preset"]
    if path[-1] == "start":
        return [field.name for field in dataclasses.fields(Start)]
    kind = tree.at((*path, "kind"))
    cls = KINDS[_family(path)].get(str(kind.value)) if kind else None
    return ["kind", "name", *(p.name for p in parameters(cls))] if cls else []
