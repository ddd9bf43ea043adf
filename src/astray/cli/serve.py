"""The commands that serve other programs until they are stopped."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from astray.cli.options import BROWSER, QUIET, VIEW, SpeedParameter, look_of, ros_arguments


@click.command()
@click.option(
    "-m", "--map", help="Map: a file of ARIA or another, or a bundled one; none unless given."
)
@click.option(
    "-r",
    "--robot",
    "robots",
    multiple=True,
    metavar="MODEL[:NAME]",
    help="A robot, p3dx unless given: a model, or a .p, .inc or .yaml file; may be repeated.",
)
@click.option(
    "-R",
    "--robot-per-client",
    "per_client",
    multiple=True,
    metavar="MODEL",
    help="A port at which each client gets a robot of its own, as long as it stays.",
)
@click.option(
    "--most-clients", type=click.IntRange(1, 1000), default=25, help="At each port of -R."
)
@click.option(
    "--ghost", "ghosts", multiple=True, metavar="NAME", help="A robot that none sees or meets."
)
@click.option("--start", metavar="X,Y,TH|random", help="Start in mm and degrees; the map's home.")
@click.option(
    "-p", "--port", type=click.IntRange(0, 65535), default=8101, help="Of the first robot."
)
@click.option(
    "--bind-to-address", "address", default="127.0.0.1", metavar="ADDRESS", help="To listen on."
)
@click.option(
    "--speed", type=SpeedParameter(), default="1", help="Simulated seconds per second, at most."
)
@click.option("--seed", type=click.IntRange(min=0), help="Seed, 0 unless given.")
@click.option(
    "--odom-error-mode",
    "odometry",
    metavar="MODE",
    help="MobileSim's none, constant, random_init or random_each_update; real unless given.",
)
@click.option("--lockstep", is_flag=True, help="Let time wait for every client after each cycle.")
@click.option("--pty", "terminals", is_flag=True, help="Offer a pseudo-terminal per robot, too.")
@click.option("--like-mobilesim", is_flag=True, help="Undo the deliberate differences.")
@click.option(
    "--allow-maps",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Let clients load maps from this folder.",
)
@click.option("--allow-exit", is_flag=True, help="Let clients end the simulator.")
@click.option("--log-packets", is_flag=True, help="Print every packet that is received.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the run to this folder.")
@click.option("--record", type=click.Path(path_type=Path), help="Record it to this MCAP file.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier run or recording there.")
@VIEW
@click.option(
    "--view-port", type=click.IntRange(0, 65535), default=0, help="Of the page; a free one."
)
@BROWSER
@QUIET
def pioneer(view: bool, view_port: int, no_browser: bool, **options: Any) -> None:
    """Serve Pioneer robots to ARIA programs, as MobileSim did; ends with Ctrl-C."""
    from astray.cli.pioneer import serve_pioneers

    sys.exit(serve_pioneers(look=look_of(view, view_port, no_browser), **options))


@click.command()
@click.argument("name")
@ros_arguments
@QUIET
def node(name: str, ros_args: bool, quiet: bool, **typed: Any) -> None:
    """Run a ROS 2 node by itself: imu_data_simulator, wheel_data_simulator and approximators."""
    from astray.cli.console import Teller
    from astray.cli.node import run_node

    run_node(name, Teller(quiet).say, **typed)
