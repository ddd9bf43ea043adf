"""A run on ROS 2 from the command line: `astray run … --ros2`, and what users type behind it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from astray.ros.arguments import Arguments, parse_arguments
from astray.ros.drivable import drivable
from astray.running import Wiring
from astray.scenario.load import Source
from astray.sim import Sim
from astray.wires.ros2.discovery import Discovery, check_transport
from astray.wires.ros2.settings import Settings

if TYPE_CHECKING:
    from astray.wires.ros2.wire import Wire

NODE = "astray"


def plan_ros2(
    scenario: Source,
    overrides: Sequence[str] = (),
    *,
    remaps: Sequence[str] = (),
    params: Sequence[str] = (),
    files: Sequence[Path] = (),
) -> tuple[list[str], Wiring]:
    """What to set in a scenario so that it can be driven, and how to connect its run.

    WrongInput where the transport is missing, or something that was typed makes no sense.
    """
    check_transport()
    arguments = parse_arguments(NODE, remaps, params, files)
    settings = arguments.settings(Settings)
    discovery = Discovery.of()
    sets = drivable(scenario, overrides, settings.timeout)

    def connect(sim: Sim, say: Callable[[str], None]) -> contextlib.AbstractContextManager[object]:
        return connected(sim, arguments, settings, discovery, say)

    return sets, connect


@contextlib.contextmanager
def connected(
    sim: Sim,
    arguments: Arguments | None = None,
    settings: Settings | None = None,
    discovery: Discovery | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Iterator[Wire]:
    """A run as a node of ROS 2 as long as the with block lasts, in programs and notebooks too."""
    check_transport()
    from astray.wires.ros2.node import Node
    from astray.wires.ros2.wire import Wire

    arguments, settings = arguments or Arguments(NODE), settings or Settings()
    discovery = discovery or Discovery.of()
    node = Node(arguments, discovery, settings.ros_distro, say)
    wire = Wire(sim, node, settings)
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
