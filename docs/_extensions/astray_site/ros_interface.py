"""Topics, messages and services, read from the publishers, subscriptions and services of a run.

A run with a sensor of each kind is loaded and asked for all that it publishes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import astray
from astray.ros.messages import Computed, Constant, FieldSource, FromColumn, RobotText, Stamp
from astray.ros.publishers import PublisherSet
from astray.ros.services import Services
from astray.ros.subscriptions import Subscriptions
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
        (literal(name), literal(short(s.type)), ", ".join(map(literal, s.fields)))
        for name, s in sorted(Services(sim).table.items())
    ]
    parts, seen = [], set()
    for publisher in publishers:
        template = publisher.template
        if template.type in seen or not hasattr(template, "fields"):
            continue
        seen.add(template.type)
        rows = [(literal(path), source_text(source)) for path, source in template.fields.items()]
        parts += [f"### {short(template.type)}", table(("field", "value"), rows)]
    return join(
        "# Topics, messages and services",
        "Read from the publishers, subscriptions and services of a run with one robot that has a "
        "sensor of each kind. Several robots have their names before the topics. "
        "[The ROS 2 interface](/reference/ros2-interface.md) says when each message is published, "
        "which frames there are, and what a subscription does.",
        "## Publishers",
        "Each publisher of a run has one topic; recordings have the same ones.",
        table(("topic", "type"), topics),
        "## Subscriptions",
        table(("topic", "type"), subscribed),
        "## Services",
        "Of rosbridge, by the standard `simulation_interfaces`:",
        table(("service", "type", "fields of a request"), services),
        "## Messages",
        "Where the fields of each message come from. A field that is not listed is zero or empty.",
        *parts,
    )


def short(name: str) -> str:
    """The name of a type as people write it: `sensor_msgs/Imu`."""
    return name.replace("/msg/", "/").replace("/srv/", "/")


def source_text(source: FieldSource) -> str:
    """Where the value of a field comes from."""
    if isinstance(source, FromColumn):
        return f"column `{source.column}`"
    if isinstance(source, Constant):
        text = str(source.value)
        return f"always `{text}`" if len(text) < 40 else "constant"
    if isinstance(source, Stamp):
        return "stamp of the row, simulated time"
    if isinstance(source, RobotText):
        return "text of the robot, such as its frame"
    if isinstance(source, Computed):
        return "computed"
    arguments = [str(v) for v in vars(source).values() if isinstance(v, str)]
    return (
        f"{type(source).__name__} of {', '.join(map(literal, arguments))}"
        if arguments
        else type(source).__name__
    )
