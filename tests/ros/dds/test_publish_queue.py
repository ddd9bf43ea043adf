"""What is to be published: the oldest goes first if there is no room, or the run waits."""

from __future__ import annotations

import threading

import pytest

from astray.ros.dds.publish_queue import BATCH_SIZE, PublishQueue


class Slow:
    """Publishes only while it is allowed to."""

    def __init__(self) -> None:
        self.said: list[int] = []
        self.asked, self.allowed = threading.Event(), threading.Event()

    def publish(self, moments: object) -> None:
        self.asked.set()
        assert self.allowed.wait(30)
        self.said += list(moments)  # type: ignore[call-overload]


def test_a_bus_that_is_too_slow_loses_the_oldest_and_keeps_the_order() -> None:
    slow = Slow()
    outbox = PublishQueue(slow.publish, 5, lambda: False)
    outbox.open()
    outbox.put(0)
    assert slow.asked.wait(30)
    for k in range(1, 21):
        outbox.put(k)
    assert outbox.dropped == 15
    slow.allowed.set()
    outbox.close()
    assert slow.said == [0, 16, 17, 18, 19, 20]


def test_nothing_is_lost_if_the_run_waits() -> None:
    slow = Slow()
    outbox = PublishQueue(slow.publish, 5, lambda: True)
    outbox.open()
    thread = threading.Thread(target=lambda: [outbox.put(k) for k in range(10 * BATCH_SIZE)])
    thread.start()
    assert slow.asked.wait(30)
    assert len(outbox._waiting) <= 5
    slow.allowed.set()
    thread.join(30)
    outbox.close()
    assert slow.said == list(range(10 * BATCH_SIZE))
    assert outbox.dropped == 0


def test_a_run_that_need_not_wait_any_more_goes_on() -> None:
    slow, waits = Slow(), [True]
    outbox = PublishQueue(slow.publish, 1, lambda: waits[0])
    outbox.open()
    outbox.put(0)
    assert slow.asked.wait(30)
    outbox.put(1)
    threading.Timer(0.05, lambda: waits.__setitem__(0, False)).start()
    outbox.put(2)
    assert outbox.dropped == 1
    slow.allowed.set()
    outbox.close()


def test_a_bus_that_fails_ends_the_run_with_its_words() -> None:
    def publish(moments: object) -> None:
        raise ValueError("no bus")

    outbox = PublishQueue(publish, 5, lambda: True)
    outbox.open()
    outbox.put(0)
    outbox._thread.join(30)
    with pytest.raises(ValueError, match="no bus"):
        outbox.put(1)
    outbox.close()
