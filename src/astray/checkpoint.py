"""Checkpoints: the arrays of a run and what it was built from, in one NumPy archive.

`FORMAT` is the version. A file of another version is refused; a change of what is written, or of
the names of the arrays (`engine/state_arrays.py`), needs a new one.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from astray.engine import Event, ManualOverride, Run, state_arrays
from astray.errors import SavedError, WrongInput
from astray.files import atomic_write, read_npz
from astray.scenario import embed_maps
from astray.tables import Array
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


class Saved(NamedTuple):
    """What a file holds."""

    path: Path
    about: dict[str, Any]
    """What the run was built from, and its events."""
    arrays: dict[str, Array]
    """Its state, as bytes."""


def save(run: Run, file: str | os.PathLike[str]) -> None:
    """Write the whole state of a run to a file."""
    about = {
        "format": FORMAT,
        "astray": __version__,
        "scenario": embed_maps(run.scenario),
        "seed": run.seed,
        "steps": run.steps,
        "worlds": run.worlds.tolist(),
        "keep_events": run.event_queue.keep,
        "events": [event.to_json() for event in run.event_queue.log],
        "waiting": [event.to_json() for event in run.event_queue.waiting()],
    }
    raw: dict[str, Any] = {name: _bytes(array) for name, array in state_arrays(run).items()}
    raw |= run.environment.saved_maps()
    raw["hits"] = _bytes(run.collisions)
    told = np.frombuffer(json.dumps(about).encode(), np.uint8)
    with atomic_write(Path(file), SavedError) as stream:
        np.savez(stream, about=told, **raw)


def _bytes(array: Array) -> Array:
    return np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)


def read(path: Path) -> Saved:
    """Read a saved run; SavedError if it is none or damaged."""
    raw = read_npz(path, "a saved run", SavedError)
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
    return Saved(path, about, raw)


def restore(run: Run, saved: Saved) -> None:
    """Fill a run, built from the same scenario, with what was saved."""
    path, about, raw = saved
    for name, group in run.robots.items():
        group.override = ManualOverride(len(group.truth)) if f"{name}/hand" in raw else None
    try:
        maps = {name: raw.pop(name) for name in list(raw) if name.startswith("map/")}
        collisions = np.frombuffer(raw.pop("hits").tobytes(), run.collisions.dtype)
        arrays = state_arrays(run)
        if {k: v.nbytes for k, v in arrays.items()} != {k: v.nbytes for k, v in raw.items()}:
            raise SavedError(f"{path}: its plugins keep other memory than the ones installed now")
        for name, array in arrays.items():
            array[...] = np.frombuffer(raw[name].tobytes(), array.dtype).reshape(array.shape)
        run.environment.restore_saved_maps(maps)
        happened = [[Event.from_json(line) for line in about[k]] for k in ("events", "waiting")]
    except KeyError as missing:
        raise SavedError(f"{path}: damaged: it has no {missing}") from None
    except (ValueError, TypeError, AttributeError, WrongInput) as problem:
        raise SavedError(f"{path}: damaged: {problem}") from None
    run.restore(about["steps"], collisions.copy())
    run.event_queue.restore(*happened)
