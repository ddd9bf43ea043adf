"""ROS 2 without a ROS 2 installation: a run and the standalone nodes on DDS, by Cyclone DDS.

`connected` connects a run; `Node` is a node as rclpy users know it. The modules that need the
package cyclonedds are imported when they are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from astray.lazy import lazy_exports

if TYPE_CHECKING:
    from astray.ros.dds.connect import NODE_NAME as NODE_NAME
    from astray.ros.dds.connect import connected as connected
    from astray.ros.dds.discovery import Discovery as Discovery
    from astray.ros.dds.discovery import check_transport as check_transport
    from astray.ros.dds.node import POLL_PERIOD as POLL_PERIOD
    from astray.ros.dds.node import Node as Node
    from astray.ros.dds.participant import DdsError as DdsError
    from astray.ros.dds.participant import DdsWriter as DdsWriter
    from astray.ros.dds.participant import Participant as Participant
    from astray.ros.dds.publish_queue import BATCH_SIZE as BATCH_SIZE
    from astray.ros.dds.publish_queue import serialize_batch as serialize_batch
    from astray.ros.dds.settings import DdsSettings as DdsSettings

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "astray.ros.dds.connect": ("NODE_NAME", "connected"),
        "astray.ros.dds.discovery": ("Discovery", "check_transport"),
        "astray.ros.dds.node": ("POLL_PERIOD", "Node"),
        "astray.ros.dds.participant": ("DdsError", "DdsWriter", "Participant"),
        "astray.ros.dds.publish_queue": ("BATCH_SIZE", "serialize_batch"),
        "astray.ros.dds.settings": ("DdsSettings",),
    },
)
