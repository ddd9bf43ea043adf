"""A map from its description: a file, a bundled map, a generator, or shapes.

    office                                   a bundled map
    maze                                     a generator with its defaults
    maps/hall.geojson                        a file, found from the file that names it
    {file: plan.png, scale: 0.02, shift: [1, 2, 1.57]}
    {kind: rooms, size: [30, 20], seed: 4, per_world: true}
    {walls: [[[0, 0], [8, 0]]], circles: [[3, 2, 0.4]]}

`shift` [x, y, yaw] rotates a map about its origin and then moves it, whatever its source.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from astray.errors import MapError, WrongInput, format_path, suggest
from astray.errors import Path as FieldPath
from astray.presets import MAPS
from astray.world.map import Map, is_map_dict, map_dict_fault, map_from_dict
from astray.world.maps.fields import FieldReader, shorten
from astray.world.maps.formats import SHAPE_KEYS, SUFFIXES, parse_inline, read_map_file
from astray.world.maps.generate import (
    GENERATORS,
    MAX_REQUEST,
    MIN_REQUEST,
    generate,
    parameter_names,
    parse_layout,
)

FILE_KEYS = ("file", "scale", "shift")
GENERATOR_KEYS = ("kind", "segments", "seed", "per_world", "shift")
"""The keys of every generator, beside its parameters."""

Spec = str | Path | Mapping[str, Any]


def bundled_maps() -> dict[str, Path]:
    """The files of the maps that come with astray, by name."""
    return {file.stem: file for file in sorted(MAPS.iterdir()) if file.suffix in SUFFIXES}


def read_map(spec: Spec, folder: Path = Path("."), world: int = 0, seed: int = 0) -> Map:
    """Read or generate the map of a description.

    Args:
        spec: A name, a file or a mapping.
        folder: The folder that relative files are found from.
        world: The number of the world, for a generator with `per_world`.
        seed: The seed of a generator that has none of its own.

    Returns:
        The map.

    Raises:
        MapError: The description or a file is wrong; the text has every fault of a description.
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
        map = _read_file(spec["file"], folder, spec.get("scale"))
    elif "kind" in spec:
        layout = parse_layout(spec, FieldReader())
        number = world if differs_per_world(spec) else 0
        map = generate(layout, spec.get("segments"), spec.get("seed", seed), number)
    else:
        map = parse_inline(spec, FieldReader())
    return shifted(map, *spec.get("shift", (0.0, 0.0, 0.0)))


def differs_per_world(spec: object) -> bool:
    """Whether a description makes another map for every world."""
    return isinstance(spec, Mapping) and "kind" in spec and spec.get("per_world") is True


def _dotted(path: FieldPath) -> str:
    text = format_path(path)
    return f".{text}" if text and not text.startswith("[") else text


def _read_file(name: str | Path, folder: Path, scale: float | None) -> Map:
    known = bundled_maps()
    file = known.get(str(name), folder / name)
    try:
        return replace(read_map_file(file, scale), name=file.stem)
    except (FileNotFoundError, NotADirectoryError):
        hint = suggest(Path(name).name, [*known, *GENERATORS])
        names = f"bundled maps: {', '.join(known)}; generators: {', '.join(GENERATORS)}"
        message = f"no such file, and no bundled map of that name{hint}; {names}"
        raise MapError(f"{file}: {message}") from None
    except (OSError, ValueError) as problem:  # an impossible file name is a ValueError
        why = getattr(problem, "strerror", None) or str(problem)
        raise MapError(f"{file}: {why}") from None
    except MapError:
        raise
    except WrongInput as problem:
        raise MapError(f"{file}: {problem}") from None


def shifted(map: Map, x: float, y: float, yaw: float) -> Map:
    """A map rotated about its origin by yaw, then moved by x and y."""
    if x == y == yaw == 0.0:
        return map
    s, c = math.sin(yaw), math.cos(yaw)

    def transform(px: Any, py: Any) -> tuple[Any, Any]:
        return x + c * px - s * py, y + s * px + c * py

    ends = [*transform(*map.segments[:, :2].T), *transform(*map.segments[:, 2:].T)]
    places = []
    for place in map.places:
        place_x, place_y = transform(place.x, place.y)
        place_yaw = math.remainder(place.yaw + yaw, 2.0 * math.pi)
        points = tuple(transform(*point) for point in place.points)
        places.append(replace(place, x=place_x, y=place_y, yaw=place_yaw, points=points))
    point = map.georeference
    if point is not None:
        point_x, point_y = transform(point.x, point.y)
        point = replace(point, x=point_x, y=point_y, yaw=point.yaw + yaw)
    return Map(np.stack(ends, axis=1), map.solid, tuple(places), map.name, point)


def check_spec(spec: object) -> list[tuple[FieldPath, str]]:
    """Every fault of a description with its path inside; the content of files is not checked."""
    fields = FieldReader()
    if isinstance(spec, (str, Path)):
        if not str(spec):
            fields.fault((), "the name of a map or of its file is needed")
    elif not isinstance(spec, Mapping):
        fields.fault((), f"a name, a file or a mapping is needed, not {shorten(spec)}")
    elif not is_map_dict(spec):
        _check_mapping(spec, fields)
    elif fault := map_dict_fault(spec):
        fields.fault((), fault)
    return fields.faults


def _check_mapping(spec: Mapping[str, object], fields: FieldReader) -> None:
    if "shift" in spec:
        fields.numbers(spec["shift"], ("shift",), "x y yaw")
    sources = [key for key in ("file", "kind") if key in spec]
    sources += [key for key in SHAPE_KEYS if key in spec][:1]
    if len(sources) > 1:
        fields.fault((), f"is one of file, kind and inline, not {' and '.join(sources)}")
    elif not sources:
        fields.refuse_unknown(spec, dict.fromkeys((*FILE_KEYS, *GENERATOR_KEYS, *SHAPE_KEYS)))
        fields.fault((), f"needs 'file', 'kind' or one of {', '.join(SHAPE_KEYS)}")
    elif "file" in spec:
        _check_file(spec, fields)
    elif "kind" in spec:
        _check_generator(spec, fields)
    else:
        fields.refuse_unknown(spec, (*SHAPE_KEYS, "shift"))
        parse_inline(spec, fields)


def _check_file(spec: Mapping[str, object], fields: FieldReader) -> None:
    fields.refuse_unknown(spec, FILE_KEYS)
    if not isinstance(spec["file"], (str, Path)) or not str(spec["file"]):
        fields.fault(("file",), f"the name of a file is needed, not {shorten(spec['file'])}")
    if "scale" in spec:
        fields.number(spec["scale"], ("scale",), 0.0, 1000.0, above=True)


def _check_generator(spec: Mapping[str, object], fields: FieldReader) -> None:
    kind = spec["kind"]
    if isinstance(kind, str) and kind in GENERATORS:
        fields.refuse_unknown(
            spec, dict.fromkeys(("kind", *parameter_names(kind), *GENERATOR_KEYS))
        )
    if "segments" in spec:
        fields.integer(spec["segments"], ("segments",), MIN_REQUEST, MAX_REQUEST)
    if "seed" in spec:
        fields.integer(spec["seed"], ("seed",))
    if "per_world" in spec:
        fields.boolean(spec["per_world"], ("per_world",))
    parse_layout(spec, fields)
