"""`astray node`: one of the documents' ROS 2 nodes by itself, until it is stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from astray.cli.completion import complete_nodes
from astray.cli.options import QUIET, ros_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from astray.ros.dds import Discovery

NODES = (
    "imu_data_simulator",
    "imu_position_approximator",
    "wheel_data_simulator",
    "wheel_position_approximator",
)


@click.command()
@click.argument("name", shell_complete=complete_nodes)
@ros_arguments
@QUIET
def node(name: str, ros_args: bool, quiet: bool, **arguments: Any) -> None:
    """Run the ROS 2 node NAME without a simulation, until Ctrl-C.

    The nodes are imu_data_simulator, wheel_data_simulator, imu_position_approximator and
    wheel_position_approximator. For a real IMU, or that of a run, start imu_position_approximator
    with -p centripetal:=measured, because its data contain the centripetal acceleration.
    """
    from astray.cli.console import StatusConsole

    run_node(name, StatusConsole(quiet).report, **arguments)


def run_node(name: str, report: Callable[[str], None], **arguments: Any) -> None:
    """Run a node until Ctrl-C or SIGTERM; the arguments are those of `make_node`."""
    from astray.cli.console import report_compilation
    from astray.cli.interrupt import stop_on_interrupt
    from astray.errors import WrongInput, suggest
    from astray.ros.dds import check_transport

    if name not in NODES:
        raise WrongInput(f"unknown node {name!r}{suggest(name, NODES)} ({', '.join(NODES)})")
    check_transport()
    with report_compilation(report):
        program = make_node(name, report, **arguments)
    node = program.node
    try:
        with stop_on_interrupt(node.stop):
            node.announce()
            published = ", ".join(node.published_topics)
            subscribed = ", ".join(node.subscribed_topics) or "nothing"
            report(
                f"{node.arguments.node} publishes {published} and subscribes to {subscribed} "
                f"({node.discovery.describe()})"
            )
            program.run()
    finally:
        node.close()


def make_node(
    name: str,
    report: Callable[[str], None] = lambda text: None,
    *,
    remaps: Sequence[str] = (),
    params: Sequence[str] = (),
    files: Sequence[Path] = (),
    discovery: Discovery | None = None,
) -> Any:
    """The program of a node, ready to run; its ROS 2 node is `program.node`."""
    from astray.ros import nodes, parse_arguments
    from astray.ros.dds import Node

    arguments = parse_arguments(name, remaps, params, files)
    program = getattr(nodes, "".join(part.capitalize() for part in name.split("_")))
    node = Node(arguments, discovery, report=report)
    try:
        return program(node)
    except BaseException:
        node.close()
        raise
