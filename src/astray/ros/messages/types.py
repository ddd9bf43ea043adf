"""The message types of ROS 2: their fields, definitions and hashes; encoding and decoding.

Types are those of ROS 2 Jazzy, as the package rosbags has them. A type that astray needs besides is
declared from the text of its .msg file (`declare_type`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from astray.errors import AstrayError

if TYPE_CHECKING:
    from rosbags.typesys.store import Typestore

OWN_PACKAGE = "astray_msgs"


class BadMessage(AstrayError):
    """Bytes or values that are no message of the expected type."""


@cache
def typestore() -> Typestore:
    """The message types of ROS 2 Jazzy and those that were declared."""
    from rosbags.typesys import Stores, get_typestore

    return get_typestore(Stores.ROS2_JAZZY)


def full_name(name: str) -> str:
    """The full name of a type: `sensor_msgs/msg/Imu` of `sensor_msgs/Imu`, as in ROS 1."""
    package, _, rest = name.partition("/")
    return name if "/" in rest else f"{package}/msg/{rest}"


def is_known(name: str) -> bool:
    """Whether there is a type of this name."""
    return full_name(name) in typestore().fielddefs


@cache
def declare_type(name: str, text: str) -> str:
    """Register a message type.

    Args:
        name: The name that it should have.
        text: The text of its .msg file.

    Returns:
        The name under which it is registered: with a number if another type has the name already.

    Raises:
        BadMessage: The text is no message definition.
    """
    from rosbags.typesys import TypesysError, get_types_from_msg

    free, count = full_name(name), 1
    while True:
        try:
            fresh = get_types_from_msg(text, free)
            if not is_known(free):
                typestore().register(fresh)
                return free
        except (TypesysError, ValueError, LookupError):
            raise BadMessage(f"the definition of the type {name!r} is not valid") from None
        if _has_same_fields(fresh[free], typestore().fielddefs[free]):
            return free
        count += 1
        free = f"{full_name(name)}{count}"


def _has_same_fields(one: Any, other: Any) -> bool:
    """Whether two definitions have the same fields, in the same order."""
    return [(n, str(t)) for n, t in one[1]] == [(n, str(t)) for n, t in other[1]]


@cache
def message_definition(name: str) -> str:
    """The definition of a type and of all types in it, as MCAP recordings hold it."""
    return str(typestore().generate_msgdef(name, ros_version=2)[0])


@cache
def type_hash(name: str) -> str:
    """The type hash of ROS 2 (REP 2016): RIHS01_ and 64 hexadecimal digits."""
    return str(typestore().hash_rihs01(name))


def decode(name: str, data: bytes | memoryview) -> Any:
    """Decode a message.

    Args:
        name: The message type.
        data: The CDR bytes, header included.

    Returns:
        An object with an attribute for each field; sequences of numbers are NumPy arrays.

    Raises:
        BadMessage: The bytes are no message of this type.
    """
    try:
        return typestore().deserialize_cdr(memoryview(data), name)
    except Exception as problem:  # noqa: BLE001 - bytes of a peer: any failure is theirs
        raise BadMessage(f"{len(data)} bytes are no {name}: {problem}") from None


def encode(name: str, values: Mapping[str, Any]) -> bytes:
    """Encode a message made of plain values.

    Args:
        name: The message type.
        values: Plain values by field, nested as in JSON; what is missing is zero, empty or false.

    Returns:
        The CDR bytes, header included.

    Raises:
        BadMessage: A value does not fit its field.
    """
    return to_bytes(make_message(name, values))


def to_bytes(message: Any) -> bytes:
    """The CDR bytes of a message."""
    name = message.__msgtype__
    try:
        return bytes(typestore().serialize_cdr(message, name))
    except Exception as problem:  # noqa: BLE001 - values of a peer
        raise BadMessage(f"values do not fit {name}: {problem}") from None


def make_message(name: str, values: Mapping[str, Any]) -> Any:
    """A message object made of plain values, as `encode` takes them."""
    fields = dict(_fields(name))
    unknown = sorted(set(values) - set(fields))
    if unknown:
        raise BadMessage(f"{name} has no field {unknown[0]!r} ({', '.join(fields)})")
    made = {key: _value(node, values.get(key), f"{name}.{key}") for key, node in fields.items()}
    return typestore().types[name](**made)


def to_plain(message: Any, arrays: bool = False) -> Any:
    """A message object as plain values, for JSON; with `arrays`, NumPy arrays stay as they are."""
    kind = getattr(message, "__msgtype__", None)
    if kind is not None:  # the type's constants are attributes as well
        return {name: to_plain(getattr(message, name), arrays) for name, _ in _fields(kind)}
    if isinstance(message, np.ndarray):
        return message if arrays else message.tolist()
    if isinstance(message, (list, tuple)):
        return [to_plain(value, arrays) for value in message]
    return message.item() if isinstance(message, np.generic) else message


def fields_of(name: str) -> tuple[str, ...]:
    """The names of a type's fields, in their order."""
    return tuple(field for field, _ in _fields(name))


