"""The house: packages without cycles, used through their interfaces, in the words of the field."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

import pytest

from support.imports import (
    PACKAGE,
    Import,
    cycles,
    folder,
    imports,
    inside,
    is_package,
    modules,
    statements,
    top,
    tree,
)
from support.paths import ROOT

ROW = re.compile(r"^\| `(\w+)` \|[^|]*\| (.*) \|$", re.MULTILINE)
FAMILIES = ("motion", "control", "autonomy", "sensors", "estimators", "tracking")
LONGEST = 550  # lines of a module


def package_graph() -> dict[str, set[str]]:
    """The packages at the top, and which of them each imports."""
    graph: dict[str, set[str]] = {top(m): set() for m in modules() if m not in ("", "__main__")}
    for i in imports():
        if top(i.by) in graph and i.of and top(i.of) != top(i.by):
            graph[top(i.by)].add(top(i.of))
    return graph


def drawn_graph() -> dict[str, set[str]]:
    """The same as the table of docs/why/architecture.md says."""
    text = (ROOT / "docs" / "why" / "architecture.md").read_text(encoding="utf-8")
    return {name: set(re.findall(r"`(\w+)`", uses)) for name, uses in ROW.findall(text)}


def test_the_graph_has_the_imports_of_every_sort() -> None:
    by_name = {(i.by, i.of): i for i in imports()}
    assert not by_name["numerics.se2", "numerics.elementary"].late
    assert by_name["cli.demo", "cli.run"].late  # inside a function
    assert by_name["sim", "viewer.page"].late  # for type checkers, and inside a function
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


def test_packages_make_no_cycle() -> None:
    assert cycles(package_graph()) == []


def test_packages_inside_packages_make_no_cycle() -> None:
    graph: dict[str, set[str]] = defaultdict(set)
    for i in imports():
        by, of = folder(i.by), folder(i.of)
        if not inside(by, of) and not inside(of, by):  # a package hands on what its parts have
            graph[by].add(of)
    assert cycles(graph) == []


def test_modules_make_no_cycle_when_they_are_imported() -> None:
    graph: dict[str, set[str]] = defaultdict(set)
    for i in imports():
        if not i.late and not (is_package(i.by) and inside(i.of, i.by)):
            graph[i.by].add(i.of)
    assert cycles(graph) == []


def test_the_drawing_has_every_arrow_and_no_other() -> None:
    assert drawn_graph() == package_graph()


def test_arrows_of_the_drawing_point_down() -> None:
    order = list(drawn_graph())
    up = [
        (a, b) for a, uses in drawn_graph().items() for b in uses if order.index(b) < order.index(a)
    ]
    assert up == []


def test_every_file_that_the_page_names_exists() -> None:
    text = (ROOT / "docs" / "why" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_/]+(?:\.py|/))`", text)) - {"tests/test_architecture.py"}
    assert len(named) > 40
    assert [name for name in named if not (PACKAGE / name).exists()] == []


@cache
def interface(package: str) -> frozenset[str]:
    """The names that a package exports."""
    return frozenset(getattr(importlib.import_module(f"astray.{package}"), "__all__", ()))


def past_an_interface(i: Import) -> str | None:
    """The package whose interface an import passes by; None if it does not."""
    parts = [*i.of.split("."), *([i.name] if i.name else [])]
    for k in range(1, len(parts)):
        package, name = ".".join(parts[:k]), parts[k]
        if package not in modules() or not is_package(package) or inside(i.by, package):
            continue
        part = f"{package}.{name}"
        if not (part in modules() and is_package(part)) and name not in interface(package):
            return package
    return None


def test_nobody_imports_past_the_interface_of_a_package() -> None:
    past = [(i.by, i.line, i.of, i.name) for i in imports() if past_an_interface(i)]
    assert past == []


def test_every_package_has_an_interface() -> None:
    for package in filter(None, modules()):
        if is_package(package):
            assert ast.get_docstring(tree(package)), package
            own = [m for m in modules() if inside(m, package) and not is_package(m)]
            if any(folder(m) == package for m in own):  # not one that only has packages
                assert interface(package), package


@pytest.mark.parametrize("family", FAMILIES)
def test_the_families_of_a_robot_never_import_each_other(family: str) -> None:
    others = {
        i.of.split(".")[1]
        for i in imports()
        if inside(i.by, f"robot.{family}") and inside(i.of, "robot") and "." in i.of
    }
    assert others <= {family}


def test_no_module_is_longer_than_one_subject() -> None:
    lengths = {m: len(f.read_text(encoding="utf-8").splitlines()) for m, f in modules().items()}
    assert {m: n for m, n in lengths.items() if n > LONGEST} == {}


# The start of the program.


def test_the_package_itself_imports_nothing() -> None:
    at_once = [s for s, late in statements(tree("")) if not late]
    assert {ast.unparse(s) for s in at_once} == {
        "from __future__ import annotations",
        "import importlib",
        "from typing import TYPE_CHECKING, Any",
        "from astray.version import __version__",
    }


COMMANDS = sorted(m for m in modules() if m.startswith("cli"))


@pytest.mark.parametrize(
    "module", [m for m in COMMANDS if m not in ("cli.session", "cli.bridges", "cli.console")]
)
def test_the_command_line_imports_nothing_heavy_at_once(module: str) -> None:
    light = {
        "__future__",
        "sys",
        "pathlib",
        "typing",
        "click",
        "contextlib",
        "dataclasses",
        "signal",
        "time",
        "types",
        "collections",
    }
    for statement, late in statements(tree(module)):
        if not late:
            name = (
                statement.module
                if isinstance(statement, ast.ImportFrom)
                else statement.names[0].name
            )  # type: ignore[attr-defined]
            own = str(name).startswith("astray.cli.") or name == "astray.version"
            assert own or str(name).split(".")[0] in light, f"{module}:{statement.lineno}"


def test_the_command_line_starts_without_numpy() -> None:
    code = (
        "import sys, astray.cli; "
        "print(sorted({'numpy', 'numba', 'pydantic', 'rich', 'starlette'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# Words.


def definitions() -> Iterator[tuple[str, str, ast.stmt]]:
    """Every class and function of every module, methods included."""
    for module in modules():
        for node in ast.walk(tree(module)):
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                yield module, node.name, node


def former_words() -> set[str]:
    """The first column of the table of former words in the glossary."""
    text = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    rows = text.partition("## Former words")[2].splitlines()
    cells = [row.split("|")[1] for row in rows if row.startswith("| `")]
    return {word.lower() for cell in cells for word in re.findall(r"`(\w+)`", cell)}


def words_of(name: str) -> set[str]:
    """The words of a name, in whatever case it is written, and the whole name."""
    parts = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)
    return {part.lower() for part in parts} | {name.lower().strip("_")}


def test_the_glossary_lists_the_former_words() -> None:
    assert {"beat", "jostle", "whom", "haunt", "speaker", "blame"} <= former_words()
    assert words_of("MessageTemplate") == {"message", "template", "messagetemplate"}
    assert words_of("_blame_imu") == {"blame", "imu", "blame_imu"}


def test_nothing_is_named_by_a_former_word() -> None:
    former = former_words()
    names = [(m, m.rpartition(".")[2]) for m in modules()] + [(m, n) for m, n, _ in definitions()]
    assert [(m, n) for m, n in names if words_of(n) & former] == []


def test_no_public_type_is_defined_twice() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for module in modules():
        for node in tree(module).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
