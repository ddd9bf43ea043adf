"""Pioneer robots from the command line: plan them, open their ports, run until someone stops it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import click

from astray.cli.compile_notice import compiling
from astray.cli.console import Teller
from astray.cli.interrupt import stopping_on_interrupt
from astray.cli.run import LOG_PERIOD
from astray.cli.view import PageOptions, viewed
from astray.errors import WrongInput, suggest
from astray.pioneer import (
    RANDOM_START,
    Fleet,
    PioneerBridge,
    Pose,
    PseudoTerminal,
    RobotSpec,
    ServedRobot,
    SessionOptions,
    plan_fleet,
    warm_up,
)
from astray.recording import OptionalRecording, check_folder, check_recording, write_run_folder
from astray.server import FOREVER
from astray.sim import load

DEFAULT_ROBOT = "p3dx"


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
    terminals: bool = False,
    like_mobilesim: bool = False,
    allow_maps: Path | None = None,
    allow_exit: bool = False,
    log_packets: bool = False,
    out: Path | None = None,
    record: Path | None = None,
    overwrite: bool = False,
    quiet: bool = False,
    look: PageOptions | None = None,
) -> int:
    """Serve robots as the command line asks; the code to end with."""
    if out is not None:
        check_folder(out, overwrite)
    if record is not None:
        check_recording(record, overwrite)
    if allow_maps is not None and not allow_maps.is_dir():
        raise WrongInput(f"--allow-maps: {allow_maps} is not a folder")
    if not robots and not per_client:
        robots = (DEFAULT_ROBOT,)
    fleet = plan_fleet(
        [RobotSpec.parse(text, odometry, like_mobilesim) for text in robots],
        map=map,
        start=_parse_start(start),
        port=port,
        watchdog=not like_mobilesim,
        per_client=[RobotSpec.parse(text, odometry, like_mobilesim) for text in per_client],
        max_clients=most_clients,
    )
    tell = Teller(quiet)
    say = tell.say
    haunting = _find_ghosts(fleet, ghosts)
    with compiling(say, tell):
        sim = load(fleet.scenario, seed=seed, keep_events=out is not None or record is not None)
        warm_up(sim)
    for robot in haunting:
        sim.robots[robot.group].set_ghost(robots=[robot.number])
    session_options = SessionOptions(like_mobilesim=like_mobilesim, allow_exit=allow_exit)

    def log(text: str) -> None:
        say(f"[{sim.time:.1f} s] {text}")

    wire = PioneerBridge(
        sim,
        fleet.ports,
        session_options,
        lockstep=lockstep,
        map_folder=allow_maps,
        log_packets=log_packets,
        log=log,
    )
    if terminals:
        _add_terminals(fleet)
    with stopping_on_interrupt(sim.pace.stop):  # whoever is told of the ports may end it at once
        wire.open(address)
        try:
            _tell_ports(fleet, address)
            # A reset would take the robots from under their clients.
            with (
                viewed(sim, look, say, resets=False),
                OptionalRecording(sim, record, overwrite) as recorder,
            ):
                series = None
                if out is None:
                    sim.run(FOREVER, speed=speed)
                else:
                    period = max(1, round(LOG_PERIOD / sim.dt)) * sim.dt
                    series = sim.run(FOREVER, speed=speed, log=period)
        finally:
            wire.close()
    if out is not None and series is not None:
        write_run_folder(sim, series, out, overwrite)
        say(f"Written to {out}.")
    if recorder.failure is not None:
        raise recorder.failure
    if record is not None:
        say(f"Recorded to {record}.")
    return wire.exit_code or 0


def _parse_start(text: str | None) -> Pose | str | None:
    """A start as MobileSim takes it: x,y,th in mm and degrees, or random."""
    if text is None or text == RANDOM_START:
        return text
    try:
        x_mm, y_mm, heading_deg = (float(part) for part in text.split(","))
        sound = math.isfinite(x_mm + y_mm + heading_deg)
    except ValueError:
        sound = False
    if not sound:
        raise WrongInput(
            f"--start: {text!r} is neither x,y,th in mm and degrees nor {RANDOM_START}"
        )
    return x_mm / 1000.0, y_mm / 1000.0, math.radians(heading_deg)


def _find_ghosts(fleet: Fleet, names: Sequence[str]) -> list[ServedRobot]:
    """The robots of these names."""
    known = {robot.name: robot for port in fleet.ports for robot in port.robots}
    for name in names:
        if name not in known:
            have = ", ".join(robot.name for robot in list(known.values())[:9])
            raise WrongInput(f"--ghost: no robot {name!r}{suggest(name, known)} ({have})")
    return [known[name] for name in names]


def _add_terminals(fleet: Fleet) -> None:
    for port in fleet.ports:
        if not port.robot_per_client:
            port.terminal = PseudoTerminal()


def _tell_ports(fleet: Fleet, address: str) -> None:
    for port in fleet.ports:
        where = f"{address}:{port.number}"
        if port.robot_per_client:
            click.echo(f"{port.robots[0].model.name} for each client: {where}")
            continue
        robot = port.robots[0]
        kind = f" ({robot.model.name})" if robot.name != robot.model.name else ""
        terminal = f", {port.terminal.path}" if port.terminal else ""
        click.echo(f"{robot.name}{kind}: {where}{terminal}")
