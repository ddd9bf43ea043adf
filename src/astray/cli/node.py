"""One node of the documents from the command line: `astray node NAME`, until someone stops it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from astray.cli.compile_notice import compiling
from astray.cli.interrupt import stopping_on_interrupt
from astray.errors import WrongInput, suggest
from astray.ros import parse_arguments
from astray.ros.dds import Discovery, check_transport

NODES = (
    "imu_data_simulator",
    "imu_position_approximator",
    "wheel_data_simulator",
    "wheel_position_approximator",
)


def run_node(
    name: str,
    say: Callable[[str], None],
    *,
    remaps: Sequence[str] = (),
    params: Sequence[str] = (),
    files: Sequence[Path] = (),
) -> None:
    """Run a node until Ctrl-C, or until it is terminated."""
    if name not in NODES:
        raise WrongInput(f"no node {name!r}{suggest(name, NODES)} ({', '.join(NODES)})")
    check_transport()
    with compiling(say):
        node = make_node(name, say, remaps=remaps, params=params, files=files)
    bus = node.node
    try:
        with stopping_on_interrupt(bus.stop):
            bus.announce()
            hears = ", ".join(bus.hears) or "nothing"
            say(
                f"{bus.arguments.node} publishes {', '.join(bus.publishes)} and hears {hears} "
                f"({bus.discovery.describe()})"
            )
            node.run()
    finally:
        bus.close()


def make_node(
    name: str,
    say: Callable[[str], None] = lambda text: None,
    *,
    remaps: Sequence[str] = (),
    params: Sequence[str] = (),
    files: Sequence[Path] = (),
    discovery: Discovery | None = None,
) -> Any:
    """A node, ready to be run; its bus is `node.node`."""
    from astray.ros.dds import Node

    arguments = parse_arguments(name, remaps, params, files)
    module = importlib.import_module(f"astray.ros.nodes.{name}")
    made = getattr(module, "".join(part.capitalize() for part in name.split("_")))
    bus = Node(arguments, discovery, tell=say)
    try:
        return made(bus)
    except BaseException:
        bus.close()
        raise
