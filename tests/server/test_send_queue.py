"""Send queues: limits, what is dropped, and clients that do not read."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from astray.server import Payload, SendChannel, SendQueue


def test_the_oldest_message_of_a_channel_is_dropped_for_a_newer_one() -> None:
    queue, channel, other = SendQueue(), SendChannel(), SendChannel()
    queue.publish("x", other, limit=2)
    for k in range(5):
        queue.publish(str(k), channel, limit=2)
    queue.reply("reply")
    assert queue.dropped == 3
    assert queue.take(2) == ["x", "3"]
    assert queue.take(10) == ["4", "reply"]
    assert (queue.size, queue.has_overflowed) == (0, False)


def test_replies_are_never_dropped_and_may_overflow() -> None:
    queue, channel = SendQueue(max_bytes=10), SendChannel()
    queue.publish(b"12345", channel)
    queue.reply("1234567890")
    assert (queue.dropped, queue.has_overflowed) == (1, False)
    queue.reply("1")
    assert queue.has_overflowed
    assert queue.take(10) == ["1234567890", "1"]


def test_messages_are_sent_in_batches_until_the_client_stops_reading() -> None:
    sent: list[list[Payload]] = []

    async def send(messages: Sequence[Payload]) -> None:
        sent.append(list(messages))
        if "stuck" in messages:
            await asyncio.sleep(60.0)

    async def run() -> None:
        queue = SendQueue()
        sending = asyncio.create_task(queue.send(lambda: queue.take(2), send, timeout=0.05))
        for text in ("a", "b", "c"):
            queue.reply(text)
        while len(sent) < 2:
            await asyncio.sleep(0)
        queue.reply("stuck")
        await sending

    with pytest.raises(TimeoutError):
        asyncio.run(run())
    assert sent == [["a", "b"], ["c"], ["stuck"]]


def test_a_client_whose_replies_overflow_is_given_up() -> None:
    async def send(messages: Sequence[Payload]) -> None:
        """Read at once."""

    async def run() -> None:
        queue = SendQueue(max_bytes=3)
        queue.reply("1234")
        await queue.send(lambda: queue.take(1), send, timeout=60.0)

    with pytest.raises(TimeoutError):
        asyncio.run(run())
