"""A map from whatever describes it: a file, a bundled name, a generator, or the map itself.

    office                                   a bundled map
    maze                                     a generator with its defaults
    maps/hall.geojson                        a file, found from where it is named
    {file: plan.png, scale: 0.02, shift: [1, 2, 1.57]}
    {kind: rooms, size: [30, 20], seed: 4, per_world: true}
    {walls: [[[0, 0], [8, 0]]], circles: [[3, 2, 0.4]]}

`shift` [x, y, yaw] turns a map about its origin and then moves it, whatever it came from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from astray.errors import MapError, WrongInput, in_words, suggest
from astray.presets import MAPS
from astray.world.map import Map
from astray.world.map_data import is_map_dict, map_from_dict
from astray.world.maps.faults import MapFaults
from astray.world.maps.formats import SUFFIXES, parse_inline, read_file
from astray.world.maps.formats import check_spec as check_spec
from astray.world.maps.formats import per_world as per_world
from astray.world.maps.generate import GENERATORS, make, parse_layout

BUNDLED = MAPS

Spec = str | Path | Mapping[str, Any]


def bundled_maps() -> dict[str, Path]:
    """The maps that come with astray, by name."""
    return {file.stem: file for file in sorted(BUNDLED.iterdir()) if file.suffix in SUFFIXES}


def read_map(spec: Spec, folder: Path = Path("."), world: int = 0, seed: int = 0) -> Map:
    """Read or make the map that a scenario asks for; MapError says what is wrong.

    Files are found from `folder`. `seed` is the run's, for generators that have none of their own;
    `world` counts only where a generator is asked for another map in each.
    """
    if isinstance(spec, str) and spec in GENERATORS and spec not in bundled_maps():
        spec = {"kind": spec}
    if isinstance(spec, (str, Path)):
        return _read_file(spec, folder, None)
    if faults := check_spec(spec):
        raise MapError("\n".join(f"map{_dotted(path)}: {message}" for path, message in faults))
    if is_map_dict(spec):
        return map_from_dict(spec)
    if "file" in spec:
        made = _read_file(spec["file"], folder, spec.get("scale"))
    elif "kind" in spec:
        at = world if per_world(spec) else 0
        layout = parse_layout(spec, MapFaults())
        made = make(layout, spec.get("segments"), spec.get("seed", seed), at)
    else:
        made = parse_inline(spec, MapFaults())
    return shifted(made, *spec.get("shift", (0.0, 0.0, 0.0)))


def _dotted(path: tuple[str | int, ...]) -> str:
    text = in_words(path)
    return f".{text}" if text and not text.startswith("[") else text


def _read_file(name: str | Path, folder: Path, scale: float | None) -> Map:
    known = bundled_maps()
    file = known.get(str(name), folder / name)
    try:
        return replace(read_file(file, scale), name=file.stem)
    except (FileNotFoundError, NotADirectoryError):
        hint = suggest(Path(name).name, [*known, *GENERATORS])
        names = f"bundled maps: {', '.join(known)}; generators: {', '.join(GENERATORS)}"
        message = f"no such file, and no bundled map of that name{hint}; {names}"
        raise MapError(f"{file}: {message}") from None
    except (OSError, ValueError) as problem:  # a name may hold what no file system takes
        why = getattr(problem, "strerror", None) or str(problem)
        raise MapError(f"{file}: {why}") from None
    except MapError:
        raise
    except WrongInput as problem:
        raise MapError(f"{file}: {problem}") from None


def shifted(found: Map, x: float, y: float, yaw: float) -> Map:
    """A map turned about its origin by yaw, then moved by x and y."""
    if x == y == yaw == 0.0:
        return found
    s, c = math.sin(yaw), math.cos(yaw)

    def move(px: Any, py: Any) -> tuple[Any, Any]:
        return x + c * px - s * py, y + s * px + c * py

    ends = [*move(*found.segments[:, :2].T), *move(*found.segments[:, 2:].T)]
    places = []
    for place in found.places:
        at_x, at_y = move(place.x, place.y)
        turned = math.remainder(place.yaw + yaw, 2.0 * math.pi)
        points = tuple(move(*point) for point in place.points)
        places.append(replace(place, x=at_x, y=at_y, yaw=turned, points=points))
    return Map(np.stack(ends, axis=1), found.solid, tuple(places), found.name)
