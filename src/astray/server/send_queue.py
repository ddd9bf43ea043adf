"""The messages that wait for one client: bounded, so that a slow client harms nobody else.

Messages of a channel may be lost: the oldest is dropped for a newer one. Replies are never dropped.
A client that lets them pile up, or reads nothing for too long, is to be disconnected.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

Payload = str | bytes


class SendChannel:
    """Messages of one kind that wait in a queue and may be dropped, such as those of a topic."""

    def __init__(self) -> None:
        self.waiting: deque[Payload] = deque()

    def __len__(self) -> int:
        return len(self.waiting)


class SendQueue:
    """What waits to be sent to one client, oldest first.

    Args:
        max_bytes: How much may wait before messages of channels are dropped.
    """

    def __init__(self, max_bytes: float = math.inf) -> None:
        self.max_bytes = max_bytes
        self.size = 0
        """Bytes that wait, including those that the owner keeps back and counts here."""
        self.dropped = 0
        """Messages that were dropped so far."""
        self.has_overflowed = False
        """Whether replies alone were more than may wait."""
        self.changed = asyncio.Event()
        self._order: deque[Payload | SendChannel] = deque()  # a channel: its oldest message

    def reply(self, message: Payload) -> None:
        """Append a message that is never dropped."""
        self._order.append(message)
        self._count(len(message))

    def publish(self, message: Payload, channel: SendChannel, limit: int | None = None) -> None:
        """Append a message of a channel, and drop its oldest if more than `limit` wait."""
        channel.waiting.append(message)
        self._order.append(channel)
        self._count(len(message))
        if limit is not None and len(channel) > limit:
            self._order.remove(channel)
            self._drop(channel)

    def take(self, limit: int) -> list[Payload]:
        """Remove the oldest messages, at most `limit`."""
        taken: list[Payload] = []
        while self._order and len(taken) < limit:
            first = self._order.popleft()
            taken.append(first.waiting.popleft() if isinstance(first, SendChannel) else first)
            self.size -= len(taken[-1])
        return taken

    async def send(
        self,
        batch: Callable[[], Sequence[Payload]],
        send: Callable[[Sequence[Payload]], Awaitable[None]],
        timeout: float,
    ) -> None:
        """Send one batch after the other, and wait for changes when there is none.

        Raises:
            TimeoutError: The client has not read a batch in time, or too many replies wait for it.
        """
        while True:
            await self.changed.wait()
            self.changed.clear()
            while messages := batch():
                async with asyncio.timeout(timeout):
                    await send(messages)
                if self.has_overflowed:
                    raise TimeoutError

    def _count(self, size: int) -> None:
        """Count bytes that were appended, and drop the oldest messages that may be dropped."""
        self.size += size
        while self.size > self.max_bytes:
            k = next((k for k, one in enumerate(self._order) if isinstance(one, SendChannel)), None)
            if k is None:
                self.has_overflowed = True
                break
            channel = self._order[k]
            assert isinstance(channel, SendChannel)
            del self._order[k]
            self._drop(channel)
        self.changed.set()

    def _drop(self, channel: SendChannel) -> None:
        self.size -= len(channel.waiting.popleft())
        self.dropped += 1
