"""Every statement of a document names a test that exists."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import astray
from support.paths import ROOT

PAGES = sorted((ROOT / "docs" / "reference" / "documents").glob("*.md"))
NAMED = re.compile(r"`([\w/]+\.py)?::(test_\w+)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_tests_that_a_page_names_exist(page: Path) -> None:
    file, found = "", 0
    for name, claim in NAMED.findall(page.read_text(encoding="utf-8")):
        file = name or file
        source = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert f"def {claim}(" in source, f"{file} has no {claim}"
        found += 1
    assert found >= 5


def test_the_real_ins_is_fed_by_the_sensors_that_the_document_names() -> None:
    sim = astray.load("ins")
    fused = sim.robots["fused"]
    assert {c.sensor.kind for c in fused.pipelines.values()} == {"imu", "gnss", "landmarks"}
    assert fused.estimator is not None
    assert fused.estimator.kind == "ekf"
    sim.run(12.0)  # in the north there are no fixes, in the south no reflectors
    assert fused.readings["gnss"]["lost"][0]
    assert fused.readings["lidar"]["count"][0] > 0
    sim.run(9.0)
    assert not fused.readings["gnss"]["lost"][0]
    off = {
        who: float(np.hypot(b["x"] - fused.truth["x"], b["y"] - fused.truth["y"])[0])
        for who, b in fused.beliefs().items()
    }
    assert off["belief"] < 0.1 < off["inertial"]
