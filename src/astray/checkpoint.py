"""Saved runs: the arrays of a simulation and what it was built from, in one file.

The file is a NumPy archive.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from astray.engine.events import Event
from astray.engine.manual_override import Hands
from astray.engine.state_arrays import memories
from astray.errors import SavedError, ScenarioError, WrongInput
from astray.files.atomic_write import whole_file
from astray.files.npz import read_npz
from astray.scenario.bundle import with_maps
from astray.scenario.load import load_scenario
from astray.sim import Sim
from astray.tables import Array, Table
from astray.version import __version__

FORMAT = 1
ABOUT: dict[str, type] = {
    "scenario": dict,
    "seed": int,
    "steps": int,
    "worlds": list,
    "keep_events": bool,
    "events": list,
    "waiting": list,
}


def _arrays(sim: Sim) -> dict[str, Array]:
    found = {"clock": sim.clock, "lives": sim.lives, **sim.scenery.arrays()}
    for name, group in sim.robots.items():
        found |= {f"{name}/{key}": array for key, array in memories(group).items()}
    return found


def digest(sim: Sim) -> str:
    """A digest of every column of every table; padding between columns is not state."""
    made = hashlib.blake2b(digest_size=16)
    for name, array in sorted(_arrays(sim).items()):
        made.update(name.encode())
        for column in array.dtype.names or (None,):
            made.update(np.ascontiguousarray(array if column is None else array[column]).tobytes())
    return made.hexdigest()


def save(sim: Sim, file: str | os.PathLike[str]) -> None:
    """Write the whole state of a simulation to a file."""
    about = {
        "format": FORMAT,
        "astray": __version__,
        "scenario": with_maps(sim.scenario),
        "seed": sim.seed,
        "steps": sim.steps,
        "worlds": sim.worlds.tolist(),
        "keep_events": sim.agenda.keep,
        "events": [event.to_json() for event in sim.agenda.log],
        "waiting": [event.to_json() for event in sim.agenda.waiting()],
    }
    raw: dict[str, Any] = {name: _bytes(array) for name, array in _arrays(sim).items()}
    raw |= sim.scenery.saved_maps()
    raw["hits"] = _bytes(sim.collisions)
    told = np.frombuffer(json.dumps(about).encode(), np.uint8)
    with whole_file(Path(file), SavedError) as stream:
        np.savez(stream, about=told, **raw)


def _bytes(array: Array) -> Array:
    return np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)


def resume(file: str | os.PathLike[str], threads: int = 1) -> Sim:
    """Load a saved run; it goes on as if it had never stopped."""
    path = Path(file)
    raw = read_npz(path, "a saved run", SavedError)
    about = _about(path, raw)
    try:
        scenario = load_scenario(about["scenario"])
    except ScenarioError as problem:
        raise SavedError(f"{path}: its scenario no longer loads:\n{problem}") from None
    try:
        sim = Sim(scenario, about["worlds"], about["seed"], threads, about["keep_events"])
    except WrongInput as problem:
        raise SavedError(f"{path}: its scenario no longer runs: {problem}") from problem
    for name, group in sim.robots.items():
        group.hands = Hands(len(group.truth)) if f"{name}/hand" in raw else None
    try:
        maps = {name: raw.pop(name) for name in list(raw) if name.startswith("map/")}
        hits = np.frombuffer(raw.pop("hits").tobytes(), sim.collisions.dtype)
        arrays = _arrays(sim)
        if {k: v.nbytes for k, v in arrays.items()} != {k: v.nbytes for k, v in raw.items()}:
            raise SavedError(f"{path}: its plugins keep other memory than the ones installed now")
        for name, array in arrays.items():
            array[...] = np.frombuffer(raw[name].tobytes(), array.dtype).reshape(array.shape)
        sim.scenery.restore_saved_maps(maps)
        happened = [[Event.from_json(line) for line in about[k]] for k in ("events", "waiting")]
    except KeyError as missing:
        raise SavedError(f"{path}: damaged: it has no {missing}") from None
    except (ValueError, TypeError, AttributeError, WrongInput) as problem:
        raise SavedError(f"{path}: damaged: {problem}") from None
    _go_on(sim, about["steps"], hits.copy())
    sim.agenda.restore(*happened)
    return sim


def _about(path: Path, raw: dict[str, Array]) -> dict[str, Any]:
    """What a saved run was built from, of which there is all that is needed."""
    try:
        about: dict[str, Any] = json.loads(raw.pop("about").tobytes())
        saved_in = about["format"]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise SavedError(f"{path}: not a saved run") from None
    if saved_in != FORMAT:
        raise SavedError(f"{path}: saved by astray {about.get('astray')} in another format")
    for name, kind in ABOUT.items():
        if not isinstance(about.get(name), kind) or (name == "steps" and about[name] < 0):
            raise SavedError(f"{path}: damaged: its {name} is {about.get(name)!r:.40}")
    return about


def _go_on(sim: Sim, steps: int, hits: Table) -> None:
    """Let a simulation whose arrays were filled note what follows from them."""
    sim.go_on_at(steps)
    for group in sim.robots.values():
        group.tick = sim.tick
        group.count_alive()
        group.commanded = True
        for channel in group.channels.values():
            channel.recount()
    sim.scenery.restore_hits(hits)
    sim.scenery.changed()
    sim.trail.forget()
