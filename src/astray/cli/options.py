"""Options and arguments that several commands have."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from astray.cli.completion import complete_override, complete_scenarios

PICTURES = (".png", ".pdf", ".svg", ".jpg")


@dataclass(frozen=True)
class PageOptions:
    """How a run or a recording is shown in the browser."""

    port: int = 0  # a free one if 0
    browser: bool = True

    @classmethod
    def if_wanted(cls, view: bool, port: int, no_browser: bool) -> PageOptions | None:
        """The options that the user typed; None without --view."""
        return cls(port, not no_browser) if view else None


class SpeedParameter(click.ParamType):  # type: ignore[type-arg]
    """A positive number, or max."""

    name = "X|max"

    def convert(self, value: Any, param: Any, ctx: Any) -> float | None:
        """The number; None for max."""
        if value == "max":
            return None
        try:
            speed = float(value)
        except ValueError:
            speed = 0.0
        if not 0 < speed < float("inf"):
            self.fail(f"{value!r} is neither a positive number nor max", param, ctx)
        return speed


PATH = click.Path(path_type=Path)
POSITIVE = click.FloatRange(min=0, min_open=True)
TCP_PORT = click.IntRange(0, 65535)

SCENARIO = click.argument("scenario", shell_complete=complete_scenarios)
SET = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="PATH=VALUE",
    shell_complete=complete_override,
    help="Set a value of the scenario; may be repeated.",
)
SEED = click.option(
    "--seed", type=click.IntRange(min=0), help="Random seed; the scenario's by default."
)
DURATION = click.option(
    "--duration", type=POSITIVE, help="Simulated seconds; the scenario's by default."
)
OVERWRITE = click.option("--overwrite", is_flag=True, help="Replace an earlier output.")
OUT_FOLDER = click.option("--out", type=PATH, help="Write the run to this folder.")
RECORD = click.option("--record", type=PATH, help="Record the run to this MCAP file.")
QUIET = click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
VIEW = click.option("--view", is_flag=True, help="Show the run on a page in the browser.")
BROWSER = click.option(
    "--no-browser", is_flag=True, help="Print the address of the page, but do not open it."
)
PORT = click.option(
    "--port", type=TCP_PORT, default=0, help="Port of the page; a free one by default."
)
PLUGINS = click.option(
    "--plugins",
    multiple=True,
    metavar="FILE",
    help="Load the plugins of this Python file; may be repeated.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


def ros_arguments(command: Any) -> Any:
    """Add the options of a ROS 2 node: -r FROM:=TO, -p NAME:=VALUE, --params-file."""
    for option in (
        click.option(
            "--ros-args", is_flag=True, hidden=True, help="Ignored; for compatibility with ROS 2."
        ),
        click.option(
            "--params-file",
            "files",
            multiple=True,
            type=PATH,
            help="File of parameters of the ROS 2 node; may be repeated.",
        ),
        click.option(
            "-p",
            "--param",
            "params",
            multiple=True,
            metavar="NAME:=VALUE",
            help="Set a parameter of the ROS 2 node; may be repeated.",
        ),
        click.option(
            "-r",
            "--remap",
            "remaps",
            multiple=True,
            metavar="FROM:=TO",
            help="Remap a name of the ROS 2 node; may be repeated.",
        ),
    ):
        command = option(command)
    return command


def check_picture(file: Path | None) -> None:
    """Refuse a file name that is no picture.

    Raises:
        WrongInput: Its suffix is unknown.
    """
    from astray.errors import WrongInput

    if file is not None and file.suffix.lower() not in PICTURES:
        raise WrongInput(f"{file}: a picture is one of {', '.join(PICTURES)}")
