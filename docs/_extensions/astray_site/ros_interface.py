"""Topics, messages and services, read from the publishers, subscriptions and services of a run.

A run with a sensor of each kind is loaded and asked for all that it publishes.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

import astray
from astray.ros.messages import (
    ClippedRanges,
    Computed,
    Concatenated,
    Constant,
    FieldSource,
    FromColumn,
    Quotient,
    RobotText,
    Stamp,
    SteppedValue,
    TurnRate,
    YawQuaternion,
)
from astray.ros.messages.templates import CovarianceBlock
from astray.ros.publishers import Publisher, PublisherSet, ReadingPublisher
from astray.ros.services import Services
from astray.ros.subscriptions import Subscriptions
from astray.tables import Array, columns_of
from astray_site import inventory
from astray_site.markdown import join, literal, table

SCENARIO: dict[str, Any] = {
    "world": {"map": "office"},
    "robots": [
        {
            "name": "rover",
            "start": {"x": 2.0, "y": 2.0},
            "autonomy": {"kind": "navigate"},
            "sensors": [
                {"kind": "wheels", "rate": 50},
                {"kind": "imu", "rate": 100},
                {"kind": "gnss", "rate": 5},
                {"kind": "compass", "rate": 5},
                {"kind": "landmarks", "rate": 5, "beacons": [[2.0, 3.0]]},
                {"kind": "lidar", "rate": 10},
                {"kind": "rangefinder", "rate": 10},
                {"kind": "sonar", "rate": 10, "ring": "p3dx"},
                {"kind": "bumper", "rate": 10},
                {"kind": "ins", "rate": 10},
                {"kind": "contacts", "rate": 10},
            ],
            "estimator": {"kind": "odometry"},
            "rivals": [{"kind": "remote", "name": "mine"}],
            "contacts": {"kind": "tracker"},
        }
    ],
}
"""A robot with a sensor of each kind."""
LONG_CONSTANT = 40  # characters of a value that is written out


def pages() -> dict[str, str]:
    """Make the page."""
    assert inventory.kind_classes()  # declares the kinds
    with np.errstate(all="ignore"):  # kernels that are plain Python divide as NumPy does
        sim = astray.load(SCENARIO)
    return {"reference/ros/index": page(sim)}


def page(sim: astray.Sim) -> str:
    """The page of all topics, messages and services."""
    publishers = PublisherSet(sim).publishers
    published = sorted({(t.name, t.type) for p in publishers for t in p.topics.values()})
    topics = [(literal(name), literal(short(type_name))) for name, type_name in published]
    heard = sorted(Subscriptions(sim).topics.items())
    subscribed = [(literal(name), literal(short(topic.type))) for name, topic in heard]
    services = [
        (literal(name), literal(short(s.type)), ", ".join(map(literal, shown_fields(s.fields))))
        for name, s in sorted(Services(sim).table.items())
    ]
    return join(
        "# Topics, messages and services",
        "Generated from the publishers, subscriptions and services of a run with one robot that "
        "has a sensor of each kind. With several robots, the name of the robot comes before each "
        "topic and frame. [The ROS 2 interface](/reference/ros2-interface.md) says when each "
        "message is published, and what a subscription does.",
        "## Publishers",
        "A recording has the same topics. Besides these, a run publishes `/clock`, `/tf_static` "
        "and `/map`.",
        table(("topic", "type"), topics),
        "## Subscriptions",
        table(("topic", "type"), subscribed),
        "## Services",
        "Services of the standard `simulation_interfaces`, over rosbridge:",
        table(("service", "type", "fields of a request"), services),
        "## Messages",
        "The source of each field. A *column* is that of the reading or the state that is "
        "published: see [conventions](/reference/conventions.md) and the "
        "[kinds of sensors](/reference/kinds/index.md). Fields that are not listed are zero "
        "or empty.",
        *message_parts(publishers),
    )


def shown_fields(fields: tuple[str, ...]) -> list[str]:
    """The fields of a request; an empty request has a field that ROS 2 adds to it."""
    return [field for field in fields if field != "structure_needs_at_least_one_member"]


def message_parts(publishers: list[Publisher]) -> list[str]:
    """A table for each message: the topics that have it, and the source of its fields."""
    found: dict[tuple[str, tuple[tuple[str, str], ...]], list[str]] = {}
    for publisher in publishers:
        template = publisher.template
        rows = tuple(
            (literal(path), source_text(source, publisher))
            for path, source in template.fields.items()
        )
        topics = found.setdefault((template.type, rows), [])
        topics += [topic.name for topic in publisher.topics.values()]
    parts = []
    for (type_name, rows), topics in sorted(found.items(), key=lambda item: item[1]):
        parts.append(f"### {', '.join(topics)}")
        parts.append(f"Type: `{short(type_name)}`.")
        parts.append(table(("field", "value"), rows))
    return parts


def short(name: str) -> str:
    """The name of a type as people write it: `sensor_msgs/Imu`."""
    return name.replace("/msg/", "/").replace("/srv/", "/")


def source_text(source: FieldSource, publisher: Publisher) -> str:
    """Where the value of a field comes from, with its unit.

    Args:
        source: The source of the field.
        publisher: Whose robots and tables the source reads.
    """
    tables = publisher.named_tables
    if isinstance(source, Constant):
        return constant_text(source.value)
    if isinstance(source, RobotText):
        return literal(source.of(publisher.robots[0]))
    if isinstance(source, Computed):
        text = (inspect.getdoc(source.function) or "").removesuffix(".")
        return text[:1].lower() + text[1:]
    if isinstance(source, FromColumn):
        return column_text(source, tables)
    if isinstance(source, Concatenated):
        return ", then ".join(column_text(part, tables) for part in source.parts)
    if isinstance(source, Stamp):
        if isinstance(publisher, ReadingPublisher):
            return "time at which the reading was sampled, simulated time"
        return "stamp of the state, simulated time"
    if isinstance(source, YawQuaternion):
        return f"column `{source.column}` (rad) as a quaternion about z"
    if isinstance(source, CovarianceBlock):
        axes = {2: "(x, y)", 3: "(x, y, yaw)"}[len(source.indices)]
        size = f"{source.size} × {source.size}"
        return f"column `{source.column}`, the covariance of {axes}, in the {size} matrix; rest 0"
    if isinstance(source, SteppedValue):
        step = f"{source.steps} · `{source.step}`"
        return f"`{source.column}` + {step} ({unit_of(source.column, tables)}): the last value"
    if isinstance(source, Quotient):
        return f"`{source.column}` / {source.divisor} ({unit_of(source.column, tables)})"
    if isinstance(source, ClippedRanges):
        limits = f"+inf from `{source.range_max}` on, −inf below `{source.range_min}`"
        return f"array `{source.table}` (m); {limits} (REP 117)"
    assert isinstance(source, TurnRate), source
    return (
        f"column `{source.rate}` (rad/s), or `{source.curvature}` · `{source.speed}` if it is set"
    )


def constant_text(value: Any) -> str:
    """A value that all messages have; of a long list, how it begins."""
    if isinstance(value, list) and len(str(value)) >= LONG_CONSTANT:
        return f"always `{value[0]}`, then {len(value) - 1} times `{value[-1]}`"
    return f"always `{value}`"


def column_text(source: FromColumn, tables: Mapping[str, Array]) -> str:
    """The column of a table or the array of a reading, with its unit."""
    if not source.column:
        return f"array `{source.table}` of the reading"
    count = f" of {source.count} wheels" if source.count else ""
    unit = unit_of(source.column, tables, source.table)
    has_slots = tables[source.table or next(iter(tables))].ndim > 1
    per_slot = ", a value for each slot" if has_slots else ""
    return f"column `{source.column}`{f' ({unit})' if unit else ''}{count}{per_slot}"


def unit_of(column: str, tables: Mapping[str, Array], name: str = "") -> str:
    """The unit of a column; "" if it has none."""
    layout = tables[name or next(iter(tables))].dtype
    try:
        return columns_of(layout)[column].unit
    except KeyError:  # a table of intermediate results, in SI units as all
        return {"x": "m", "y": "m", "yaw": "rad"}.get(column, "")
