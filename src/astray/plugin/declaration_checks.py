"""What a plugin class must be, looked at when it is declared: its author is told then, not later.

A class that is refused does not become a kind, so it is in nobody's way.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from astray.errors import PluginError, suggest
from astray.tables import READING

OF_MODELS = (
    "construct copy dict from_orm json parse_file parse_obj parse_raw schema schema_json "
    "update_forward_refs validate model_computed_fields model_config model_construct model_copy "
    "model_dump model_dump_json model_extra model_fields model_fields_set model_json_schema "
    "model_parametrized_name model_post_init model_rebuild model_validate model_validate_json "
    "model_validate_strings"
)
"""What pydantic's models have: a key of that name breaks every scenario. It is slow to import."""


def check_declared(cls: Any, kind: str) -> None:
    """Raise PluginError for the first thing that keeps a class from being of this kind."""
    who = f"{cls.family or 'plugin'} kind {kind!r} (class {cls.__qualname__})"
    if not cls.family:
        raise PluginError(f"{who} must subclass a family, such as Sensor, and not Plugin itself")
    family = next(base for base in cls.__mro__ if "family" in base.__dict__)
    for find in (_taken_name, _missing_verb, _wrong_call, _wrong_layout):
        if flaw := find(cls, family):
            raise PluginError(f"{who} {flaw}")


def _taken_name(cls: Any, family: Any) -> str:
    """Of a parameter whose name its family uses; what they have in common may be redefined."""
    theirs = family.__dataclass_fields__
    in_common = {f.name for f in dataclasses.fields(family) if f.init} - {"name"}
    for field in dataclasses.fields(cls):
        name = field.name
        if theirs.get(name) is field or name in in_common:
            continue
        if name in theirs or hasattr(family, name) or (field.init and name in OF_MODELS.split()):
            return (
                f"cannot have a parameter called {name!r}, which is taken: give it another name, "
                "or leave out its annotation if it is not meant to be a parameter"
            )
        if field.init and name.startswith("_"):
            return f"cannot have a parameter called {name!r}: no key of a scenario begins with '_'"
    return ""


def _missing_verb(cls: Any, family: Any) -> str:
    """Of a verb that is not defined, or only in another spelling."""
    # Python itself notes what is abstract only after the class was declared.
    made = ((name, getattr(cls, name)) for name in _methods(family))
    missing = [name for name, it in made if getattr(it, "__isabstractmethod__", False)]
    if not missing:
        return ""
    meant = (f"; it has {k!r}{m}" for k in cls.__dict__ if (m := suggest(k, missing)))
    return f"must define {_call(family, missing[0])}{next(meant, '')}"


def _wrong_call(cls: Any, family: Any) -> str:
    """Of a method that cannot be called as its family's is."""
    for name in _methods(family):
        own = next(base.__dict__[name] for base in cls.__mro__ if name in base.__dict__)
        theirs = getattr(family, name)
        if own is theirs or not inspect.isfunction(own):
            continue  # how to call what a stranger's decorator makes of it is not known
        try:
            inspect.signature(own).bind(*_positional(theirs))
        except TypeError:
            return f"must define {_call(family, name)}, not {_call(cls, name)}"
    return ""


def _wrong_layout(cls: Any, family: Any) -> str:
    """Of a sensor whose readings have no layout, or not that of a reading."""
    if "measures" not in family.__dataclass_fields__:
        return ""
    layout = getattr(cls, "measures", None)
    if layout is None:
        return "must say what it measures, such as measures = columns(READING, 'range m')"
    names = layout.names if isinstance(layout, np.dtype) else None
    if not set(READING.names or ()) <= set(names or ()):
        return (
            "must measure what every reading has, too: begin its layout with READING, such as "
            "measures = columns(READING, 'range m')"
        )
    return ""


@functools.cache
def _methods(family: Any) -> list[str]:
    """The methods that a class of a family may define, its verb among them."""
    found = (name for name in dir(family) if not name.startswith("_"))
    return [name for name in found if inspect.isfunction(getattr(family, name))]


def _positional(method: Callable[..., Any]) -> list[str]:
    """The names of what a method is handed by position, `self` included."""
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [n for n, p in inspect.signature(method).parameters.items() if p.kind in by_position]


def _call(cls: Any, method: str) -> str:
    """A method as its author writes it: sense(self, rows, scene, out)."""
    return f"{method}({', '.join(_positional(getattr(cls, method)))})"
