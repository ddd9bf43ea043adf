"""The catalogue: every kind of plugin with its parameters, read from the classes themselves."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from astray.errors import Fault, ScenarioError, WrongInput
from astray.files import mark
from astray.plugin import KINDS, Plugin, parameters_of, units
from astray.scenario import BUILT_IN_PACKAGES, load_plugins, plain_value, suggest


def describe(cls: type[Plugin]) -> dict[str, Any]:
    """One kind as plain data."""
    comments = units(cls)
    found: dict[str, Any] = {
        "family": cls.family,
        "kind": cls.kind,
        "about": (cls.__doc__ or "").strip().split("\n")[0],
        "from": cls.__module__,
        "parameters": [],
    }
    for parameter in parameters_of(cls):
        needed = parameter.default is dataclasses.MISSING or parameter.default == []
        default = None if needed else plain_value(parameter.default)
        found["parameters"].append(
            {"name": parameter.name, "default": default, "unit": comments.get(parameter.name, "")}
        )
    return found


def declare(plugins: Sequence[str]) -> None:
    """Make the built-in kinds known, and those of the files that --plugins names."""
    assert BUILT_IN_PACKAGES  # importing them declares them
    faults: list[Fault] = []
    load_plugins(mark({"plugins": list(plugins)}, "--plugins"), Path.cwd(), faults)
    if faults:
        raise ScenarioError(faults)


def print_kinds(name: str | None, plugins: Sequence[str], as_json: bool) -> None:
    """Print the catalogue, or one kind of it."""
    declare(plugins)
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


def _print(kind: dict[str, Any]) -> None:
    """One kind as plain lines: quick to print, easy to search."""
    head = click.style(f"{kind['family']} {kind['kind']}", bold=True)
    click.echo(f"{head}: {kind['about']}")
    for parameter in kind["parameters"]:
        default = "-" if parameter["default"] is None else json.dumps(parameter["default"])
        click.echo(f"    {parameter['name']:17} {default:9} {parameter['unit']}")
    click.echo()
