"""Checkpoints: the state arrays of a run and what it was built from, in one NumPy archive.

The entry "about" is JSON with a format version; a checkpoint of another version is refused.
Increase FORMAT_VERSION when an entry or the name of a state array (`engine/state_arrays.py`)
changes. Some names in the file are older than the present words: "hits" are collisions, "hand" is
the manual override.
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

FORMAT_VERSION = 1
INFO_TYPES: dict[str, type] = {
    "scenario": dict,
    "seed": int,
    "steps": int,
    "worlds": list,
    "keep_events": bool,
    "events": list,
    "waiting": list,
}
"""The keys of the entry "about", beside the versions, and their types."""


class Checkpoint(NamedTuple):
    """The content of a checkpoint file."""

    path: Path
    info: dict[str, Any]
    """What the run was built from, and its events; see INFO_TYPES."""
    arrays: dict[str, Array]
    """The state arrays, maps and collisions by name, as bytes."""


def write_checkpoint(run: Run, file: str | os.PathLike[str]) -> None:
    """Write the whole state of a run to a file, completely or not at all.

    Args:
        run: The run.
        file: The file; replaced if it exists.

    Raises:
        SavedError: It cannot be written.
    """
    info = {
        "format": FORMAT_VERSION,
        "astray": __version__,
        "scenario": embed_maps(run.scenario),
        "seed": run.seed,
        "steps": run.steps,
        "worlds": run.worlds.tolist(),
        "keep_events": run.event_queue.keep,
        "events": [event.to_json() for event in run.event_queue.log],
        "waiting": [event.to_json() for event in run.event_queue.waiting()],
    }
    entries: dict[str, Any] = {name: _to_bytes(array) for name, array in state_arrays(run).items()}
    entries |= run.environment.saved_maps()
    entries["hits"] = _to_bytes(run.collisions)
    encoded_info = np.frombuffer(json.dumps(info).encode(), np.uint8)
    with atomic_write(Path(file), SavedError) as stream:
        np.savez(stream, about=encoded_info, **entries)


def _to_bytes(array: Array) -> Array:
    return np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint file.

    Args:
        path: The file.

    Returns:
        Its content.

    Raises:
        SavedError: It is no checkpoint, is damaged, or has another format version.
    """
    entries = read_npz(path, "a saved run", SavedError)
    try:
        info: dict[str, Any] = json.loads(entries.pop("about").tobytes())
        version = info["format"]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise SavedError(f"{path}: not a saved run") from None
    if version != FORMAT_VERSION:
        raise SavedError(
            f"{path}: saved by astray {info.get('astray')} in another format; "
            "resume it with that version"
        )
    for key, kind in INFO_TYPES.items():
        if not isinstance(info.get(key), kind) or (key == "steps" and info[key] < 0):
            raise SavedError(f"{path}: damaged: its {key} is {info.get(key)!r:.40}")
    return Checkpoint(path, info, entries)


def restore_checkpoint(run: Run, checkpoint: Checkpoint) -> None:
    """Set the state of a run to that of a checkpoint.

    Args:
        run: A run of the same scenario, seed and worlds.
        checkpoint: The checkpoint.

    Raises:
        SavedError: It is damaged, or its plugins have other state arrays.
    """
    path, info, entries = checkpoint
    for name, group in run.robots.items():
        group.override = ManualOverride(len(group.truth)) if f"{name}/hand" in entries else None
    try:
        maps = {name: entries.pop(name) for name in list(entries) if name.startswith("map/")}
        collisions = np.frombuffer(entries.pop("hits").tobytes(), run.collisions.dtype)
        arrays = state_arrays(run)
        if {k: v.nbytes for k, v in arrays.items()} != {k: v.nbytes for k, v in entries.items()}:
            raise SavedError(f"{path}: its plugins keep other memory than the ones installed now")
        for name, array in arrays.items():
            array[...] = np.frombuffer(entries[name].tobytes(), array.dtype).reshape(array.shape)
        run.environment.restore_saved_maps(maps)
        log, waiting = (
            [Event.from_json(line) for line in info[key]] for key in ("events", "waiting")
        )
    except KeyError as missing:
        raise SavedError(f"{path}: damaged: it has no {missing}") from None
    except (ValueError, TypeError, AttributeError, WrongInput) as problem:
        raise SavedError(f"{path}: damaged: {problem}") from None
    run.restore(info["steps"], collisions.copy())
    run.event_queue.restore(log, waiting)
