"""Other people's plugins: Python files beside a scenario, or installed modules.

A scenario file that loads Python runs Python, with all that it may do.
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
"""What was imported of each file: a run may last longer than the file stays as it was."""


def load_plugins(tree: Marked, folder: Path, faults: list[Fault]) -> None:
    """Import what a scenario lists under `plugins`; paths become absolute in the tree."""
    listed = tree.at(("plugins",))
    if listed is None or not isinstance(listed.value, list):
        return
    for k, item in enumerate(listed.value):
        where = f"plugins[{k}]"
        if not isinstance(item.value, str):
            continue  # validation says so
        before = sum(map(len, KINDS.values()))
        path = (Path.cwd() if item.origin.file.startswith("--") else folder) / item.value
        is_file = item.value.endswith(".py")
        if is_file and not os.path.isfile(path):  # False, not an error, where a name is too long
            faults.append(Fault(item.origin, where, f"no file {path}"))
            continue
        try:
            fresh = _import_file(path.resolve()) if is_file else _import_module(item.value)
        except Exception as problem:  # noqa: BLE001 - a stranger's code may raise anything
            faults.append(Fault(item.origin, where, f"{item.value}{_whence(problem, path)}"))
            continue
        if is_file:
            item.value = str(path.resolve())
        if fresh and sum(map(len, KINDS.values())) == before:
            faults.append(Fault(item.origin, where, f"{item.value} declares no new kind of plugin"))


def _import_module(name: str) -> bool:
    importlib.import_module(name)
    return False


class _Source(importlib.machinery.SourceFileLoader):
    """Compiles a file as it is now: bytecode beside it knows a change only by second and size."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


def _import_file(path: Path) -> bool:
    """Import a file once per content, also of a copy; True if it is for the first time."""
    source = path.read_bytes()
    if source in SOURCES.values():
        SOURCES.setdefault(path, source)
        return False
    name = f"astray_plugin_{hashlib.blake2b(str(path).encode(), digest_size=6).hexdigest()}"
    loaded = sys.modules.get(name)
    for copy in [other for other, held in SOURCES.items() if held == SOURCES.get(path)]:
        del SOURCES[copy]  # what it declared is about to be declared anew
    spec = importlib.util.spec_from_file_location(name, path, loader=_Source(name, str(path)))
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


def _whence(problem: Exception, path: Path) -> str:
    """The line of the stranger's file that raised, and what it said."""
    lines = [
        f.lineno
        for f in traceback.extract_tb(problem.__traceback__)
        if Path(f.filename) == path.resolve()
    ]
    if isinstance(problem, SyntaxError):
        lines = [problem.lineno]
    return f"{f':{lines[-1]}' if lines else ''}: {type(problem).__name__}: {problem}"
