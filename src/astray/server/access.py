"""Who may come in: only this machine, by its own name, with the token, from the page itself.

A page of somebody else's that is open in the same browser can send requests to this machine. It
does not know the token; its `Origin` is not ours; and where it makes a name of its own point at
127.0.0.1, the `Host` is not ours either.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import parse_qs

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self' http://127.0.0.1:* http://localhost:* vscode-webview:"
)
HEADERS = (
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
NAMES = ("127.0.0.1", "localhost")
OPEN = "/static/"  # what is the same for everyone and tells nothing

Scope = Mapping[str, Any]
App = Callable[[Any, Any, Any], Awaitable[None]]


class AccessGuard:
    """Stands before the application, and lets in or refuses."""

    def __init__(self, app: App, token: str, log: Callable[[str], None]) -> None:
        self.app, self.token, self.log = app, token, log

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        wrong = self.fault(scope)
        if wrong:
            who = (scope.get("client") or ("?",))[0]
            self.log(f"the page refused {scope['type']} {scope['path']!r:.80} from {who}: {wrong}")
            await _refuse(scope, receive, send, wrong)
            return

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *HEADERS]}
            await send(message)

        await self.app(scope, receive, send_with_headers)

    def fault(self, scope: Scope) -> str:
        """What is wrong with a request; "" if nothing is."""
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope["headers"]}
        host = headers.get("host", "")
        port = (scope.get("server") or ("", 0))[1]
        if host not in {f"{name}:{port}" for name in NAMES}:
            return f"its Host is {host!r:.80}"
        origin = headers.get("origin")
        told = scope["type"] == "websocket" or origin is not None  # for a websocket all browsers do
        if told and origin != f"http://{host}":
            return f"its Origin is {origin!r:.80}"
        if scope["type"] == "http" and scope["path"].startswith(OPEN):
            return ""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return "it has no token" if not given else "its token is another"
        return ""


async def _refuse(scope: Scope, receive: Any, send: Any, wrong: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 4403, "reason": wrong[:100]})
        return
    body = f"Refused: {wrong}. Open the address that astray has printed.\n".encode()
    plain = (b"content-type", b"text/plain; charset=utf-8")
    await send({"type": "http.response.start", "status": 403, "headers": [plain, *HEADERS]})
    await send({"type": "http.response.body", "body": body})
