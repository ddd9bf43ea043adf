"""A run on ROS 2 from the command line: `astray run … --ros2`, and what users type behind it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

from astray.cli.run import Wiring
from astray.ros.arguments import parse_arguments
from astray.ros.dds.connect import NODE, connected
from astray.ros.dds.discovery import Discovery, check_transport
from astray.ros.dds.settings import DdsSettings
from astray.ros.subscriptions.drivable import make_drivable
from astray.scenario.load import Source
from astray.sim import Sim


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
    settings = arguments.settings(DdsSettings)
    discovery = Discovery.of()
    sets = make_drivable(scenario, overrides, settings.timeout)

    def connect(sim: Sim, say: Callable[[str], None]) -> contextlib.AbstractContextManager[object]:
        return connected(sim, arguments, settings, discovery, say)

    return sets, connect
