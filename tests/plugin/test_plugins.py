"""Every kind keeps the contract, and the contract catches those who do not."""

from __future__ import annotations

import ast
import inspect
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

import astray
from astray import PluginError, Sensor, check_plugin, columns
from astray.plugin import KINDS, Estimator, Plugin
from astray.plugin.declaration_checks import OF_MODELS
from astray.plugin.parameters import parameters_of
from astray.scenario.schema import BUILT_IN_PACKAGES
from astray.tables import FIX, READING

assert BUILT_IN_PACKAGES
TAKEN = (
    "kind",
    "name",
    "params",
    "memory",
    "shared_params",
    "key",
    "fixed",
    "normals",
    "array_shapes",
    "measures",
)
NEEDS: dict[str, dict[str, Any]] = {
    "scripted": {"steps": [{"lasts": 0.2, "vx": 0.5}, {"lasts": 0.1, "wz": 1.0}], "loop": True},
    "waypoints": {"points": [[1, 0], [1, 1]], "loop": True},
    "follow": {"target": "one"},
    "lidar": {"rays": 9, "max_range": 5.0, "field_of_view": 3.0, "sweep": 0.0, "sigma": 0.01},
    "rangefinder": {"sigma": 0.01, "dropout": 0.1},
    "sonar": {"mounts": [[0.1, 0, 0], [0, 0.1, 1.6]], "sigma": 0.01, "crosstalk": 0.2},
    "ekf": {"gate": 0.99},
    "gnss": {"mean_down": 1.0, "jump_sd": 2.0, "velocity_sd": 0.1, "outlier": 0.1, "x": 0.2},
    "compass": {"bias_sd": 0.1, "drift_sd": 0.1, "hard_iron_sd": 0.1, "resolution": 0.01},
    "landmarks": {
        "beacons": [[2, 0], [0, 2], [-3, -1]],
        "detection": 0.8,
        "confusion": 0.2,
        "field_of_view": 3.0,
    },
    "contacts": {"detection": 0.8, "false_alarms": 1.0, "confusion": 0.2, "field_of_view": 3.0},
    "tracker": {"gate": 0.99},
    "ins": {"cep": 1.0, "denied": [[[0, -9], [9, -9], [9, 9], [0, 9]]], "latency": 0.1},
    "wheels": {
        "spells": {"every": 0.2, "stay": 0.1, "sd": 0.2},
        "surfaces": [{"zone": [[0, -9], [9, -9], [9, 9], [0, 9]], "slip": 0.1}],
        "slip_density": 0.01,
        "loss": 0.1,
    },
    "imu": {"gyro_instability": 0.01, "gyro_density": 0.01},
    "navigate": {"goals": [[1, 0], [1, 1]], "loop": True, "resolution": 0.1, "keep": 0.2},
}
SEEING = {
    "sensors": [
        {"kind": "wheels", "slip_density": 0.01},
        {"kind": "contacts", "false_alarms": 1.0, "latency": 0.1},
    ],
    "contacts": {"kind": "tracker"},
}
ROBOTS: dict[str, dict[str, Any]] = {
    "ekf": {
        "sensors": [
            {"kind": "imu", "gyro_density": 0.01, "accel_density": 0.1, "gyro_bias_sd": 0.01},
            {"kind": "wheels", "slip_density": 0.01, "radius_sd": 0.01, "baseline_sd": 0.01},
            {"kind": "gnss", "rate": 10, "latency": 0.1, "x": 0.2, "velocity_sd": 0.1},
            {"kind": "compass", "rate": 25, "bias_sd": 0.1},
            {"kind": "landmarks", "rate": 5, "beacons": [[2, 0], [0, 2], [-3, -1]]},
        ]
    },
    "trust": {"sensors": [{"kind": "ins"}]},
    "particle": {
        "sensors": [{"kind": "wheels", "slip_density": 0.01}, {"kind": "lidar", "rays": 30}]
    },
    "tracker": SEEING,
    "gospa": SEEING,
    "contacts_nees": SEEING,
    "inertial": {"sensors": [{"kind": "imu", "gyro_density": 0.01, "accel_density": 0.1}]},
}
EVERY = [
    pytest.param(cls, id=f"{cls.family}-{cls.kind}")
    for family in KINDS.values()
    for cls in family.values()
    if cls.__module__.startswith("astray.")
]


