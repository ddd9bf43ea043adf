"""HTTP with an end to patience: who connects and asks for nothing is sent away."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 10.0  # s of real time for a whole request to come, twice that at most


class TimeoutProtocol(H11Protocol):
    """A connection of the server, which would wait for the first request for ever."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self.loop.call_later(PATIENCE, self._look, None)

    def _look(self, before: Any) -> None:
        """Go if there was no request since the last look, and none is being answered."""
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return  # it has gone, or has become a websocket
        answered = self.cycle is None or self.cycle.response_complete
        if answered and self.scope is before:
            self.transport.abort()
        else:
            self.loop.call_later(PATIENCE, self._look, self.scope)
