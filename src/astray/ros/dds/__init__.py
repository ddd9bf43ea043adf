"""ROS 2 without ROS 2: a run, and the nodes of the documents, on the bus that ROS 2 uses."""

from astray.ros.dds.batch_publishing import serialize_batch
from astray.ros.dds.connect import NODE, connected
from astray.ros.dds.discovery import Discovery, check_transport
from astray.ros.dds.node import LOOK, Node
from astray.ros.dds.participant import DdsError, DdsWriter, Participant
from astray.ros.dds.publish_queue import BATCH_SIZE
from astray.ros.dds.settings import DdsSettings

__all__ = [
    "BATCH_SIZE",
    "LOOK",
    "NODE",
    "DdsError",
    "DdsSettings",
    "DdsWriter",
    "Discovery",
    "Node",
    "Participant",
    "check_transport",
    "connected",
    "serialize_batch",
]