@dataclass(frozen=True)
class MessageField:
    """A field of a message type; `length` is −1 for a single value, 0 for a sequence."""

    name: str
    type: str
    length: int


def field_types(name: str) -> list[MessageField]:
    """The fields of a type, with the type and length of each."""
    from rosbags.interfaces import Nodetype

    found = []
    for field, (kind, about) in _fields(name):
        length, inner = -1, (kind, about)
        if kind in (Nodetype.ARRAY, Nodetype.SEQUENCE):
            inner, length = about
            length = length if kind == Nodetype.ARRAY else 0
        base = inner[1] if inner[0] == Nodetype.NAME else inner[1][0]
        found.append(MessageField(field, base, length))
    return found


def _fields(name: str) -> list[tuple[str, Any]]:
    if not is_known(name):
        raise BadMessage(f"unknown message type {name!r}")
    return list(typestore().fielddefs[name][1])


def _value(node: Any, given: Any, path: str) -> Any:
    """The value of a field: checked, or its default where none is given."""
    from rosbags.interfaces import Nodetype

    kind, about = node
    if kind == Nodetype.NAME:
        if given is not None and not isinstance(given, Mapping):
            raise BadMessage(f"{path} needs fields, not {given!r}")
        return make_message(about, given or {})
    if kind == Nodetype.BASE:
        return _base_value(about[0], given, path)
    element, size = about
    values = list(given) if isinstance(given, (list, tuple, np.ndarray)) else None
    if values is None and given is not None:
        raise BadMessage(f"{path} needs a list, not {given!r}")
    fixed = kind == Nodetype.ARRAY
    if values is None:
        values = [None] * (size if fixed else 0)
    if fixed and len(values) != size:
        raise BadMessage(f"{path} needs {size} values, not {len(values)}")
    made = [_value(element, value, path) for value in values]
    if element[0] == Nodetype.BASE and element[1][0] != "string":
        return np.array(made, NUMBERS[element[1][0]])
    return made


def _base_value(base: str, given: Any, path: str) -> Any:
    """A text, truth value or number."""
    if base in ("string", "wstring"):
        if given is not None and not isinstance(given, str):
            raise BadMessage(f"{path} needs text, not {given!r}")
        return given or ""
    if base == "bool":
        if given is not None and not isinstance(given, (bool, int)):
            raise BadMessage(f"{path} needs true or false, not {given!r}")
        return bool(given)
    if given is None and base.startswith("float"):
        return 0.0
    number: type = float if base.startswith("float") else int
    try:
        value = number(0 if given is None else given)
    except (TypeError, ValueError, OverflowError):
        raise BadMessage(f"{path} needs a number, not {given!r}") from None
    if number is int:
        limits = np.iinfo(NUMBERS[base])
        if not limits.min <= value <= limits.max:
            raise BadMessage(f"{path} needs {limits.min} to {limits.max}, not {value}")
    return value


NUMBERS = {
    "bool": "?",
    "byte": "<u1",
    "char": "<u1",
    "octet": "<u1",
    "int8": "<i1",
    "uint8": "<u1",
    "int16": "<i2",
    "uint16": "<u2",
    "int32": "<i4",
    "uint32": "<u4",
    "int64": "<i8",
    "uint64": "<u8",
    "float32": "<f4",
    "float64": "<f8",
}
"""The NumPy type of each base type."""
