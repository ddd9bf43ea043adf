"""What a run publishes in ROS 2, without a transport."""

from astray.ros.publishers.clock import CLOCK, ClockPublisher, clock_schedule
from astray.ros.publishers.dead_reckoning import DeadReckoning
from astray.ros.publishers.generic import fields_of
from astray.ros.publishers.maps import MapTopic, map_topics
from astray.ros.publishers.poses import OdometryPublisher, PeriodicPublisher
from astray.ros.publishers.publisher import Messages, Publisher, Sample, Topic, concatenate_samples
from astray.ros.publishers.publisher_set import POSE_RATE, Localization, PublisherSet, belief_topic
from astray.ros.publishers.readings import (
    EARTH_RADIUS,
    FIX_LOST,
    NORTH_RADIUS,
    STEERING,
    ImuPublisher,
    JointStatePublisher,
    LaserScanPublisher,
    topics_of,
)
from astray.ros.publishers.tracks import FIELDS, TOPIC
from astray.ros.publishers.transforms import TF

__all__ = [
    "CLOCK",
    "EARTH_RADIUS",
    "FIELDS",
    "FIX_LOST",
    "NORTH_RADIUS",
    "POSE_RATE",
    "STEERING",
    "TF",
    "TOPIC",
    "ClockPublisher",
    "DeadReckoning",
    "ImuPublisher",
    "JointStatePublisher",
    "LaserScanPublisher",
    "Localization",
    "MapTopic",
    "Messages",
    "OdometryPublisher",
    "PeriodicPublisher",
    "Publisher",
    "PublisherSet",
    "Sample",
    "Topic",
    "belief_topic",
    "clock_schedule",
    "concatenate_samples",
    "fields_of",
    "map_topics",
    "topics_of",
]
