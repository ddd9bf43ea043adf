"""What a recording begins with: the schemas and channels of its topics, and its attachments."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from astray.engine import Robots, Run
from astray.errors import WrongInput
from astray.files import dump_yaml
from astray.plugin import NEVER
from astray.recording.mcap.records import encode_channel, encode_schema
from astray.ros import RosRobot
from astray.ros.messages import message_definition, type_hash
from astray.ros.publishers import TF, Publisher, PublisherSet, Topic, belief_topic, topics_of
from astray.scenario import bundle_maps
from astray.version import __version__
from astray.world.maps import geojson_text

STATIC_TRANSFORMS = Topic("/tf_static", TF, latched=True)
EVENTS = Topic("/astray/events", "std_msgs/msg/String")
COLLISIONS = Topic("/astray/collisions", "std_msgs/msg/String")
MAX_CHANNELS = 65535  # that the format can number
QOS = """\
- history: {history}
  depth: {depth}
  reliability: 1
  durability: {durability}
  deadline: {{sec: 9223372036, nsec: 854775807}}
  lifespan: {{sec: 9223372036, nsec: 854775807}}
  liveliness: 1
  liveliness_lease_duration: {{sec: 9223372036, nsec: 854775807}}
  avoid_ros_namespace_conventions: false
"""
SCENARIO_FILE, RUN_FILE, MAP_FILE = "scenario.yaml", "run.json", "map.geojson"
GEOJSON = "application/geo+json"


# Schemas and channels.


class ChannelDeclarations:
    """Numbers the types and topics of a recording, and encodes the records that declare them."""

    def __init__(self, publishers: Sequence[Publisher], others: Iterable[Topic]) -> None:
        published = [topic for publisher in publishers for topic in publisher.topics.values()]
        by_name = {topic.name: topic for topic in (*others, *published)}
        if len(by_name) > MAX_CHANNELS:
            raise WrongInput(
                f"a recording can have {MAX_CHANNELS} topics, and these robots publish "
                f"{len(by_name)}: record fewer robots or worlds"
            )
        self.ids = {name: id for id, name in enumerate(by_name, start=1)}
        """The channel of each topic, by its name."""
        types = list(dict.fromkeys(topic.type for topic in by_name.values()))
        self.schema_records = [
            encode_schema(id, name, "ros2msg", message_definition(name).encode())
            for id, name in enumerate(types, start=1)
        ]
        self.channel_records = [
            encode_channel(
                self.ids[topic.name],
                types.index(topic.type) + 1,
                topic.name,
                "cdr",
                {
                    "offered_qos_profiles": _qos_profile(topic),
                    "topic_type_hash": type_hash(topic.type),
                },
            )
            for topic in by_name.values()
        ]


def _qos_profile(topic: Topic) -> str:
    """The QoS of a topic as rosbag2 writes it: reliable, and transient local if latched."""
    return QOS.format(history=1, depth=1 if topic.latched else 10, durability=2 - topic.latched)


# Attachments.


class TextAttachment(NamedTuple):
    """A text to attach."""

    name: str
    media_type: str
    text: str


def run_attachments(sim: Run, publishers: PublisherSet) -> Iterator[TextAttachment]:
    """The scenario, what was run, and the maps: without wall time and without a host name."""
    scenario, files = bundle_maps(sim.scenario)
    text = dump_yaml({**scenario, "seed": sim.seed})
    yield TextAttachment(SCENARIO_FILE, "application/yaml", text)
    for name, data in files.items():
        yield TextAttachment(name, "application/json", data.decode())
    info = {
        "astray": __version__,
        "scenario": sim.scenario.name,
        "seed": sim.seed,
        "worlds": sim.worlds.tolist(),
        "dt": sim.dt,
        "first_step": sim.steps,
        "robots": {
            name: _group_info(group, publishers.robots[name]) for name, group in sim.robots.items()
        },
    }
    yield TextAttachment(RUN_FILE, "application/json", json.dumps(info, indent=2) + "\n")
    yield from _map_attachments(sim)


def _map_attachments(sim: Run) -> Iterator[TextAttachment]:
    """The map of the first world, and those of worlds that have another one."""
    first, *others = sim.worlds.tolist()
    common = sim.map(first)
    if len(common):
        yield TextAttachment(MAP_FILE, GEOJSON, geojson_text(common))
    for world in others:
        found = sim.map(world)
        if found.digest() != common.digest():
            yield TextAttachment(world_map_file(world), GEOJSON, geojson_text(found))


def world_map_file(world: int) -> str:
    """The name of the map of a world that has another one than the first world."""
    return f"world_{world}/{MAP_FILE}"


def _group_info(group: Robots, robots: Sequence[RosRobot]) -> dict[str, Any]:
    """The topics of a group's beliefs and sensors, and the namespaces of its robots."""
    topics = topics_of(group.pipelines)
    return {
        "estimator": group.estimator.kind if group.estimator else None,
        "beliefs": {name: belief_topic(name) for name in group.beliefs()},
        "sensors": {
            name: {"kind": pipeline.sensor.kind, "topic": topics[name]}
            for name, pipeline in group.pipelines.items()
            if pipeline.sample_schedule.offset < NEVER
        },
        "robots": [
            {"world": r.world, "number": r.number, "name": r.name, "namespace": r.namespace}
            for r in robots
        ],
    }
