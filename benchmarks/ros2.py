"""How many messages one core publishes to ROS 2, with someone in another process who hears them.

    python benchmarks/ros2.py [SECONDS]

The rate is by the CPU time of the publishing thread, as the machine may be shared: the median of
some rounds of which each does both kinds, and the slowest and fastest. Messages are made as a run
makes them that is ahead of its wire: copied at each moment, the columns of many moments written at
once, then each message given to the bus. What it costs to record a run is in `recording.py`.
"""

from __future__ import annotations

import multiprocessing as mp
import statistics
import sys
import time
from typing import Any

import astray
from astray.ros.dds import MOST, DdsError, DdsWriter, Discovery, Participant, serialize_batch
from astray.ros.publishers import ImuPublisher, LaserScanPublisher, PublisherSet

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


def hear(topics: dict[str, str], ready: Any, stop: Any, counts: Any) -> None:
    """Take all that comes and count it."""
    bus = Participant(Discovery(DOMAIN))
    readers = [bus.reader(topic, type) for topic, type in topics.items()]
    ready.set()
    while not stop.is_set():
        bus.wait(0.05)
        for k, reader in enumerate(readers):
            counts[k] += len(reader.take())


def publish(speaker: Any, writer: DdsWriter, seconds: float) -> tuple[int, float]:
    """Say the same reading again and again; how often, and the CPU time it took, s."""
    sent, start, end = 0, time.thread_time(), time.monotonic() + seconds
    while time.monotonic() < end:
        waiting = [[(speaker, speaker.sample(speaker.rows))] for _ in range(MOST)]
        for messages in serialize_batch(waiting):
            for _, _, message in messages:
                try:
                    writer.write(message)
                except DdsError:  # whoever hears it does not keep up
                    continue
                sent += 1
    return sent, time.thread_time() - start


def main(seconds: float) -> None:
    sim = astray.load(SCENARIO)
    sim.run(0.1)
    speakers = [
        s for s in PublisherSet(sim).publishers if isinstance(s, (ImuPublisher, LaserScanPublisher))
    ]
    topics = {next(iter(s.topics.values())).name: s.layout.type for s in speakers}
    context = mp.get_context("spawn")
    ready, stop = context.Event(), context.Event()
    counts = context.Array("q", len(topics))
    listener = context.Process(target=hear, args=(topics, ready, stop, counts), daemon=True)
    listener.start()
    bus = Participant(Discovery(DOMAIN))
    writers = [bus.writer(topic, type) for topic, type in topics.items()]
    ready.wait()
    while not all(writer.readers for writer in writers):
        time.sleep(0.01)
    rates: dict[str, list[float]] = {topic: [] for topic in topics}
    sent_in_all = dict.fromkeys(topics, 0)
    for _ in range(ROUNDS):
        for topic, speaker, writer in zip(topics, speakers, writers, strict=True):
            sent, used = publish(speaker, writer, seconds)
            rates[topic].append(sent / used)
            sent_in_all[topic] += sent
    time.sleep(0.5)
    stop.set()
    listener.join(5)
    print("topic         bytes   messages/s of CPU      from        to    wanted     heard")
    for k, (topic, found) in enumerate(rates.items()):
        median, low, high = statistics.median(found), min(found), max(found)
        heard = counts[k] / sent_in_all[topic]
        size = speakers[k].layout.size
        print(
            f"{topic:11}{size:8,}{median:20,.0f}{low:10,.0f}{high:10,.0f}"
            f"{WANTED[topic]:10,}{heard:10.0%}"
        )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
