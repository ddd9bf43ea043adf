"""What a run publishes in ROS 2, without a transport."""

from astray.ros.publishers.clock import CLOCK, ClockPublisher, clock_schedule
from astray.ros.publishers.dead_reckoning import DeadReckoning
from astray.ros.publishers.generic import fields_of
from astray.ros.publishers.maps import MapTopic, map_topics
from astray.ros.publishers.poses import OdometryPublisher, PeriodicPublisher
from astray.ros.publishers.publisher import Messages, Publisher, Taken, Topic, joined
from astray.ros.publishers.publisher_set import RATE, Localization, PublisherSet, belief_topic
from astray.ros.publishers.readings import (
    EARTH,
    LOST,
    NORTH,
    STEERING,
    ImuReport,
    ScanReport,
    WheelsReport,
    topics_of,
)
from astray.ros.publishers.tracks import FIELDS, TOPIC
from astray.ros.publishers.transforms import TF

__all__ = [
    "CLOCK",
    "EARTH",
    "FIELDS",
    "LOST",
    "NORTH",
    "RATE",
    "STEERING",
    "TF",
    "TOPIC",
    "ClockPublisher",
    "DeadReckoning",
    "ImuReport",
    "Localization",
    "MapTopic",
    "Messages",
    "OdometryPublisher",
    "PeriodicPublisher",
    "Publisher",
    "PublisherSet",
    "ScanReport",
    "Taken",
    "Topic",
    "WheelsReport",
    "belief_topic",
    "clock_schedule",
    "fields_of",
    "joined",
    "map_topics",
    "topics_of",
]
