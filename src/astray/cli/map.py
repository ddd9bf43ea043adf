"""`astray map`: a map file, a bundled map or a generator: described, drawn, converted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from astray.cli.completion import complete_maps_and_generators
from astray.cli.options import JSON, PATH, POSITIVE, QUIET, SET, check_picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from astray.world import Map


@click.command("map")
@click.argument("file", shell_complete=complete_maps_and_generators)
@SET
@click.option("--scale", type=POSITIVE, help="Size of an image pixel in m.")
@click.option("--plot", type=PATH, help="Draw the map to this image.")
@click.option("--out", type=PATH, help="Write the map to this .geojson, .map or .yaml file.")
@QUIET
@JSON
def map_command(file: str, **options: Any) -> None:
    """Describe, draw or convert a map.

    FILE is a map file, a bundled map, or a generator: rooms, forest, maze or warehouse.
    """
    describe_map_file(file, **options)


def describe_map_file(
    file: str,
    *,
    overrides: Sequence[str] = (),
    scale: float | None = None,
    plot: Path | None = None,
    out: Path | None = None,
    quiet: bool = False,
    as_json: bool = False,
) -> None:
    """Read or generate a map, describe it, draw it, write it."""
    import json

    from astray.world.maps import (
        FILE_KEYS,
        GENERATOR_KEYS,
        GENERATORS,
        bundled_maps,
        describe_map,
        format_description,
        parameter_names,
        read_map,
        write_map,
    )

    check_picture(plot)
    generated = file in GENERATORS and file not in bundled_maps()
    spec = _settings(
        overrides, (*parameter_names(file), *GENERATOR_KEYS) if generated else FILE_KEYS
    )
    if scale is not None:
        spec["scale"] = scale
    spec["kind" if generated else "file"] = file
    found = read_map(spec)
    source = f"made by {file}" if generated else _format(file)
    facts = {**describe_map(found), "format": source}
    if out is not None:
        write_map(found, out)
    if plot is not None:
        draw(found, plot)
    if as_json:
        click.echo(json.dumps(facts))
    elif not quiet:
        click.echo("\n".join(format_description(facts)))


def _settings(overrides: Sequence[str], known: Sequence[str]) -> dict[str, Any]:
    """The settings of the map that --set gives; values are YAML."""
    from astray.errors import Fault, MapError, suggest
    from astray.files import read_yaml

    spec: dict[str, Any] = {}
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals:
            raise MapError(f"--set {text}: key=value is needed")
        if key not in known or key == "kind":
            raise MapError(f"--set {text}: unknown key {key!r}{suggest(key, known)}")
        faults: list[Fault] = []
        found = read_yaml(value, "--set", faults)
        if found is None or faults or not value.strip():
            raise MapError(f"--set {text}: {value!r} is not a YAML value")
        spec[key] = found.plain()
    return spec


def _format(file: str) -> str:
    from astray.errors import MapError
    from astray.files import read_bounded
    from astray.world.maps import bundled_maps, detect_format

    path = bundled_maps().get(file, Path(file))
    return detect_format(read_bounded(path, MapError), path).name


def draw(found: Map, file: Path) -> None:
    """Draw a map to an image file, all of it or nothing."""
    from astray.plots import plot_map

    save_figure(plot_map(found), file)


def save_figure(figure: Any, file: Path) -> None:
    """Write a matplotlib figure to a file, all of it or nothing."""
    import io

    from astray.files import atomic_write

    picture = io.BytesIO()
    figure.savefig(picture, dpi=150, format=file.suffix[1:].lower())
    with atomic_write(file) as stream:
        stream.write(picture.getvalue())
