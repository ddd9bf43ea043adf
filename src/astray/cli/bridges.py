"""Bridges of a run to other programs: `astray run … --ros2 --rosbridge --foxglove`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from astray.cli.session import Connector, Report
from astray.engine import Event
from astray.robot.autonomy import RemoteAutonomy
from astray.ros.subscriptions import make_drivable
from astray.scenario import Source
from astray.sim import Sim

TIMEOUT = 0.5  # s without a command after which a robot stops


class Bridges(NamedTuple):
    """What the bridges of a run need."""

    overrides: Sequence[str] = ()
    """Settings of the scenario, with which its robots accept commands."""
    connectors: Sequence[Connector] = ()


def plan_bridges(
    scenario: Source,
    overrides: Sequence[str] = (),
    *,
    ros2: bool = False,
    remaps: Sequence[str] = (),
    params: Sequence[str] = (),
    files: Sequence[Path] = (),
    rosbridge: int | None = None,
    foxglove: int | None = None,
    origins: Sequence[str] = (),
) -> Bridges:
    """Check the options of all bridges and plan how to connect them.

    Args:
        scenario: Which is to be run.
        overrides: As the user typed them.
        ros2: Whether the run is a ROS 2 node.
        remaps: Of that node, as are the next two.
        params: Its parameters.
        files: Files of its parameters.
        rosbridge: Port for rosbridge clients.
        foxglove: Port for Foxglove.
        origins: Web origins that may use rosbridge.

    Raises:
        WrongInput: A package is missing, or an option makes no sense.
    """
    connectors: list[Connector] = []
    if ros2:
        overrides, connector = _plan_ros2(scenario, overrides, remaps, params, files)
        connectors.append(connector)
    elif remaps or params or files:
        raise click.UsageError("-p, -r and --params-file are for a ROS 2 node: add --ros2")
    if rosbridge is not None:
        overrides = make_drivable(scenario, overrides, TIMEOUT)
        connectors.append(lambda sim, report: on_rosbridge(sim, rosbridge, origins, report))
    elif origins:
        raise click.UsageError("--allow-origin is for --rosbridge")
    if foxglove is not None:
        from astray.recording import check_package, on_foxglove

        check_package()
        connectors.append(lambda sim, report: on_foxglove(sim, foxglove, report))
    return Bridges(overrides, connectors)


def _plan_ros2(
    scenario: Source,
    overrides: Sequence[str],
    remaps: Sequence[str],
    params: Sequence[str],
    files: Sequence[Path],
) -> tuple[Sequence[str], Connector]:
    from astray.ros import parse_arguments
    from astray.ros.dds import NODE_NAME, DdsSettings, Discovery, check_transport, connected

    check_transport()
    arguments = parse_arguments(NODE_NAME, remaps, params, files)
    settings = arguments.settings(DdsSettings)
    discovery = Discovery.from_environment()

    def connect(sim: Sim, report: Report) -> contextlib.AbstractContextManager[object]:
        return connected(sim, arguments, settings, discovery, report)

    return make_drivable(scenario, overrides, settings.timeout), connect


@contextlib.contextmanager
def on_rosbridge(sim: Sim, port: int, origins: Sequence[str], report: Report) -> Iterator[object]:
    """Serve rosbridge clients while the with block lasts."""
    from astray.ros.rosbridge import RosbridgeBridge

    bridge = RosbridgeBridge(sim, origins=origins, log=report)
    bridge.open(port)
    try:
        report(f"rosbridge: ws://127.0.0.1:{bridge.port}, {bridge.describe()}")
        if bridge.lockstep:
            report("Waiting for a client to advertise cmd_vel: the run is in lockstep.")
        yield bridge
    finally:
        bridge.close()


def warm_up_for_clients(sim: Sim) -> None:
    """Compile what the events of clients need as well, so that no client waits for it."""
    events = []
    for name, group in sim.robots.items():
        events.append(Event("place", name, values={"yaw": 0.0}))
        if isinstance(group.autonomy, RemoteAutonomy):
            events.append(Event("command", name, values={"vx": 0.0}))
        if group.estimator is not None:
            events.append(Event("believe", name, values={"x": 0.0}))
    sim.warm_up(events)
