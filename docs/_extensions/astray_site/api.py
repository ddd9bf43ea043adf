"""The reference of the Python interface: a page per name of `astray`, and one per package."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections import defaultdict
from functools import cache
from typing import Any

import numpy as np
from sphinx.pycode import ModuleAnalyzer

from astray.plugin import Plugin
from astray.tables import columns_of
from astray_site import inventory
from astray_site.docstrings import to_markdown, to_rst
from astray_site.examples import example_of
from astray_site.inventory import Name
from astray_site.markdown import code, join, literal, one_line, rst, table, toctree

ERRORS = "reference/api/errors"
EXIT_CODES = (
    ("0", "done"),
    ("1", "failed or stopped: an error that is no `WrongInput`, a plugin that raised, Ctrl-C"),
    ("2", "wrong input: a `WrongInput`, or an unknown option or argument"),
)
LONG_VALUE = 60  # characters
FOREIGN_BASES = "object, tuple, dict, list, int, str, Enum, IntEnum, IntFlag, BaseModel"
"""Classes of others whose members are not described."""


def pages() -> dict[str, str]:
    """Make the pages."""
    by_page: dict[str, list[Name]] = defaultdict(list)
    for name in inventory.names().values():
        by_page[name.page].append(name)
    found = {"reference/api/index": index_page(), ERRORS: errors_page(by_page.pop(ERRORS))}
    for page, described in by_page.items():
        if described[0].full.count(".") == 1:
            found[page] = names_page(described)
    for package in inventory.packages():
        if package != "astray.errors":
            page = inventory.package_page(package)
            found[page] = package_page(package, by_page.get(page, []))
    return found


def index_page() -> str:
    """The page that leads to the others."""
    top = [n for n in inventory.names().values() if n.full.count(".") == 1]
    rows = [(f"[`{n.full}`](/{n.page}.md)", summary(n)) for n in top if n.page != ERRORS]
    others = [p for p in inventory.packages() if p != "astray.errors"]
    packages = [
        (f"[`{p}`](/{inventory.package_page(p)}.md)", about_module(p)) for p in sorted(others)
    ]
    below = sorted({n.page.rpartition("/")[2] for n in top if n.page != ERRORS}, key=str.lower)
    return join(
        "# Python API",
        "`import astray` gives the names of the first table. What only some programs need is in "
        "the packages of the second. Both are what `__all__` lists; all else is private.",
        "## Names of astray",
        table(("name", "what it is"), rows),
        "[Errors and exit codes](errors.md) have a page of their own.",
        "## Packages",
        table(("package", "what is in it"), packages),
        toctree(
            [
                *below,
                "errors",
                *(inventory.package_page(p).rpartition("/")[2] for p in sorted(others)),
            ]
        ),
    )


def names_page(described: list[Name]) -> str:
    """The page of a name of `astray`, or of two that differ in case only."""
    title = " and ".join(n.full for n in described)
    examples = [text for n in described if (text := example_of(n.full))]
    return join(
        f"# {title}",
        *(describe(n) for n in described),
        *(["## Example", examples[0]] if examples else []),
    )


def package_page(package: str, described: list[Name]) -> str:
    """The page of a package: its docstring, what it exports, and each name."""
    module = importlib.import_module(package)
    docs = inspect.cleandoc(module.__doc__ or "")
    listed = [inventory.described_as(package, short) for short in inventory.exports(package)]
    shown = sorted(full for full in listed if full in inventory.names())
    summaries = rst(
        "\n".join(
            [".. autosummary::", "   :nosignatures:", ""]
            + [f"   {full}" for full in shown if inventory.names()[full].kind != "data"]
        )
    )
    example = example_of(package)
    order = {"class": 0, "exception": 1, "function": 2, "data": 3}
    heads = {
        "class": "Classes",
        "exception": "Exceptions",
        "function": "Functions",
        "data": "Constants",
    }
    parts: list[str] = []
    for kind in sorted({n.kind for n in described}, key=lambda kind: order[kind]):
        of_kind = sorted((n for n in described if n.kind == kind), key=lambda n: n.full)
        parts += [f"## {heads[kind]}", *map(describe, of_kind)]
    return join(
        f"# {package}",
        to_markdown(docs),
        *(["## Example", example] if example else []),
        "## Names",
        summaries,
        *parts,
    )


ERRORS_EXAMPLE = """\
import astray

