"""The publish queue: if it is full, the oldest item is dropped or the run waits."""

from __future__ import annotations

import threading

import pytest

from astray.ros.dds.publish_queue import BATCH_SIZE, PublishQueue


class Slow:
    """Publishes only while it is allowed to."""

    def __init__(self) -> None:
        self.published: list[int] = []
        self.called, self.allowed = threading.Event(), threading.Event()

    def publish(self, items: object) -> None:
        self.called.set()
        assert self.allowed.wait(30)
        self.published += list(items)  # type: ignore[call-overload]


def test_a_slow_publisher_drops_the_oldest_and_keeps_the_order() -> None:
    slow = Slow()
    queue = PublishQueue(slow.publish, 5, lambda: False)
    queue.open()
    queue.put(0)
    assert slow.called.wait(30)
    for k in range(1, 21):
        queue.put(k)
    assert queue.dropped == 15
    slow.allowed.set()
    queue.close()
    assert slow.published == [0, 16, 17, 18, 19, 20]


def test_nothing_is_dropped_if_the_run_waits() -> None:
    slow = Slow()
    queue = PublishQueue(slow.publish, 5, lambda: True)
    queue.open()
    thread = threading.Thread(target=lambda: [queue.put(k) for k in range(10 * BATCH_SIZE)])
    thread.start()
    assert slow.called.wait(30)
    assert len(queue._waiting) <= 5
    slow.allowed.set()
    thread.join(30)
    queue.close()
    assert slow.published == list(range(10 * BATCH_SIZE))
    assert queue.dropped == 0


def test_a_run_that_need_not_wait_any_more_continues() -> None:
    slow, waits = Slow(), [True]
    queue = PublishQueue(slow.publish, 1, lambda: waits[0])
    queue.open()
    queue.put(0)
    assert slow.called.wait(30)
    queue.put(1)
    threading.Timer(0.05, lambda: waits.__setitem__(0, False)).start()
    queue.put(2)
    assert queue.dropped == 1
    slow.allowed.set()
    queue.close()


def test_an_error_while_publishing_is_raised_in_the_run() -> None:
    def publish(items: object) -> None:
        raise ValueError("no network")

    queue = PublishQueue(publish, 5, lambda: True)
    queue.open()
    queue.put(0)
    queue._thread.join(30)
    with pytest.raises(ValueError, match="no network"):
        queue.put(1)
    queue.close()
