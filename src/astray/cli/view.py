"""Looking at a run from the command line: the page beside it, and replay of what was written."""

from __future__ import annotations

import contextlib
import time
import webbrowser
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from astray.cli.interrupt import stopping_on_interrupt
from astray.errors import WrongInput
from astray.sim import Sim

GLANCE = 0.1  # s between two looks at whether to leave

Say = Callable[[str], None]


@dataclass(frozen=True)
class PageOptions:
    """How a run is to be looked at."""

    port: int = 0
    browser: bool = True


@contextlib.contextmanager
def viewed(sim: Sim, look: PageOptions | None, say: Say, resets: bool = True) -> Iterator[None]:
    """Show a run on its page as long as the with block lasts; nothing at all unless asked for."""
    if look is None:
        yield
        return
    from astray.viewer.page import View

    with View(sim, port=look.port, resets=resets, log=say) as view:
        _show(view.url, look.browser)
        yield


def run_again(sim: Sim, say: Say) -> bool:
    """A run that is looked at has ended: wait whether it is to begin anew, or Ctrl-C."""
    if sim.pace.stopped:
        return False
    say("The run has ended: reset it on the page to see it again, Ctrl-C to leave.")
    again = sim.pace.await_restart()
    if again is None:
        return False
    sim.reset(seed=again[0])
    return True


def replay(
    source: Path, *, html: Path | None, look: PageOptions, say: Say, overwrite: bool = False
) -> None:
    """Show a run that was recorded or written to a folder, or make one file that shows itself."""
    from astray.recording import check_recording
    from astray.viewer.page import ReplayServer, pack, write_html
    from astray.viewer.page.sources import read_folder, read_recorded

    if not source.exists():
        raise WrongInput(f"{source}: there is no such file or folder")
    if html is not None:
        check_recording(html, overwrite)
    packed = pack(read_recorded(source) if source.is_file() else read_folder(source))
    if html is not None:
        write_html(packed, html)
        say(f"Written to {html}: {html.stat().st_size / 1000:,.0f} kB, and needs nothing else.")
        return
    server = ReplayServer(packed, port=look.port, log=say)
    server.open()
    asked: list[bool] = []  # no lock is in it that a signal could find taken
    try:
        with stopping_on_interrupt(lambda: asked.append(True)):
            _show(server.url, look.browser)
            say("Ctrl-C to leave.")
            while not asked:
                time.sleep(GLANCE)
    finally:
        server.close()


def _show(url: str, browser: bool) -> None:
    # Printed even if quiet: without the address and its token no one could look.
    print(url, flush=True)
    if browser:
        webbrowser.open(url)
