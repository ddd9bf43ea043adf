"""ROS 2 names and types in DDS: Cyclone DDS needs the IDL of each message type.

The topic `/scan` is `rt/scan` in DDS, and the type `sensor_msgs/msg/Imu` is
`sensor_msgs::msg::dds_::Imu_`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from cyclonedds.idl import make_idl_struct
from cyclonedds.idl import types as idl

from astray.ros.messages import typestore

BASE_TYPES: dict[str, Any] = {
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


def dds_type_name(type: str) -> str:
    """The DDS name of a message type."""
    package, _, name = type.split("/")
    return f"{package}::msg::dds_::{name}_"


def dds_topic_name(topic: str) -> str:
    """The DDS name of a topic."""
    return f"rt{topic}"


@cache
def idl_struct(type: str) -> Any:
    """The IDL struct of a message type."""
    fields = {name: _idl_type(node) for name, node in typestore().fielddefs[type][1]}
    return make_idl_struct(type.split("/")[-1], dds_type_name(type), fields)


def _idl_type(node: Any) -> Any:
    from rosbags.interfaces import Nodetype

    kind, about = node
    if kind == Nodetype.NAME:
        return idl_struct(about)
    if kind == Nodetype.BASE:
        base, limit = about
        if base != "string":
            return BASE_TYPES[base]
        return idl.bounded_str[limit] if limit else str
    element, size = about
    if kind == Nodetype.ARRAY:
        return idl.array[_idl_type(element), size]
    return idl.sequence[_idl_type(element), size] if size else idl.sequence[_idl_type(element)]
