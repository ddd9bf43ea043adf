"""`astray kinds`: every kind of plugin with its parameters, read from the classes themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from astray.cli.options import JSON, PLUGINS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from astray.plugin import Plugin


@click.command()
@click.argument("name", required=False)
@PLUGINS
@JSON
def kinds(name: str | None, plugins: tuple[str, ...], as_json: bool) -> None:
    """List the kinds of plugins with their parameters, units and defaults; or only NAME."""
    import json

    from astray.errors import WrongInput, suggest
    from astray.plugin import KINDS

    declare_plugins(plugins)
    every = [cls for family in KINDS.values() for _, cls in sorted(family.items())]
    chosen = [cls for cls in every if name in (None, cls.kind, cls.family)]
    if not chosen:
        names = sorted({cls.kind for cls in every})
        raise WrongInput(f"no kind {name!r}{suggest(str(name), names)} ({', '.join(names)})")
    if as_json:
        print(json.dumps([describe(cls) for cls in chosen], indent=2))
        return
    for cls in chosen:
        _print(describe(cls))


def declare_plugins(files: Sequence[str]) -> None:
    """Declare the built-in kinds, and those of the files that --plugins names.

    Raises:
        ScenarioError: A file cannot be loaded.
    """
    from pathlib import Path

    from astray.errors import Fault, ScenarioError
    from astray.files import mark
    from astray.scenario import BUILT_IN_PACKAGES, load_plugins

    assert BUILT_IN_PACKAGES  # importing them declares them
    faults: list[Fault] = []
    load_plugins(mark({"plugins": list(files)}, "--plugins"), Path.cwd(), faults)
    if faults:
        raise ScenarioError(faults)


def describe(cls: type[Plugin]) -> dict[str, Any]:
    """One kind as plain data."""
    import dataclasses

    from astray.plugin import field_comments, parameters_of
    from astray.scenario import plain_value

    comments = field_comments(cls)
    found: dict[str, Any] = {
        "family": cls.family,
        "kind": cls.kind,
        "about": (cls.__doc__ or "").strip().split("\n")[0],
        "from": cls.__module__,
        "parameters": [],
    }
    for parameter in parameters_of(cls):
        required = parameter.default is dataclasses.MISSING or parameter.default == []
        default = None if required else plain_value(parameter.default)
        found["parameters"].append(
            {"name": parameter.name, "default": default, "unit": comments.get(parameter.name, "")}
        )
    return found


def _print(kind: dict[str, Any]) -> None:
    """Print one kind as plain lines: quick to print, easy to search."""
    import json

    head = click.style(f"{kind['family']} {kind['kind']}", bold=True)
    click.echo(f"{head}: {kind['about']}")
    for parameter in kind["parameters"]:
        default = "-" if parameter["default"] is None else json.dumps(parameter["default"])
        click.echo(f"    {parameter['name']:17} {default:9} {parameter['unit']}")
    click.echo()
