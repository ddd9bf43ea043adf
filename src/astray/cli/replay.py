"""`astray replay`: a run that is over, on a page to scrub in, or as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from astray.cli.options import BROWSER, OVERWRITE, PATH, PORT, QUIET

if TYPE_CHECKING:
    from collections.abc import Callable

POLL = 0.1  # s between two checks for Ctrl-C


@click.command()
@click.argument("recording", type=PATH)
@click.option(
    "--html", type=PATH, help="Write one HTML file that shows the run, and serve no page."
)
@OVERWRITE
@PORT
@BROWSER
@QUIET
def replay(
    recording: Path, html: Path | None, overwrite: bool, port: int, no_browser: bool, quiet: bool
) -> None:
    """Show a recorded run in the browser.

    RECORDING is an MCAP file or the folder of a run. The page has a time slider.
    """
    from astray.cli.console import StatusConsole
    from astray.errors import WrongInput
    from astray.files import check_new_file
    from astray.viewer.page import encode_recording, write_html
    from astray.viewer.page.sources import read_folder, read_recorded

    console = StatusConsole(quiet)
    if not recording.exists():
        raise WrongInput(f"{recording}: there is no such file or folder")
    if html is not None:
        check_new_file(html, overwrite)
    source = read_recorded(recording) if recording.is_file() else read_folder(recording)
    encoded = encode_recording(source)
    if html is None:
        _serve(encoded, port, not no_browser, console.report)
        return
    write_html(encoded, html)
    console.report(
        f"Written to {html}: {html.stat().st_size / 1000:,.0f} kB, and needs no other file."
    )


def _serve(encoded: bytes, port: int, browser: bool, report: Callable[[str], None]) -> None:
    """Serve the page until Ctrl-C."""
    import time

    from astray.cli.interrupt import stop_on_interrupt
    from astray.cli.session import show_page
    from astray.viewer.page import ReplayServer

    server = ReplayServer(encoded, port=port, log=report)
    server.open()
    stops: list[bool] = []  # a list, because a signal handler must not wait for a lock
    try:
        with stop_on_interrupt(lambda: stops.append(True)):
            show_page(server.url, browser)
            report("Press Ctrl-C to leave.")
            while not stops:
                time.sleep(POLL)
    finally:
        server.close()
