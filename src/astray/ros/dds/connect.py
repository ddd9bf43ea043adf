"""A run as a node of ROS 2, for the command line, programs and notebooks."""

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

NODE = "astray"


@contextlib.contextmanager
def connected(
    sim: Run,
    arguments: Arguments | None = None,
    settings: DdsSettings | None = None,
    discovery: Discovery | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Iterator[DdsBridge]:
    """A run as a node of ROS 2 as long as the with block lasts."""
    check_transport()
    from astray.ros.dds.bridge import DdsBridge
    from astray.ros.dds.node import Node

    arguments, settings = arguments or Arguments(NODE), settings or DdsSettings()
    discovery = discovery or Discovery.of()
    node = Node(arguments, discovery, settings.ros_distro, say)
    wire = DdsBridge(sim, node, settings)
    with wire:
        name = f"{arguments.namespace}/{arguments.node}"
        say(
            f"ROS 2: {name} says {len(node.publishes)} topics and hears {len(node.hears)} "
            f"({discovery.describe()})"
        )
        if wire.lockstep:
            say("Waiting for someone to publish cmd_vel: the run is in lockstep.")
        yield wire
    if wire.dropped:
        say(f"ROS 2: the bus was too slow for {wire.dropped} moments, which were not published.")
