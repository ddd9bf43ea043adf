"""The contract that a plugin has to keep, as a test that its author runs.

    astray.check_plugin(MySensor)

A plugin may do what it likes for the rows it is handed. It must leave the others alone, must not
write to what it was only shown, must start over when it is reset, must come back when it is saved,
and must give a robot the same in any company.
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
from astray.tables import Array

TICKS = 40
SLOTS = {"tracker": "contacts"}
"""The slot of a family, where it is called otherwise."""


def check_plugin(cls: type[Plugin], robot: dict[str, Any] | None = None, **params: Any) -> None:
    """Prove that a plugin keeps its contract; PluginError lists everything that it breaks.

    `params` are the plugin's own parameters, `robot` what else its robot needs: sensors for an
    estimator, another motion.
    """
    broken: list[str] = []
    if not (cls.__doc__ or "").strip():
        broken.append("has no docstring: the catalogue would say nothing about it")
    scenario = _scenario(cls, robot or {}, params)
    claims = [_batch_is_alone, _reset_is_rebuild, _resumes, _stretches]
    if cls.family != "interaction":  # which is called for everyone, never for some
        claims.append(_rows_are_kept)
    if cls.family == "motion":
        claims.append(_is_no_faster_than_it_says)
    elif cls.family == "sensor" and getattr(cls, "stateless", False):
        claims.append(_is_of_the_moment)
    for claim in claims:
        try:
            broken.extend(claim(scenario, cls))
        except AstrayError as problem:
            broken.append(f"{claim.__name__.strip('_')}: {problem}")
            break
    if broken:
        who = f"{cls.family} {cls.kind!r}"
        raise PluginError("\n".join(f"{who} {what}" for what in broken))


def _scenario(cls: type[Plugin], robot: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    """A small scenario around the plugin: two robots that drive a curve, believed by odometry."""
    course = {"kind": "scripted", "steps": [{"lasts": 100.0, "vx": 0.5, "wz": 0.4}]}
    plain: dict[str, Any] = {
        "name": "one",
        "count": 2,
        "start": {"spread": 0.5},
        "sensors": [{"kind": "wheels", "slip_density": 0.01}],
        "estimator": {"kind": "odometry"},
        "autonomy": course,
    }
    if cls.family == "motion" and not getattr(cls, "wheels", 0):
        plain |= {"sensors": [], "estimator": None}
    plain |= robot
    mine = {"kind": cls.kind, **params}
    scenario: dict[str, Any] = {"dt": 0.02, "seed": 5, "robots": [plain]}
    if getattr(cls, "needs_map", False):
        scenario["world"] = {"map": "arena"}
    if cls.family == "metric":
        scenario["metrics"] = [mine]
    elif cls.family == "interaction":
        scenario |= {"world": {"map": "arena"}, "interactions": [mine]}
    elif cls.family == "sensor":
        plain["sensors"] = [s for s in plain["sensors"] if s["kind"] != cls.kind] + [mine]
        if cls.kind == "wheels":
            plain["sensors"] = [mine]
    else:
        plain[SLOTS.get(cls.family, cls.family)] = mine
    return scenario


def _state(sim: Sim) -> dict[str, Array]:
    return {k: v.copy() for k, v in group_arrays(sim.robots["one"]).items()}


def _differences(a: dict[str, Array], b: dict[str, Array]) -> Iterator[str]:
    """The columns in which two states differ, bit for bit."""
    for name, array in a.items():
        for column in array.dtype.names or (None,):
            left, right = (t if column is None else t[column] for t in (array, b[name]))
            if np.ascontiguousarray(left).tobytes() != np.ascontiguousarray(right).tobytes():
                yield f"{name}.{column}" if column else name


def _batch_is_alone(scenario: dict[str, Any], cls: type[Plugin]) -> Iterator[str]:
    batch, alone = load(scenario, worlds=3), load(scenario, worlds=[1])
    batch.step(TICKS)
    alone.step(TICKS)
    rows = batch.robots["one"].address["world"] == 1
    part = {name: array[rows] for name, array in _state(batch).items()}
    for what in _differences(part, _state(alone)):
        yield f"gives a robot another {what} in a batch than alone"


def _reset_is_rebuild(scenario: dict[str, Any], cls: type[Plugin]) -> Iterator[str]:
    again, fresh = load(scenario, worlds=2), load(scenario, worlds=2)
    again.step(TICKS)
    again.reset()
    for sim in (again, fresh):
        sim.step(TICKS)
    for what in _differences(_state(again), _state(fresh)):
        yield f"has another {what} after a reset than when it is built"


def _resumes(scenario: dict[str, Any], cls: type[Plugin]) -> Iterator[str]:
    sim = load(scenario, worlds=2)
    sim.step(TICKS // 2)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "saved.npz"
        sim.save(file)
        resumed = resume(file)
    for each in (sim, resumed):
        each.step(TICKS // 2)
    for what in _differences(_state(sim), _state(resumed)):
        yield f"has another {what} after it was saved and resumed"


def _stretches(scenario: dict[str, Any], cls: type[Plugin]) -> Iterator[str]:
    """One stretch, single ticks, and worlds out of phase, where every call is made."""
    together, ticked, apart = (load(scenario, worlds=2) for _ in range(3))
    together.step(TICKS)
    for _ in range(TICKS):
        ticked.step()
    for what in _differences(_state(together), _state(ticked)):
        yield f"has another {what} when a run is cut into single ticks"
    apart.step(7)
    apart.reset(worlds=[1], episode=0)
    apart.step(TICKS)
    rows = apart.robots["one"].address["world"] == 1
    mine = {name: array[rows] for name, array in _state(apart).items()}
    theirs = {name: array[rows] for name, array in _state(together).items()}
    for what in _differences(mine, theirs):
        yield f"has another {what} in a world whose clock differs from the others'"


def _is_no_faster_than_it_says(scenario: dict[str, Any], cls: type[Plugin]) -> Iterator[str]:
    """Drive as fast as can be, this way and that: collisions rely on the limit."""
    turns = [(1e3, 0.0), (1e3, 1e3), (-1e3, 1e3), (0.0, -1e3)]
    steps = [{"lasts": 0.5, "vx": vx, "wz": wz} for vx, wz in turns]
    course = {"kind": "scripted", "steps": steps, "loop": True}
    sim = load({**scenario, "robots": [{**scenario["robots"][0], "autonomy": course}]})
    group = sim.robots["one"]
    for _ in range(5 * TICKS):
        sim.step()
        speed = np.hypot(group.truth["vx"], group.truth["vy"])
        if (speed > group.motion.fastest() * (1.0 + 1e-9)).any():
            yield f"moves at {speed.max():.6g} m/s, which is more than the `fastest` that it tells"
            return


def _is_of_the_moment(scenario: dict[str, Any], cls: type[Plugin]) -> Iterator[str]:
    """Look twice, the second time with nonsense in the place of what was read before."""
    sim = load(scenario, worlds=2)
    sim.step(TICKS)
    group = sim.robots["one"]
    channel = next(c for c in group.pipelines.values() if type(c.sensor) is cls)
    first = group.look(channel.sensor.name)
    channel.sample_out_of_turn(group.rows, group.scene, group.time).table.view(np.uint8)[:] = 42
    second = group.look(channel.sensor.name)
    for reading in (first, second):
        reading.fresh[:] = True  # which is the simulator's own
    pairs = {"table": first.table, **first.arrays}, {"table": second.table, **second.arrays}
    for what in _differences(*pairs):
        yield f"is called stateless, and has another {what} after another reading"


def _rows_are_kept(scenario: dict[str, Any], cls: type[Plugin]) -> Iterator[str]:
    """Call the verb for half of the rows: the rest, and all that was only shown, must stay."""
    sim = load(scenario, worlds=2)
    sim.step(TICKS)
    group = sim.robots["one"]
    parts = [*group.plugins, *(judge.metric for judge in group.evaluators)]
    mine = next(p for p in parts if type(p) is cls)
    verb, writable = _verb(group, mine)
    half, others = group.rows[::2], group.rows[1::2]
    for name in writable:  # a mark in the others' rows shows who writes there, even the same value
        group_arrays(group)[name].view(np.uint8).reshape(len(group.truth), -1)[others] = 42
    before = _state(sim)
    verb(half)
    after = _state(sim)
    own = f"judge.{mine.name}." if cls.family == "metric" else f"{mine.family}.{mine.name}."
    for name in before:
        mine_alone = cls.family != "metric" or name.endswith((".params", ".memory"))
        free = name in writable or (name.startswith(own) and mine_alone)
        rows = others if free else slice(None)
        left = {name: before[name][rows]}
        for what in _differences(left, {name: after[name][rows]}):
            whose = "of rows it was not handed" if free else "which it was only shown"
            yield f"writes to {what}, {whose}"


def _verb(group: Any, mine: Any) -> tuple[Callable[[Any], None], tuple[str, ...]]:
    """The plugin's verb as a function of rows, and the tables that it is meant to write."""
    match mine.family:
        case "autonomy":
            return (lambda rows: mine.decide(rows, group.known, group.commands)), ("command",)
        case "control":
            known, commands, drives = group.known, group.commands, group.drives
            return (lambda rows: mine.steer(rows, known, commands, drives)), ("drive",)
        case "motion":
            truth, drives, dt = group.truth, group.drives, group.dt
            return (lambda rows: mine.move(rows, truth, drives, dt, 1)), ("truth",)
        case "sensor":
            channel = group.pipelines[mine.name]
            tables = tuple(f"reading.{mine.name}.{k}" for k, _ in enumerate(channel.readings()))
            arrays = tuple(f"{t}.{a}" for t in tables for a in channel.sampled.arrays)
            return (lambda rows: channel.sense(rows, group.scene)), (*tables, *arrays)
        case "estimator":
            return (lambda rows: mine.estimate(rows, group.known, group.belief)), ("belief",)
        case "tracker":
            known, contacts = group.known, group.contacts
            return (lambda rows: mine.track(rows, known, contacts)), ("contacts", "contacts.tracks")
        case _:
            judge = next(j for j in group.evaluators if j.metric is mine)
            return judge.measure, (f"judge.{mine.name}.{judge.subject}.values",)
