"""The maps of a scenario: that of the world, and those that robots were given.

A map is read once, where the scenario is loaded, so that a broken file is a fault with a line. A
path goes from the file that it is written in, and stands in the effective scenario in full; what is
written of a run elsewhere has the map itself in its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from astray.errors import Fault, MapError, format_path
from astray.errors import Path as Place
from astray.files import Marked
from astray.tables import Array
from astray.world import Map, map_to_dict
from astray.world.maps import GENERATORS, bundled_maps, check_spec, differs_per_world, read_map


@dataclass(frozen=True)
class MapPlan:
    """A map as a scenario asks for it: one for all worlds, or another in each."""

    spec: Any
    read: Map | None = None
    """What was read of a file, so that it is read once."""

    def portable_spec(self) -> Any:
        """What describes it anywhere: of a file, all that was read of it."""
        name = self.spec.get("file") if isinstance(self.spec, dict) else self.spec
        if self.read is None or name is None or name in bundled_maps():
            return self.spec
        return map_to_dict(self.read)

    def maps(self, worlds: Array, seed: int) -> list[Map]:
        """The maps of these worlds, by their numbers; only one if they all share it."""
        if self.read is not None:
            return [self.read]
        some = worlds if differs_per_world(self.spec) else np.zeros(1, np.int64)
        return [read_map(self.spec, world=int(world), seed=seed) for world in some]


def read_maps(tree: Marked, faults: list[Fault]) -> None:
    """Put plans in the place of what is written of maps."""
    _read(tree, ("world", "map"), faults)
    robots = tree.at(("robots",))
    for k in range(len(robots.value) if robots and isinstance(robots.value, list) else 0):
        _read(tree, ("robots", k, "map"), faults)


def _read(tree: Marked, place: Place, faults: list[Fault]) -> None:
    written = tree.at(place)
    if written is None or written.value is None or isinstance(written.value, MapPlan):
        return
    spec = written.plain()
    if isinstance(spec, Map):
        written.value = MapPlan(map_to_dict(spec), spec)
        return
    if isinstance(spec, str):
        spec = _in_full(spec, written.origin.file)
    elif isinstance(spec, dict):
        if wrong := check_spec(spec):
            for path, message in wrong:
                origin = written.nearest(path)
                faults.append(Fault(origin, format_path((*place, *path)), message))
            written.value = MapPlan({})
            return
        if "file" in spec:
            spec = {**spec, "file": _in_full(spec["file"], written.origin.file)}
    else:
        message = "a map is a file, a bundled name, or a mapping that describes one"
        faults.append(Fault(written.origin, format_path(place), message))
        written.value = MapPlan({})
        return
    found, made = None, spec in GENERATORS if isinstance(spec, str) else "kind" in spec
    try:
        found = None if made else read_map(spec)
    except MapError as problem:
        faults.append(Fault(written.origin, format_path(place), str(problem)))
    written.value = MapPlan(spec, found)


def _in_full(name: str, file: str) -> str:
    """A path from the file that names it; the names of bundled maps and generators stay."""
    if name in bundled_maps() or name in GENERATORS:
        return name
    return str((Path(file).resolve().parent / name).resolve())
