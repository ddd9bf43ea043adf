"""The commands about runs that are over: show, report, score and mend what they left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from astray.cli.options import BROWSER, JSON, PLUGINS, PORT, QUIET


@click.command()
@click.argument("recording", type=click.Path(path_type=Path))
@click.option(
    "--html", type=click.Path(path_type=Path), help="Write one file that shows itself instead."
)
@click.option("--overwrite", is_flag=True, help="Replace an earlier file there.")
@PORT
@BROWSER
@QUIET
def replay(recording: Path, port: int, no_browser: bool, quiet: bool, **options: Any) -> None:
    """Show RECORDING, a run that was recorded or written to a folder, on a page to scrub in."""
    from astray.cli.console import Teller
    from astray.cli.view import PageOptions
    from astray.cli.view import replay as show

    show(recording, look=PageOptions(port, not no_browser), say=Teller(quiet).say, **options)


@click.command("score")
@click.argument("log")
@click.option("--estimator", required=True, metavar="KIND", help="odometry, ekf, particle, …")
@PLUGINS
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
    from astray.cli.score import score_logs

    score_logs(log, **options)


@click.command("recover")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Write the whole file there instead.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier file there.")
@QUIET
@JSON
def recover_command(file: Path, **options: Any) -> None:
    """Mend FILE, a recording or another MCAP file whose writer was killed."""
    from astray.cli.recover import recover_file

    recover_file(file, **options)


@click.command("report")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the report.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier report there.")
@QUIET
def report_command(run: Path, **options: Any) -> None:
    """Write a page and figures about RUN, a folder that `run --out` wrote, or a recording."""
    from astray.cli.report import write_report

    write_report(run, **options)
