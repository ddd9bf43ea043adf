"""All pages that show a run: each has a short send queue, and a slow page misses frames.

The run is asked for a frame at most 30 times per second, and only while a page has space for one.
It copies its state between two ticks; all else happens in the thread of the server.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from astray.server import LogLine, Payload, SendChannel, SendQueue, ServerThread, guarded_log
from astray.viewer.page.commands import MAX_BYTES, Commands, SubscribeRequest, read_request
from astray.viewer.page.live import LiveSource, PageSubscription

PERIOD = 1 / 30  # s of real time between two frames, at least
STATUS_PERIOD = 0.5  # s between two messages on the pace of the run
IDLE_TIMEOUT = 0.25  # s after which the server copies the state of a run that no thread steps
FRAME_LIMIT = 2  # frames that wait for a page
REPLY_LIMIT = 8  # replies that wait for a page
MAX_PAGES = 16
SEND_TIMEOUT = 10.0  # s after which a page that does not read is disconnected
TOO_BIG = 1009  # the code with which a WebSocket is closed for an oversized message


class Page:
    """A browser that shows the run: its subscription, what it has, and its send queue."""

    def __init__(self, socket: WebSocket) -> None:
        self.socket = socket
        self.subscription = PageSubscription()
        self.queue = SendQueue()
        self.frames, self.replies = SendChannel(), SendChannel()
        self.scene_serial = 0
        """Of the scene that it has."""
        self.collision = -1
        """The hash of the newest collision that it has."""
        self.status = 0
        """The number of the status that it has."""

    @property
    def has_space(self) -> bool:
        """Whether it has space for another frame."""
        return len(self.frames) < FRAME_LIMIT


class PageClients:
    """Passes frames to pages, and requests of pages to the run."""

    def __init__(self, source: LiveSource, log: LogLine) -> None:
        self.source, self.sim, self.log = source, source.sim, guarded_log(log)
        self.commands = Commands(source)
        self.pages: set[Page] = set()
        self.subscription = PageSubscription()
        """What all pages together subscribe to."""
        self._status = 0
        self._frame = b""
        self._asked: float | None = None
        self._thread: ServerThread | None = None

    async def run(self, thread: ServerThread) -> None:
        """Ask the run for frames as long as the server runs."""
        self._thread = thread
        last_status = 0.0
        while True:
            await asyncio.sleep(PERIOD)
            self.commands.teleop.stop_expired()
            if not self.pages:
                continue
            now = time.monotonic()
            if self._asked is None and any(page.has_space for page in self.pages):
                self._asked = now
                self.sim.pace.request(self._copy_frame)
            elif self._asked is not None and self.sim.is_idle and now - self._asked > IDLE_TIMEOUT:
                self.sim.pace.serve_requests()  # no thread steps the run now
            if now - last_status > STATUS_PERIOD:
                last_status = now
                self._renew_status()

    async def serve(self, socket: WebSocket) -> None:
        """Serve one page until it disconnects."""
        if len(self.pages) >= MAX_PAGES:
            self.log(f"a further page is refused: {MAX_PAGES} are open")
            await socket.close(4429)
            return
        await socket.accept()
        page = Page(socket)
        self.pages.add(page)
        if self._frame:
            page.queue.publish(self._frame, page.frames)
        sending = asyncio.create_task(self._send(page))
        try:
            while True:
                text = await self._receive(page)
                if text is None or not self._execute(page, text):
                    break
        finally:
            self.pages.discard(page)
            self.commands.teleop.release(page)
            self._unite_subscriptions()
            sending.cancel()
            await _close(socket, 1008)

    # In the thread of the run.

    def _copy_frame(self) -> None:
        try:
            frame = self.source.frame(self.subscription)
        except Exception as error:  # noqa: BLE001 - no page may end a run
            self.log(f"the page cannot be drawn: {type(error).__name__}: {error}")
            frame = b""
        if self._thread is not None:
            self._thread.call(self._publish, frame)

    # In the thread of the server.

    def _publish(self, frame: bytes) -> None:
        self._asked = None
        if frame and frame != self._frame:
            self._frame = frame
            for page in self.pages:
                page.queue.publish(frame, page.frames, FRAME_LIMIT)

    def _renew_status(self) -> None:
        self._status += 1
        for page in self.pages:
            page.queue.changed.set()

    async def _send(self, page: Page) -> None:
        """Send a page what it does not have yet; what it did not take in time is not sent."""

        def batch() -> Sequence[Payload]:
            return [*self._changes(page), *page.queue.take(1)]

        async def send(messages: Sequence[Payload]) -> None:
            for message in messages:
                if isinstance(message, str):
                    await page.socket.send_text(message)
                else:
                    await page.socket.send_bytes(message)

        try:
            await page.queue.send(batch, send, SEND_TIMEOUT)
        except (TimeoutError, WebSocketDisconnect, RuntimeError):
            # It does not read, or has disconnected: receiving ends as well, and removes the page.
            await _close(page.socket, 4408)

    def _changes(self, page: Page) -> list[str]:
        """The scene, the collisions and the status, where the page has older ones."""
        source, changes = self.source, []
        if page.scene_serial != source.serial:
            scene = source.scene()
            page.scene_serial, page.collision = scene["serial"], -1
            changes.append(_json("scene", scene))
        collisions = source.collisions()
        newest = len(collisions) and hash(tuple(collisions[-1]))
        if page.collision != newest:
            page.collision = newest
            changes.append(_json("hits", {"hits": collisions}))
        if page.status != self._status:
            page.status = self._status
            changes.append(_json("status", self._status_data()))
        return changes

    def _status_data(self) -> dict[str, Any]:
        return {
            "seed": self.sim.seed,
            "spent": [ns * 1e-9 for ns in self.sim.stepper.phase_ns],
            "events": len(self.sim.events),
            "pages": len(self.pages),
        }

    async def _receive(self, page: Page) -> str | None:
        """The next text of a page; None when it has disconnected, or sends what is none."""
        message = await page.socket.receive()
        if message["type"] == "websocket.receive":
            text = message.get("text")
            if text is not None:
                return str(text)
            self.log("the page refused a message: it is binary")
            await _close(page.socket, 1003)
        elif message.get("code") == TOO_BIG:
            self.log(f"the page refused a message: it is longer than {MAX_BYTES} bytes")
        return None

    def _execute(self, page: Page, text: str) -> bool:
        """Carry out the request that a text holds; False for one that our page never sends."""
        try:
            request = read_request(text)
        except ValueError as error:
            self.log(f"the page refused a message: {error!s:.200}")
            return False
        if isinstance(request, SubscribeRequest):
            page.subscription = PageSubscription(
                frozenset(request.robots),
                request.everyone,
                request.readings,
                request.contacts,
                frozenset(request.signals),
            )
            self._unite_subscriptions()
            return True
        refusal = self.commands.execute(page, request)
        if refusal is not None:
            self.log(f"the page refused to {request.do}: {refusal:.200}")
            page.queue.publish(_json("refused", {"text": refusal}), page.replies, REPLY_LIMIT)
        self._renew_status()
        return True

    def _unite_subscriptions(self) -> None:
        parts = [page.subscription for page in self.pages]
        self.subscription = PageSubscription(
            frozenset().union(*(part.robots for part in parts)),
            any(part.all_robots for part in parts),
            any(part.readings for part in parts),
            any(part.contacts for part in parts),
            frozenset().union(*(part.signals for part in parts)),
        )


def _json(kind: str, content: dict[str, Any]) -> str:
    return json.dumps({"type": kind, **content}, allow_nan=False)


async def _close(socket: WebSocket, code: int) -> None:
    try:
        await socket.close(code)
    except RuntimeError:  # it is closed already
        return
