"""A run to record, and a disk that becomes full."""

from __future__ import annotations

import io
from typing import Any

import astray
from astray.recording.recorder import Recorder

ROOM = {"walls": [[[-4, -4], [4, -4], [4, 4], [-4, 4], [-4, -4]]]}


def scenario(**more: Any) -> dict[str, Any]:
    robot = {
        "name": "rover",
        "count": 2,
        "start": {"spread": 0.5},
        "sensors": [
            {"kind": "wheels", "rate": 50, "slip_density": 0.01, "radius_sd": 0.01},
            {"kind": "imu", "rate": 100, "grade": "consumer"},
            {"kind": "lidar", "rate": 10, "rays": 16},
            {"kind": "compass", "rate": 5, "white_sd": 0.02},
        ],
        "estimator": {"kind": "odometry"},
        "rivals": [{"kind": "inertial"}],
    }
    made = {"dt": 0.01, "seed": 4, "world": {"map": ROOM}, "robots": [{**robot, **more}]}
    return made


def drive(sim: astray.Sim) -> None:
    rover = sim.robots["rover"]
    rover.drive(0.4, 0.3)
    sim.run(0.7)
    rover.believe(x=1.0, y=1.0, yaw=0.5)
    sim.run(1.3)


class FullDisk(io.RawIOBase):
    """Accepts a number of bytes, then refuses."""

    def __init__(self, file: Any, capacity: int) -> None:
        self.inner, self.capacity = file, capacity

    def write(self, data: Any) -> int:
        if self.capacity <= 0:
            raise OSError(28, "No space left on device")
        written = self.inner.write(bytes(data[: self.capacity]))
        self.capacity -= written
        return int(written)

    def close(self) -> None:
        self.inner.close()


def fill_disk(recorder: Recorder, capacity: int) -> None:
    recorder._writer.file = FullDisk(recorder._writer.file, capacity)  # type: ignore[assignment]
