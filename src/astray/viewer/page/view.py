"""A view of a run: its page, the page's address, and a run in the background if one is wanted."""

from __future__ import annotations

import logging
import webbrowser

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute

from astray.engine import Run
from astray.plots import iframe_html, in_notebook
from astray.server import BackgroundRun, LogLine
from astray.viewer.page.clients import PageClients
from astray.viewer.page.live import LiveSource
from astray.viewer.page.server import PageServer, index

_logger = logging.getLogger("astray.page")


class View:
    """The page of a run, served from the construction on until `close`.

    Args:
        sim: The run.
        port: Where the page is served; a free port if it is 0.
        token: The token in the page's address; a random one if none is given.
        can_reset: Whether the page may reset the run.
        log: Is given a line for each refused client or request.

    Raises:
        WrongInput: The port cannot be used.
    """

    def __init__(
        self,
        sim: Run,
        *,
        port: int = 0,
        token: str | None = None,
        can_reset: bool = True,
        log: LogLine = _logger.warning,
    ) -> None:
        self.sim = sim
        self.source = LiveSource(sim, can_reset)
        self.clients = PageClients(self.source, log)
        routes = [Route("/", _page), WebSocketRoute("/ws", self.clients.serve)]
        self.server = PageServer(routes, port=port, token=token, log=log, task=self.clients.run)
        self.server.open()
        self._run: BackgroundRun | None = None

    @property
    def url(self) -> str:
        """The address of the page, with its token."""
        return self.server.url

    def start(self, seconds: float | None = None, speed: float | None = 1.0) -> View:
        """Run the simulation in the background, unless it runs there already.

        Args:
            seconds: For how long, in simulated seconds; None for the scenario's duration.
            speed: Simulated seconds per real second; None for as fast as possible.

        Returns:
            The view itself.
        """
        if self._run is None or not self._run.is_running:
            self._run = BackgroundRun(self.sim, seconds, speed)
        return self

    def wait(self) -> None:
        """Wait until the run that was started has ended, and raise what ended it early."""
        if self._run is not None:
            self._run.wait()

    def close(self) -> None:
        """Stop the run if it was started here, and stop serving the page."""
        if self._run is not None:
            self._run.stop()
        self.server.close()

    def __enter__(self) -> View:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        return iframe_html(self.url)


async def _page(request: Request) -> Response:
    return index("live")


def view_run(
    sim: Run, *, port: int = 0, browser: bool | None = None, token: str | None = None
) -> View:
    """Show a run on a page.

    Args:
        sim: The run.
        port: Where the page is served; a free port if it is 0.
        browser: Whether to open a browser; by default unless this is a notebook.
        token: The token in the page's address; a random one if none is given.

    Returns:
        The view; `close` it in the end.
    """
    view = View(sim, port=port, token=token)
    if browser or (browser is None and not in_notebook()):
        webbrowser.open(view.url)
    return view
