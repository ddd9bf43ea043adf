"""The files that `--out` wrote to a folder, read back; one that is damaged is refused by name."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from astray.engine import is_whole
from astray.errors import WrongInput
from astray.files import read_npz
from astray.scenario import FILES
from astray.tables import Array


def read_about(folder: Path) -> dict[str, Any]:
    """Seed, worlds and versions of a run."""
    file = folder / "run.json"
    if not file.is_file():
        raise WrongInput(f"{folder}: holds no run that was written by --out")
    about = read_object(file)
    worlds = about.get("worlds")
    if not isinstance(worlds, list) or not worlds or not all(map(is_whole, worlds)):
        raise WrongInput(f"{file}: worlds are the whole numbers of one or more")
    return about


def read_object(file: Path) -> dict[str, Any]:
    """The object in a file of JSON."""
    try:
        found = json.loads(read_text(file))
    except (ValueError, RecursionError) as problem:
        raise WrongInput(f"{file}: damaged: {problem}") from None
    if not isinstance(found, dict):
        raise WrongInput(f"{file}: an object is needed, not {found!r:.40}")
    return found


def read_carried(folder: Path) -> dict[str, bytes]:
    """What the scenario there takes from files, by its name from there."""
    found = [file for file in (folder / FILES).rglob("*") if file.is_file()]
    try:
        return {file.relative_to(folder).as_posix(): file.read_bytes() for file in found}
    except OSError as problem:
        raise WrongInput(f"{folder}: cannot be read: {problem.strerror or problem}") from None


def read_text(file: Path) -> str:
    """All that is in a file of text."""
    try:
        return file.read_text(encoding="utf-8")
    except OSError as problem:
        raise WrongInput(f"{file}: cannot be read: {problem.strerror or problem}") from None
    except UnicodeDecodeError as problem:
        raise WrongInput(f"{file}: damaged: {problem}") from None


def read_log(folder: Path) -> dict[str, Array]:
    """The series of a run by name: numbers, as many of each as there are times."""
    file = folder / "log.npz"
    log = read_npz(file, "the log of a run")
    if "time" not in log or log["time"].ndim != 1:
        raise WrongInput(f"{file}: it has no 'time'")
    moments = len(log["time"])
    if not moments:
        raise WrongInput(f"{file}: nothing was logged")
    for name, series in log.items():
        if series.dtype.kind not in "biuf":
            raise WrongInput(f"{file}: {name!r} has no numbers")
        if name != "time" and (series.ndim < 2 or len(series) != moments):
            raise WrongInput(f"{file}: {name!r} has no row for each of {moments} moments")
    return log


@contextlib.contextmanager
def fitting_together(folder: Path) -> Iterator[None]:
    """Refuse files that can be read one by one, but are not of the same run."""
    try:
        yield
    except KeyError as missing:
        raise WrongInput(f"{folder}: its files do not fit together: no {missing}") from None
    except (ValueError, TypeError, LookupError, AttributeError) as problem:
        raise WrongInput(f"{folder}: its files do not fit together: {problem}") from None
