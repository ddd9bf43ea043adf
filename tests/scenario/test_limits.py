"""Numbers at the ends of what a float can be are refused, or mean what they say."""

from __future__ import annotations

import re
from typing import Any

import pytest

import astray
from astray.errors import ScenarioError
from astray.numerics import NEVER, ticks_in
from astray.scenario import load_scenario

LIMITS = "must be from 1e-09 to 1e+06 Hz, not "


def scenario(sensor: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**more, "robots": [{"name": "r", "sensors": [{"kind": "compass", **sensor}]}]}


@pytest.mark.parametrize("rate", [1e308, 1e300, 1.1e6, 1e-10, 1e-308, 5e-324])
@pytest.mark.parametrize("more", [{}, {"dt": 0.01}])
def test_a_rate_that_no_clock_has_is_refused(rate: float, more: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError, match=re.escape(f"rate: {LIMITS}{rate:g}")):
        load_scenario(scenario({"rate": rate}, **more))


def test_a_rate_beyond_floats_is_refused() -> None:
    with pytest.raises(ScenarioError, match="a number below 1e308 is needed"):
        load_scenario(scenario({"rate": 10**400}))


@pytest.mark.parametrize("timing", ["latency", "jitter"])
def test_a_delay_without_end_is_refused_in_words(timing: str) -> None:
    with pytest.raises(ScenarioError) as problem:
        load_scenario(scenario({"rate": 10, timing: 1e308}))
    assert "Error" not in str(problem.value)


def test_an_offset_without_end_is_never_due() -> None:
    assert ticks_in(1e308, 1e-6) == ticks_in(1e300, 0.01) == NEVER
    sim = astray.load(scenario({"offset": 1e308}))
    sim.run(0.05)
    assert not sim.robots["r"].readings["compass"].fresh.any()


def test_a_tab_is_named(tmp_path: Any) -> None:
    file = tmp_path / "lap.yaml"
    for text, place in (("robots:\n\t- name: r\n", "2:1"), ("a:\n  b: 1\n \tc: 2\n", "3:2")):
        file.write_text(text)
        with pytest.raises(ScenarioError, match=f"lap.yaml:{place}: not YAML: a tab; YAML is"):
            load_scenario(file)
