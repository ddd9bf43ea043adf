"""The signals of a scenario, and the files that they come from.

`file: imu.yaml` of a plugin that takes signals is laid under its `signals`, as a preset is laid
under a robot: the effective scenario has what the file said and needs it no more. A path goes from
the file that it is written in. What is wrong is reported where it stands, in either file.
"""

from __future__ import annotations

import os
import warnings

from astray.errors import Fault, SignalWarning, format_path
from astray.errors import Path as Place
from astray.files import Marked, iterate_values
from astray.plugin import KINDS, parameters_of
from astray.scenario.importers import absolute, located, make_paths_absolute, signal_tree
from astray.scenario.schema import SLOTS
from astray.signals import SignalFaults, Signals, channel_names, read_signals


def read_all_signals(tree: Marked, faults: list[Fault]) -> None:
    """Put signals in the place of what is written of them, for every plugin."""
    for place, item in list(iterate_values(tree)):
        for key, names in _takes(place, item).items():
            if key == "signals":
                _lay_over_file(item, names, place, faults)
            if (written := item.at((key,))) is not None:
                _read(written, names, (*place, key), faults)


def _takes(place: Place, item: Marked) -> dict[str, tuple[str, ...]]:
    """The parameters of a plugin that are signals, with the names that those may have."""
    kind = item.at(("kind",))
    family = next((SLOTS[part] for part in reversed(place) if part in SLOTS), None)
    cls = KINDS[family].get(str(kind.value)) if kind and family else None
    found = {p.name: channel_names(p.type) for p in parameters_of(cls)} if cls else {}
    return {key: names for key, names in found.items() if names}


def _read(written: Marked, names: tuple[str, ...], place: Place, faults: list[Fault]) -> None:
    make_paths_absolute(written)
    findings = SignalFaults()
    found = read_signals(written.plain(), findings, names)
    faults += [located(problem, written, place) for problem in findings.faults]
    for remark in findings.warnings:
        warnings.warn(str(located(remark, written, place)), SignalWarning, stacklevel=2)
    written.value = Signals(found)


def _lay_over_file(item: Marked, names: tuple[str, ...], place: Place, faults: list[Fault]) -> None:
    """Lay the signals of a plugin over those of its file; one that both have is its own."""
    file, node = item.at(("file",)), item.at(("node",))
    if file is None or not isinstance(file.value, str):
        return  # validation says so
    where, path = format_path((*place, "file")), absolute(file)
    below = Marked({}, file.origin)
    if os.path.isfile(path):  # which no name can upset, however long or strange
        found: list[Fault] = []
        below = signal_tree(path, found, names, str(node.value) if node else None)
        faults += [Fault(fault.origin, where, fault.message) for fault in found]
    else:
        faults.append(Fault(file.origin, where, f"no file {path}"))
    above = item.at(("signals",))
    if above is None:
        item.value["signals"], item.keys["signals"] = below, file.origin
    elif isinstance(above.value, dict):
        above.value = {**below.value, **above.value}
        above.keys = {**below.keys, **above.keys}
    for key in ("file", "node"):
        item.value.pop(key, None)
