"""Checks of a plugin class when it is declared, so that its author gets the error at once.

A class that is refused is not registered as a kind.
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
"""The attributes of pydantic's models: a key of such a name breaks every scenario. It is a literal,
because pydantic is slow to import."""

RENAMED = {
    "beat": "schedule",
    "bulk": "array_shapes",
    "fastest": "speed_bound",
    "foresee": "predict_accelerations",
    "spare": "quiet_ticks",
    "usual_rate": "default_rate",
}
"""What a class may define that has another name now."""


def check_declared(cls: Any, kind: str) -> None:
    """Raise PluginError for the first thing that keeps a class from being of this kind."""
    plugin = f"{cls.family or 'plugin'} kind {kind!r} (class {cls.__qualname__})"
    if not cls.family:
        raise PluginError(f"{plugin} must subclass a family, such as Sensor, and not Plugin itself")
    family = next(base for base in cls.__mro__ if "family" in base.__dict__)
    for check in (_taken_name, _old_name, _missing_verb, _wrong_signature, _wrong_layout):
        if fault := check(cls, family):
            raise PluginError(f"{plugin} {fault}")


def _taken_name(cls: Any, family: Any) -> str:
    """A parameter whose name its family uses; parameters of the family may be redefined."""
    family_fields = family.__dataclass_fields__
    redefinable = {f.name for f in dataclasses.fields(family) if f.init} - {"name"}
    for field in dataclasses.fields(cls):
        name = field.name
        if family_fields.get(name) is field or name in redefinable:
            continue
        used = name in family_fields or hasattr(family, name)
        if used or (field.init and name in OF_MODELS.split()):
            return (
                f"cannot have a parameter called {name!r}, which is taken: give it another name, "
                "or leave out its annotation if it is not meant to be a parameter"
            )
        if field.init and name.startswith("_"):
            return f"cannot have a parameter called {name!r}: no key of a scenario begins with '_'"
    return ""


def _old_name(cls: Any, family: Any) -> str:
    """A method or setting under the name that it had before."""
    for old, new in RENAMED.items():
        if old in cls.__dict__ and hasattr(family, new) and old not in cls.__dataclass_fields__:
            return f"defines {old!r}, which is called {new!r} now"
    return ""


def _missing_verb(cls: Any, family: Any) -> str:
    """A verb that is not defined, or only in another spelling."""
    # Python sets __abstractmethods__ only after the class was declared.
    methods = ((name, getattr(cls, name)) for name in _methods(family))
    missing = [name for name, it in methods if getattr(it, "__isabstractmethod__", False)]
    if not missing:
        return ""
    meant = (f"; it has {k!r}{m}" for k in cls.__dict__ if (m := suggest(k, missing)))
    return f"must define {_signature(family, missing[0])}{next(meant, '')}"


def _wrong_signature(cls: Any, family: Any) -> str:
    """A method that cannot be called as its family's is."""
    for name in _methods(family):
        own = next(base.__dict__[name] for base in cls.__mro__ if name in base.__dict__)
        inherited = getattr(family, name)
        if own is inherited or not inspect.isfunction(own):
            continue  # the signature of what a foreign decorator returns is unknown
        try:
            inspect.signature(own).bind(*_positional(inherited))
        except TypeError:
            return f"must define {_signature(family, name)}, not {_signature(cls, name)}"
    return ""


def _wrong_layout(cls: Any, family: Any) -> str:
    """A sensor whose readings have no layout, or lack the columns of every reading."""
    if "measures" not in family.__dataclass_fields__:
        return ""
    layout = getattr(cls, "measures", None)
    if layout is None:
        return "must declare what it measures, such as measures = columns(READING, 'range m')"
    names = layout.names if isinstance(layout, np.dtype) else None
    if not set(READING.names or ()) <= set(names or ()):
        return (
            "must have the columns of every reading: begin its layout with READING, such as "
            "measures = columns(READING, 'range m')"
        )
    return ""


@functools.cache
def _methods(family: Any) -> list[str]:
    """The methods that a class of a family may define, its verb among them."""
    found = (name for name in dir(family) if not name.startswith("_"))
    return [name for name in found if inspect.isfunction(getattr(family, name))]


def _positional(method: Callable[..., Any]) -> list[str]:
    """The names of a method's positional parameters, `self` included."""
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [n for n, p in inspect.signature(method).parameters.items() if p.kind in by_position]


def _signature(cls: Any, method: str) -> str:
    """A method as its author writes it: sense(self, rows, scene, out)."""
    return f"{method}({', '.join(_positional(getattr(cls, method)))})"
