"""The commands. Heavy imports happen inside them, so that `astray --help` is instant."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from astray import __version__

SCENARIO = click.argument("scenario")
SET = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="PATH=VALUE",
    help="Change one value; may be repeated.",
)
QUIET = click.option("--quiet", is_flag=True, help="Print nothing but errors.")
VIEW = click.option("--view", is_flag=True, help="Show it on a page in the browser.")
BROWSER = click.option("--no-browser", is_flag=True, help="Print the page's address, open nothing.")
PORT = click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Of the page; a free one unless given."
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


class Speed(click.ParamType):  # type: ignore[type-arg]
    """A positive number, or max."""

    name = "X|max"

    def convert(self, value: Any, param: Any, ctx: Any) -> float | None:
        """None for max."""
        if value == "max":
            return None
        try:
            speed = float(value)
        except ValueError:
            speed = 0.0
        if not 0 < speed < float("inf"):
            self.fail(f"{value!r} is neither a positive number nor max", param, ctx)
        return speed


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="astray")
def astray() -> None:
    """A fast 2D mobile-robot simulator in which every robot has a truth and a belief."""


@astray.command()
@click.option("--out", type=click.Path(path_type=Path), default="astray-demo", show_default=True)
@VIEW
@PORT
@BROWSER
@QUIET
def demo(out: Path, quiet: bool, view: bool, port: int, no_browser: bool) -> None:
    """Three robots find their way through an office by their beliefs, one of them badly."""
    from astray.running import run_scenario

    look, speed = _look(view, port, no_browser), 1.0 if view else None
    run_scenario("office", out=out, overwrite=True, quiet=quiet, look=look, speed=speed)


def _ros_arguments(command: Any) -> Any:
    """The options that ROS 2 users type behind the name of a node."""
    for option in (
        click.option("--ros-args", is_flag=True, hidden=True, help="May stand before the next."),
        click.option(
            "--params-file",
            "files",
            multiple=True,
            type=click.Path(path_type=Path),
            help="Parameters of the ROS 2 node; may be repeated.",
        ),
        click.option("-p", "--param", "params", multiple=True, metavar="NAME:=VALUE"),
        click.option("-r", "--remap", "remaps", multiple=True, metavar="FROM:=TO"),
    ):
        command = option(command)
    return command


@astray.command()
@SCENARIO
@SET
@click.option("--seed", type=click.IntRange(min=0), help="Seed; the scenario's unless given.")
@click.option("--worlds", type=click.IntRange(min=1), default=1, help="Independent copies to run.")
@click.option("--threads", type=click.IntRange(min=1), default=1, help="Threads to run them in.")
@click.option("--duration", type=click.FloatRange(min=0, min_open=True), help="Simulated seconds.")
@click.option("--speed", type=Speed(), default="max", help="Simulated seconds per second.")
@click.option(
    "--log", type=click.FloatRange(min=0, min_open=True), help="Seconds between log entries."
)
@click.option("--events", type=click.Path(path_type=Path), help="Replay the events of another run.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the run to this folder.")
@click.option("--record", type=click.Path(path_type=Path), help="Record it to this MCAP file.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier run or recording there.")
@click.option("--save", type=click.Path(path_type=Path), help="Save the final state to this file.")
@click.option("--ros2", is_flag=True, help="Be a node of ROS 2; at real time unless --speed.")
@_ros_arguments
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
    from astray.running import run_scenario

    wires: list[Any] = []
    ros2, _ = options.pop("ros2"), options.pop("ros_args")
    typed = {name: options.pop(name) for name in ("remaps", "params", "files")}
    if ros2:
        from astray.roswiring import plan_ros2

        options["overrides"], wire = plan_ros2(scenario, options["overrides"], **typed)
        wires.append(wire)
    elif any(typed.values()):
        raise click.UsageError("-p, -r and --params-file are for a node of ROS 2: add --ros2")
    bridges = {name: options.pop(name) for name in ("rosbridge", "foxglove", "origins")}
    if bridges["origins"] and bridges["rosbridge"] is None:
        raise click.UsageError("--allow-origin is for --rosbridge")
    if bridges["rosbridge"] is not None or bridges["foxglove"] is not None:
        from astray.bridging import plan_bridges

        options["overrides"], more = plan_bridges(scenario, options["overrides"], **bridges)
        wires += more
    look = _look(*(options.pop(name) for name in ("view", "port", "no_browser")))
    if (wires or look) and context.get_parameter_source(
        "speed"
    ) is click.core.ParameterSource.DEFAULT:
        options["speed"] = 1.0  # others live in real time, and who looks wants to see it
    options["wires"] = wires
    run_scenario(scenario, as_json=as_json, look=look, **options)


def _look(view: bool, port: int, no_browser: bool) -> Any:
    """How a run is to be looked at; None if it is not."""
    if not view:
        return None
    from astray.viewing import Look

    return Look(port, not no_browser)


@astray.command()
@click.argument("recording", type=click.Path(path_type=Path))
@click.option(
    "--html", type=click.Path(path_type=Path), help="Write one file that shows itself instead."
)
@PORT
@BROWSER
@QUIET
def replay(recording: Path, html: Path | None, port: int, no_browser: bool, quiet: bool) -> None:
    """Show RECORDING, a run that was recorded or written to a folder, on a page to scrub in."""
    from astray.viewing import Look
    from astray.viewing import replay as show

    def say(text: str) -> None:
        if not quiet:
            click.echo(text, err=True)

    show(recording, html=html, look=Look(port, not no_browser), say=say)


@astray.command()
@click.argument("scenario", required=False)
@SET
@click.option("--schema", is_flag=True, help="Print the JSON schema of scenarios instead.")
@JSON
def check(scenario: str | None, overrides: tuple[str, ...], schema: bool, as_json: bool) -> None:
    """Print the effective SCENARIO, or everything that is wrong with it."""
    import json

    from astray.scenario.load import load_scenario
    from astray.scenario.marks import dump_yaml

    if schema:
        from astray.scenario.model import schema as make_schema

        if scenario is not None:
            load_scenario(scenario, overrides)  # declares its plugins
        click.echo(json.dumps(make_schema(), indent=2))
        return
    if scenario is None:
        raise click.UsageError("check needs a SCENARIO, or --schema")
    effective = load_scenario(scenario, overrides).effective
    click.echo(json.dumps(effective, indent=2) if as_json else dump_yaml(effective), nl=as_json)


@astray.command()
@click.argument("name", required=False)
@click.option(
    "--plugins", multiple=True, metavar="FILE", help="A Python file with plugins to include."
)
@JSON
def kinds(name: str | None, plugins: tuple[str, ...], as_json: bool) -> None:
    """List the kinds of plugins with their parameters, units and defaults; or only NAME."""
    from astray.kinds import print_kinds

    print_kinds(name, plugins, as_json)


@astray.command("map")
@click.argument("file")
@SET
@click.option("--scale", type=click.FloatRange(min=0, min_open=True), help="m per image pixel.")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw the map to this image.")
@click.option("--out", type=click.Path(path_type=Path), help="Write it: .geojson, .map or .yaml.")
@QUIET
@JSON
def map_command(file: str, **options: Any) -> None:
    """Tell about a map: FILE, a bundled one, or a generator: rooms, forest, maze, warehouse."""
    from astray.mapping import tell_map

    tell_map(file, **options)


@astray.command()
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
@click.option("--speed", type=Speed(), default="1", help="Simulated seconds per second, at most.")
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
    from astray.pioneering import serve_pioneers

    sys.exit(serve_pioneers(look=_look(view, view_port, no_browser), **options))


@astray.command()
@click.argument("name")
@_ros_arguments
@QUIET
def node(name: str, ros_args: bool, quiet: bool, **typed: Any) -> None:
    """Run a ROS 2 node by itself: imu_data_simulator, wheel_data_simulator and approximators."""
    from astray.noding import run_node

    run_node(name, lambda text: None if quiet else click.echo(text, err=True), **typed)


@astray.command("score")
@click.argument("log")
@click.option("--estimator", required=True, metavar="KIND", help="odometry, ekf, particle, …")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed of all that is drawn.")
@click.option("--imu", metavar="TOPIC", help="Of a bag: the IMU; by its type unless given.")
@click.option("--wheels", metavar="TOPIC", help="Of a bag: the joint states of the wheels.")
@click.option("--odom", metavar="TOPIC", help="Of a bag: odometry, in place of wheels.")
@click.option("--truth", metavar="TOPIC", help="Of a bag: where the robot really was.")
@click.option("--robot", metavar="SCENARIO", help="Of a bag: its first robot has the datasheets.")
@click.option(
    "--plot", type=click.Path(path_type=Path), help="Draw truth and belief to this image."
)
@QUIET
@JSON
def score_command(log: str, **options: Any) -> None:
    """Run an estimator on LOG, a robot's: a ROS bag, UTIAS MRCLAM, Victoria Park or CARMEN."""
    from astray.scoring import score_logs

    score_logs(log, **options)


@astray.command("recover")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Write the whole file there instead.")
@QUIET
@JSON
def recover_command(file: Path, **options: Any) -> None:
    """Mend FILE, a recording or another MCAP file whose writer was killed."""
    from astray.recovering import recover_file

    recover_file(file, **options)


@astray.command("report")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the report.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier report there.")
@QUIET
def report_command(run: Path, **options: Any) -> None:
    """Write a page and figures about RUN, a folder that `run --out` wrote, or a recording."""
    from astray.reporting import write_report

    write_report(run, **options)


def main() -> None:
    """Run the command line: 0 done, 1 failed, 2 wrong input, no traceback for a user's fault."""
    from astray.errors import AstrayError, WrongInput

    try:
        astray(standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(1)
    except click.ClickException as problem:
        problem.show()
        sys.exit(problem.exit_code)
    except WrongInput as problem:
        click.echo(f"{problem}", err=True)
        sys.exit(2)
    except AstrayError as problem:
        click.echo(f"{problem}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
