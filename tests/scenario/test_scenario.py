"""Scenarios: every fault at once, with its origin and a suggestion."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import astray
from astray import ScenarioError
from astray.files.marked_yaml import dump_yaml, mark, read_yaml
from astray.plugin import KINDS
from astray.plugin.parameters import parameters_of
from astray.scenario import faults as scenario_faults
from astray.scenario.faults import explain_all
from astray.scenario.load import bundled, load_scenario
from astray.scenario.schema import (
    SLOTS,
    footprint_model,
    json_schema,
    robot_model,
    scenario_model,
    start_model,
)
from astray.world import block, merge, read_map, wall, write_map
from support.paths import ROOT

PRESET = """\
motion: {kind: differential, radius: 0}
sensors:
  - {kind: wheels, rate: 50, tick: 12}
"""
TEN_FAULTS = """\
duration: .nan
sed: 7
dt: 0.01
robots:
  - name: rover
    count: 2
    count: 3
    preset: cart.yaml
    estimator: {kind: odometri}
    autonomy: {kind: waypoints}
    sensors:
      - {kind: wheels, name: second, rate: 30}
  - name: rover
    motion: {kind: differential, baseline: {normal: [0.4, 0.2]}}
    preset: truk
    estimator: [{kind: odometry}, {kind: remote}]
metrics:
  - kind: position_error
    rate: fast
