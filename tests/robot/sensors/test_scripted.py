"""Robots that drive by signals, and sensors whose readings are signals."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import astray
from astray import PluginError, ScenarioError, check_plugin
from astray.errors import SignalWarning
from astray.plugin import KINDS
from astray.robot.autonomy.scripted import Scripted
from astray.robot.sensors import ScriptedImu, ScriptedWheels
from astray.scenario.load import load_scenario
from astray.scenario.schema import BUILT_IN_PACKAGES
from astray.signals import Signals
from astray.tables import CURVATURE, TWIST
from support.signals import EXAMPLES

assert BUILT_IN_PACKAGES
RAMP = {"type": "linear", "t_start": 0, "t_end": 2, "y_start": 0, "y_end": 0.8}
WAVE = {"type": "sine", "amplitude": 0.4, "frequency": 0.3}
ARCH = {"type": "quadratic", "t_start": 0, "t_end": 2, "y_start": 0, "y_end": 1, "y_mid": 3}
COURSE = {"vx": RAMP, "wz": WAVE}
FORCES = {
    "linear_x": RAMP,
    "linear_y": WAVE,
    "angular_x": 0.1,
    "angular_y": ARCH,
    "angular_z": WAVE,
}
RATES = {"wheel_fl": RAMP, "wheel_fr": WAVE, "wheel_rl": ARCH, "wheel_rr": 2.0}
IMU_COLUMNS = {f"{kind}_{axis}": f"{short}{axis}" for kind, short in (("linear", "a"), ("angular", "w")) for axis in "xyz"}  # fmt: skip


def one(**robot: Any) -> Any:
    """A simulation of one robot, at 100 ticks per second."""
    return astray.load({"dt": 0.01, "robots": [{"name": "a", **robot}]})


def scripted(**options: Any) -> dict[str, Any]:
    return {"kind": "scripted", **options}


def faults(source: Any, *overrides: str) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(source, overrides)
    return str(caught.value).splitlines()


# Driving.


@pytest.mark.parametrize("column", ["vx", "vy", "wz"])
def test_a_command_is_the_signal_at_the_time_of_the_decision(column: str) -> None:
    motion = "omni" if "omni" in KINDS["motion"] else "differential"
    signal = Signals.read({column: [RAMP, {**WAVE, "t_start": 2.5}]})[column]
    sim = one(motion={"kind": motion}, autonomy=scripted(signals={column: signal}))
    commands = sim.robots["a"].commands
    for tick in range(400):
        sim.step()
        assert float(commands[column][0]) == signal(tick * 0.01)
        assert int(commands["mode"][0]) == TWIST


def test_a_robot_drives_the_way_that_its_signal_covers() -> None:
    sim = one(autonomy=scripted(signals={"vx": RAMP}))
    sim.run(4.0)
    way = Signals.read({"vx": RAMP})["vx"].integral(4.0)
    assert float(sim.truth["x"][0]) == pytest.approx(way, abs=0.8 * 0.01)  # a tick of delay
    assert float(sim.truth["vx"][0]) == pytest.approx(0.8)


def test_curvature_makes_a_circle() -> None:
    sim = one(autonomy=scripted(signals={"vx": 0.5, "curvature": 0.5}))
    sim.run(4.0 * math.pi / 0.5)
    assert int(sim.robots["a"].commands["mode"][0]) == CURVATURE
    assert float(sim.truth["wz"][0]) == pytest.approx(0.25)
    log = sim.run(10.0, log=0.1)
    centre = log["a"].truth["y"] + np.cos(log["a"].truth["yaw"]) / 0.5
    assert np.ptp(centre) < 1e-6


def test_signals_are_due_at_every_tick_and_steps_only_at_their_borders() -> None:
    by_signal = one(autonomy=scripted(signals=COURSE)).robots["a"].autonomy
    by_step = one(autonomy=scripted(steps=[{"lasts": 1.0, "vx": 0.1}])).robots["a"].autonomy
    assert [by_signal.next_due(tick) for tick in (0, 1, 77)] == [0, 1, 77]
    assert [by_step.next_due(tick) for tick in (0, 1, 77)] == [0, 100, 100]


def test_nothing_given_stands_still() -> None:
    sim = one(autonomy=scripted())
    sim.run(1.0)
    assert float(sim.truth["x"][0]) == 0.0


def test_signals_start_over_where_the_last_one_ends() -> None:
    course = {"vx": [{"type": "linear", "t_start": 0, "t_end": 0.3, "y_start": 0.1, "y_end": 0.4}]}
    sim = one(autonomy=scripted(signals=course, loop=True))
    commands, asked = sim.robots["a"].commands, []
    for _ in range(3000):
        sim.step()
        asked.append(float(commands["vx"][0]))
    laps = np.array(asked).reshape(100, 30)
    assert np.allclose(laps, laps[0], rtol=0, atol=1e-9)
    assert np.allclose(laps[0], np.linspace(0.1, 0.39, 30))


def test_the_origin_moves_the_signals_and_may_be_drawn() -> None:
    robot = {"name": "a", "autonomy": scripted(signals=COURSE, origin={"uniform": [0.0, 1.0]})}
    sim = astray.load({"dt": 0.01, "robots": [robot]}, worlds=50)
    sim.run(1.5)
    group = sim.robots["a"]
    origin = group.autonomy.params["origin"]
    assert np.ptp(origin) > 0.5
    expected = Signals.read(COURSE)["vx"](149 * 0.01 - origin)
    assert (group.commands["vx"] == expected).all()
    late = one(autonomy=scripted(signals={"vx": 0.5}, origin=1.0))
    late.run(1.0)
    assert float(late.truth["x"][0]) == 0.0
    late.run(1.0)
    assert float(late.truth["x"][0]) > 0.3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": [{"lasts": 1.0}], "signals": COURSE}, "steps or signals, not both"),
        ({"signals": {**COURSE, "curvature": 1}}, "curvature and wz exclude each other"),
        ({"signals": {"vy": 1, "wz": 1, "curvature": 1}}, "curvature and vy and wz exclude"),
        ({"signals": {"vz": 1}}, "unknown signal 'vz'"),
        ({"signals": 3}, "a mapping of names to signals is needed, not 3"),
        ({"file": 3}, "a text is needed"),
    ],
)
def test_a_wrong_course_is_refused(options: dict[str, Any], message: str) -> None:
    found = faults({"robots": [{"name": "a", "autonomy": scripted(**options)}]})
    assert len(found) == 1
    assert "robots[0].autonomy" in found[0]
    assert message in found[0]


# Readings that are signals.


@pytest.mark.parametrize("centripetal", [False, True])
def test_imu_readings_are_the_signals_whatever_the_robot_does(centripetal: bool) -> None:
    imu = {"kind": "scripted_imu", "rate": 50, "signals": FORCES, "centripetal": centripetal}
    sim = one(sensors=[imu], autonomy=scripted(signals=COURSE))
    log = sim.run(4.0, log=0.02)
    signals = Signals.read({**FORCES, "linear_z": 9.81})
    for name, column in IMU_COLUMNS.items():
        expected = signals[name](log["a"].readings["scripted_imu"]["stamp"][:, 0])
        assert (log["a"].readings["scripted_imu"][column][:, 0] == expected).all()
    assert sim.robots["a"].plan.sensors[0].datasheet()["centripetal"] is centripetal


def test_gravity_is_felt_unless_linear_z_is_given() -> None:
    assert "linear_z" not in FORCES
    for signals, az in (({}, 9.81), ({"linear_z": 3.0}, 3.0), ({"linear_z": []}, 0.0)):
        sim = one(sensors=[{"kind": "scripted_imu", "signals": signals}])
        assert float(sim.robots["a"].readings["scripted_imu"]["az"][0]) == az


@pytest.mark.parametrize("motion", sorted(KINDS["motion"]))
def test_wheels_turn_by_the_exact_integral_for_any_motion(motion: str) -> None:
    wheels = {"kind": "scripted_wheels", "signals": RATES, "ticks": 100}
    log = one(motion={"kind": motion}, sensors=[wheels]).run(4.0, log=0.01)
    reading, signals = log["a"].readings["scripted_wheels"], Signals.read(RATES)
    for k, signal in enumerate(signals.values()):
        times = reading["stamp"][:, 0]
        angle = reading["angle"][:, 0, k]
        assert (reading["rate"][:, 0, k] == signal(times)).all()
        assert (angle == signal.integral(times)).all()
        assert (reading["count"][:, 0, k] == np.floor(angle * 100 / (2 * math.pi))).all()


def test_angles_do_not_depend_on_the_rate_of_the_sensor() -> None:
    angles = []
    for rate in (5, 20, 100):
        sim = one(sensors=[{"kind": "scripted_wheels", "rate": rate, "signals": RATES}])
        sim.run(3.0)
        angles.append(sim.robots["a"].readings["scripted_wheels"]["angle"].tobytes())
    assert len(set(angles)) == 1


def test_odometry_believes_made_up_wheels() -> None:
    rates = {"wheel_fl": 4.0, "wheel_fr": 6.0}
    wheels = {"kind": "scripted_wheels", "rate": 20, "signals": rates}
    sim = one(
        motion={"kind": "differential", "radius": 0.1, "baseline": 0.4},
        autonomy={"kind": "idle"},
        sensors=[wheels],
        estimator={"kind": "odometry"},
    )
    sim.run(10.0)
    turn = (6.0 - 4.0) * 0.1 / 0.4 * 10.0  # rad, on a circle of radius 1 m
    assert float(sim.belief["x"][0]) == pytest.approx(math.sin(turn), abs=1e-9)
    assert float(sim.belief["y"][0]) == pytest.approx(1.0 - math.cos(turn), abs=1e-9)
    assert float(sim.truth["x"][0]) == 0.0


def test_inertial_follows_the_course_of_the_examples_without_an_option(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text(EXAMPLES, encoding="utf-8")
    signals, seconds = astray.scenario.importers.read_ros_parameters(tmp_path / "params.yaml"), 6.0
    t = np.linspace(0.0, seconds, 60_001)
    speed, yaw = signals["linear_x"].integral(t), signals["angular_z"].integral(t)
    goal = [np.trapezoid(speed * turned(yaw), t) for turned in (np.cos, np.sin)]
    errors = []
    for dt in (0.01, 0.001):
        sensors = [{"kind": "scripted_imu", "file": str(tmp_path / "params.yaml")}]
        robot = {"name": "a", "sensors": sensors, "estimator": {"kind": "inertial"}}
        sim = astray.load({"dt": dt, "robots": [robot]})
        sim.run(seconds)
        belief = sim.belief[0]
        errors.append(math.hypot(belief.x - goal[0], belief.y - goal[1]))
    # Its integration is of second order in dt, and the 90 m of this course wind through 13 rad.
    assert errors[0] / errors[1] == pytest.approx(100.0, rel=0.25)
    assert errors[1] < 1e-3


def test_latency_and_offset_are_those_of_any_sensor() -> None:
    imu = {"kind": "scripted_imu", "rate": 10, "latency": 0.25, "offset": 0.05, "signals": FORCES}
    sim = one(sensors=[imu])
    sim.run(2.0)
    reading = sim.robots["a"].readings["scripted_imu"]
    assert float(reading.stamp[0]) == pytest.approx(1.75)
    assert float(reading["ax"][0]) == Signals.read(FORCES)["linear_x"](float(reading.stamp[0]))


@pytest.mark.parametrize(
    ("cls", "options"),
    [
        (Scripted, {"signals": COURSE, "origin": {"uniform": [0.0, 0.1]}}),
        (Scripted, {"signals": {"vx": {**RAMP, "t_end": 0.2}, "curvature": 1}, "loop": True}),
        (ScriptedImu, {"signals": FORCES, "origin": {"uniform": [0.0, 0.1]}, "rate": 25}),
        (ScriptedWheels, {"signals": RATES, "origin": {"uniform": [0.0, 0.1]}, "latency": 0.1}),
    ],
)
def test_signals_keep_the_contract_of_plugins(cls: Any, options: dict[str, Any]) -> None:
    check_plugin(cls, **options)


def test_a_thousand_worlds_read_what_one_reads() -> None:
    robot = {"name": "a", "sensors": [{"kind": "scripted_wheels", "signals": RATES}]}
    many = astray.load({"dt": 0.01, "robots": [robot]}, worlds=1000)
    many.step(50)
    many.reset(worlds=[500])  # its clock goes its own way from here on
    many.step(50)
    angles = many.robots["a"].readings["scripted_wheels"]["angle"]
    signals = Signals.read(RATES)
    assert (angles[0] == [signal.integral(100 * 0.01) for signal in signals.values()]).all()
    assert (angles[500] == [signal.integral(50 * 0.01) for signal in signals.values()]).all()
    assert (np.delete(angles, 500, axis=0) == angles[0]).all()


# Files.


def test_the_examples_of_the_document_drive_sensors_from_one_file(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text(EXAMPLES, encoding="utf-8")
    (tmp_path / "x.yaml").write_text(
        "robots:\n"
        "  - name: a\n"
        "    sensors:\n"
        "      - {kind: scripted_imu, file: params.yaml, signals: {linear_y: 2}}\n"
        "      - {kind: scripted_wheels, file: params.yaml}\n"
    )
    sim = astray.load(tmp_path / "x.yaml")
    sim.run(5.0)
    imu, wheels = sim.robots["a"].readings.values()
    assert [float(imu[c][0]) for c in ("ax", "ay", "az", "wz")] == [5.0, 2.0, 9.81, 3.14]
    assert float(wheels["rate"][0, 0]) == 10.0
    assert float(wheels["angle"][0, 0]) == 25.0
    # What the file said is in the effective scenario: a saved run does without the file.
    sim.save(tmp_path / "saved.npz")
    (tmp_path / "params.yaml").unlink()
    resumed = astray.resume(tmp_path / "saved.npz")
    for each in (sim, resumed):
        each.run(1.0)
    assert sim.digest() == resumed.digest()
    written = sim.scenario.effective["robots"][0]["sensors"][0]
    assert list(written["signals"]) == ["linear_x", "angular_z", "linear_y"]
    assert "file" not in written


def test_a_node_of_a_file_is_chosen_by_name(tmp_path: Path) -> None:
    one = 'num_intervals: 1, interval_0: {type: "constant", t_start: 0.0, t_end: 1.0, y_start: '
    lines = [
        f"{n}: {{ros__parameters: {{vx: {{{one}{v}}}}}}}}}\n" for n, v in (("p", 0.1), ("q", 0.2))
    ]
    (tmp_path / "p.yaml").write_text("".join(lines))
    text = "robots: [{name: a, autonomy: {kind: scripted, file: p.yaml, node: q}}]"
    (tmp_path / "x.yaml").write_text(text)
    course = load_scenario(tmp_path / "x.yaml").robots[0].autonomy
    assert isinstance(course, Scripted)
    assert course.signals["vx"](0.5) == 0.2
    (found,) = faults(tmp_path / "x.yaml", "robots.a.autonomy.node=r")
    assert found.endswith("robots[0].autonomy.file: no section for node 'r' (/p, /q)")


FLAT = """\
robots:
  - name: a
    autonomy:
      kind: scripted
      file: p.yaml
      signals:
        vx.num_intervals: 1
        vx.interval_0.y_start: {}
        vx.interval_0: {{type: constant, t_start: 0, t_end: 1}}