try:
    astray.load({"robots": [{"name": "rover", "preset": "rovr"}]})
except astray.WrongInput as problem:  # a ScenarioError, with all faults of the scenario
    print(problem)
"""


def errors_page(described: list[Name]) -> str:
    """The page of the errors: the tree, what commands exit with, and each error."""
    import astray.errors

    docs = inspect.cleandoc(astray.errors.__doc__ or "")
    title, _, tree = docs.partition("\n")
    return join(
        "# Errors and exit codes",
        title,
        code(tree.strip("\n")),
        "Catch `astray.AstrayError` for all of them, `astray.WrongInput` for what a user can mend:",
        code(ERRORS_EXAMPLE, "python"),
        "## Exit codes",
        "Of every command:",
        table(("code", "meaning"), EXIT_CODES),
        "## Errors",
        *map(describe, (n for n in described if n.kind == "exception")),
        "## What they are made of",
        *map(describe, (n for n in described if n.kind != "exception")),
    )


def describe(name: Name) -> str:
    """The description of a name, made by autodoc from its docstring."""
    if name.kind == "data":
        return describe_constant(name)
    if name.kind == "function":
        return autodoc("autofunction", name)
    if name.kind == "exception":
        return autodoc("autoexception", name, "show-inheritance:")
    if inspect.isclass(name.value) and issubclass(name.value, Plugin) and name.value is not Plugin:
        # What all families have is described once, with `Plugin`.
        return autodoc("autoclass", name, "members:", "show-inheritance:")
    return autodoc("autoclass", name, "members:", f"inherited-members: {FOREIGN_BASES}")


def autodoc(directive: str, name: Name, *options: str) -> str:
    """A directive of autodoc with its options."""
    return rst("\n".join([f".. {directive}:: {name.full}", *(f"   :{o}" for o in options)]))


def describe_constant(name: Name) -> str:
    """The description of a constant: its value, and the text behind it in the source."""
    value, short = name.value, name.full.rpartition(".")[2]
    shown = repr(value)
    is_layout = isinstance(value, np.dtype) and value.names is not None
    lines = [f".. py:data:: {name.full}"]
    if not is_layout and len(shown) <= LONG_VALUE and " at 0x" not in shown:
        lines.append(f"   :value: {shown}")
    lines += ["", *(f"   {line}" for line in to_rst(list(attribute_docs(short, value))))]
    return join(rst("\n".join(lines)), layout_table(value) if is_layout else "")


def layout_table(layout: Any) -> str:
    """The columns of a table: unit, type and shape."""
    try:
        named = columns_of(layout)
    except KeyError:
        return ""
    rows = [
        (literal(c.name), c.unit, np.dtype(c.type).name, str(c.shape) if c.shape else "")
        for c in named.values()
    ]
    return table(("column", "unit", "type", "shape"), rows)


@cache
def _attribute_docs(module: str) -> dict[str, tuple[str, ...]]:
    docs = ModuleAnalyzer.for_module(module).find_attr_docs()
    return {name: tuple(lines) for (cls, name), lines in docs.items() if not cls}


def attribute_docs(short: str, value: Any) -> tuple[str, ...]:
    """What the source says of a constant, wherever it is defined."""
    for module in sorted(m for m in sys.modules if m.startswith("astray.")):
        if vars(sys.modules[module]).get(short) is value:
            found = _attribute_docs(module).get(short)
            if found:
                return found
    return ()


def summary(name: Name) -> str:
    """What a name is, in one line."""
    return one_line(getattr(name.value, "__doc__", None) or "")


def about_module(module: str) -> str:
    """The first line of the docstring of a module."""
    return one_line(importlib.import_module(module).__doc__ or "")
