"""Parameters of plugins: the fields of a class, and the table that kernels read as `p.radius`."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import textwrap
import tokenize
import typing
from io import StringIO
from types import UnionType
from typing import TYPE_CHECKING, Any

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from astray.numerics import random
from astray.plugin.distributions import DrawnParameter
from astray.tables import Columns, Rows, Table, record_type

if TYPE_CHECKING:
    from astray.plugin.plugin import Plugin

TIMING = ("rate", "offset", "latency", "jitter", "loss")
"""Parameters that the simulator reads; they are no columns and cannot be drawn."""


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One key of a plugin in a scenario.

    Attributes:
        name: The key.
        type: The annotation of the field.
        number: float, int or bool where the parameter is a column; else None.
        default: The default; `dataclasses.MISSING` where a value must be given.
    """

    name: str
    type: Any
    number: type | None
    default: Any


@functools.cache
def parameters_of(cls: type) -> tuple[Parameter, ...]:
    """List the parameters of a class.

    Args:
        cls: A plugin class or another dataclass.

    Returns:
        The parameters in the order of the fields, those of the timing last.
    """
    hints = typing.get_type_hints(cls, include_extras=True)
    found = []
    for field in dataclasses.fields(cls):
        if not field.init or field.name == "name":
            continue
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        number = None if field.name in TIMING else _number(hints[field.name])
        found.append(Parameter(field.name, hints[field.name], number, default))
    return tuple(sorted(found, key=lambda p: p.name in TIMING))


def _number(hint: Any) -> type | None:
    """The type of the column that a field becomes, None if it is not a number."""
    if typing.get_origin(hint) is typing.Annotated:
        return _number(typing.get_args(hint)[0])
    if typing.get_origin(hint) in (typing.Union, UnionType):
        kinds = [_number(part) for part in typing.get_args(hint) if part is not type(None)]
        return kinds[0] if len(kinds) == 1 and kinds[0] is float else None
    return hint if hint in (float, int, bool) else None


def choices(hint: Any) -> tuple[str, ...]:
    """The words that a parameter may be, given its annotation; none if it is no enumeration."""
    if typing.get_origin(hint) is typing.Literal:
        return typing.get_args(hint)
    if typing.get_origin(hint) in (typing.Union, UnionType, typing.Annotated):
        return next(filter(None, map(choices, typing.get_args(hint))), ())
    return ()


def out_of_bounds(hint: Any, low: float, high: float) -> str:
    """Check a value, or the range that it is drawn from, against the bounds of its annotation.

    Args:
        hint: The annotation, such as `Annotated[float, Gt(0)]`.
        low: The smallest value.
        high: The largest value.

    Returns:
        What is wrong, such as "must be greater than 0"; empty if nothing is.
    """
    if typing.get_origin(hint) in (typing.Union, UnionType):
        return next(filter(None, (out_of_bounds(p, low, high) for p in typing.get_args(hint))), "")
    for bound in getattr(hint, "__metadata__", ()):
        any_bound: Any = bound
        if isinstance(bound, Gt) and not low > any_bound.gt:
            return f"must be greater than {bound.gt}"
        if isinstance(bound, Ge) and not low >= any_bound.ge:
            return f"must be at least {bound.ge}"
        if isinstance(bound, Lt) and not high < any_bound.lt:
            return f"must be less than {bound.lt}"
        if isinstance(bound, Le) and not high <= any_bound.le:
            return f"must be at most {bound.le}"
    return ""


def field_comments(cls: type) -> dict[str, str]:
    """Read the comments behind the fields of a class: unit and meaning.

    Args:
        cls: A plugin class or another dataclass.

    Returns:
        The comments by field, those of base classes included.
    """
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__[:-1]):
        found |= _comments(base)
    return found


@functools.cache
def _comments(cls: type) -> dict[str, str]:
    """The comments of the fields that a class declares itself."""
    found: dict[str, str] = {}
    if "__annotations__" not in cls.__dict__ and not getattr(cls, "__annotations__", None):
        return found
    try:
        source = textwrap.dedent(inspect.getsource(cls))
    except (OSError, TypeError):  # declared at a prompt: there is no source file
        return found
    name = ""
    for token in tokenize.generate_tokens(StringIO(source).readline):
        first = token.line.split(":")[0].strip()
        if token.type == tokenize.NAME and token.string == first:
            name = first
        elif token.type == tokenize.COMMENT and name and token.line.strip()[0] != "#":
            found[name] = token.string.lstrip("# ")
        elif token.type == tokenize.NEWLINE:
            name = ""
    return found


@functools.cache
def parameter_columns(cls: type[Plugin]) -> Columns:
    """The layout of a plugin's parameter table; optional numbers are nan where not given."""
    kinds = {float: "f8", int: "i8", bool: "?"}
    parts = [(p.name, kinds[p.number]) for p in parameters_of(cls) if p.number]
    # A record needs a column to exist at all.
    return record_type(parts or [("none", "f8")])


@functools.cache
def _numbers(cls: type[Plugin]) -> tuple[str, ...]:
    return tuple(p.name for p in parameters_of(cls) if p.number)


def shared_parameters(plugin: Plugin) -> Table:
    """A plugin's parameters as one record, nan where they are not given or drawn for each row."""
    made = np.zeros((), parameter_columns(type(plugin)))
    for name in _numbers(type(plugin)):
        value = getattr(plugin, name)
        made[name] = np.nan if value is None or isinstance(value, DrawnParameter) else value
    return made


def drawn_parameters(plugin: Plugin) -> list[str]:
    """The parameters of a plugin that are drawn for each row."""
    return [
        name for name in _numbers(type(plugin)) if isinstance(getattr(plugin, name), DrawnParameter)
    ]


def draw_parameters(plugin: Plugin, rows: Rows) -> None:
    """Draw the parameters of a bound plugin that are drawn for each row."""
    if plugin.drawn_params:
        # The tick is left out: the parameters of an episode do not depend on when it starts.
        address = plugin.address.take(rows)
        address["tick"] = 0
        for name in plugin.drawn_params:
            key = random.key(int(plugin.key), name)
            value = getattr(plugin, name).sample(address, np.arange(len(rows)), key)
            plugin.params[name][rows] = value
