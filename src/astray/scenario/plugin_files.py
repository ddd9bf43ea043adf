"""Plugins of a scenario: Python files beside it, or installed modules.

A scenario that loads a Python file runs it, with all that Python may do.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.machinery
import importlib.util
import os
import sys
import traceback
from pathlib import Path
from types import CodeType

from astray.errors import Fault
from astray.files import Marked
from astray.plugin import KINDS

SOURCES: dict[Path, bytes] = {}
"""The source of each imported file: the file may change while a run lasts."""


def load_plugins(tree: Marked, folder: Path, faults: list[Fault]) -> None:
    """Import the plugins of a scenario, so that their kinds are declared.

    Args:
        tree: The scenario; the paths of its plugins become absolute.
        folder: The folder that files are found from; those of --set are found from the working
            directory.
        faults: Every fault is appended.
    """
    listed = tree.at(("plugins",))
    if listed is None or not isinstance(listed.value, list):
        return
    for k, entry in enumerate(listed.value):
        path = f"plugins[{k}]"
        if not isinstance(entry.value, str):
            continue  # the schema refuses it
        before = sum(map(len, KINDS.values()))
        file = (Path.cwd() if entry.origin.file.startswith("--") else folder) / entry.value
        is_file = entry.value.endswith(".py")
        if is_file and not os.path.isfile(file):  # False, not an error, for a name that is too long
            faults.append(Fault(entry.origin, path, f"no file {file}"))
            continue
        first_import = False
        try:
            if is_file:
                first_import = _import_file(file.resolve())
            else:
                importlib.import_module(entry.value)
        except Exception as problem:  # noqa: BLE001 - a plugin may raise anything
            message = (
                f"{entry.value}{_position(problem, file)}: {type(problem).__name__}: {problem}"
            )
            faults.append(Fault(entry.origin, path, message))
            continue
        if is_file:
            entry.value = str(file.resolve())
        if first_import and sum(map(len, KINDS.values())) == before:
            faults.append(
                Fault(entry.origin, path, f"{entry.value} declares no new kind of plugin")
            )


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles a file as it is now: cached bytecode knows a change only by second and size."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


def _import_file(path: Path) -> bool:
    """Import a file once per content, copies included; True at the first import of a path."""
    source = path.read_bytes()
    if source in SOURCES.values():
        SOURCES.setdefault(path, source)
        return False
    name = f"astray_plugin_{hashlib.blake2b(str(path).encode(), digest_size=6).hexdigest()}"
    loaded = sys.modules.get(name)
    for copy in [file for file, content in SOURCES.items() if content == SOURCES.get(path)]:
        del SOURCES[copy]  # the kinds that it declared are about to be declared anew
    spec = importlib.util.spec_from_file_location(name, path, loader=_Loader(name, str(path)))
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    SOURCES[path] = source
    return loaded is None


def _position(problem: Exception, path: Path) -> str:
    """The line of the plugin's file that raised, as `:line`; empty if it was elsewhere."""
    lines = [
        f.lineno
        for f in traceback.extract_tb(problem.__traceback__)
        if Path(f.filename) == path.resolve()
    ]
    if isinstance(problem, SyntaxError):
        lines = [problem.lineno]
    return f":{lines[-1]}" if lines else ""
