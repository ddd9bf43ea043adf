"""`check_plugin`: the contract that a plugin has to keep, as a test that its author runs.

    astray.check_plugin(MySensor)

A plugin may do anything for the rows that it is handed. It must not write to other rows or to what
it is handed to read, it must start anew at a reset, it must be the same after a run was saved and
resumed, and it must give a robot the same values in any batch.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from astray.engine import group_arrays
from astray.errors import AstrayError, PluginError
from astray.plugin import Plugin
from astray.sim import Sim, load, resume
from astray.tables import Array, read_only

TICKS = 40
MARK = 42  # a byte that shows that a row was written, even with the same value
SCENARIO_KEYS = {"tracker": "contacts"}
"""The key of a robot for a plugin of a family, where it differs from the family's name."""

Claim = Callable[[dict[str, Any], type[Plugin]], Iterator[str]]


def check_plugin(cls: type[Plugin], robot: dict[str, Any] | None = None, **params: Any) -> None:
    """Check that a plugin class keeps the contract of its family.

    Small scenarios are run with two robots that drive a curve, and compared bit for bit.

    Args:
        cls: The class of the plugin.
        robot: Keys of its robot in the scenario, such as the sensors that an estimator needs.
        **params: The plugin's own parameters.

    Raises:
        PluginError: The contract is broken; the text lists every breach.
    """
    breaches: list[str] = []
    if not (cls.__doc__ or "").strip():
        breaches.append("has no docstring, which `astray kinds` would show")
    scenario = _scenario(cls, robot or {}, params)
    claims: list[Claim] = [
        is_independent_of_the_batch,
        starts_anew_at_a_reset,
        survives_save_and_resume,
        is_independent_of_the_cut,
    ]
    if cls.family != "interaction":  # which is called for all rows, never for some
        claims.append(writes_only_to_its_rows)
    if cls.family == "motion":
        claims.append(stays_within_its_speed_bound)
    elif cls.family == "sensor" and getattr(cls, "stateless", False):
        claims.append(is_stateless)
    for claim in claims:
        try:
            breaches.extend(claim(scenario, cls))
        except AstrayError as problem:
            breaches.append(f"({claim.__name__}): {problem}")
            break
    if breaches:
        plugin = f"{cls.family} {cls.kind!r}"
        raise PluginError("\n".join(f"{plugin} {breach}" for breach in breaches))


