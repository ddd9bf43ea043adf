import ast
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import astray

PACKAGE = Path(astray.__file__).parent
FAMILIES = (
    "autonomy",
    "control",
    "motion",
    "sensors",
    "estimators",
    "metrics",
    "interactions",
    "trackers",
)
LAYERS = (
    ("errors", "table", "kernel_cache", "kernel", "maths", "files", "serving"),
    ("se2", "noise", "signals", "rotation", "world"),
    ("clock", "plugin"),
    FAMILIES,
    ("events", "judging", "engine", "scenario", "imports", "observers", "sim"),
    ("everything else",),
    ("cli", "__main__"),
)
LATE = {("sim", "save"), ("sim", "view")}  # imported inside functions, against the arrow


class Import(NamedTuple):
    """One import of the package by the package; `late` means inside a function."""

    by: str
    of: str
    late: bool


def modules() -> dict[str, Path]:
    """The modules of the package by name: "sim", "motion.limits"; a package has its own name."""
    named = {}
    for file in PACKAGE.rglob("*.py"):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return named


MODULES = modules()


def statements(tree: ast.AST, late: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """All imports that happen when code runs: those for type checkers do not."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, late
        elif not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield from statements(node, late or isinstance(node, ast.FunctionDef))


def names(node: ast.AST) -> list[str]:
    """The full names that an import statement imports."""
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def imports() -> Iterator[Import]:
    for by, file in MODULES.items():
        for node, late in statements(ast.parse(file.read_text(encoding="utf-8"))):
            for name in names(node):
                root, _, of = name.partition(".")
                while of and of not in MODULES:  # the last part may be a name inside the module
                    of = of.rpartition(".")[0]
                if root == "astray" and of != by:
                    yield Import(by, of, late)


IMPORTS = [found for found in imports() if found.of]


def home(module: str) -> str:
    return module.partition(".")[0]


def layer(module: str) -> int:
    known = {name: k for k, names in enumerate(LAYERS) for name in names}
    return known.get(home(module), known["everything else"])


def test_the_test_sees_the_imports() -> None:
    assert Import("se2", "maths", False) in IMPORTS
    assert Import("noise", "maths", False) in IMPORTS  # from astray import maths
    assert Import("sim", "save", True) in IMPORTS
    assert Import("motion.differential", "motion.limits", False) in IMPORTS
    assert not any(
        i.by == "plugin.parameters" and i.of == "plugin.kind" for i in IMPORTS
    )  # TYPE_CHECKING


def test_every_layer_names_modules_that_exist() -> None:
    listed = {name for names in LAYERS for name in names} - {"everything else"}
    assert listed <= {home(module) for module in MODULES}


def test_imports_point_down() -> None:
    up = [i for i in IMPORTS if not i.late and layer(i.of) > layer(i.by)]
    assert up == []


def test_imports_make_no_circle() -> None:
    below: dict[str, set[str]] = {module: set() for module in MODULES}
    for i in IMPORTS:
        # A package imports its parts to hand them on; that is no dependence of the parts on it.
        if not i.late and not i.of.startswith(f"{i.by}."):
            below[i.by].add(i.of)
    assert len(list(graphlib.TopologicalSorter(below).static_order())) == len(MODULES)


def test_late_imports_point_down_but_for_the_known() -> None:
    up = {(home(i.by), home(i.of)) for i in IMPORTS if i.late and layer(i.of) > layer(i.by)}
    assert up == LATE


@pytest.mark.parametrize("family", FAMILIES)
def test_families_never_import_each_other(family: str) -> None:
    others = {home(i.of) for i in IMPORTS if home(i.by) == family} - {family}
    assert others
    assert not others & set(FAMILIES)


def test_the_front_door_imports_nothing() -> None:
    tree = ast.parse(MODULES[""].read_text(encoding="utf-8"))
    found = {name for node, _ in statements(tree) for name in names(node)}
    assert {name for name in found if home(name) != "__future__"} == {
        "importlib",
        "typing.TYPE_CHECKING",
        "typing.Any",
    }


@pytest.mark.parametrize("module", ["", ".options", ".simulate", ".serve", ".look_back"])
def test_command_line_imports_nothing_heavy_at_the_top(module: str) -> None:
    tree = ast.parse(MODULES[f"cli{module}"].read_text(encoding="utf-8"))
    found = {name for node, late in statements(tree) for name in names(node) if not late}
    light = {"__future__", "sys", "pathlib", "typing", "click"}
    own = {name for name in found if home(name) not in light}
    assert {name for name in own if not name.startswith("astray.cli.")} <= {"astray.__version__"}


def test_command_line_starts_without_numpy() -> None:
    code = (
        "import sys, astray.cli; "
        "print(sorted({'numpy', 'numba', 'pydantic', 'starlette', 'uvicorn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
