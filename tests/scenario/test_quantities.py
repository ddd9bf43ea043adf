"""Numbers with units: each becomes the number in its field's unit; a wrong unit is a fault."""

from __future__ import annotations

import math
import re
import warnings
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import astray
from astray.errors import ScenarioError, ScenarioWarning
from astray.plugin import KINDS, field_comments, parameters_of
from astray.scenario import load_scenario
from astray.scenario.schema import json_schema
from astray.scenario.units import (
    BadUnit,
    convert_quantity,
    is_quantity,
    parse_unit,
    units_of_comment,
)

SCENARIO = """\
duration: 0.1 min
dt: 10 ms
robots:
  - name: cart
    preset: rover
    start: {x: 200 cm, yaw: 90 deg, step: [0, 50cm]}
    footprint: {radius: 1 ft}
    motion: {radius: {normal: [10 cm, 0.5 mm]}, max_speed: 5 km/h}
    autonomy: {speed: 3.6 km/h, points: [[2 m, 0], [-200 cm, 1]]}
    sensors:
      - {kind: imu, rate: 0.1 kHz, latency: 20 ms, gyro_density: 0.3 deg/√h, accel_density: 1 mg/sqrt(Hz)}
      - {kind: sonar, mounts: [[10 cm, 0, 90 deg]]}
      - {kind: wheels, spells: {every: 1 min}, surfaces: [{zone: [[0, 0], [1 km, 0], [1, 1]]}]}
  - name: lorry
    autonomy: {kind: scripted, steps: [{lasts: 500 ms, vx: 7 cm/s, wz: 3 rpm}]}
  - name: goer
    autonomy: {kind: navigate, goals: [[1, 20 cm], home 1]}
"""


def load(text: str, tmp_path: Path, **options: Any) -> Any:
    (tmp_path / "lap.yaml").write_text(text, encoding="utf-8")
    return load_scenario(tmp_path / "lap.yaml", **options)


def test_numbers_with_units_become_the_numbers_that_they_are(tmp_path: Path) -> None:
    text = SCENARIO.replace(", home 1", "")
    made = load(text, tmp_path)
    assert (made.duration, made.dt) == (6.0, 0.01)
    cart, lorry, goer = made.robots
    assert (cart.start.x, cart.start.yaw, cart.start.step) == (2.0, 0.5 * math.pi, (0.0, 0.5))
    assert cart.motion.radius.mean == 0.1
    assert cart.motion.radius.sd == 0.0005
    assert cart.motion.max_speed == pytest.approx(5 / 3.6, rel=1e-15)
    assert (cart.autonomy.speed, cart.autonomy.points) == (1.0, [(2.0, 0.0), (-2.0, 1.0)])
    wheels, imu, sonar = cart.sensors
    assert (imu.rate, imu.latency) == (100.0, 0.02)
    assert imu.gyro_density == pytest.approx(math.radians(0.3) / 60.0, rel=1e-15)
    assert imu.accel_density == pytest.approx(9.80665e-3, rel=1e-15)
    assert sonar.mounts == [(0.1, 0.0, 0.5 * math.pi)]
    assert wheels.spells.every == 60.0
    assert wheels.surfaces[0].zone[1] == (1000.0, 0.0)
    step = lorry.autonomy.steps[0]
    assert (step.lasts, step.vx, step.wz) == (0.5, 0.07, pytest.approx(0.1 * math.pi, rel=1e-15))
    assert goer.autonomy.goals == [(1.0, 0.2)]
    assert "deg" not in str(made.effective)


def test_a_quantity_may_be_set_from_outside(tmp_path: Path) -> None:
    made = load(SCENARIO.replace(", home 1", ""), tmp_path, overrides="robots.cart.start.yaw=-45°")
    assert made.robots[0].start.yaw == -0.25 * math.pi


@pytest.mark.parametrize(
    ("start", "column", "message"),
    [
        (
            "yaw: 90 dgr",
            12,
            "yaw: unknown unit 'dgr' in '90 dgr'; did you mean 'deg'? (rad, deg, mrad)",
        ),
        ("yaw: 90 degrees", 12, "yaw: unknown unit 'degrees' in '90 degrees'; did you mean 'deg'?"),
        ("x: 2 deg", 10, "x: a value in m is needed, not '2 deg' (m, cm, mm, km, in, ft)"),
        ("step: [0, 2 m/s]", 17, "step[1]: a value in m is needed, not '2 m/s'"),
        ("x: {normal: [1, 2 s]}", 23, "x.normal[1]: a value in m is needed, not '2 s'"),
        ("x: 2 m²", 10, "x: a value in m is needed, not '2 m²'"),
        ("x: 2 m//s", 10, "x: unknown unit 'm//s' in '2 m//s'"),
        ("x: 1e308 km", 10, "x: a finite number is needed, not inf"),
    ],
)
def test_a_wrong_unit_is_a_fault_with_its_place(
    start: str, column: int, message: str, tmp_path: Path
) -> None:
    text = f"robots:\n- name: r\n  start:\n    {{{start}}}\n"
    with pytest.raises(ScenarioError) as problem:
        load(text, tmp_path)
    (fault,) = problem.value.faults  # one for a value, however many would refuse it
    origin = f"{tmp_path / 'lap.yaml'}:4:"
    assert str(fault.origin) == f"{origin}{column - 1}"
    assert f"robots[0].start.{message}" in str(fault)


