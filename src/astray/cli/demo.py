"""`astray demo`: the scenario that shows truth and belief at a glance."""

from __future__ import annotations

from pathlib import Path

import click

from astray.cli.options import BROWSER, PATH, PORT, QUIET, VIEW, PageOptions


@click.command()
@click.option("--out", type=PATH, default="astray-demo", show_default=True, help="Output folder.")
@VIEW
@PORT
@BROWSER
@QUIET
def demo(out: Path, quiet: bool, view: bool, port: int, no_browser: bool) -> None:
    """Run three robots in an office and draw their paths.

    They navigate by their beliefs. One of them has worn wheels, and its belief is wrong.
    """
    from astray.cli.run import run_scenario

    page = PageOptions.if_wanted(view, port, no_browser)
    speed = 1.0 if page else None
    run_scenario("office", out=out, overwrite=True, quiet=quiet, page=page, speed=speed)
