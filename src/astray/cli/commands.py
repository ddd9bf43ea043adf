"""The commands about scenarios: run, sweep and check one, and look at what it can be made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from astray.cli.options import (
    BROWSER,
    JSON,
    PLUGINS,
    PORT,
    QUIET,
    SCENARIO,
    SET,
    VIEW,
    SpeedParameter,
    look_of,
    ros_arguments,
)


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default="astray-demo", show_default=True)
@VIEW
@PORT
@BROWSER
@QUIET
def demo(out: Path, quiet: bool, view: bool, port: int, no_browser: bool) -> None:
    """Three robots find their way through an office by their beliefs, one of them badly."""
    from astray.cli.run import run_scenario

    look, speed = look_of(view, port, no_browser), 1.0 if view else None
    run_scenario("office", out=out, overwrite=True, quiet=quiet, look=look, speed=speed)


@click.command()
@SCENARIO
@SET
@click.option("--seed", type=click.IntRange(min=0), help="Seed; the scenario's unless given.")
@click.option("--worlds", type=click.IntRange(min=1), default=1, help="Independent copies to run.")
@click.option("--threads", type=click.IntRange(min=1), default=1, help="Threads to run them in.")
@click.option("--duration", type=click.FloatRange(min=0, min_open=True), help="Simulated seconds.")
@click.option("--speed", type=SpeedParameter(), default="max", help="Simulated seconds per second.")
@click.option(
    "--log", type=click.FloatRange(min=0, min_open=True), help="Seconds between log entries."
)
@click.option("--events", type=click.Path(path_type=Path), help="Replay the events of another run.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the run to this folder.")
@click.option("--record", type=click.Path(path_type=Path), help="Record it to this MCAP file.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier run or recording there.")
@click.option("--save", type=click.Path(path_type=Path), help="Save the final state to this file.")
@click.option("--ros2", is_flag=True, help="Be a node of ROS 2; at real time unless --speed.")
@ros_arguments
@click.option(
    "--rosbridge",
    is_flag=False,
    flag_value=9090,
    type=click.IntRange(0, 65535),
    metavar="[PORT]",
    help="Serve clients of rosbridge, at 9090; at real time unless --speed.",
)
@click.option(
    "--foxglove",
    is_flag=False,
    flag_value=8765,
    type=click.IntRange(0, 65535),
    metavar="[PORT]",
    help="Show the run live in Foxglove, at 8765; at real time unless --speed.",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="Let pages from there reach rosbridge, * for all; may be repeated.",
)
@VIEW
@PORT
@BROWSER
@QUIET
@JSON
@click.pass_context
def run(context: click.Context, /, scenario: str, as_json: bool, **options: Any) -> None:
    """Run SCENARIO, a file or the name of a bundled one."""
    from astray.cli.run import run_scenario

    wires: list[Any] = []
    ros2, _ = options.pop("ros2"), options.pop("ros_args")
    typed = {name: options.pop(name) for name in ("remaps", "params", "files")}
    if ros2:
        from astray.cli.ros2 import plan_ros2

        options["overrides"], wire = plan_ros2(scenario, options["overrides"], **typed)
        wires.append(wire)
    elif any(typed.values()):
        raise click.UsageError("-p, -r and --params-file are for a node of ROS 2: add --ros2")
    bridges = {name: options.pop(name) for name in ("rosbridge", "foxglove", "origins")}
    if bridges["origins"] and bridges["rosbridge"] is None:
        raise click.UsageError("--allow-origin is for --rosbridge")
    if bridges["rosbridge"] is not None or bridges["foxglove"] is not None:
        from astray.cli.bridging import plan_bridges

        options["overrides"], more = plan_bridges(scenario, options["overrides"], **bridges)
        wires += more
    look = look_of(*(options.pop(name) for name in ("view", "port", "no_browser")))
    if (wires or look) and context.get_parameter_source(
        "speed"
    ) is click.core.ParameterSource.DEFAULT:
        options["speed"] = 1.0  # others live in real time, and who looks wants to see it
    options["wires"] = wires
    run_scenario(scenario, as_json=as_json, look=look, **options)


@click.command()
@SCENARIO
@click.option(
    "--vary",
    multiple=True,
    metavar="PATH=V1,V2,...",
    help="Try each of these values; may be repeated for every combination.",
)
@SET
@click.option("--worlds", type=click.IntRange(min=1), default=100, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), help="Seed; the scenario's unless given.")
@click.option("--duration", type=click.FloatRange(min=0, min_open=True), help="Simulated seconds.")
@click.option(
    "--workers",
    type=click.IntRange(min=0),
    help="Processes to run them in: all cores unless given; 0 for this one.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder; NAME-sweep unless given.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier sweep there.")
@QUIET
@JSON
def sweep(scenario: str, **options: Any) -> None:
    """Run SCENARIO in many worlds, for every combination of some values, on all cores.

    The same command goes on where it was stopped or killed.
    """
    from astray.cli.sweep import sweep_scenario

    sweep_scenario(scenario, **options)


@click.command()
@click.argument("scenario", required=False)
@SET
@click.option("--schema", is_flag=True, help="Print the JSON schema of scenarios instead.")
@JSON
def check(scenario: str | None, overrides: tuple[str, ...], schema: bool, as_json: bool) -> None:
    """Print the effective SCENARIO, or everything that is wrong with it."""
    import json

    from astray.files import dump_yaml
    from astray.scenario import json_schema, load_scenario

    if schema:
        if scenario is not None:
            load_scenario(scenario, overrides)  # declares its plugins
        click.echo(json.dumps(json_schema(), indent=2))
        return
    if scenario is None:
        raise click.UsageError("check needs a SCENARIO, or --schema")
    effective = load_scenario(scenario, overrides).effective
    click.echo(json.dumps(effective, indent=2) if as_json else dump_yaml(effective), nl=as_json)


@click.command()
@click.argument("name", required=False)
@PLUGINS
@JSON
def kinds(name: str | None, plugins: tuple[str, ...], as_json: bool) -> None:
    """List the kinds of plugins with their parameters, units and defaults; or only NAME."""
    from astray.cli.kinds import print_kinds

    print_kinds(name, plugins, as_json)


@click.command("map")
@click.argument("file")
@SET
@click.option("--scale", type=click.FloatRange(min=0, min_open=True), help="m per image pixel.")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw the map to this image.")
@click.option("--out", type=click.Path(path_type=Path), help="Write it: .geojson, .map or .yaml.")
@QUIET
@JSON
def map_command(file: str, **options: Any) -> None:
    """Tell about a map: FILE, a bundled one, or a generator: rooms, forest, maze, warehouse."""
    from astray.cli.map import tell_map

    tell_map(file, **options)
