"""Access rules: the Host, the Origin and the token that a request must have.

Any web page that is open in a browser on this machine can send requests to its ports. The browser
names the page's own address in `Origin`. A page whose domain was made to resolve to 127.0.0.1 (DNS
rebinding) shows that domain in `Host`. The token keeps out whatever passes these two.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
MAX_QUOTED = 80  # characters of a header that a message repeats


class RequestHead(NamedTuple):
    """The parts of a request that access depends on."""

    hosts: Sequence[str]
    """Its Host headers."""
    origins: Sequence[str]
    """Its Origin headers; programs that are no browsers usually send none."""
    is_websocket: bool = True
    path: str = "/"
    token: str = ""


@dataclass(frozen=True)
class AccessPolicy:
    """The requests that a server answers; all others are refused."""

    port: int | None = None
    """The port that Host and Origin must name.

    With a port, only pages of this server may connect, and a WebSocket must have an Origin. With
    None, the pages of any server on this machine may connect, and programs without an Origin."""
    origins: Sequence[str] = ()
    """Foreign origins that may connect as well, "*" for all."""
    token: str = ""
    """The token that a request must have, unless it is empty."""
    public: str | None = None
    """The paths of HTTP that need no token begin with this."""

    def fault(self, head: RequestHead) -> str:
        """Why a request is refused; "" if it is answered."""
        return self._host_fault(head) or self._origin_fault(head) or self._token_fault(head)

    def _host_fault(self, head: RequestHead) -> str:
        host = ", ".join(head.hosts)
        if self.port is None:
            is_local = len(head.hosts) == 1 and _hostname(f"//{host}") in LOCAL_HOSTS
        else:
            is_local = host in (f"127.0.0.1:{self.port}", f"localhost:{self.port}")
        return "" if is_local else f"its Host is {host[:MAX_QUOTED]!r}"

    def _origin_fault(self, head: RequestHead) -> str:
        origin = ", ".join(head.origins)
        quoted = f"its Origin is {origin[:MAX_QUOTED]!r}"
        if self.port is not None:
            if not head.origins:  # a browser always sends it with a WebSocket
                return "it has no Origin" if head.is_websocket else ""
            return "" if origin == f"http://{head.hosts[0]}" else quoted
        if not head.origins or "*" in self.origins or origin in self.origins:
            return ""
        if len(head.origins) == 1 and _hostname(origin) in LOCAL_HOSTS:
            return ""
        return f"{quoted}: --allow-origin lets it in"

    def _token_fault(self, head: RequestHead) -> str:
        is_public = self.public is not None and head.path.startswith(self.public)
        if not self.token or (is_public and not head.is_websocket):
            return ""
        if secrets.compare_digest(head.token.encode(), self.token.encode()):
            return ""
        return "its token is wrong" if head.token else "it has no token"


def _hostname(url: str) -> str:
    """The host of a URL; "" if it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