"""


def test_flat_parameters_in_a_scenario_are_laid_over_a_file_and_have_their_place(
    tmp_path: Path,
) -> None:
    one = "{type: constant, t_start: 0, t_end: 1, y_start: 0.2}"
    (tmp_path / "p.yaml").write_text(
        f"vx: {{num_intervals: 1, interval_0: {one}}}\nwz: {{num_intervals: 0}}\n"
    )
    (tmp_path / "x.yaml").write_text(FLAT.format(0.7))
    course = load_scenario(tmp_path / "x.yaml").robots[0].autonomy
    assert isinstance(course, Scripted)
    assert course.signals["vx"](0.5) == 0.7
    assert set(course.signals) == {"vx", "wz"}
    (tmp_path / "x.yaml").write_text(FLAT.format("fast"))
    (found,) = faults(tmp_path / "x.yaml")
    assert found.endswith(
        "x.yaml:8:32: robots[0].autonomy.signals.vx.interval_0.y_start: a number is needed, not 'fast'"
    )


SCENARIO = """\
robots:
  - name: a
    autonomy:
      kind: scripted
      signals:
        vx: [{type: linear, t_start: 0, t_end: 5, y_start: 0, y_end: 1}, {type: constant, t_start: 4, t_end: 6, y_start: 1}]
        curvatur: 3
    sensors:
      - {kind: scripted_imu, file: params.yaml}
      - {kind: scripted_wheels, signals: {wheel_fl: {type: csv, file: data.csv}}}
      - {kind: scripted_wheels, name: b, file: nothing.yaml}
      - {kind: scripted_wheels, name: c, file: params.yaml}
