"""How many messages one core publishes to ROS 2, with a subscriber in another process.

    python benchmarks/ros2.py [SECONDS]

The rate is by the CPU time of the publishing thread, as the machine may be shared: the median of
some rounds, each of both topics, with the slowest and the fastest. Messages are made as by a run
that is faster than its bridge: sampled at each tick, serialized many at a time, then published one
by one. What it costs to record a run is in `recording.py`.
"""

from __future__ import annotations

import multiprocessing as mp
import statistics
import sys
import time
from typing import Any

import astray
from astray.ros.dds import BATCH_SIZE, DdsError, DdsWriter, Discovery, Participant, serialize_batch
from astray.ros.publishers import Publisher, PublisherSet

DOMAIN = 77
ROUNDS = 5
WANTED = {"/imu/data": 15_000, "/scan": 5_000}
SCENARIO: dict[str, Any] = {
    "dt": 0.01,
    "world": {"map": "office"},
    "robots": [
        {
            "name": "rover",
            "start": {"x": 2, "y": 2},
            "sensors": [
                {"kind": "imu", "rate": 100},
                {"kind": "lidar", "name": "scan", "rate": 100, "rays": 1080, "max_range": 10.0},
            ],
        }
    ],
}


def subscribe(topics: dict[str, str], ready: Any, stop: Any, counts: Any) -> None:
    """Take all messages and count them."""
    participant = Participant(Discovery(DOMAIN))
    readers = [participant.reader(topic, type) for topic, type in topics.items()]
    ready.set()
    while not stop.is_set():
        participant.wait(0.05)
        for k, reader in enumerate(readers):
            counts[k] += len(reader.take())


def publish(publisher: Publisher, writer: DdsWriter, seconds: float) -> tuple[int, float]:
    """Publish the same reading again and again; how often, and the CPU time that it took, s."""
    sent, start, end = 0, time.thread_time(), time.monotonic() + seconds
    while time.monotonic() < end:
        batch = [[(publisher, publisher.sample(publisher.rows))] for _ in range(BATCH_SIZE)]
        for messages in serialize_batch(batch):
            for _, _, message in messages:
                try:
                    writer.write(message)
                except DdsError:  # the subscriber does not keep up
                    continue
                sent += 1
    return sent, time.thread_time() - start


def main(seconds: float) -> None:
    sim = astray.load(SCENARIO)
    sim.run(0.1)
    publishers = {
        topic.name: publisher
        for publisher in PublisherSet(sim).publishers
        for topic in publisher.topics.values()
        if topic.name in WANTED
    }
    topics = {name: publisher.layout.type for name, publisher in publishers.items()}
    context = mp.get_context("spawn")
    ready, stop = context.Event(), context.Event()
    counts = context.Array("q", len(topics))
    subscriber = context.Process(target=subscribe, args=(topics, ready, stop, counts), daemon=True)
    subscriber.start()
    participant = Participant(Discovery(DOMAIN))
    writers = [participant.writer(topic, type) for topic, type in topics.items()]
    ready.wait()
    while not all(writer.readers for writer in writers):
        time.sleep(0.01)
    rates: dict[str, list[float]] = {topic: [] for topic in topics}
    sent_in_all = dict.fromkeys(topics, 0)
    for _ in range(ROUNDS):
        for (topic, publisher), writer in zip(publishers.items(), writers, strict=True):
            sent, used = publish(publisher, writer, seconds)
            rates[topic].append(sent / used)
            sent_in_all[topic] += sent
    time.sleep(0.5)
    stop.set()
    subscriber.join(5)
    print("topic         bytes   messages/s of CPU      from        to    wanted  received")
    for k, (topic, found) in enumerate(rates.items()):
        median, low, high = statistics.median(found), min(found), max(found)
        received = counts[k] / sent_in_all[topic]
        size = publishers[topic].layout.size
        print(
            f"{topic:11}{size:8,}{median:20,.0f}{low:10,.0f}{high:10,.0f}"
            f"{WANTED[topic]:10,}{received:10.0%}"
        )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