"""


def faults_of(source: Any, *overrides: str) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(source, overrides)
    return str(caught.value).splitlines()


def test_every_fault_is_reported_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "cart.yaml").write_text(PRESET)
    file = tmp_path / "bad.yaml"
    file.write_text(TEN_FAULTS)
    found = faults_of(file, "robots.0.start.spread=-1", "robots.rover.speed=3", "seed=-1", "oops")
    here, cart = f"{file}:", f"{tmp_path / 'cart.yaml'}:"
    expected = [
        (here + "1:11", "duration", "finite"),
        (here + "2:1", "sed", "did you mean 'seed'?"),
        (here + "7:5", "", "key 'count' is given twice, first in line 6"),
        (here + "9:23", "robots[0].estimator.kind", "did you mean 'odometry'?"),
        (here + "10:15", "robots[0].autonomy", "needs 'points'"),
        (here + "12:44", "robots[0].sensors[1].rate", "30 Hz does not divide"),
        (here + "13:11", "robots[1]", "the name 'rover' is taken"),
        (here + "14:44", "robots[1].motion.baseline", "-0.6 to 1.4 can be drawn"),
        (here + "15:13", "robots[1].preset", "unknown preset 'truk'"),
        (here + "16:16", "robots[1].estimator", "put the others under rivals"),
        (here + "19:11", "metrics[0].rate", "a number is needed, not 'fast'"),
        (cart + "1:38", "robots[0].motion.radius", "must be greater than 0"),
        (cart + "3:30", "robots[0].sensors[0].tick", "did you mean 'ticks'?"),
        ("--set:1:23", "robots[0].start.spread", "must be at least 0"),
        ("--set:2:13", "robots[0].speed", "unknown key 'speed'"),
        ("--set:3:6", "seed", "must be at least 0"),
        ("--set:4:1", "", "'oops' is not path=value"),
    ]
    for origin, path, message in expected:
        assert any(
            line.startswith(f"{origin}: ") and path in line and message in line for line in found
        ), f"{origin}: {path}: {message}\nnot in\n" + "\n".join(found)
    assert len(found) == len(expected), "\n".join(found)


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("robots: [", "not YAML"),
        ("a:\n\tb: 1", "not YAML"),
        ("- 1\n- 2", "a scenario is a mapping"),
        ("", "needs 'robots'"),
        ("robots: []", "at least one entry"),
        ("robots: 5", "a list is needed, not 5"),
        ("robots: [{name: 3 robots}]", "a name of letters"),
        ("robots: [{name: a, motion: {}}]", "needs a kind"),
        ("robots: [{name: a, motion: 5}]", "mapping of keys"),
        ("robots: [{name: a, count: 1.5}]", "a whole number"),
        ("robots: [{name: a, count: 70000}]", "65536"),
        ("robots: [{name: a, motion: {kind: differential, radius: .inf}}]", "finite"),
        ("robots: [{name: a, motion: {kind: differential, radius: '1'}}]", "a number is needed"),
        (
            "robots: [{name: a, motion: {kind: differential, radius: {gauss: [1]}}}]",
            "unknown distribution",
        ),
        ("robots: [{name: a, motion: {kind: differential, radius: {normal: [1]}}}]", "two numbers"),
        ("robots: [{name: a, sensors: [{kind: wheels, rate: -1}]}]", "at least 0"),
        (
            "robots: [{name: a, sensors: [{kind: wheels, rate: 99991}, "
            "{kind: wheels, name: b, rate: 100003}]}]",
            "no tick of a microsecond or more fits",
        ),
        ("robots: [{name: a, estimator: {kind: odometry}}]", "needs a sensor that measures count"),
        (
            "robots: [{name: a, rivals: [{kind: odometry}]}]",
            "rivals need an estimator: without one the robot believes the truth",
        ),
        (
            "robots: [{name: a, sensors: [{kind: wheels}, {kind: wheels}]}]",
            "name 'wheels' is taken",
        ),
        (
            "robots: [{name: a, sensors: [{kind: wheels}], estimator: {kind: odometry}, "
            "rivals: [{kind: odometry}]}]",
            "the name 'odometry' is taken",
        ),
        ("plugins: [nothing.py]\nrobots: [{name: a}]", "no file"),
        ("robots: [{name: a, autonomy: {kind: scripted, steps: [{lasts: 1, vz: 2}]}}]", "vz"),
    ],
)
def test_a_wrong_scenario_is_refused_with_a_message(
    text: str, fragment: str, tmp_path: Path
) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(text)
    found = faults_of(file)
    assert any(fragment in line for line in found), "\n".join(found)
    assert all(line.startswith(f"{file}:") for line in found)


def test_a_missing_file_lists_the_bundled_scenarios() -> None:
    assert "did you mean 'drift'?" in faults_of("drif")[0]


@pytest.mark.parametrize("name", ["\0", "x" * 300, "x" * 300 + ".yaml", ""])
def test_impossible_file_names_are_refused_with_a_message(name: str) -> None:
    assert faults_of(name)
    assert faults_of({"robots": [{"name": "a", "preset": name + ".yaml"}]})
    assert faults_of({"robots": [{"name": "a"}], "plugins": [name + ".py"]})


def test_what_does_not_agree_is_a_fault_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(
        "world: {map: {circles: [[5, 5, 1]], places: [{kind: home, name: north}]}}\n"
        "robots:\n"
        "  - {name: a, count: 5, capacity: 2, start: {place: nrth}}\n"
        "  - {name: b, autonomy: {kind: navigate, goals: [[1, 2], north, suoth]}}\n"
        "  - {name: c, autonomy: {kind: follow, target: aa}, footprint: {radius: 1, x: 5}}\n"
        "  - name: d\n"
        "    autonomy: {kind: follow, target: a, robot: 7}\n"
        "    footprint: {corners: [[0, 0], [1, 0], [0, 1]], x: 5}\n"
        "metrics: [{kind: ate, offset: 2}, {kind: nees, rate: 10, offset: 2}]\n"
    )
    assert faults_of(file) == [
        f"{file}:3:35: robots[0].capacity: 2 is less than the count of 5",
        f"{file}:3:53: robots[0].start.place: the map has no place 'nrth'; did you mean 'north'? "
        "(north)",
        f"{file}:4:65: robots[1].autonomy.goals[2]: unknown place 'suoth' on the map 'inline'; did "
        "you mean 'north'? (north)",
        f"{file}:5:48: robots[2].autonomy.target: follow: there are no robots 'aa' (a, b, c, d); did "
        "you mean 'a'?",
        f"{file}:7:48: robots[3].autonomy.robot: follow: there is no robot 7 of 'a', which has 5",
        f"{file}:8:55: robots[3].footprint.x: is for circles and boxes: the corners are "
        "already in the body frame",
        f"{file}:9:31: metrics[0].offset: needs a rate: without one, every new belief is evaluated",
    ]


def test_a_place_of_no_map_is_a_fault() -> None:
    (fault,) = faults_of({"robots": [{"name": "a", "start": {"place": "home"}}]})
    assert "robots[0].start.place: the map has no place 'home'" in fault


def test_a_plugin_file_that_raises_is_a_fault_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("import astray\n\nraise RuntimeError('no')\n")
    (tmp_path / "worse.py").write_text("def (:\n")
    (tmp_path / "empty.py").write_text("x = 1\n")
    scenario = tmp_path / "x.yaml"
    scenario.write_text("plugins: [bad.py, worse.py, empty.py]\nrobots: [{name: a}]\n")
    found = faults_of(scenario)
    assert any("1:11" in line and "bad.py:3: RuntimeError: no" in line for line in found)
    assert any("worse.py:1: SyntaxError" in line for line in found)
    assert any("empty.py declares no new kind" in line for line in found)


def test_an_alias_bomb_and_a_deep_nest_are_refused(tmp_path: Path) -> None:
    bomb = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    for above, below in zip("bcdefghij", "abcdefghi", strict=True):
        bomb += f"{above}: &{above} [{', '.join([f'*{below}'] * 9)}]\n"
    file = tmp_path / "x.yaml"
    file.write_text(bomb)
    assert "more than" in faults_of(file)[0]
    for depth in (100, 300_000):  # the C loader would exhaust its stack
        file.write_text("a: " + "[" * depth + "]" * depth)
        assert "nested deeper" in faults_of(file)[0]


def test_a_list_that_is_far_too_long_is_refused_before_it_takes_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compose(*_: Any) -> None:
        raise AssertionError("it was composed")

    file = tmp_path / "x.yaml"
    file.write_text("x: [" + "1, " * 500_000 + "1]\n")
    with monkeypatch.context() as patched:
        patched.setattr(yaml, "compose", compose)
        assert faults_of(file) == [f"{file}:1:1: expands to more than 200000 values"]
    file.write_text("robots: [{name: r}]\n" + "".join(f"k{k}: 1\n" for k in range(150)))
    assert len(faults_of(file)) == 150


def test_models_are_not_rebuilt_for_every_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for name in ("scenario_model", "robot_model"):
        model = getattr(scenario_faults, name)
        monkeypatch.setattr(scenario_faults, name, lambda model=model: made.append(1) or model())
    keys = {f"key{k}": 1 for k in range(50)}
    with pytest.raises(ScenarioError) as refused:
        load_scenario({**keys, "robots": [{"name": "r", **keys}]})
    assert len(refused.value.faults) == 100
    assert len(made) <= 2


@pytest.mark.parametrize("kind", ["lidar", "sonar", "rangefinder", "contacts", "landmarks"])
def test_a_sensor_with_a_min_range_above_its_max_range_is_refused(
    kind: str, tmp_path: Path
) -> None:
    needed = {"landmarks": ", beacons: [[1, 1]]", "sonar": ", mounts: [[0, 0, 0]]"}
    more = needed.get(kind, "")
    file = tmp_path / "x.yaml"
    for near in ("4", "{uniform: [3, 5]}"):
        sensor = f"{{kind: {kind}, min_range: {near}, max_range: 2{more}}}"
        file.write_text(f"robots:\n  - name: r\n    sensors: [{sensor}]\n")
        [fault] = faults_of(file)
        assert fault.startswith(f"{file}:3:")
        assert "min_range: 4 m is more than the max_range of 2 m" in fault
    file.write_text(file.read_text().replace("[3, 5]", "[0, 4]"))
    load_scenario(file)


@pytest.mark.parametrize("slot", ["estimator: {}", "estimator: {kind: odometry}, rivals: [{}]"])
def test_what_finds_itself_on_a_map_needs_one(slot: str, tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    slot = slot.replace("{}", "{kind: particle}")
    robot = f"robots: [{{name: r, sensors: [{{kind: wheels}}, {{kind: lidar}}], {slot}}}]\n"
    for world in ("", "world: {map: {walls: []}}\n"):
        file.write_text(robot + world)
        [fault] = faults_of(file)
        assert fault.startswith(f"{file}:1:")
        assert "particle needs a map with walls" in fault
    for world in ("world: {map: office}\n", "world: {map: {kind: rooms}}\n"):
        file.write_text(robot + world)
        load_scenario(file)
    file.write_text(robot.replace("name: r,", "name: r, map: office,"))
    load_scenario(file)


@pytest.mark.parametrize(
    ("sensor", "fragment"),
    [
        ({"latency": 1e6}, "a latency of 1e+06 s keeps 5e+07 readings in flight"),
        ({"latency": 1e300}, "a latency of 1e+300 s keeps"),
        ({"rate": 1e30}, "rate: must be from 1e-09 to 1e+06 Hz, not 1e+30"),
        ({"rate": 10**200}, "rate: must be from 1e-09 to 1e+06 Hz, not 1e+200"),
    ],
)
def test_a_sensor_that_cannot_be_attached_is_refused(sensor: dict[str, Any], fragment: str) -> None:
    robot = {"name": "r", "sensors": [{"kind": "wheels", "rate": 50, **sensor}]}
    with pytest.raises(ScenarioError) as refused:
        load_scenario({"robots": [robot]})
    assert fragment in str(refused.value)


def test_a_saved_run_given_as_a_scenario_gets_a_hint(tmp_path: Path) -> None:
    astray.load("remote").save(tmp_path / "halfway.npz")
    [fault] = faults_of(tmp_path / "halfway.npz")
    assert f'astray.resume("{tmp_path / "halfway.npz"}")' in fault


def test_yaml_means_what_people_expect() -> None:
    text = "a: 1e-3\nb: on\nc: 1:30\nd: 0o17\ne: 012\nf: true\ng: ~\nh: '1'\ni: .5\nj: 1_000\n"
    tree = read_yaml(text, "x", [])
    assert tree is not None
    assert tree.plain() == {
        "a": 1e-3,
        "b": "on",
        "c": "1:30",
        "d": 15,
        "e": 12,
        "f": True,
        "g": None,
        "h": "1",
        "i": 0.5,
        "j": "1_000",
    }


@settings(max_examples=200)
@given(st.text(max_size=60))
def test_no_text_ends_in_anything_but_a_scenario_error(text: str) -> None:
    faults: list[Any] = []
    tree = read_yaml(text, "x", faults)
    if tree is not None and not faults and isinstance(tree.value, dict):
        with pytest.raises(ScenarioError):
            load_scenario(tree.plain())


def test_presets_merge_by_key_and_lists_by_name(tmp_path: Path) -> None:
    (tmp_path / "cart.yaml").write_text(
        "motion: {kind: differential, radius: 0.2, baseline: 0.5}\n"
        "sensors: [{kind: wheels, rate: 50, ticks: 100}, {kind: wheels, name: spare}]\n"
        "autonomy: {kind: waypoints, points: [[1, 1]]}\n"
    )
    file = tmp_path / "x.yaml"
    file.write_text(
        "robots:\n"
        "  - name: a\n"
        "    preset: cart.yaml\n"
        "    motion: {kind: differential, radius: 0.3}\n"
        "    sensors: [{kind: wheels, ticks: 7}]\n"
        "    autonomy: {kind: idle}\n"
    )
    plan = load_scenario(file, ["robots.a.sensors.spare.rate=25", "robots.0.motion.max_speed=2"])
    robot = plan.effective["robots"][0]
    assert (robot["motion"]["radius"], robot["motion"]["baseline"]) == (0.3, 0.5)
    assert robot["motion"]["max_speed"] == 2
    assert [(s["name"], s["ticks"]) for s in robot["sensors"]] == [("wheels", 7), ("spare", 2048)]
    assert (robot["sensors"][0]["rate"], robot["sensors"][1]["rate"]) == (50, 25)
    assert robot["autonomy"]["kind"] == "idle"
    assert "points" not in robot["autonomy"]


def test_dt_is_the_largest_that_fits_all_rates_unless_given() -> None:
    def dt(*rates: float) -> float:
        sensors = [{"kind": "wheels", "name": f"w{k}", "rate": r} for k, r in enumerate(rates)]
        return load_scenario({"robots": [{"name": "a", "sensors": sensors}]}).dt

    assert dt() == dt(50) == dt(10, 20, 25) == 0.01
    assert dt(30) == pytest.approx(1 / 120)
    assert dt(40, 100) == pytest.approx(1 / 200)
    assert dt(12.5, 1000) == 0.001


def test_a_mapping_may_hold_what_python_has_for_numbers_lists_and_files(tmp_path: Path) -> None:
    write_map(block([(1, -1), (2, -1), (2, 1), (1, 1)]), tmp_path / "post.geojson")
    (tmp_path / "cart.yaml").write_text("motion: {kind: differential, radius: 0.2}\n")

    def made(array: Any, whole: Any, real: Any, file: Any) -> dict[str, Any]:
        wheels = {"kind": "wheels", "rate": whole(50), "ticks": whole(7)}
        points = array([[2.0, 0.5], [1.0, 1.0]])
        robot = {
            "name": "a",
            "count": whole(2),
            "preset": file(tmp_path / "cart.yaml"),
            "start": {"x": real(0.1), "y": {"uniform": array([0.0, 0.5])}},
            "sensors": (wheels,),
            "autonomy": {"kind": "waypoints", "points": points, "loop": array([True])[0]},
            "footprint": {"corners": array([[0.1, 0.1], [-0.1, 0.1], [0.0, -0.1]])},
            "map": {"file": file(tmp_path / "post.geojson"), "shift": array([1, 0, 0])},
        }
        puppet = {"signals": {"vx": {"type": "samples", "points": points[::-1]}}}
        return {
            "name": "same",
            "seed": whole(3),
            "duration": real(2.5),
            "world": {"map": file(tmp_path / "post.geojson")},
            "robots": [robot, {"name": "b", "autonomy": {"kind": "scripted", **puppet}}],
        }

    plain = load_scenario(made(list, int, float, str)).effective
    assert load_scenario(made(np.array, np.int64, np.float64, Path)).effective == plain
    assert json.loads(json.dumps(plain)) == plain


def test_a_mapping_may_hold_maps_themselves(tmp_path: Path) -> None:
    around = read_map({"kind": "rooms", "seed": 1})
    known = merge([block([(0, 0), (1, 0), (1, 1)]), wall([(3, 3), (4, 3)])], "known")
    robot = {"name": "a", "map": known, "start": {"clearance": 0.3}}
    sim = astray.load({"world": {"map": around}, "robots": [robot]})
    assert sim.map().digest() == around.digest()
    assert sim.robots["a"].known.map.map().digest() == known.digest()
    again = astray.load(json.loads(json.dumps(sim.scenario.effective)))
    assert again.digest() == sim.digest()
    assert again.map().places == around.places
    sim.write(sim.run(0.1, log=0.1), tmp_path / "run")
    moved = astray.load(tmp_path / "run" / "scenario.yaml")
    moved.run(0.1)
    assert moved.digest() == sim.digest()
    assert moved.robots["a"].known.map.map().digest() == known.digest()


ODD = (None, True, 1, -1, 2.5, -2.5, 1e300, math.nan, 2**70, "", "word", "3", [], [1], [[1]])
ODDER = ([[1, 2]], [[1, 2, 3]], [[1, "a"]], [None], {}, {"a": 1}, [{"a": 1}], [[math.inf, 1]])


def test_no_fault_has_the_message_of_a_library() -> None:
    model, types, messages = scenario_model(), set[str](), set[str]()

    def note(robot: dict[str, Any], **scenario: Any) -> None:
        tree = {"robots": [{"name": "a", **robot}], **scenario}
        try:
            model.model_validate(tree)
        except ValidationError as problem:
            errors = problem.errors(include_url=False)
            types.update(error["type"] for error in errors)
            messages.update(map(str, explain_all(errors, mark(tree, "x"))))

    for odd in (*ODD, *ODDER):
        for key in model.model_fields:
            note({}, **{key: odd})
        for key in robot_model().model_fields:
            note({key: odd})
        for part, inner in (("start", start_model()), ("footprint", footprint_model())):
            for key in inner.model_fields:
                note({part: {key: odd}})
        for slot, family in SLOTS.items():
            for kind, cls in KINDS[family].items():
                for parameter in parameters_of(cls):
                    item = {"kind": kind, parameter.name: odd}
                    if slot in ("metrics", "interactions"):
                        note({}, **{slot: [item]})
                    else:
                        note({slot: [item] if slot in ("sensors", "rivals") else item})
    theirs = re.compile(
        r"(?i)input|\bvalid|instance|value error|parse|field req|argument|item|tuple|pattern|\.str|\.float"
    )
    assert [line for line in messages if theirs.search(line.partition(", not ")[0])] == []
    assert len(types) > 20


@pytest.mark.parametrize(
    ("autonomy", "fragment"),
    [
        ("{kind: navigate, goals: [[1]]}", "goals[0]: has too few entries: [1]"),
        (
            "{kind: navigate, goals: [[1, 2, 3]]}",
            "goals[0]: takes at most 2 entries, not [1, 2, 3]",
        ),
        ("{kind: navigate, goals: [[1, x]]}", "goals[0][1]: a number is needed, not 'x'"),
        ("{kind: navigate, goals: [3]}", "goals[0]: a list or a text is needed, not 3"),
        ("{kind: navigate, goals: 3}", "goals: a list is needed, not 3"),
        ("{kind: navigate, loop: 3}", "loop: true or false is needed, not 3"),
    ],
)
def test_a_fault_names_what_is_needed(autonomy: str, fragment: str, tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(f"robots: [{{name: a, autonomy: {autonomy}}}]\n")
    (found,) = faults_of(file)
    assert found.endswith(f"robots[0].autonomy.{fragment}")


def test_one_value_may_be_set_without_a_list() -> None:
    assert load_scenario("drift", "duration=3").duration == 3.0
    assert faults_of("drift", "duration", 3) == [  # type: ignore[arg-type]
        "--set:1:1: 'duration' is not path=value",
        "--set:2:1: 3 is not path=value",
    ]


@pytest.mark.parametrize("name", bundled())
def test_bundled_scenarios_load_run_and_round_trip(name: str) -> None:
    plan = load_scenario(name)
    again = load_scenario(plan.effective)
    assert again.effective == plan.effective
    tree = read_yaml(dump_yaml(plan.effective), "x", [])
    assert tree is not None
    assert tree.plain() == json.loads(json.dumps(plan.effective))
    astray.load(name, worlds=2).run(1.0)


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
    | st.sampled_from(["1e3", "0x10", "0o7", "yes", "Off", "~", ".inf", "12:30", "1_000", "- a"])
)  # fmt: skip
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc_", min_size=1), inner),
    max_leaves=20,
)


@given(TREES)
def test_what_is_written_as_yaml_is_read_as_it_was(tree: Any) -> None:
    faults: list[Any] = []
    read = read_yaml(dump_yaml({"root": tree}), "x", faults)
    assert read is not None
    assert faults == []
    assert read.plain() == {"root": tree}


def test_the_schema_in_the_docs_is_fresh() -> None:
    file = ROOT / "docs" / "scenario.schema.json"
    made = json_schema()
    ours = {k: v for k, v in made["$defs"].items() if _is_built_in(k)}
    kept = json.loads(file.read_text(encoding="utf-8"))
    assert {k: v for k, v in kept["$defs"].items() if _is_built_in(k)} == ours
    assert kept["properties"].keys() == made["properties"].keys()


def _is_built_in(name: str) -> bool:
    from astray.plugin import KINDS

    families = {
        f"{family}_{kind}": cls for family, all_ in KINDS.items() for kind, cls in all_.items()
    }
    return name in families and families[name].__module__.startswith("astray.")