"""


def test_every_fault_is_reported_where_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(SCENARIO)
    (tmp_path / "params.yaml").write_text(
        "linear_x:\n  num_intervals: 1\n  interval_0: {type: linear, t_start: .nan}\n"
    )
    (tmp_path / "data.csv").write_text("0,1\n1,x\n")
    here = str(tmp_path)
    assert [line.replace(f"{here}{os.sep}", "") for line in faults(tmp_path / "x.yaml")] == [
        "params.yaml:1:1: robots[0].sensors[3].file: holds none of these signals: wheel_fl, wheel_fr, wheel_rl, wheel_rr",
        "params.yaml:3:15: robots[0].sensors[0].signals.linear_x.interval_0: needs 't_end', 'y_start', 'y_end'",
        "params.yaml:3:39: robots[0].sensors[0].signals.linear_x.interval_0.t_start: a finite number is needed, not nan",
        "x.yaml:6:74: robots[0].autonomy.signals.vx[1]: begins at 4 s, before interval 0 ends at 5 s",
        "x.yaml:7:9: robots[0].autonomy.signals.curvatur: unknown signal 'curvatur'; did you mean 'curvature'? (vx, vy, wz, curvature)",
        "x.yaml:10:71: robots[0].sensors[1].signals.wheel_fl.file: data.csv:2: a number is needed, not 'x'",
        "x.yaml:11:48: robots[0].sensors[2].file: no file nothing.yaml",
    ]


def test_a_remark_on_a_scenario_has_its_place(tmp_path: Path) -> None:
    text = "robots: [{name: a, autonomy: {kind: scripted, signals: {vx: {type: bent, t_start: 0, t_end: 1, y_start: 1}}}}]"
    (tmp_path / "x.yaml").write_text(text)
    with pytest.warns(
        SignalWarning,
        match=r"x.yaml:1:68: robots\[0\].autonomy.signals.vx.type: unknown type 'bent'",
    ):
        load_scenario(tmp_path / "x.yaml")


def test_samples_of_a_file_are_found_from_the_scenario_and_must_not_change(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    data = tmp_path / "below" / "data.csv"
    data.write_text("t,speed\n0,0\n2,1\n")
    (tmp_path / "x.yaml").write_text(
        "robots: [{name: a, autonomy: {kind: scripted, signals: {vx: {type: csv, file: below/data.csv, value: speed}}}}]"
    )
    sim = astray.load(tmp_path / "x.yaml")
    sim.run(1.01)
    assert float(sim.robots["a"].commands["vx"][0]) == 0.5
    effective = sim.scenario.effective
    assert load_scenario(effective).effective == effective
    data.write_text("t,speed\n0,0\n2,2\n")
    (found,) = faults(effective)
    assert "has changed" in found


def test_a_file_is_only_read_with_a_scenario() -> None:
    for plugin in (
        Scripted(file="x.yaml"),
        ScriptedImu(file="x.yaml"),
        ScriptedWheels(file="x.yaml"),
    ):
        with pytest.raises(PluginError, match="file is read with a scenario"):
            plugin.attach(np.zeros(1), {}, 0.01, 0, "")


def test_signals_may_be_set_from_outside_and_given_as_objects() -> None:
    plan = load_scenario(
        {"robots": [{"name": "a", "autonomy": scripted(signals=COURSE)}]},
        ["robots.a.autonomy.signals.vx=0.25"],
    )
    course = plan.robots[0].autonomy
    assert isinstance(course, Scripted)
    assert course.signals["vx"](1.0) == 0.25
    same = load_scenario({"robots": [{"name": "a", "autonomy": scripted(signals=course.signals)}]})
    assert same.effective["robots"] == plan.effective["robots"]


RUN = "import astray; s = astray.load('signals', worlds=2); s.run(3.0); print(s.digest())"


def test_the_bundled_scenario_has_the_same_bytes_with_and_without_the_compiler() -> None:
    digests = set()
    for jit in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", RUN], env={**os.environ, "ASTRAY_JIT": jit}, capture_output=True, text=True, check=True
        )  # fmt: skip
        digests.add(done.stdout)
    assert len(digests) == 1


def test_the_dreamer_of_the_bundled_scenario_stands_still_and_believes_that_it_moved() -> None:
    sim = astray.load("signals")
    sim.run()
    dreamer, driver = sim.robots["dreamer"], sim.robots["driver"]
    assert float(dreamer.truth["x"][0]) == 0.0
    assert math.hypot(float(dreamer.belief["x"][0]), float(dreamer.belief["y"][0]) - 2.0) > 1.0
    assert float(driver.truth["x"][0]) > 5.0
    assert float(driver.truth["vx"][0]) == pytest.approx(0.0, abs=1e-9)


def test_the_schema_knows_the_channels() -> None:
    from astray.scenario.schema import json_schema

    made = json.dumps(json_schema()["$defs"]["sensor_scripted_wheels"])
    assert "^(wheel_fl|wheel_fr|wheel_rl|wheel_rr)$" in made
