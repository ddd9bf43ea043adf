"""What several tests share: scenarios, kernels as plain Python, and a browser."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from support.chromium import CHROMIUM
from support.logs import mrclam as mrclam
from support.logs import victoria as victoria

# How long an example takes is no claim: the first call of a kernel may compile.
settings.register_profile("astray", deadline=None)
settings.load_profile("astray")

ROVER: dict[str, Any] = {
    "name": "rover",
    "start": {"spread": 0.3, "yaw_spread": 0.1},
    "motion": {"kind": "differential", "radius": {"normal": [0.1, 0.001]}},
    "sensors": [
        {
            "kind": "wheels",
            "rate": 50,
            "radius_sd": 0.005,
            "baseline_sd": 0.01,
            "slip_density": 0.004,
        }
    ],
    "estimator": {"kind": "odometry"},
    "autonomy": {"kind": "waypoints", "points": [[2, 0], [2, 1], [0, 1]], "loop": True},
}


@pytest.fixture
def rover() -> dict[str, Any]:
    """One robot with everything that draws noise."""
    return copy.deepcopy(ROVER)


@pytest.fixture
def scenario(rover: dict[str, Any]) -> dict[str, Any]:
    """A scenario of one group of two such robots."""
    return {
        "dt": 0.01,
        "seed": 11,
        "robots": [{**rover, "count": 2}],
        "metrics": [{"kind": "position_error"}],
    }


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium without a window."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    if CHROMIUM is None:
        pytest.skip("needs chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        # Chromium refuses to run as root with its sandbox; the pages are our own.
        flags = ["--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        made = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield made
        made.close()
