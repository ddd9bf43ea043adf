"""A run on ROS 2 from the command line: `astray run … --ros2`, and what users type behind it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

from astray.cli.run import Wiring
from astray.ros import parse_arguments
from astray.ros.dds import NODE, DdsSettings, Discovery, check_transport, connected
from astray.ros.subscriptions import make_drivable
from astray.scenario import Source
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
