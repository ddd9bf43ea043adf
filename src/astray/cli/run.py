"""`astray run`: one scenario, in one or many worlds, written, shown, recorded or published."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from astray.cli.options import (
    BROWSER,
    DURATION,
    JSON,
    OUT_FOLDER,
    OVERWRITE,
    PATH,
    PORT,
    POSITIVE,
    QUIET,
    RECORD,
    SCENARIO,
    SEED,
    SET,
    TCP_PORT,
    VIEW,
    PageOptions,
    SpeedParameter,
    ros_arguments,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from astray.cli.bridges import Bridges
    from astray.sim import Sim


@click.command()
@SCENARIO
@SET
@SEED
@click.option(
    "--worlds", type=click.IntRange(min=1), default=1, help="Number of independent worlds."
)
@click.option("--threads", type=click.IntRange(min=1), default=1, help="Number of threads.")
@DURATION
@click.option(
    "--speed",
    type=SpeedParameter(),
    default="max",
    help="Simulated seconds per second of real time.",
)
@click.option("--log", "log_period", type=POSITIVE, help="Period of the log, in simulated seconds.")
@click.option("--events", type=PATH, help="Replay the events of another run from this file.")
@OUT_FOLDER
@RECORD
@OVERWRITE
@click.option("--save", type=PATH, help="Write a checkpoint of the final state to this file.")
@click.option(
    "--ros2", is_flag=True, help="Make the run a ROS 2 node, in real time unless --speed is given."
)
@ros_arguments
@click.option(
    "--rosbridge",
    is_flag=False,
    flag_value=9090,
    type=TCP_PORT,
    metavar="[PORT]",
    help="Serve rosbridge, at port 9090 by default, in real time unless --speed is given.",
)
@click.option(
    "--foxglove",
    is_flag=False,
    flag_value=8765,
    type=TCP_PORT,
    metavar="[PORT]",
    help="Serve Foxglove, at port 8765 by default, in real time unless --speed is given.",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="Accept rosbridge clients of this web origin, * for all; may be repeated.",
)
@VIEW
@PORT
@BROWSER
@QUIET
@JSON
@click.pass_context
def run(
    context: click.Context,
    /,
    scenario: str,
    overrides: tuple[str, ...],
    ros_args: bool,
    view: bool,
    port: int,
    no_browser: bool,
    **options: Any,
) -> None:
    """Run SCENARIO, a file or the name of a bundled scenario."""
    from astray.cli.bridges import plan_bridges

    names = ("ros2", "remaps", "params", "files", "rosbridge", "foxglove", "origins")
    bridges = plan_bridges(scenario, overrides, **{name: options.pop(name) for name in names})
    page = PageOptions.if_wanted(view, port, no_browser)
    default = context.get_parameter_source("speed") is click.core.ParameterSource.DEFAULT
    if default and (bridges.connectors or page):
        options["speed"] = 1.0  # other programs and viewers live in real time
    run_scenario(scenario, bridges=bridges, page=page, **options)


def run_scenario(
    scenario: str,
    *,
    bridges: Bridges | None = None,
    seed: int | None = None,
    worlds: int = 1,
    threads: int = 1,
    duration: float | None = None,
    speed: float | None = None,
    log_period: float | None = None,
    events: Path | None = None,
    out: Path | None = None,
    record: Path | None = None,
    overwrite: bool = False,
    save: Path | None = None,
    quiet: bool = False,
    as_json: bool = False,
    page: PageOptions | None = None,
) -> None:
    """Run a scenario, write its outputs, and print a summary."""
    import json

    from astray.cli.bridges import Bridges, warm_up_for_clients
    from astray.cli.session import Outputs, RunSession, post_events
    from astray.engine import summary
    from astray.errors import AstrayError
    from astray.sim import Sim

    bridges = bridges or Bridges()
    session = RunSession(Outputs(out, record, save, overwrite), page, quiet)
    sim = session.load(
        scenario,
        worlds=worlds,
        seed=seed,
        threads=threads,
        overrides=bridges.overrides,
        warm_up=warm_up_for_clients if bridges.connectors else Sim.warm_up,
    )
    if events is not None:
        post_events(sim, events)
    seconds = sim.scenario.duration if duration is None else duration
    wall = session.run(
        sim, seconds, speed=speed, log_period=log_period, connectors=bridges.connectors
    )
    if as_json:
        print(json.dumps(summary(sim)))
    elif not quiet:
        failed = bool(session.failures)
        print_summary(sim, wall, None if failed else out, None if failed else record)
    session.raise_failures()
    if sim.pace.stopped and sim.steps < round(seconds / sim.dt):
        raise AstrayError(f"stopped at t = {sim.steps * sim.dt:g} s of {seconds:g} s")


def print_summary(
    sim: Sim, wall: float, out: Path | None = None, record: Path | None = None
) -> None:
    """Print the errors of all beliefs, the collisions, and what was written."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from astray.engine import summary

    console = Console()
    found = summary(sim)
    worlds = f" in {found['worlds']} worlds" if found["worlds"] > 1 else ""
    title = f"{found['scenario']}: {found['time']:g} s{worlds}, seed {found['seed']}"
    table = Table(title=escape(title))
    for heading in ("robot", "belief", "metric"):
        table.add_column(heading)
    for heading in ("rms", "maximum", "at the end"):
        table.add_column(heading, justify="right")
    for name, group in found["robots"].items():
        _add_rows(table, name, group)
    console.print(table)
    counts = {k: g["collisions"] for k, g in found["robots"].items() if "collisions" in g}
    if counts:
        console.print(_describe_collisions(counts))
    console.print(f"{found['time'] / max(wall, 1e-9):,.0f} x real time, digest {found['digest']}")
    if out is not None:
        console.print(f"Written to {out}: plot.png shows it.", soft_wrap=True)
    if record is not None:
        console.print(f"Recorded to {record}.", soft_wrap=True)


def _describe_collisions(counts: dict[str, int]) -> str:
    """The robots that collided and how often, given the count of every robot."""
    collided = [f"{k} once" if n == 1 else f"{k} {n} times" for k, n in counts.items() if n]
    return f"collided: {', '.join(collided)}" if collided else "no collisions"


def _add_rows(table: Table, name: str, group: dict[str, Any]) -> None:
    """Add a row for each belief and metric of a group of robots."""
    labels = {"belief": group["estimator"] or "the truth"}
    if not group["metrics"]:
        for subject, distance in group["apart_at_the_end"].items():
            label = labels.get(subject, subject)
            table.add_row(name, label, "distance", "", "", f"{distance:.4g} m")
    for metric, subjects in group["metrics"].items():
        for subject, values in subjects.items():
            table.add_row(name, labels.get(subject, subject), metric, *_cells(values))


def _cells(values: dict[str, Any]) -> Sequence[str]:
    """The average, the maximum and the last value of a metric."""
    if not values["values"]:
        return "", "", "never measured"
    cells = [
        f"{values[key]:.4g} {values['unit']}".rstrip()
        for key in (values["average"], "most", "last")
    ]
    if values["average"] != "rms":  # the heading says rms
        cells[0] = f"{values['average']} {cells[0]}"
    return cells
