"""The schemas and channels of a recording: one for each topic that somebody may speak on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from astray.errors import WrongInput
from astray.recording.mcap import records
from astray.ros.messages import message_definition, type_hash
from astray.ros.publishers import Publisher, Topic

EVENTS = Topic("/astray/events", "std_msgs/msg/String")
COLLISIONS = Topic("/astray/collisions", "std_msgs/msg/String")
MOST = 65535  # channels that the format can number
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


class Topics:
    """Numbers types and topics, and has the records that declare them."""

    def __init__(self, speakers: Sequence[Publisher], others: Iterable[Topic]) -> None:
        every = [topic for speaker in speakers for topic in speaker.topics.values()]
        named = {topic.name: topic for topic in (*others, *every)}
        if len(named) > MOST:
            raise WrongInput(
                f"a recording has room for {MOST} topics, and these robots speak on {len(named)}: "
                "record fewer robots or worlds"
            )
        self.channels = {name: number for number, name in enumerate(named, start=1)}
        types = list(dict.fromkeys(topic.type for topic in named.values()))
        self.schemas = [
            records.schema(number, name, "ros2msg", message_definition(name).encode())
            for number, name in enumerate(types, start=1)
        ]
        self.declared = [
            records.channel(
                self.channels[topic.name],
                types.index(topic.type) + 1,
                topic.name,
                "cdr",
                {"offered_qos_profiles": qos(topic), "topic_type_hash": type_hash(topic.type)},
            )
            for topic in named.values()
        ]


def qos(topic: Topic) -> str:
    """How a topic is offered, as rosbag2 writes it down: reliable, and kept if it is latched."""
    return QOS.format(history=1, depth=1 if topic.latched else 10, durability=2 - topic.latched)
