"""A page for each kind of plugin: what it is, its equations, its parameters, an example."""

from __future__ import annotations

import dataclasses
import inspect
import json
import sys
from typing import Any

from annotated_types import Ge, Gt, Le, Lt

from astray.cli.kinds import describe
from astray.plugin import Plugin, field_comments, parameters_of
from astray_site import inventory
from astray_site.docstrings import to_markdown
from astray_site.examples import SNIPPETS
from astray_site.markdown import code, join, literal, rst, table, toctree

DRAWN = (
    "A parameter with *yes* in the last column may be a distribution, such as "
    "`{uniform: [0.1, 0.2]}`: it is drawn per world, episode and robot, and estimators are told "
    "its nominal value."
)
WHERE = {
    "autonomy": "`autonomy` of a robot",
    "control": "`control` of a robot",
    "motion": "`motion` of a robot",
    "sensor": "a list under `sensors` of a robot",
    "estimator": "`estimator` of a robot, or a list under `rivals`",
    "tracker": "`contacts` of a robot",
    "interaction": "a list under `interactions` of the scenario",
    "metric": "a list under `metrics` of the scenario",
}
"""Where a scenario names the kinds of each family."""


def pages() -> dict[str, str]:
    """Make the pages."""
    found = {"reference/kinds/index": index_page()}
    for cls, page in inventory.kind_classes().items():
        found[page] = kind_page(cls)
    return found


def families() -> dict[str, list[type[Plugin]]]:
    """The kinds of each family."""
    found: dict[str, list[type[Plugin]]] = {}
    for cls in inventory.kind_classes():
        found.setdefault(cls.family, []).append(cls)
    return found


def about(cls: type) -> str:
    """What a class says of itself in its first line."""
    return inspect.cleandoc(cls.__doc__ or "").split("\n")[0]


def index_page() -> str:
    """The page that lists all kinds, by family; `astray kinds` prints the same."""
    parts, below = [], []
    for family, members in families().items():
        base = next(cls for cls in members[0].__mro__ if "family" in vars(cls))
        rows = [(f"[`{c.kind}`]({family}-{c.kind}.md)", about(c)) for c in members]
        parts += [f"## {family.capitalize()}", f"{about(base)} In a scenario: {WHERE[family]}."]
        parts.append(table(("kind", "what it is"), rows))
        below += [f"{family}-{c.kind}" for c in members]
    return join(
        "# Kinds of plugins",
        "Every kind with its parameters, units and defaults, read from the classes themselves; "
        "`astray kinds` prints the same. Kinds of your own: [extending](/howto/extending.md).",
        *parts,
        toctree(below),
    )


def kind_page(cls: type[Plugin]) -> str:
    """The page of one kind."""
    snippet = SNIPPETS / f"{cls.family}-{cls.kind}.yaml"
    example = code(snippet.read_text(encoding="utf-8"), "yaml") if snippet.exists() else ""
    rest = "\n".join(inspect.cleandoc(cls.__doc__ or "").split("\n")[1:])
    model = inspect.cleandoc(sys.modules[cls.__module__].__doc__ or "")
    others = [
        c for c in inventory.kind_classes() if c.__module__ == cls.__module__ and c is not cls
    ]
    alike = ", ".join(f"[`{c.kind}`]({c.family}-{c.kind}.md)" for c in others)
    parameters = parameter_rows(cls)
    return join(
        f"# {cls.kind} ({cls.family})",
        about(cls),
        to_markdown(rest) if rest.strip() else "",
        f"In a scenario: {WHERE[cls.family]}.",
        *(["## Example", example] if example else []),
        "## Parameters",
        table(("parameter", "default", "unit, meaning", "values", "drawn"), parameters),
        DRAWN if any(row[-1] for row in parameters) else "" if parameters else "It has none.",
        "## Model",
        to_markdown(model),
        f"The same file has {alike}." if alike else "",
        columns_part(cls),
        "## In Python",
        class_part(cls),
    )


def parameter_rows(cls: type[Plugin]) -> list[tuple[str, ...]]:
    """A row for each parameter: name, default, unit, allowed values, whether it may be drawn."""
    comments, described = field_comments(cls), describe(cls)["parameters"]
    choices = {row["name"]: row.get("choices", ()) for row in described}
    defaults = {row["name"]: row["default"] for row in described}
    rows: list[tuple[str, ...]] = []
    for p in parameters_of(cls):
        is_needed = p.default is dataclasses.MISSING
        default = "needed" if is_needed else default_text(defaults[p.name])
        values = ", ".join(map(literal, choices[p.name])) or bounds(p.type)
        unit = comments.get(p.name, "")
        rows.append((literal(p.name), default, unit, values, "yes" if p.number is not None else ""))
    return rows


def default_text(value: Any) -> str:
    """A default as a scenario writes it; none is a dash."""
    return "–" if value is None else literal(json.dumps(value, ensure_ascii=False))


def bounds(hint: Any) -> str:
    """The bounds of an annotation in words, such as "> 0"."""
    signs = []
    for bound in getattr(hint, "__metadata__", ()):
        any_bound: Any = bound
        for sort, sign in ((Gt, ">"), (Ge, "≥"), (Lt, "<"), (Le, "≤")):
            if isinstance(any_bound, sort):
                signs.append(f"{sign} {getattr(any_bound, sort.__name__.lower())}")
    for part in getattr(hint, "__args__", ()):
        if not signs and hasattr(part, "__metadata__"):
            signs.append(bounds(part))
    return ", ".join(filter(None, signs))


def columns_part(cls: type[Plugin]) -> str:
    """The columns that a sensor delivers."""
    from astray_site.api import layout_table

    layout = getattr(cls, "measures", None)
    columns = layout_table(layout) if cls.family == "sensor" and layout is not None else ""
    return join("## Columns of a reading", columns) if columns else ""


def class_part(cls: type[Plugin]) -> str:
    """How a program imports the class, with the methods that only this kind has."""
    name = next((n for n in inventory.names().values() if n.value is cls), None)
    if name is None:
        return f"`{cls.__module__}.{cls.__name__}`"
    package, _, short = name.full.rpartition(".")
    imported = code(f"from {package} import {short}", "python")
    return join(imported, rst(f".. autoclass:: {name.full}(**parameters)\n   :no-index-entry:"))