@pytest.mark.parametrize("cls", EVERY)
def test_every_built_in_kind_keeps_the_contract(cls: Any) -> None:
    check_plugin(cls, ROBOTS.get(cls.kind), **NEEDS.get(cls.kind, {}))


@pytest.mark.parametrize("cls", EVERY)
def test_every_number_of_every_kind_can_be_drawn(cls: Any) -> None:
    from astray.plugin.parameters import parameters_of

    drawn = {
        p.name: {"uniform": sorted([p.default, p.default * 1.01])}
        for p in parameters_of(cls)
        if p.number is float and isinstance(p.default, float)
    }
    check_plugin(cls, ROBOTS.get(cls.kind), **{**drawn, **NEEDS.get(cls.kind, {})})


def declare(kind: str, /, **body: Any) -> Any:
    """A sensor class with one flaw."""
    body = {"__doc__": "A flawed sensor.", "measures": FIX, "__module__": __name__, **body}
    return type(Sensor)(kind.title(), (Sensor,), body, kind=kind)


def sense_all_rows(self: Any, rows: Any, scene: Any, out: Any) -> None:
    out["x"][:] = scene.truth["x"]


def sense_and_push(self: Any, rows: Any, scene: Any, out: Any) -> None:
    scene.truth["y"][rows] += 0.1


def sense_and_force(self: Any, rows: Any, scene: Any, out: Any) -> None:
    scene.truth.base["y"] += 0.1  # the memory behind the read-only view


def sense_by_luck(self: Any, rows: Any, scene: Any, out: Any) -> None:
    out["x"][rows] = np.random.default_rng().normal(size=len(rows))


def sense_by_place(self: Any, rows: Any, scene: Any, out: Any) -> None:
    out["x"][rows] = np.arange(len(scene.truth))[rows]


def sense_and_count(self: Any, rows: Any, scene: Any, out: Any) -> None:
    self.calls = getattr(self, "calls", 0) + 1
    out["x"][rows] = self.calls


