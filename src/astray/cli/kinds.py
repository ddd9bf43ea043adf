"""`astray kinds`: the plugins and their parameters, read from the classes themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from astray.cli.completion import complete_kinds
from astray.cli.options import JSON, PLUGINS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from astray.plugin import Plugin


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=complete_kinds)
@PLUGINS
@JSON
def kinds(names: tuple[str, ...], plugins: tuple[str, ...], as_json: bool) -> None:
    """List the kinds of plugins, or describe one.

    With NAME, a kind such as gnss or a family such as sensor, it prints parameters, units and
    defaults. Any other word is searched for in the descriptions of all kinds and parameters.
    """
    import json

    from astray.errors import WrongInput, suggest
    from astray.plugin import KINDS

    declare_plugins(plugins)
    every = [cls for family in KINDS.values() for _, cls in sorted(family.items())]
    if not names and not as_json:
        _print_index(every)
        return
    named = [cls for cls in every if set(names) <= {cls.kind, cls.family}]
    related = [cls for cls in every if cls not in named and _mentions(cls, names)]
    if not named and not related:
        known = sorted({cls.kind for cls in every})
        name = " ".join(names)
        raise WrongInput(f"unknown kind {name!r}{suggest(name, known)} ({', '.join(known)})")
    if as_json:
        print(json.dumps([describe(cls) for cls in named or related], indent=2))
        return
    if not named and len(related) == 1:
        named, related = related, []
    for cls in named:
        _print(describe(cls))
    # Every other kind says something about robots of a family, such as sensors.
    if related and not {cls.family for cls in every} & set(names):
        click.echo("See also:" if named else f"About {' '.join(names)}:")
        for cls in related:
            click.echo(f"  {cls.family} {click.style(cls.kind, bold=True)}: {_about(cls)}")
            for line in _mentioning_parameters(cls, names):
                click.echo(f"  {line}")


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

    from astray.plugin import choices, field_comments, parameters_of
    from astray.scenario import plain_value

    comments = field_comments(cls)
    found: dict[str, Any] = {
        "family": cls.family,
        "kind": cls.kind,
        "about": _about(cls),
        "from": cls.__module__,
        "parameters": [],
    }
    for parameter in parameters_of(cls):
        required = parameter.default is dataclasses.MISSING or parameter.default == []
        default = None if required else plain_value(parameter.default)
        row = {"name": parameter.name, "default": default, "unit": comments.get(parameter.name, "")}
        if words := choices(parameter.type):
            row["choices"] = list(words)
        found["parameters"].append(row)
    return found


def _print(kind: dict[str, Any]) -> None:
    """Print one kind as plain lines: quick to print, easy to search."""
    head = click.style(f"{kind['family']} {kind['kind']}", bold=True)
    click.echo(f"{head}: {kind['about']}")
    for parameter in kind["parameters"]:
        click.echo(_line(parameter))
    click.echo()


def _line(parameter: dict[str, Any]) -> str:
    """A parameter in one line: name, default, unit, choices."""
    import json

    default = "-" if parameter["default"] is None else json.dumps(parameter["default"])
    about = [parameter["unit"]] if parameter["unit"] else []
    if "choices" in parameter:
        about.append(f"one of: {', '.join(parameter['choices'])}")
    return f"    {parameter['name']:17} {default:9} {'; '.join(about)}"


def _print_index(every: Sequence[type[Plugin]]) -> None:
    """Print a line for each kind, by family."""
    families: dict[str, list[type[Plugin]]] = {}
    for cls in every:
        families.setdefault(cls.family, []).append(cls)
    width = max(len(cls.kind) for cls in every)
    for family, members in families.items():
        base = next(cls for cls in members[0].__mro__ if "family" in vars(cls))
        click.echo(f"{click.style(family, bold=True)}: {_about(base)}")
        for cls in members:
            click.echo(f"    {cls.kind:{width}}  {_about(cls)}")
        click.echo()
    click.echo("`astray kinds NAME` prints the parameters of a kind or family, or finds a word.")


def _about(cls: type) -> str:
    """What a class says about itself, in one line."""
    return (cls.__doc__ or "").strip().split("\n")[0]


def _mentions(cls: type[Plugin], words: Sequence[str]) -> bool:
    """Whether a kind says something about each of these words."""
    from astray.plugin import field_comments, parameters_of

    comments = field_comments(cls)
    texts = [f"{p.name} {comments.get(p.name, '')}" for p in parameters_of(cls)]
    text = "\n".join([cls.family, cls.kind, cls.__doc__ or "", *texts])
    return all(_begins_a_word(word, text) for word in words)


def _begins_a_word(word: str, text: str) -> bool:
    import re

    pattern = rf"\b{re.escape(word.replace('_', ' '))}"
    return re.search(pattern, text.replace("_", " "), re.IGNORECASE) is not None


def _mentioning_parameters(cls: type[Plugin], words: Sequence[str]) -> list[str]:
    """The lines of those parameters that say something about one of these words."""
    return [
        _line(parameter)
        for parameter in describe(cls)["parameters"]
        if any(_begins_a_word(w, f"{parameter['name']} {parameter['unit']}") for w in words)
    ]
