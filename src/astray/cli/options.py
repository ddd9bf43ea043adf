"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

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
PLUGINS = click.option(
    "--plugins", multiple=True, metavar="FILE", help="A Python file with plugins to include."
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


class SpeedParameter(click.ParamType):  # type: ignore[type-arg]
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


def ros_arguments(command: Any) -> Any:
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


def look_of(view: bool, port: int, no_browser: bool) -> Any:
    """How a run is to be looked at; None if it is not."""
    if not view:
        return None
    from astray.cli.view import PageOptions

    return PageOptions(port, not no_browser)
