"""Connects a run to ROS 2: for the command line, programs and notebooks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from astray.engine import Run
from astray.ros.arguments import Arguments
from astray.ros.dds.discovery import Discovery, check_transport
from astray.ros.dds.settings import DdsSettings

if TYPE_CHECKING:
    from astray.ros.dds.bridge import DdsBridge

NODE_NAME = "astray"


@contextlib.contextmanager
def connected(
    sim: Run,
    arguments: Arguments | None = None,
    settings: DdsSettings | None = None,
    discovery: Discovery | None = None,
    report: Callable[[str], None] = lambda text: None,
) -> Iterator[DdsBridge]:
    """Connect a run to ROS 2 as a node, for a with block.

    Args:
        sim: The run.
        arguments: The name, namespace and remappings of the node.
        settings: How the run appears in ROS 2.
        discovery: The domain; what the environment asks for unless given.
        report: Is given lines of text: what is published, and whether messages were dropped.

    Yields:
        The bridge.

    Raises:
        WrongInput: The package cyclonedds is missing.
    """
    check_transport()
    from astray.ros.dds.bridge import DdsBridge
    from astray.ros.dds.node import Node

    arguments, settings = arguments or Arguments(NODE_NAME), settings or DdsSettings()
    discovery = discovery or Discovery.from_environment()
    node = Node(arguments, discovery, settings.ros_distro, report)
    bridge = DdsBridge(sim, node, settings)
    with bridge:
        name = f"{arguments.namespace}/{arguments.node}"
        report(
            f"ROS 2: {name} publishes {len(node.published_topics)} topics and subscribes to "
            f"{len(node.subscribed_topics)} ({discovery.describe()})"
        )
        if bridge.lockstep:
            report("Waiting for a publisher of cmd_vel: the run is in lockstep.")
        yield bridge
    if bridge.dropped:
        report(f"ROS 2: DDS was too slow: the messages of {bridge.dropped} ticks were dropped.")