def _scenario(cls: type[Plugin], robot: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    """A small scenario around the plugin: two robots that drive a curve, believed by odometry."""
    course = {"kind": "scripted", "steps": [{"lasts": 100.0, "vx": 0.5, "wz": 0.4}]}
    group: dict[str, Any] = {
        "name": "one",
        "count": 2,
        "start": {"spread": 0.5},
        "sensors": [{"kind": "wheels", "slip_density": 0.01}],
        "estimator": {"kind": "odometry"},
        "autonomy": course,
    }
    if cls.family == "motion" and not getattr(cls, "wheels", 0):
        group |= {"sensors": [], "estimator": None}
    group |= robot
    plugin = {"kind": cls.kind, **params}
    scenario: dict[str, Any] = {"dt": 0.02, "seed": 5, "robots": [group]}
    if getattr(cls, "needs_map", False):
        scenario["world"] = {"map": "arena"}
    if cls.family == "metric":
        scenario["metrics"] = [plugin]
    elif cls.family == "interaction":
        scenario |= {"world": {"map": "arena"}, "interactions": [plugin]}
    elif cls.family == "sensor":
        others = [s for s in group["sensors"] if s["kind"] != cls.kind]
        group["sensors"] = [plugin] if cls.kind == "wheels" else [*others, plugin]
    else:
        group[SCENARIO_KEYS.get(cls.family, cls.family)] = plugin
    return scenario


def _state(sim: Sim) -> dict[str, Array]:
    """A copy of every table and array of the group, by name."""
    return {name: array.copy() for name, array in group_arrays(sim.robots["one"]).items()}


def _state_of_world_1(sim: Sim) -> dict[str, Array]:
    rows = sim.robots["one"].address["world"] == 1
    return {name: array[rows] for name, array in _state(sim).items()}


def _differences(a: dict[str, Array], b: dict[str, Array]) -> Iterator[str]:
    """The columns in which two states differ, bit for bit."""
    for name, array in a.items():
        for column in array.dtype.names or (None,):
            left, right = (t if column is None else t[column] for t in (array, b[name]))
            if np.ascontiguousarray(left).tobytes() != np.ascontiguousarray(right).tobytes():
                yield f"{name}.{column}" if column else name


def is_independent_of_the_batch(scenario: dict[str, Any], cls: type[Plugin]) -> Iterator[str]:
    """World 1 of three is the same as world 1 alone."""
    batch, alone = load(scenario, worlds=3), load(scenario, worlds=[1])
    batch.step(TICKS)
    alone.step(TICKS)
    for column in _differences(_state_of_world_1(batch), _state(alone)):
        yield f"gives a robot a different {column} in a batch of worlds than in a world alone"


def starts_anew_at_a_reset(scenario: dict[str, Any], cls: type[Plugin]) -> Iterator[str]:
    """A run that was reset is the same as one that was just loaded."""
    reset, loaded = load(scenario, worlds=2), load(scenario, worlds=2)
    reset.step(TICKS)
    reset.reset()
    for sim in (reset, loaded):
        sim.step(TICKS)
    for column in _differences(_state(reset), _state(loaded)):
        yield f"has a different {column} after a reset than after loading"


def survives_save_and_resume(scenario: dict[str, Any], cls: type[Plugin]) -> Iterator[str]:
    """A run that was saved and resumed is the same as one that was not."""
    sim = load(scenario, worlds=2)
    sim.step(TICKS // 2)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "saved.npz"
        sim.save(file)
        resumed = resume(file)
    for each in (sim, resumed):
        each.step(TICKS // 2)
    for column in _differences(_state(sim), _state(resumed)):
        yield f"has a different {column} after the run was saved and resumed"


def is_independent_of_the_cut(scenario: dict[str, Any], cls: type[Plugin]) -> Iterator[str]:
    """One call of many ticks, single ticks, and worlds with different clocks give the same."""
    at_once, ticked, shifted = (load(scenario, worlds=2) for _ in range(3))
    at_once.step(TICKS)
    for _ in range(TICKS):
        ticked.step()
    for column in _differences(_state(at_once), _state(ticked)):
        yield f"has a different {column} when a run is cut into single ticks"
    shifted.step(7)
    shifted.reset(worlds=[1], episode=0)
    shifted.step(TICKS)
    for column in _differences(_state_of_world_1(shifted), _state_of_world_1(at_once)):
        yield f"has a different {column} in a world whose clock differs from that of other worlds"


def stays_within_its_speed_bound(scenario: dict[str, Any], cls: type[Plugin]) -> Iterator[str]:
    """Drive as fast as possible in all directions: collision detection relies on the bound."""
    speeds = [(1e3, 0.0), (1e3, 1e3), (-1e3, 1e3), (0.0, -1e3)]
    steps = [{"lasts": 0.5, "vx": vx, "wz": wz} for vx, wz in speeds]
    course = {"kind": "scripted", "steps": steps, "loop": True}
    sim = load({**scenario, "robots": [{**scenario["robots"][0], "autonomy": course}]})
    group = sim.robots["one"]
    for _ in range(5 * TICKS):
        sim.step()
        speed = np.hypot(group.truth["vx"], group.truth["vy"])
        if (speed > group.motion.speed_bound() * (1.0 + 1e-9)).any():
            yield f"moves at {speed.max():.6g} m/s, which is more than its `speed_bound`"
            return


def is_stateless(scenario: dict[str, Any], cls: type[Plugin]) -> Iterator[str]:
    """Sample twice, the second time with nonsense in place of the previous reading."""
    sim = load(scenario, worlds=2)
    sim.step(TICKS)
    group = sim.robots["one"]
    pipeline = next(p for p in group.pipelines.values() if type(p.sensor) is cls)
    first = group.look(pipeline.sensor.name)
    pipeline.sample_out_of_turn(group.rows, group.scene, group.time).table.view(np.uint8)[:] = MARK
    second = group.look(pipeline.sensor.name)
    for reading in (first, second):
        reading.fresh[:] = True  # which the simulator sets
    pairs = {"table": first.table, **first.arrays}, {"table": second.table, **second.arrays}
    for column in _differences(*pairs):
        yield f"is declared stateless, and gives a different {column} after another reading"


def writes_only_to_its_rows(scenario: dict[str, Any], cls: type[Plugin]) -> Iterator[str]:
    """Call the verb for half of the rows: all else, and what is there to read, must stay."""
    sim = load(scenario, worlds=2)
    sim.step(TICKS)
    group = sim.robots["one"]
    plugins = [*group.plugins, *(evaluator.metric for evaluator in group.evaluators)]
    plugin = next(p for p in plugins if type(p) is cls)
    verb, outputs = _verb(group, plugin)
    called, others = group.rows[::2], group.rows[1::2]
    for name in outputs:
        group_arrays(group)[name].view(np.uint8).reshape(len(group.truth), -1)[others] = MARK
    before = _state(sim)
    verb(called)
    after = _state(sim)
    is_metric = cls.family == "metric"
    prefix = f"judge.{plugin.name}." if is_metric else f"{plugin.family}.{plugin.name}."
    for name in before:
        own = name.startswith(prefix)
        if is_metric:
            own = own and name.endswith((".params", ".memory"))
        written = own or name in outputs
        rows = others if written else slice(None)
        kept = {name: before[name][rows]}
        for column in _differences(kept, {name: after[name][rows]}):
            which = "of rows that it was not called for" if written else "which it may only read"
            yield f"writes to {column}, {which}"


def _verb(group: Any, plugin: Any) -> tuple[Callable[[Any], None], tuple[str, ...]]:
    """The plugin's verb as a function of rows, and the names of the tables that it writes."""
    known, commands, drives = group.known, read_only(group.commands), read_only(group.drives)
    match plugin.family:
        case "autonomy":
            return (lambda rows: plugin.decide(rows, known, group.commands)), ("command",)
        case "control":
            return (lambda rows: plugin.steer(rows, known, commands, group.drives)), ("drive",)
        case "motion":
            truth, dt = group.truth, group.dt
            return (lambda rows: plugin.move(rows, truth, drives, dt, 1)), ("truth",)
        case "sensor":
            pipeline = group.pipelines[plugin.name]
            tables = tuple(f"reading.{plugin.name}.{k}" for k, _ in enumerate(pipeline.readings()))
            arrays = tuple(f"{t}.{a}" for t in tables for a in pipeline.sampled.arrays)
            return (lambda rows: pipeline.sense(rows, group.scene)), (*tables, *arrays)
        case "estimator":
            return (lambda rows: plugin.estimate(rows, known, group.belief)), ("belief",)
        case "tracker":
            contacts = group.contacts
            outputs = "contacts", "contacts.tracks"
            return (lambda rows: plugin.track(rows, known, contacts)), outputs
        case _:
            evaluator = next(e for e in group.evaluators if e.metric is plugin)
            return evaluator.measure, (f"judge.{plugin.name}.{evaluator.subject}.values",)
