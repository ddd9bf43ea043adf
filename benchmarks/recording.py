"""Recording: how many messages a second, and how much slower a run of ten robots is by it.

    python benchmarks/recording.py

1. Messages that one core encodes, compresses and writes, from the samples of a run.
2. The same run with and without a recording, by turns, as fast as it goes: by the clock on the
   wall, since a thread of its own writes, and in processor time of all threads together.
3. The poses of that run read back.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import astray
from astray.recording import Recorder
from astray.recording.mcap import Chunk

ROBOT: dict[str, Any] = {
    "name": "rover",
    "preset": "turtlebot4",
    "start": {"clearance": 0.4},
    "sensors": [
        {"kind": "lidar", "rate": 10, "rays": 360},
        {"kind": "imu", "rate": 100, "grade": "consumer"},
        {"kind": "wheels", "rate": 50},
    ],
    "estimator": {"kind": "ekf"},
    "autonomy": {"kind": "wander"},
}


def scenario(robots: int) -> dict[str, Any]:
    return {
        "seed": 1,
        "dt": 0.01,
        "world": {"map": {"kind": "rooms", "size": [30, 20], "seed": 1}},
        "robots": [{**ROBOT, "count": robots}],
        "metrics": [{"kind": "position_error"}, {"kind": "nees"}],
    }


class ChunkCollector(Recorder):
    """Collects chunks in place of writing them."""

    def _end_chunk(self) -> None:
        self.chunks: list[Chunk] = getattr(self, "chunks", [])
        if self._open.samples:
            self.chunks.append(self._open)
            self._open = Chunk(self.publishers.publishers, self._capacity)


def messages_per_second(folder: Path, repeats: int) -> list[float]:
    sim = astray.load(scenario(10))
    recorder = ChunkCollector(sim, folder / "collected.mcap")
    sim.run(20.0)
    found = []
    for _ in range(repeats):
        before = recorder._writer.counts.sum()
        begun = time.thread_time()
        for chunk in recorder.chunks:
            content = recorder._encoder.encode(chunk, recorder._buffer)
            recorder._encoder.advance(content)
            recorder._writer.write_chunk(content)
        spent = time.thread_time() - begun
        found.append((recorder._writer.counts.sum() - before) / spent)
    recorder.chunks.clear()
    recorder.close()
    return found


def one_run(path: Path | None, seconds: float) -> tuple[float, float]:
    """Wall and processor time of a run."""
    sim = astray.load(scenario(10))
    sim.run(0.5)
    wall, processor = time.perf_counter(), time.process_time()
    if path is None:
        sim.run(seconds)
    else:
        with astray.record(sim, path, overwrite=True):
            sim.run(seconds)
    return time.perf_counter() - wall, time.process_time() - processor


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rates = messages_per_second(folder, options.repeats)
        print(f"written: {statistics.median(rates):,.0f} messages/s of one core's time")
        pairs = []
        for _ in range(options.repeats):
            plain = one_run(None, options.seconds)
            pairs.append((plain, one_run(folder / "run.mcap", options.seconds)))
        for k, what in enumerate(("wall", "processor")):
            plain_times, recorded = ([pair[j][k] for pair in pairs] for j in (0, 1))
            ratio = [b[k] / a[k] - 1.0 for a, b in pairs]
            print(f"{what} time of {options.seconds:g} s of 10 robots: {spread(plain_times)} s")
            slower = 100 * statistics.median(ratio)
            print(f"  recorded: {spread(recorded)} s, slower by {slower:.0f} %")
        size = (folder / "run.mcap").stat().st_size
        begun = time.perf_counter()
        recording = astray.read_recording(folder / "run.mcap")
        poses = sum(len(track.truth) + len(track.belief) for track in recording.robots.values())
        taken = time.perf_counter() - begun
        print(f"read back: {poses:,} poses of {size / 1e6:.1f} MB in {taken:.2f} s")


if __name__ == "__main__":
    main()
