"""One map from the command line: read or make it, tell about it, draw it, write it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from astray.errors import Fault, MapError, suggest
from astray.world import Map
from astray.world.maps import bundled_maps, describe_map, format_description, read_map, write_map
from astray.world.maps.formats import FILE, MADE, format_of, read_bytes
from astray.world.maps.generate import GENERATORS, parameters

PICTURES = (".png", ".pdf", ".svg", ".jpg")


def tell_map(
    file: str,
    *,
    overrides: Sequence[str] = (),
    scale: float | None = None,
    plot: Path | None = None,
    out: Path | None = None,
    quiet: bool = False,
    as_json: bool = False,
) -> None:
    """Tell about a map as the command line asks."""
    if plot is not None and plot.suffix.lower() not in PICTURES:
        raise MapError(f"{plot}: a picture is one of {', '.join(PICTURES)}")
    made = file in GENERATORS and file not in bundled_maps()
    spec = _settings(overrides, (*parameters(file), *MADE) if made else FILE)
    if scale is not None:
        spec["scale"] = scale
    spec["kind" if made else "file"] = file
    found = read_map(spec)
    what = f"made by {file}" if made else _format(file)
    facts = {**describe_map(found), "format": what}
    if out is not None:
        write_map(found, out)
    if plot is not None:
        draw(found, plot)
    if as_json:
        click.echo(json.dumps(facts))
    elif not quiet:
        click.echo("\n".join(format_description(facts)))


def _settings(overrides: Sequence[str], known: Sequence[str]) -> dict[str, Any]:
    """What --set says; values are YAML."""
    from astray.files import read_yaml

    spec: dict[str, Any] = {}
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals:
            raise MapError(f"--set {text}: key=value is needed")
        if key not in known or key == "kind":
            raise MapError(f"--set {text}: no key {key!r} here{suggest(key, known)}")
        faults: list[Fault] = []
        found = read_yaml(value, "--set", faults)
        if found is None or faults or not value.strip():
            raise MapError(f"--set {text}: {value!r} is no value")
        spec[key] = found.plain()
    return spec


def _format(file: str) -> str:
    path = bundled_maps().get(file, Path(file))
    return format_of(read_bytes(path), path)


def draw(found: Map, goal: Path) -> None:
    """Draw a map to an image file, all of it or nothing."""
    import io

    from astray.files import atomic_write
    from astray.plots import plot_map

    picture = io.BytesIO()
    plot_map(found).savefig(picture, dpi=150, format=goal.suffix[1:].lower())
    with atomic_write(goal) as stream:
        stream.write(picture.getvalue())