@pytest.mark.parametrize(
    ("sensor", "message"),
    [
        ("{kind: wheels, ticks: 5 m}", "ticks: has no unit: a plain number is needed, not '5 m'"),
        ("{kind: gnss, loss: 5 %}", "loss: has no unit: a plain number is needed, not '5 %'"),
        ("{kind: imu, rate: 5 s}", "rate: a value in Hz is needed, not '5 s'"),
        ("{kind: imu, gyro_density: 5 deg/s}", "(rad/s/√Hz, deg/s/√Hz, deg/√h)"),
    ],
)
def test_a_unit_of_a_parameter_is_known_from_its_comment(
    sensor: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ScenarioError, match=re.escape(message)):
        load(f"robots: [{{name: r, sensors: [{sensor}]}}]", tmp_path)


def test_a_text_stays_a_text(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="the map has no place '5 m'"):
        load("robots: [{name: r, start: {place: 5 m}}]", tmp_path)


@pytest.mark.parametrize("yaw", ["90", "-7", "{uniform: [-180, 3]}"])
def test_more_than_a_turn_is_warned_of(yaw: str, tmp_path: Path) -> None:
    with pytest.warns(ScenarioWarning, match=r"lap.yaml:2:.*yaw.* is more than a turn.*deg'"):
        load(f"robots:\n- {{name: r, start: {{yaw: {yaw}}}}}", tmp_path)


@pytest.mark.parametrize("yaw", ["720 deg", "6.283185307179586", "-3.2", ".inf", "true"])
def test_nothing_else_is_warned_of(yaw: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refused = pytest.raises(ScenarioError) if yaw in (".inf", "true") else nullcontext()
        with refused:
            load(f"robots:\n- {{name: r, start: {{yaw: {yaw}}}}}", tmp_path)


@given(st.floats(-1e6, 1e6), st.sampled_from(["km", "cm", "ft", "mi"]))
def test_a_conversion_rounds_once(number: float, unit: str) -> None:
    size = {"km": (1000, 1), "cm": (1, 100), "ft": (3048, 10000), "mi": (1609344, 1000)}[unit]
    exact = number.as_integer_ratio()
    expected = (exact[0] * size[0]) / (exact[1] * size[1])  # of whole numbers: rounded once
    assert convert_quantity(f"{number!r} {unit}", "m") == pytest.approx(expected, rel=3e-16)


@given(st.text(max_size=12), st.sampled_from(["m", "rad/s", ""]))
def test_no_unit_ends_in_anything_but_a_refusal(unit: str, needed: str) -> None:
    text = f"1e300 {unit}"
    if is_quantity(text):
        with suppress(BadUnit):
            convert_quantity(text, needed)


@pytest.mark.parametrize("number", ["1e999999999", "1e-999999999", "0e99999999", "9" * 400])
def test_a_number_of_any_size_is_read_at_once(number: str) -> None:
    assert not 1e-300 < convert_quantity(f"{number} cm", "m") < 1e300


def test_units_are_products_of_powers() -> None:
    assert parse_unit("m/s^2") == parse_unit("m/s²") == parse_unit("m / s / s")
    assert parse_unit("rad/s/√Hz") == parse_unit("rad/√s")
    assert parse_unit("1/s") == parse_unit("Hz") != parse_unit("rad/s")
    assert parse_unit("") is parse_unit("bananas") is parse_unit("m/") is None


@pytest.mark.parametrize(
    ("comment", "units"),
    [
        ("m/s, at most", ("m/s",)),
        ("[x, y] m, or names of places on the map", ("m",)),
        ("[x m, y m, yaw rad]", ("m", "m", "rad")),
        ("m/s and rad/s, limit of the integral term", ()),
        ("in which they have to come", ()),
        ("relative, drawn once per episode", ()),
        ("", ()),
    ],
)
def test_a_comment_begins_with_its_unit(comment: str, units: tuple[str, ...]) -> None:
    assert units_of_comment(comment) == units


def test_no_unit_hides_within_a_comment() -> None:
    """A number has a unit where its comment begins, or it has none at all."""
    hidden = re.compile(r"(?<![\w'\[])(m|s|rad|Hz|m/s|rad/s)(?![\w'/])")
    for cls in (cls for kinds in KINDS.values() for cls in kinds.values()):
        comments = field_comments(cls)
        for p in parameters_of(cls):
            comment = comments.get(p.name, "")
            if p.number is float and not units_of_comment(comment):
                assert not hidden.search(comment) or " and rad/s" in comment, (cls, p.name)


def test_the_schema_for_editors_takes_quantities() -> None:
    schema = json_schema()
    accepted = {"$ref": "#/$defs/quantity"}
    assert accepted in schema["$defs"]["start"]["properties"]["yaw"]["anyOf"]
    assert accepted in schema["properties"]["duration"]["anyOf"]
    assert accepted in schema["$defs"]["ScriptStep"]["properties"]["lasts"]["anyOf"]
    pattern = schema["$defs"]["quantity"]["pattern"]
    assert all(re.search(pattern, text) for text in ("90 deg", "-1.5e3 m/s²", "20cm", ".5°"))
    assert not any(re.search(pattern, text) for text in ("", "deg", "90", "1.5"))
    assert accepted not in schema["$defs"]["sensor_gnss"]["properties"]["claim"]["anyOf"]


def test_a_run_with_quantities_is_the_run_with_numbers(tmp_path: Path) -> None:
    def final(yaw: str) -> bytes:
        sim = astray.load(load(f"robots: [{{name: r, start: {{yaw: {yaw}}}}}]", tmp_path).effective)
        sim.robots["r"].drive(0.5)
        sim.run(0.2)
        return bytes(sim.truth.tobytes())

    assert final("90 deg") == final(repr(0.5 * math.pi))
