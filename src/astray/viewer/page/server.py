"""The server: one thread for all bytes, on this machine alone."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from importlib import resources

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from astray.errors import WrongInput
from astray.server import (
    BUSY,
    WAITING,
    AccessGuard,
    Listener,
    TimeoutProtocol,
    guarded_log,
    short_switch_interval,
)
from astray.viewer.page.messages import LARGEST

ADDRESS = "127.0.0.1"
SEND_BUFFER = 1 << 16  # bytes
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
Work = Callable[[], Awaitable[None]]


def static_text(name: str) -> str:
    """A file of the page."""
    return (resources.files("astray.viewer.page") / "static" / name).read_text(encoding="utf-8")


def index(mode: str) -> Response:
    """The page itself; it is told whether it shows a run or a recording."""
    return Response(static_text("index.html").replace("{{mode}}", mode), media_type="text/html")


async def static(request: Request) -> Response:
    """A part of the page."""
    name = request.path_params["name"]
    known = {file.name for file in (resources.files("astray.viewer.page") / "static").iterdir()}
    suffix = name.rpartition(".")[2]
    if name not in known or suffix not in TYPES:
        return PlainTextResponse("There is no such file.\n", 404)
    return Response(static_text(name), media_type=TYPES[suffix])


class PageServer:
    """Serves some routes behind a guard, in a thread of its own."""

    def __init__(
        self,
        routes: Sequence[BaseRoute],
        *,
        port: int = 0,
        token: str | None = None,
        log: Callable[[str], None],
        work: Work | None = None,
    ) -> None:
        self.token = token or secrets.token_urlsafe(16)
        self._routes, self._log, self._work = routes, guarded_log(log), work
        self._door = _listen(port, self._log)
        self.port: int = self._door.getsockname()[1]
        self._thread: threading.Thread | None = None
        self._turns = contextlib.ExitStack()

    @property
    def url(self) -> str:
        """The address of the page, with its token."""
        return f"http://{ADDRESS}:{self.port}/?token={self.token}"

    def open(self) -> None:
        """Begin to serve."""

        @contextlib.asynccontextmanager
        async def lifespan(app: Starlette) -> AsyncIterator[None]:
            working = asyncio.ensure_future(self._work()) if self._work else None
            yield
            if working is not None:
                working.cancel()

        routes = [Route("/static/{name}", static), *self._routes]
        app = AccessGuard(Starlette(routes=routes, lifespan=lifespan), self.token, self._log)
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                loop="none",
                http=TimeoutProtocol,
                backlog=WAITING,
                log_config=None,
                log_level="critical",
                access_log=False,
                lifespan="on",
                ws_max_size=LARGEST,
                ws_per_message_deflate=False,  # frames hardly shrink, and it costs the run
                timeout_graceful_shutdown=1,
            )
        )
        self._turns.enter_context(short_switch_interval())
        self._thread = threading.Thread(target=self._serve, name="astray-page", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:  # a door needs that
            runner.run(self._server.serve(sockets=[self._door]))

    def close(self) -> None:
        """Send everyone away and free the port."""
        if self._thread is not None:
            self._server.should_exit = True
            self._thread.join()
            self._thread = None
            self._turns.close()
        self._door.close()


def _listen(port: int, log: Callable[[str], None]) -> Listener:
    made = Listener(busy=BUSY, log=lambda text: log(f"the page: {text}"))
    try:
        # What waits in the system is old when it is read: little of it, please.
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        made.open(ADDRESS, port)
    except OSError as problem:
        made.close()
        why = problem.strerror or str(problem)
        raise WrongInput(f"port {port} cannot be used: {why}; choose another by --port") from None
    return made
