"""YAML files with a map: that of map_server, which names an image, or shapes as in a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from astray.errors import Fault, MapError
from astray.files import read_yaml, syntax_fault
from astray.world.map import Map
from astray.world.maps.fields import FieldReader
from astray.world.maps.formats.inline import SHAPE_KEYS, parse_inline
from astray.world.maps.formats.map_server import read_map_server

MAX_DEPTH = 32


def read_yaml_map(data: bytes, file: Path) -> Map:
    """Read the bytes of a YAML file with a map; `file` is the name for MapError."""
    spec = _read_mapping(data, str(file))
    if "image" in spec:
        return read_map_server(spec, file)
    fields = FieldReader()
    if not any(key in spec for key in SHAPE_KEYS):
        keys = ", ".join(SHAPE_KEYS)
        fields.fault((), f"needs 'image', as map_server has it, or one of {keys}")
    fields.refuse_unknown(spec, SHAPE_KEYS)
    map = parse_inline(spec, fields)
    fields.raise_first(file)
    return map


def _read_mapping(data: bytes, file: str) -> dict[str, Any]:
    """The mapping in the bytes of a YAML file without aliases and tags."""
    try:
        text = data.decode("utf-8-sig")
        _check_events(text, file)
    except UnicodeDecodeError:
        raise MapError(f"{file}: not a text file in UTF-8") from None
    except yaml.MarkedYAMLError as problem:
        fault = syntax_fault(problem, text, file)
        raise MapError(f"{file}:{fault.origin.line}: {fault.message}") from None
    except (yaml.YAMLError, ValueError, TypeError, OverflowError) as problem:
        what = str(problem).split("\n")[0]
        raise MapError(f"{file}: not YAML: {what}") from None
    faults: list[Fault] = []
    # Without aliases, a text has no more values than characters.
    found = read_yaml(text, file, faults, max_values=len(text))
    for fault in faults:
        raise MapError(f"{file}:{fault.origin.line}: {fault.message}")
    if found is None or not isinstance(found.value, dict) or not found.value:
        raise MapError(f"{file}: a mapping of keys to values is needed")
    spec: dict[str, Any] = found.plain()
    return spec


def _check_events(text: str, file: str) -> None:
    """Refuse deep nesting, aliases and tags: the C loader recurses, and aliases may not end."""
    depth = 0
    for event in yaml.parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None):
            line = event.start_mark.line + 1 if event.start_mark else 1
            raise MapError(f"{file}:{line}: aliases and tags are not taken")
        if depth > MAX_DEPTH:
            raise MapError(f"{file}: nested deeper than {MAX_DEPTH} levels")
