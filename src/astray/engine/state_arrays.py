"""The state of a group as named arrays: to save, to compare, to restore."""

from __future__ import annotations

from astray.engine.robots import Group
from astray.plugin import Plugin
from astray.tables import Array


def memories(group: Group) -> dict[str, Array]:
    """Every array that makes up the state of a group, by name."""
    found: dict[str, Array] = {
        "truth": group.truth,
        "address": group.address,
        "starts": group.starts,
        "time": group.time,
        "command": group.commands,
        "drive": group.drives,
    }
    if group.hands is not None:
        found["hand"] = group.hands.table
    history = group.judging.history
    if history.moments.size:
        found |= {"history": history.moments, "history.next_slot": history.next_slot}
    if group.estimator:
        found["belief"] = group.belief
    if group.tracker:
        found |= {"contacts": group.contacts.table, "contacts.tracks": group.contacts.tracks}
    found |= {f"rival.{name}": belief for name, belief in group.rivals.items()}
    for plugin in group.plugins:
        found |= _of_plugin(plugin, f"{plugin.family}.{plugin.name}")
    for name, channel in group.channels.items():
        for k, reading in enumerate(channel.readings()):
            found[f"reading.{name}.{k}"] = reading.table
            found |= {f"reading.{name}.{k}.{a}": v for a, v in reading.arrays.items()}
    for judge in group.judges:
        label = f"judge.{judge.metric.name}.{judge.subject}"
        found |= {f"{label}.{name}": array for name, array in judge.arrays().items()}
        found |= _of_plugin(judge.metric, label)
    return found


def _of_plugin(plugin: Plugin, label: str) -> dict[str, Array]:
    found: dict[str, Array] = {f"{label}.params": plugin.params}
    if plugin.remembers is not None:
        found[f"{label}.memory"] = plugin.memory
    return found | {f"{label}.{name}": array for name, array in plugin.arrays.items()}
