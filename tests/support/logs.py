"""Small logs in the formats of real datasets."""

from __future__ import annotations

import math
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from astray.datasets.wheel_conversion import integrate_held
from support.paths import DATA


def real(name: str) -> Path:
    """A log that is not shipped; the test is skipped where it is absent."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"the log {name} is not at {path}: it is not shipped")
    return path


@pytest.fixture
def mrclam(tmp_path: Path) -> Path:
    """A robot that drives a circle of 1 m at 0.1 m/s around a landmark, and sees it."""
    stamps = 1000.0 + np.arange(0.0, 20.0, 0.1)
    angle = 0.1 * (stamps - 1000.0)
    truth = np.stack([stamps, np.cos(angle), np.sin(angle), angle + 0.5 * math.pi], axis=1)
    driven = np.stack([stamps, 0.1 + 0 * stamps, 0.1 + 0 * stamps], axis=1)
    seen = [[1000.05, 61, 1.0, 1.57], [1000.05, 5, 2.0, 0.0], [1000.35, 61, 1.0, 1.56]]
    seen += [[1000.35, 27, math.sqrt(2.0), 0.8]]
    np.savetxt(tmp_path / "Robot4_Groundtruth.dat", truth)
    np.savetxt(tmp_path / "Robot4_Odometry.dat", driven, header="Time v w")
    np.savetxt(tmp_path / "Robot4_Measurement.dat", seen)
    np.savetxt(tmp_path / "Barcodes.dat", [[1, 5], [6, 27], [7, 61]], fmt="%d")
    np.savetxt(tmp_path / "Landmark_Groundtruth.dat", [[6, 2, 1, 0, 0], [7, 0, 0, 0, 0]])
    return tmp_path


def element(kind: int, data: bytes) -> bytes:
    if 0 < len(data) <= 4:
        return struct.pack("<HH", kind, len(data)) + data.ljust(4, b"\0")
    return struct.pack("<II", kind, len(data)) + data + b"\0" * (-len(data) % 8)


def matrix(name: str, values: Any, kind: int = 9, pack: bool = False) -> bytes:
    """A matrix as MATLAB writes it, of doubles or, with kind 5, of whole numbers."""
    values = np.atleast_2d(np.asarray(values))
    numbers = values.astype({9: "<f8", 5: "<i4"}[kind]).tobytes(order="F")
    made = element(6, struct.pack("<II", 6, 0))
    made += element(5, np.array(values.shape, "<i4").tobytes())
    made += element(1, name.encode()) + element(kind, numbers)
    whole = struct.pack("<II", 14, len(made)) + made
    if not pack:
        return whole
    packed = zlib.compress(whole)
    return struct.pack("<II", 15, len(packed)) + packed


def write_matlab(file: Path, *matrices: bytes) -> None:
    head = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
    file.write_bytes(head + b"".join(matrices))


@pytest.fixture
def victoria(tmp_path: Path) -> Path:
    """A truck that drives a curve for 160 s from (10, 20) at 0.3 rad, with a fix each second."""
    stamps = np.arange(0.0, 160.0, 0.025)
    steer = 0.1 * np.sin(stamps / 9.0)
    speed = 2.0 + np.cos(stamps / 15.0)
    wheel = speed * (1.0 - np.tan(steer) * 0.76 / 2.83)
    yaw = 0.3 + integrate_held(speed * np.tan(steer) / 2.83, stamps)
    middle = yaw + 0.5 * 0.025 * speed * np.tan(steer) / 2.83
    x = 10.0 + integrate_held(speed * np.cos(middle), stamps)
    y = 20.0 + integrate_held(speed * np.sin(middle), stamps)
    some = slice(0, None, 40)
    s, c = np.sin(yaw[some]), np.cos(yaw[some])
    east, north = x[some] + 3.78 * c - 0.5 * s, y[some] + 3.78 * s + 0.5 * c
    when = 5000 + 1000.0 * stamps
    write_matlab(
        tmp_path / "driven.mat",
        matrix("time", when[:, None], 5),
        matrix("speed", wheel[:, None], pack=True),
        matrix("steering", steer[:, None]),
    )
    write_matlab(
        tmp_path / "gps.mat",
        matrix("timeGps", when[some][:, None], 5),
        matrix("Lo_m", east[:, None]),
        matrix("La_m", north[:, None]),
    )
    return tmp_path


def carmen_text(poses: Any, walls: float = 4.0, rays: int = 36, stamps: Any = None) -> str:
    """Scans in a square room of so many metres to each side of the origin."""
    lines = ["# message formats defined: PARAM FLASER", "PARAM robot_frontlaser_offset 0.0 x 0"]
    for k, (x, y, yaw) in enumerate(poses):
        angles = yaw - 0.5 * math.pi + np.arange(rays) * math.pi / rays
        c, s = np.cos(angles) + 1e-12, np.sin(angles) + 1e-12
        far = np.minimum(
            np.where(c > 0, (walls - x) / c, (-walls - x) / c),
            np.where(s > 0, (walls - y) / s, (-walls - y) / s),
        )
        ranges = " ".join(f"{r:.4f}" for r in far)
        pose = f"{x} {y} {yaw}"
        stamp = float(k) if stamps is None else stamps[k]
        lines.append(f"FLASER {rays} {ranges} {pose} {pose} {stamp} host {stamp}")
    return "\n".join(lines) + "\n"


def course(n: int = 60) -> Any:
    angle = np.linspace(0.0, 4.0, n)
    return np.stack([2 * np.cos(angle), 2 * np.sin(angle), angle + 0.5 * math.pi], axis=1)
