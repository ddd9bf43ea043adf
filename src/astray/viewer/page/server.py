"""The page's HTTP server: static files, access checks, request timeout, security headers."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from importlib import resources
from typing import Any
from urllib.parse import parse_qs

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from astray.server import (
    BACKLOG,
    LOOPBACK,
    REQUEST_TIMEOUT,
    AccessPolicy,
    Listener,
    LogLine,
    RequestHead,
    ServerThread,
)
from astray.viewer.page.commands import MAX_BYTES

SEND_BUFFER = 1 << 16  # bytes: what waits in the system is old when it is read
START_INTERVAL = 0.001  # s between two checks whether uvicorn has started
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
STATIC = "/static/"  # the same for every run: needs no token
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self' http://127.0.0.1:* http://localhost:* vscode-webview:"
)
HEADERS = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
App = Callable[[Any, Any, Any], Awaitable[None]]
Task = Callable[[ServerThread], Awaitable[None]]


def static_text(name: str) -> str:
    """The text of a static file."""
    return (resources.files("astray.viewer.page") / "static" / name).read_text(encoding="utf-8")


def index(mode: str) -> Response:
    """The page itself, which shows a run ("live") or a recording ("replay")."""
    return Response(static_text("index.html").replace("{{mode}}", mode), media_type="text/html")


async def static(request: Request) -> Response:
    """A static file."""
    name = request.path_params["name"]
    known = {file.name for file in (resources.files("astray.viewer.page") / "static").iterdir()}
    suffix = name.rpartition(".")[2]
    if name not in known or suffix not in TYPES:
        return PlainTextResponse("There is no such file.\n", 404)
    return Response(static_text(name), media_type=TYPES[suffix])


class PageServer:
    """Serves routes to the pages that have its token, in a thread of its own.

    `task` runs on the server's event loop as long as the server does.
    """

    def __init__(
        self,
        routes: Sequence[BaseRoute],
        *,
        port: int = 0,
        token: str | None = None,
        log: LogLine,
        task: Task | None = None,
    ) -> None:
        self.token = token or secrets.token_urlsafe(16)
        self.thread = ServerThread("page", log, send_buffer=SEND_BUFFER)
        self._routes, self._port, self._task = routes, port, task

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self.thread.port

    @property
    def url(self) -> str:
        """The address of the page, with its token."""
        return f"http://{LOOPBACK}:{self.port}/?token={self.token}"

    def open(self) -> None:
        """Begin to serve."""
        self.thread.open(self._port, self._serve, "choose another by --port")

    def close(self) -> None:
        """Disconnect all pages and free the port."""
        self.thread.close()

    @contextlib.asynccontextmanager
    async def _serve(self, listener: Listener) -> AsyncIterator[None]:
        policy = AccessPolicy(self.port, token=self.token, public=STATIC)
        routes = [Route(f"{STATIC}{{name}}", static), *self._routes]
        server = uvicorn.Server(
            uvicorn.Config(
                AccessCheck(Starlette(routes=routes), policy, self.thread.log),
                loop="none",
                http=RequestTimeoutProtocol,
                backlog=BACKLOG,
                log_config=None,
                log_level="critical",
                access_log=False,
                lifespan="off",
                ws_max_size=MAX_BYTES,
                ws_per_message_deflate=False,  # frames hardly shrink, and it costs the run
                timeout_graceful_shutdown=1,
            )
        )
        serving = asyncio.ensure_future(server.serve(sockets=[listener]))
        while not server.started and not serving.done():
            await asyncio.sleep(START_INTERVAL)
        task = asyncio.ensure_future(self._task(self.thread)) if self._task else None
        try:
            yield
        finally:
            server.should_exit = True
            await serving
            if task is not None:
                task.cancel()


class AccessCheck:
    """The application behind the access rules; its responses have the security headers."""

    def __init__(self, app: App, policy: AccessPolicy, log: LogLine) -> None:
        self.app, self.policy, self.log = app, policy, log

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on to the application, or refuse it."""
        fault = self.policy.fault(_head_of(scope))
        if fault:
            client = (scope.get("client") or ("?",))[0]
            path = f"{scope['path']!r:.80}"
            self.log(f"the page refused {scope['type']} {path} from {client}: {fault}")
            await _refuse(scope, receive, send, fault)
            return

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *HEADERS]}
            await send(message)

        await self.app(scope, receive, send_with_headers)


def _head_of(scope: Any) -> RequestHead:
    """What the access rules need of an ASGI scope."""

    def values(name: bytes) -> list[str]:
        return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]

    query = parse_qs(scope["query_string"].decode("latin-1"))
    is_websocket = scope["type"] == "websocket"
    token = query.get("token", [""])[0]
    return RequestHead(values(b"host"), values(b"origin"), is_websocket, scope["path"], token)


async def _refuse(scope: Any, receive: Any, send: Any, fault: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 4403, "reason": fault[:100]})
        return
    body = f"Refused: {fault}. Open the address that astray has printed.\n".encode()
    plain = (b"content-type", b"text/plain; charset=utf-8")
    await send({"type": "http.response.start", "status": 403, "headers": [plain, *HEADERS]})
    await send({"type": "http.response.body", "body": body})


class RequestTimeoutProtocol(H11Protocol):
    """HTTP of uvicorn, which by itself would wait for the first request of a connection for ever.

    A connection without a whole new request for REQUEST_TIMEOUT to twice that is closed.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self.loop.call_later(REQUEST_TIMEOUT, self._check_request, None)

    def _check_request(self, last_scope: Any) -> None:
        """Close the connection if no request came since the last check, and none is answered."""
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return  # it is closed, or has become a WebSocket
        is_answered = self.cycle is None or self.cycle.response_complete
        if is_answered and self.scope is last_scope:
            self.transport.abort()
        else:
            self.loop.call_later(REQUEST_TIMEOUT, self._check_request, self.scope)
