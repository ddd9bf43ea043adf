"""The public names: which packages there are, what each exports, and on which page a name is.

A name is described once, on the page of the first that exports it: `astray` itself, then the page
of its kind where it is a plugin, then the shallowest package.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import astray
from astray.cli.kinds import declare_plugins
from astray.plugin import KINDS, Plugin

MODULES = ("errors", "tables")
"""Modules at the top whose every public name counts, as they have no `__all__`."""
MOST_DOTS = 2
"""In the name of a public package; those below, `astray.robot.estimators.ekf`, are parts."""


class Name(NamedTuple):
    """A public name."""

    full: str
    """As users write it: `astray.world.Map`."""
    kind: str
    """class, exception, function or data."""
    value: Any
    page: str
    """The page that describes it, by its path in docs/ without suffix."""


@cache
def packages() -> tuple[str, ...]:
    """The public packages: those that `dir(astray)` lists, and the packages directly in them."""
    tops = sorted(name for name in dir(astray) if name not in astray.__all__)
    found = []
    for top in tops:
        module = importlib.import_module(f"astray.{top}")
        found.append(module.__name__)
        for info in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{module.__name__}."):
            if info.ispkg and info.name.count(".") <= MOST_DOTS:
                found.append(info.name)
    return tuple(sorted((n for n in found if exports(n)), key=lambda n: (n.count("."), n)))


@cache
def exports(package: str) -> tuple[str, ...]:
    """The names that a package exports.

    Args:
        package: Its full name.
    """
    module = importlib.import_module(package)
    if package.removeprefix("astray.") in MODULES:
        own = vars(module).items()
        return tuple(n for n, value in own if not n.startswith("_") and is_own(module, n, value))
    return tuple(n for n in getattr(module, "__all__", ()) if not n.startswith("__"))


def is_own(module: ModuleType, name: str, value: Any) -> bool:
    """Whether a public name is defined in a module, and is no alias, type variable or module."""
    if inspect.isclass(value) or inspect.isfunction(value):
        return value.__module__ == module.__name__
    return name.isupper() and len(name) > 1


@cache
def kind_classes() -> dict[type[Plugin], str]:
    """The page of each kind of plugin, by its class."""
    declare_plugins(())
    return {
        cls: f"reference/kinds/{family}-{kind}"
        for family, kinds in KINDS.items()
        for kind, cls in sorted(kinds.items())
    }


def package_page(package: str) -> str:
    """The page of a package."""
    return f"reference/api/{package.replace('.', '-')}"


@cache
def names() -> dict[str, Name]:
    """All public names, by the name under which each is described."""
    found: dict[str, Name] = {}
    described: dict[int, str] = {}
    for package in ("astray", *packages()):
        for short in exports(package):
            value, full = getattr(importlib.import_module(package), short), f"{package}.{short}"
            kind = kind_of(value)
            if kind == "module" or (kind != "data" and id(value) in described):
                continue
            described[id(value)] = full
            found[full] = Name(full, kind, value, _page(package, short, kind, value))
    return found


@cache
def described_as(package: str, short: str) -> str:
    """The name under which something that a package exports is described; its own by default."""
    value = getattr(importlib.import_module(package), short)
    if kind_of(value) != "data":
        for name in names().values():
            if name.value is value:
                return name.full
    return f"{package}.{short}"


def _page(package: str, short: str, kind: str, value: Any) -> str:
    if package == "astray":
        return "reference/api/errors" if kind == "exception" else f"reference/api/{short.lower()}"
    if kind == "class" and value in kind_classes():
        return kind_classes()[value]
    if package == "astray.errors":
        return "reference/api/errors"
    return package_page(package)


def kind_of(value: Any) -> str:
    """What a value is: class, exception, function, module or data."""
    if inspect.ismodule(value):
        return "module"
    if inspect.isclass(value):
        return "exception" if issubclass(value, BaseException) else "class"
    return "function" if inspect.isroutine(value) or hasattr(value, "py_func") else "data"
