"""Message types as the transport wants them declared: their fields, by the names of ROS 2.

`sensor_msgs/msg/Imu` is `sensor_msgs::msg::dds_::Imu_` on the bus.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from cyclonedds.idl import make_idl_struct
from cyclonedds.idl import types as idl

from astray.ros.messages import typestore

BASES: dict[str, Any] = {
    "bool": bool,
    "byte": idl.uint8,
    "char": idl.uint8,
    "octet": idl.uint8,
    "int8": idl.int8,
    "uint8": idl.uint8,
    "int16": idl.int16,
    "uint16": idl.uint16,
    "int32": idl.int32,
    "uint32": idl.uint32,
    "int64": idl.int64,
    "uint64": idl.uint64,
    "float32": idl.float32,
    "float64": idl.float64,
}


def bus_name(type: str) -> str:
    """The name of a type on the bus."""
    package, _, name = type.split("/")
    return f"{package}::msg::dds_::{name}_"


def topic_name(topic: str) -> str:
    """The name of a ROS 2 topic on the bus."""
    return f"rt{topic}"


@cache
def struct_of(type: str) -> Any:
    """A type as the transport knows it."""
    fields = {name: _field(node) for name, node in typestore().fielddefs[type][1]}
    return make_idl_struct(type.split("/")[-1], bus_name(type), fields)


def _field(node: Any) -> Any:
    from rosbags.interfaces import Nodetype

    kind, about = node
    if kind == Nodetype.NAME:
        return struct_of(about)
    if kind == Nodetype.BASE:
        base, limit = about
        if base != "string":
            return BASES[base]
        return idl.bounded_str[limit] if limit else str
    inner, size = about
    if kind == Nodetype.ARRAY:
        return idl.array[_field(inner), size]
    return idl.sequence[_field(inner), size] if size else idl.sequence[_field(inner)]
