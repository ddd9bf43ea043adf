"""A view of a run: the page, where it is, and a thread to run in if one is wanted."""

from __future__ import annotations

import logging
import threading
import webbrowser
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute

from astray.engine import Run
from astray.plots import iframe_html, in_notebook
from astray.viewer.page.clients import PageClients
from astray.viewer.page.live import LiveSource
from astray.viewer.page.server import PageServer, index

Log = Callable[[str], None]
_logger = logging.getLogger("astray.page")


class View:
    """The page of a run: `url` is where it is, `close` ends it."""

    def __init__(
        self,
        sim: Run,
        *,
        port: int = 0,
        token: str | None = None,
        resets: bool = True,
        log: Log = _logger.warning,
    ) -> None:
        self.sim = sim
        self.source = LiveSource(sim, resets)
        self.hub = PageClients(self.source, log)
        routes = [Route("/", _page), WebSocketRoute("/ws", self.hub.serve)]
        self.server = PageServer(routes, port=port, token=token, log=log, work=self.hub.run)
        self.server.open()
        self._thread: threading.Thread | None = None
        self._problem: BaseException | None = None

    @property
    def url(self) -> str:
        """The address of the page, with its token."""
        return self.server.url

    def start(self, seconds: float | None = None, speed: float | None = 1.0) -> View:
        """Let the run go on in a thread, for simulated seconds; the page can hold and turn it."""
        if self._thread is not None and self._thread.is_alive():
            return self

        def run() -> None:
            try:
                self.sim.run(seconds, speed=speed)
            except BaseException as problem:  # noqa: BLE001 - raised again by `wait`
                self._problem = problem

        self._thread = threading.Thread(target=run, name="astray-run", daemon=True)
        self._thread.start()
        return self

    def wait(self) -> None:
        """Wait until the run that was started has ended."""
        if self._thread is not None:
            self._thread.join()
        if self._problem is not None:
            problem, self._problem = self._problem, None
            raise problem

    def close(self) -> None:
        """Stop the run if it was started here, and the page."""
        while self._thread is not None and self._thread.is_alive():
            self.sim.pace.stop()  # again and again: it may not have begun, and forgets it then
            self._thread.join(0.05)
        self.server.close()

    def __enter__(self) -> View:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        return iframe_html(self.url)


async def _page(request: Request) -> Response:
    return index("live")


def view_run(
    sim: Run, *, port: int = 0, browser: bool | None = None, token: str | None = None
) -> View:
    """Show a run on a page, in a notebook or else in the browser."""
    made = View(sim, port=port, token=token)
    if browser or (browser is None and not in_notebook()):
        webbrowser.open(made.url)
    return made
