"""The publishers of a run in ROS 2, without a transport: message templates and due messages.

`sensor_messages` has the message of each kind of reading, `state_messages` and `transforms` those
of a robot's state, `occupancy_grid` that of a map. A PublisherSet has all publishers of a run.
"""

from astray.ros.publishers.dead_reckoning import DeadReckoning, PlanarPose
from astray.ros.publishers.occupancy_grid import (
    OCCUPANCY_GRID,
    MapTopic,
    make_occupancy_grid,
    map_topics,
)
from astray.ros.publishers.publisher import (
    Messages,
    PeriodicPublisher,
    Publisher,
    Sample,
    Topic,
    concatenate_samples,
)
from astray.ros.publishers.publisher_set import POSE_RATE, Localization, PublisherSet
from astray.ros.publishers.sensor_messages import (
    EARTH_RADIUS,
    FIX_LOST,
    NORTH_RADIUS,
    STEERING,
    ReadingPublisher,
    message_fields,
    own_type,
    topics_of,
)
from astray.ros.publishers.state_messages import (
    CLOCK,
    TRACK_FIELDS,
    TRACKS_TOPIC,
    ClockPublisher,
    belief_topic,
    clock_schedule,
    odometry_publisher,
)
from astray.ros.publishers.transforms import TF

__all__ = [
    "CLOCK",
    "EARTH_RADIUS",
    "FIX_LOST",
    "NORTH_RADIUS",
    "OCCUPANCY_GRID",
    "POSE_RATE",
    "STEERING",
    "TF",
    "TRACKS_TOPIC",
    "TRACK_FIELDS",
    "ClockPublisher",
    "DeadReckoning",
    "Localization",
    "MapTopic",
    "Messages",
    "PeriodicPublisher",
    "PlanarPose",
    "Publisher",
    "PublisherSet",
    "ReadingPublisher",
    "Sample",
    "Topic",
    "belief_topic",
    "clock_schedule",
    "concatenate_samples",
    "make_occupancy_grid",
    "map_topics",
    "message_fields",
    "odometry_publisher",
    "own_type",
    "topics_of",
]