@pytest.mark.parametrize(
    ("flaw", "message"),
    [
        (sense_all_rows, "of rows that it was not called for"),
        (sense_and_push, "writes in sense_and_push at t = 0 s to what it may only read"),
        (sense_and_force, "writes to truth.y, which it may only read"),
        (sense_by_luck, "in a batch of worlds than in a world alone"),
        (sense_by_place, "in a batch of worlds than in a world alone"),
        (sense_and_count, "after a reset than after loading"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_plugin_that_breaks_the_contract_is_told_how(flaw: Any, message: str) -> None:
    with pytest.raises(PluginError, match=message):
        check_plugin(declare(flaw.__name__, sense=flaw))


def test_memory_outside_of_the_tables_is_found_when_a_run_is_resumed() -> None:
    def reset(self: Any, rows: Any) -> None:
        self.calls = 0

    with pytest.raises(PluginError, match="after the run was saved and resumed"):
        check_plugin(declare("hoarder", sense=sense_and_count, reset=reset))


@pytest.mark.parametrize(
    ("family", "kind"),
    [
        (family, kind)
        for family, kinds in KINDS.items()
        for kind, cls in kinds.items()
        if cls.__module__.startswith("astray.")
    ],
)
def test_a_number_that_a_kind_reads_of_itself_is_fixed(family: str, kind: str) -> None:
    """What is not read from the table of parameters does not follow a `set` event."""
    cls = KINDS[family][kind]
    numbers = {p.name for p in parameters_of(cls) if p.number}
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    read = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self"
    }
    may_be_set = {"hits", "looks"} if kind == "tracker" else set()  # only compared when bound
    assert read & numbers - may_be_set <= set(cls.fixed) <= numbers


def test_a_kind_declared_twice_is_refused() -> None:
    with pytest.raises(PluginError, match="declared twice"):
        type(Sensor)(
            "Other", (Sensor,), {"__module__": "elsewhere", "measures": FIX}, kind="wheels"
        )


def test_a_parameter_cannot_take_a_name_of_numpys() -> None:
    cls = declare("clash", sense=sense_all_rows, __annotations__={"mean": float}, mean=0.0)
    with pytest.raises(astray.ScenarioError, match="cannot be called 'mean'"):
        astray.load({"robots": [{"name": "a", "sensors": [{"kind": cls.kind}]}]})


def sense_without_rows(self: Any, scene: Any, out: Any) -> None:
    """Lacks the rows."""


def takes(name: str, value: Any = 0.0) -> dict[str, Any]:
    """A class body with a parameter of this name."""
    return {"__annotations__": {name: float}, name: value, "sense": sense_all_rows}


FLAWED = [
    ({"sens": sense_all_rows}, r"define sense\(self, rows, scene, out\); it has 'sens'; did you"),
    ({}, r"must define sense\(self, rows, scene, out\)$"),
    (
        {"sense": sense_without_rows},
        r"sense\(self, rows, scene, out\), not sense\(self, scene, out\)",
    ),
    ({"sense": sense_all_rows, "bind": lambda self, n: None}, r"bind\(self, n, sheets\), not"),
    ({"sense": sense_all_rows, "measures": None}, "must declare what it measures"),
    ({"sense": sense_all_rows, "measures": columns("range m")}, "begin its layout with READING"),
    ({"sense": sense_all_rows, "measures": ("range m",)}, "begin its layout with READING"),
    *((takes(name), f"parameter called '{name}', which is taken") for name in TAKEN),
    (
        {"sense": sense_all_rows, "bulk": lambda self: {}},
        "defines 'bulk', which is called 'array_shapes' now",
    ),
    (
        {"sense": sense_all_rows, "usual_rate": 10.0},
        "defines 'usual_rate', which is called 'default_rate' now",
    ),
    (takes("_gain"), "no key of a scenario begins with '_'"),
]


@pytest.mark.parametrize(("body", "message"), FLAWED)
def test_a_flawed_class_is_refused_when_it_is_declared(body: dict[str, Any], message: str) -> None:
    with pytest.raises(PluginError, match=message) as refused:
        declare("flawed", **body)
    assert str(refused.value).startswith("sensor kind 'flawed' (class Flawed) ")
    assert "flawed" not in KINDS["sensor"]
    astray.load("drift")  # and nobody else minds


def test_a_class_needs_no_more_than_can_be_called() -> None:
    def sense(self: Any, *handed: Any, gain: float = 1.0) -> None:
        """Takes anything."""

    declare("any_call", sense=sense, __annotations__={"rate": float}, rate=5.0)
    check_plugin(KINDS["sensor"]["any_call"])


def test_a_class_without_a_kind_may_leave_things_to_others() -> None:
    class Half(Sensor):
        """Not a kind."""

    assert Half not in KINDS["sensor"].values()


def test_a_plugin_of_no_family_is_refused() -> None:
    with pytest.raises(PluginError, match="must subclass a family"):
        type(Plugin)("Stray", (Plugin,), {"__module__": __name__}, kind="stray")


def test_a_flawed_class_of_a_file_is_a_fault_of_the_scenario_that_lists_it(tmp_path: Path) -> None:
    (tmp_path / "flawed.py").write_text(
        "import astray\n"
        "class Flawed(astray.Sensor, kind='flawed'):\n"
        "    measures = astray.tables.FIX\n"
        "    def sens(self, rows, scene, out): ...\n"
    )
    scenario = tmp_path / "x.yaml"
    scenario.write_text("robots: [{name: a}]\nplugins: [flawed.py]\n")
    with pytest.raises(astray.ScenarioError, match="did you mean 'sense'") as refused:
        astray.load(scenario)
    (fault,) = refused.value.faults
    assert (fault.origin.line, fault.path) == (2, "plugins[0]")
    assert fault.message.startswith("flawed.py:2: PluginError: sensor kind 'flawed'")


def test_a_motion_that_is_faster_than_it_says_is_caught() -> None:
    from astray.robot.motion import Integrator

    class Hasty(Integrator, kind="hasty"):
        """A point that is faster than it says."""

        def speed_bound(self) -> float:
            return 0.3

    with pytest.raises(PluginError, match="more than its `speed_bound`"):
        check_plugin(Hasty)


def test_a_sensor_that_only_claims_to_be_stateless_is_caught() -> None:
    def sense(self: Any, rows: Any, scene: Any, out: Any) -> None:
        out["x"][rows] += 1.0

    with pytest.raises(PluginError, match="is declared stateless, and gives a different"):
        check_plugin(declare("forgetful", sense=sense, stateless=True))


def test_normals_and_uniforms_of_a_plugin_are_independent_of_each_other() -> None:
    """A uniform that decides about an outlier must not be the one that its noise is made of."""

    class Lot(Sensor, kind="lot"):
        """A normal and a uniform of the same tick."""

        measures = columns(READING, "normal", "uniform")

        def sense(self, rows: Any, scene: Any, out: Any) -> None:
            out["normal"][rows] = self.normals(rows, 1)[:, 0]
            out["uniform"][rows] = self.uniforms(rows, 1)[:, 0]

    robot = {"name": "rover", "sensors": [{"kind": "lot"}]}
    sim = astray.load({"seed": 3, "robots": [robot]}, worlds=2000)
    sim.step()
    drawn = sim.robots["rover"].readings["lot"]
    correlation = np.corrcoef(np.abs(drawn["normal"]), drawn["uniform"])[0, 1]
    assert abs(correlation) < 0.1  # 4.5 standard deviations


def test_a_foreign_file_is_loaded_and_reloaded_when_it_changes(tmp_path: Path) -> None:
    source = (
        "import astray\n"
        "class Beacon(astray.Sensor, kind='beacon'):\n"
        "    '''A beacon.'''\n"
        "    measures = astray.tables.FIX\n"
        "    gain: float = {gain}  # m\n"
        "    def sense(self, rows, scene, out):\n"
        "        out['x'][rows] = self.params['gain'][rows]\n"
    )
    scenario = tmp_path / "x.yaml"
    scenario.write_text("plugins: [beacon.py]\nrobots: [{name: a, sensors: [{kind: beacon}]}]\n")
    for gain in (2.0, 3.0):
        (tmp_path / "beacon.py").write_text(source.format(gain=gain))
        sim = astray.load(scenario)
        sim.step()
        assert float(sim.robots["a"].readings["beacon"]["x"][0]) == gain
    check_plugin(KINDS["sensor"]["beacon"])


def test_an_estimator_sees_no_truth() -> None:
    seen: list[Any] = []

    class Spy(Estimator, kind="spy"):
        """Looks around."""

        def bind(self, n: int, sheets: Any) -> None:
            seen.append(sheets)

        def estimate(self, rows: Any, known: Any, belief: Any) -> None:
            seen.append(known)

    robot = {
        "name": "a",
        "motion": {"kind": "differential", "radius": {"uniform": [0.1, 0.2]}},
        "sensors": [{"kind": "wheels"}],
        "estimator": {"kind": "spy"},
    }
    sim = astray.load({"robots": [robot]})
    sim.step()
    sheets, known = seen[0], seen[-1]
    assert sheets["motion"]["radius"] == pytest.approx(0.15)  # nominal, not what was drawn
    assert set(vars(known)) == {
        "belief",
        "readings",
        "time",
        "group_beliefs",
        "map",
        "worlds",
        "contacts",
    }
    assert not np.shares_memory(known.belief, sim.truth)


def test_a_parameter_cannot_be_called_as_what_models_have() -> None:
    of_models = {name for name in dir(BaseModel) if not name.startswith("_")}
    assert of_models <= set(OF_MODELS.split())
    before = dict(KINDS["sensor"])
    for name in ("copy", "json", "model_fields", "model_validate"):
        parts = {"__annotations__": {name: float}, name: 1.0, "measures": FIX, "sense": _sense}
        with pytest.raises(PluginError, match=f"a parameter called '{name}', which is taken"):
            type("Odd", (Sensor,), {"__module__": __name__, **parts}, kind="odd")
    assert KINDS["sensor"] == before


def _sense(self: Any, rows: Any, scene: Any, out: Any) -> None:
    """Read nothing."""
