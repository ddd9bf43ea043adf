"""The import graph of the package: every import counts, also type-only and in-function ones."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import astray

PACKAGE = Path(astray.__file__).parent


class Import(NamedTuple):
    """One import of a module of astray by another one; names are relative to astray."""

    by: str
    of: str
    name: str
    line: int
    late: bool
    """Whether it is inside a function, or only for type checkers."""


@cache
def modules() -> dict[str, Path]:
    """The modules by name: "sim", "robot.motion"; a package has the name of its folder."""
    named = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return named


def is_package(module: str) -> bool:
    """Whether a module is a folder with an `__init__`."""
    return modules()[module].name == "__init__.py"


@cache
def tree(module: str) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(modules()[module].read_text(encoding="utf-8"))


def statements(node: ast.AST, late: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    """All import statements below a node, each with whether it is late."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, late
        else:
            typing = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
            yield from statements(child, late or typing or function)


@cache
def imports() -> tuple[Import, ...]:
    """Every import of one module of astray by another one."""
    found = []
    for by in modules():
        for statement, late in statements(tree(by)):
            for of, name in _goals(statement):
                if of != by:
                    found.append(Import(by, of, name, statement.lineno, late))
    return tuple(found)


def _goals(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """The modules of astray that a statement imports, and the names that it takes of them."""
    if isinstance(statement, ast.ImportFrom):
        assert statement.level == 0, "imports are absolute"
        full = [(f"{statement.module}.{alias.name}", alias.name) for alias in statement.names]
    else:
        assert isinstance(statement, ast.Import)
        full = [(alias.name, "") for alias in statement.names]
    for path, name in full:
        root, _, of = path.partition(".")
        if root == "astray":
            while of and of not in modules():  # the last part may be a name inside the module
                of = of.rpartition(".")[0]
            yield of, "" if path == f"astray.{of}" else name


def top(module: str) -> str:
    """The package at the top that a module is in."""
    return module.partition(".")[0]


def folder(module: str) -> str:
    """The package that a module is in: itself, if it is a package."""
    return module if is_package(module) else module.rpartition(".")[0] or module


def inside(module: str, package: str) -> bool:
    """Whether a module is a package or part of it."""
    return module == package or module.startswith(f"{package}.")


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one node (Tarjan, 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            component = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(component) > 1:
                found.append(sorted(component))

    for node in list(graph):
        if node not in index:
            visit(node)
    return found
