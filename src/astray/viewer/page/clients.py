"""All pages that look at a run: each has room for two frames, and whoever is slow misses some.

The run is asked for a frame at most 30 times per second, and only while somebody looks; it copies
between two ticks, and the rest happens in the thread of the server.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from astray.server import guarded_log
from astray.viewer.page import messages
from astray.viewer.page.commands import Commands
from astray.viewer.page.live import LiveSource
from astray.viewer.page.subscription import Wishes

PERIOD = 1 / 30  # s of real time between two looks, at least
STATUS = 0.5  # s between two words about the pace of the run
PATIENCE = 0.25  # s after which a run that no one advances is looked at from here
ROOM = 2  # frames that wait for a page
MOST_PAGES = 16
CUT = 10.0  # s after which a page that takes nothing is sent away
TOO_BIG = 1009  # the code with which a websocket is closed for an oversized message


class Page:
    """A browser that looks, and what it has not been sent yet."""

    def __init__(self, socket: WebSocket) -> None:
        self.socket = socket
        self.frames: deque[bytes] = deque(maxlen=ROOM)
        self.wishes = Wishes()
        self.words: deque[str] = deque(maxlen=8)
        self.serial = 0
        self.hits = -1
        self.status = 0
        self.stirred = asyncio.Event()


class PageClients:
    """Hands frames to pages, and what pages ask for to the run."""

    def __init__(self, source: LiveSource, log: Callable[[str], None]) -> None:
        self.source, self.sim, self.log = source, source.sim, guarded_log(log)
        self.commands = Commands(source)
        self.pages: set[Page] = set()
        self.wishes = Wishes()
        self.status = 0
        self._frame = b""
        self._asked: float | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run(self) -> None:
        """Look at the run as long as the server lives."""
        self._loop = asyncio.get_running_loop()
        told = 0.0
        while True:
            await asyncio.sleep(PERIOD)
            self.commands.teleop.watch()
            if not self.pages:
                continue
            now = time.monotonic()
            if self._asked is None and any(len(page.frames) < ROOM for page in self.pages):
                self._asked = now  # else no one takes what there is
                self.sim.pace.request(self._look)
            elif self._asked is not None and self.sim.is_idle and now - self._asked > PATIENCE:
                self.sim.pace.serve_requests()  # no thread advances the run now
            if now - told > STATUS:
                told = now
                self.status += 1
                self._stir()

    async def serve(self, socket: WebSocket) -> None:
        """Serve one page until it goes."""
        if len(self.pages) >= MOST_PAGES:
            self.log(f"a further page is refused: {MOST_PAGES} are open")
            await socket.close(4429)
            return
        await socket.accept()
        page = Page(socket)
        self.pages.add(page)
        if self._frame:
            page.frames.append(self._frame)
            page.stirred.set()
        sending = asyncio.create_task(self._send(page))
        try:
            while True:
                text = await self._receive(page)
                if text is None or not self._obey(page, text):
                    break
        finally:
            self.pages.discard(page)
            self.commands.teleop.let_go(page)
            self._gather_wishes()
            sending.cancel()
            await _close(socket, 1008)

    # In the thread of the run.

    def _look(self) -> None:
        try:
            frame = self.source.frame(self.wishes)
        except Exception as problem:  # noqa: BLE001 - no page may end a run
            self.log(f"the page cannot be drawn: {type(problem).__name__}: {problem}")
            frame = b""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._spread, frame)

    # In the thread of the server.

    def _spread(self, frame: bytes) -> None:
        self._asked = None
        if frame and frame != self._frame:
            self._frame = frame
            for page in self.pages:
                page.frames.append(frame)
                page.stirred.set()

    def _stir(self) -> None:
        for page in self.pages:
            page.stirred.set()

    async def _send(self, page: Page) -> None:
        """Send a page what is new for it; what was not taken in time is not sent at all."""
        send = page.socket
        try:
            while True:
                await page.stirred.wait()
                page.stirred.clear()
                async with asyncio.timeout(CUT):
                    for text in self._news(page):
                        await send.send_text(text)
                    while page.frames:
                        await send.send_bytes(page.frames.popleft())
        except (TimeoutError, WebSocketDisconnect, RuntimeError):
            # It reads nothing, or has gone: receiving ends as well, and lets the page go.
            await _close(page.socket, 4408)

    def _news(self, page: Page) -> list[str]:
        source, news = self.source, []
        if page.serial != source.serial:
            scene = source.scene()
            page.serial, page.hits = scene["serial"], -1
            news.append(_json("scene", scene))
        hits = source.hits()
        newest = len(hits) and hash(tuple(hits[-1]))
        if page.hits != newest:
            page.hits = newest
            news.append(_json("hits", {"hits": hits}))
        if page.status != self.status:
            page.status = self.status
            news.append(_json("status", self._status()))
        while page.words:
            news.append(page.words.popleft())
        return news

    def _status(self) -> dict[str, Any]:
        return {
            "seed": self.sim.seed,
            "spent": [ns * 1e-9 for ns in self.sim.stepper.phase_ns],
            "events": len(self.sim.events),
            "pages": len(self.pages),
        }

    async def _receive(self, page: Page) -> str | None:
        message = await page.socket.receive()
        if message["type"] == "websocket.receive":
            text = message.get("text")
            if text is not None:
                return str(text)
            self.log("the page refused a message: it is binary")
            await _close(page.socket, 1003)
        elif message.get("code") == TOO_BIG:
            self.log(f"the page refused a message: it is longer than {messages.LARGEST} bytes")
        return None

    def _obey(self, page: Page, text: str) -> bool:
        """Do what a message says; False for one that no page of ours sends."""
        try:
            message = messages.read_message(text)
        except ValueError as problem:
            self.log(f"the page refused a message: {problem!s:.200}")
            return False
        if isinstance(message, messages.LookMessage):
            page.wishes = Wishes(
                frozenset(message.robots),
                message.everyone,
                message.readings,
                message.contacts,
                frozenset(message.signals),
            )
            self._gather_wishes()
            return True
        refusal = self.commands.do(page, message)
        if refusal is not None:
            self.log(f"the page refused to {message.do}: {refusal:.200}")
            page.words.append(_json("refused", {"text": refusal}))
        self.status += 1
        self._stir()
        return True

    def _gather_wishes(self) -> None:
        wishes = [page.wishes for page in self.pages]
        self.wishes = Wishes(
            frozenset().union(*(w.robots for w in wishes)),
            any(w.everyone for w in wishes),
            any(w.readings for w in wishes),
            any(w.contacts for w in wishes),
            frozenset().union(*(w.signals for w in wishes)),
        )


def _json(kind: str, content: dict[str, Any]) -> str:
    return json.dumps({"type": kind, **content}, allow_nan=False)


async def _close(socket: WebSocket, code: int) -> None:
    try:
        await socket.close(code)
    except RuntimeError:  # it is closed already
        return
