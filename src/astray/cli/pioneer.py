"""`astray pioneer`: Pioneer robots for ARIA programs, as MobileSim served them."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from astray.cli.completion import complete_maps, complete_models
from astray.cli.options import (
    BROWSER,
    OUT_FOLDER,
    OVERWRITE,
    QUIET,
    RECORD,
    TCP_PORT,
    VIEW,
    PageOptions,
    SpeedParameter,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from astray.pioneer import Fleet, PoseTuple, ServedRobot
    from astray.sim import Sim

DEFAULT_ROBOT = "p3dx"


@click.command()
@click.option(
    "-m",
    "--map",
    shell_complete=complete_maps,
    help="Map: a file, such as ARIA's .map, or a bundled map; none by default.",
)
@click.option(
    "-r",
    "--robot",
    "robots",
    multiple=True,
    metavar="MODEL[:NAME]",
    shell_complete=complete_models,
    help="Model of a robot, or its .p, .inc or .yaml file; p3dx by default; may be repeated.",
)
@click.option(
    "-R",
    "--robot-per-client",
    "per_client",
    multiple=True,
    metavar="MODEL",
    shell_complete=complete_models,
    help="Add a port at which each client gets a robot of its own while it is connected.",
)
@click.option(
    "--most-clients",
    type=click.IntRange(1, 1000),
    default=25,
    show_default=True,
    help="Maximum number of clients at each port of -R.",
)
@click.option(
    "--ghost",
    "ghosts",
    multiple=True,
    metavar="NAME",
    help="Make this robot a ghost: no sensor detects it, nothing collides with it.",
)
@click.option(
    "--start",
    metavar="X,Y,TH|random",
    help="Start pose in mm and degrees; the home of the map by default.",
)
@click.option("-p", "--port", type=TCP_PORT, default=8101, help="Port of the first robot.")
@click.option(
    "--bind-to-address",
    "address",
    default="127.0.0.1",
    metavar="ADDRESS",
    help="Address to listen on.",
)
@click.option(
    "--speed",
    type=SpeedParameter(),
    default="1",
    help="Maximum of simulated seconds per second of real time.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Random seed, 0 by default.")
@click.option(
    "--odom-error-mode",
    "odometry",
    metavar="MODE",
    help="real (default), or MobileSim's none, constant, random_init, random_each_update.",
)
@click.option("--lockstep", is_flag=True, help="Wait for every client after each cycle.")
@click.option(
    "--watchdog",
    is_flag=True,
    help="Stop robots whose client is silent for 2 s, as real robots do.",
)
@click.option(
    "--pty", "terminals", is_flag=True, help="Open a pseudo-terminal for each robot, too."
)
@click.option(
    "--like-mobilesim",
    is_flag=True,
    help="Behave like MobileSim also where astray differs on purpose.",
)
@click.option(
    "--allow-maps",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Allow clients to load maps from this folder.",
)
@click.option("--allow-exit", is_flag=True, help="Allow clients to end the simulator.")
@click.option("--log-packets", is_flag=True, help="Print every packet that arrives.")
@OUT_FOLDER
@RECORD
@OVERWRITE
@VIEW
@click.option(
    "--view-port", type=TCP_PORT, default=0, help="Port of the page; a free one by default."
)
@BROWSER
@QUIET
def pioneer(view: bool, view_port: int, no_browser: bool, **options: Any) -> None:
    """Serve Pioneer robots to ARIA programs.

    The command replaces MobileSim. It runs until Ctrl-C.
    """
    page = PageOptions.if_wanted(view, view_port, no_browser)
    sys.exit(serve_pioneers(page=page, **options))


def serve_pioneers(
    *,
    map: str | None = None,
    robots: Sequence[str] = (),
    per_client: Sequence[str] = (),
    most_clients: int = 25,
    ghosts: Sequence[str] = (),
    start: str | None = None,
    port: int = 8101,
    address: str = "127.0.0.1",
    speed: float | None = 1.0,
    seed: int | None = None,
    odometry: str | None = None,
    lockstep: bool = False,
    watchdog: bool = False,
    terminals: bool = False,
    like_mobilesim: bool = False,
    allow_maps: Path | None = None,
    allow_exit: bool = False,
    log_packets: bool = False,
    out: Path | None = None,
    record: Path | None = None,
    overwrite: bool = False,
    quiet: bool = False,
    page: PageOptions | None = None,
) -> int:
    """Serve robots until Ctrl-C or until a client ends the simulator; the exit code."""
    from astray.cli.session import Outputs, RunSession
    from astray.errors import WrongInput
    from astray.pioneer import (
        PioneerBridge,
        PseudoTerminal,
        RobotSpec,
        SessionOptions,
        plan_fleet,
        warm_up,
    )

    session = RunSession(Outputs(out, record, None, overwrite), page, quiet)
    if allow_maps is not None and not allow_maps.is_dir():
        raise WrongInput(f"--allow-maps: {allow_maps} is not a folder")
    if not robots and not per_client:
        robots = (DEFAULT_ROBOT,)
    fleet = plan_fleet(
        [RobotSpec.parse(text, odometry, like_mobilesim) for text in robots],
        map=map,
        start=_parse_start(start),
        port=port,
        watchdog=watchdog,
        per_client=[RobotSpec.parse(text, odometry, like_mobilesim) for text in per_client],
        max_clients=most_clients,
    )
    ghost_robots = _find_robots(fleet, ghosts)
    sim = session.load(
        fleet.scenario,
        seed=seed,
        keep_events=out is not None or record is not None,
        warm_up=warm_up,
    )
    for robot in ghost_robots:
        sim.robots[robot.group].set_ghost(robots=[robot.index])
    options = SessionOptions(
        like_mobilesim=like_mobilesim, allow_exit=allow_exit, watchdog=watchdog
    )

    def log(text: str) -> None:
        session.console.report(f"[{sim.time:.1f} s] {text}")

    bridge = PioneerBridge(
        sim,
        fleet.ports,
        options,
        lockstep=lockstep,
        map_folder=allow_maps,
        log_packets=log_packets,
        log=log,
    )
    if terminals:
        for served in fleet.ports:
            if not served.robot_per_client:
                served.terminal = PseudoTerminal()

    @contextlib.contextmanager
    def serve(sim: Sim, report: Callable[[str], None]) -> Iterator[None]:
        bridge.open(address)
        try:
            _print_ports(fleet, address)
            yield
        finally:
            bridge.close()

    session.run(sim, speed=speed, connectors=[serve])
    session.raise_failures()
    if out is not None:
        session.console.report(f"Written to {out}.")
    if record is not None:
        session.console.report(f"Recorded to {record}.")
    return bridge.exit_code or 0


def _parse_start(text: str | None) -> PoseTuple | str | None:
    """A start as MobileSim takes it: x,y,th in mm and degrees, or random."""
    import math

    from astray.errors import WrongInput
    from astray.pioneer import RANDOM_START

    if text is None or text == RANDOM_START:
        return text
    try:
        x_mm, y_mm, heading_deg = (float(part) for part in text.split(","))
        valid = math.isfinite(x_mm + y_mm + heading_deg)
    except ValueError:
        valid = False
    if not valid:
        raise WrongInput(
            f"--start: {text!r} is neither x,y,th in mm and degrees nor {RANDOM_START}"
        )
    return x_mm / 1000.0, y_mm / 1000.0, math.radians(heading_deg)


def _find_robots(fleet: Fleet, names: Sequence[str]) -> list[ServedRobot]:
    """The robots with these names, for --ghost."""
    from astray.errors import WrongInput, suggest

    known = {robot.name: robot for port in fleet.ports for robot in port.robots}
    for name in names:
        if name not in known:
            have = ", ".join(robot.name for robot in list(known.values())[:9])
            raise WrongInput(f"--ghost: unknown robot {name!r}{suggest(name, known)} ({have})")
    return [known[name] for name in names]


def _print_ports(fleet: Fleet, address: str) -> None:
    """Print a line for each port: robot, model, address, pseudo-terminal."""
    for port in fleet.ports:
        where = f"{address}:{port.number}"
        robot = port.robots[0]
        if port.robot_per_client:
            click.echo(f"{robot.model.name} for each client: {where}")
            continue
        kind = f" ({robot.model.name})" if robot.name != robot.model.name else ""
        terminal = f", {port.terminal.path}" if port.terminal else ""
        click.echo(f"{robot.name}{kind}: {where}{terminal}")
