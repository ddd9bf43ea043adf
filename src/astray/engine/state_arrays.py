"""The state of a run as named arrays: for checkpoints and digests.

The names are part of checkpoints and of digests, so some are older than the present words.
"""

from __future__ import annotations

import hashlib

import numpy as np

from astray.engine.robots import Robots, RunState
from astray.plugin import Plugin
from astray.tables import Array


def state_arrays(run: RunState) -> dict[str, Array]:
    """Every array that makes up the state of a run, by name."""
    found = {"clock": run.clocks.ticks, "lives": run.clocks.episodes, **run.environment.arrays()}
    for name, group in run.robots.items():
        found |= {f"{name}/{key}": array for key, array in group_arrays(group).items()}
    return found


def digest(run: RunState) -> str:
    """A digest of every column of every table; padding between columns is not state."""
    made = hashlib.blake2b(digest_size=16)
    for name, array in sorted(state_arrays(run).items()):
        made.update(name.encode())
        for column in array.dtype.names or (None,):
            made.update(np.ascontiguousarray(array if column is None else array[column]).tobytes())
    return made.hexdigest()


def group_arrays(group: Robots) -> dict[str, Array]:
    """Every array that makes up the state of a group, by name."""
    found: dict[str, Array] = {
        "truth": group.truth,
        "address": group.address,
        "starts": group.starts,
        "time": group.time,
        "command": group.commands,
        "drive": group.drives,
    }
    if group.override is not None:
        found["hand"] = group.override.table
    history = group.evaluation.history
    if history.moments.size:
        found |= {"history": history.moments, "history.next_slot": history.next_slot}
    if group.estimator:
        found["belief"] = group.belief
    if group.tracker:
        found |= {"contacts": group.contacts.table, "contacts.tracks": group.contacts.tracks}
    found |= {f"rival.{name}": belief for name, belief in group.rivals.items()}
    for plugin in group.plugins:
        found |= _plugin_arrays(plugin, f"{plugin.family}.{plugin.name}")
    for name, pipeline in group.pipelines.items():
        for k, reading in enumerate(pipeline.readings()):
            found[f"reading.{name}.{k}"] = reading.table
            found |= {f"reading.{name}.{k}.{a}": v for a, v in reading.arrays.items()}
    for evaluator in group.evaluators:
        label = f"judge.{evaluator.metric.name}.{evaluator.subject}"
        found |= {f"{label}.{name}": array for name, array in evaluator.arrays().items()}
        found |= _plugin_arrays(evaluator.metric, label)
    return found


def _plugin_arrays(plugin: Plugin, label: str) -> dict[str, Array]:
    found: dict[str, Array] = {f"{label}.params": plugin.params}
    if plugin.remembers is not None:
        found[f"{label}.memory"] = plugin.memory
    return found | {f"{label}.{name}": array for name, array in plugin.arrays.items()}
