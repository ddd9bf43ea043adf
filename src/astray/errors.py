"""The errors that astray raises, as a tree.

AstrayError
├── WrongInput            the user's file, value or call is wrong: exit code 2
│   ├── ScenarioError     every fault of a scenario at once
│   ├── PluginError       a plugin that breaks its contract
│   ├── EventError        an event that could not take effect
│   ├── UnknownName       an unknown robot, sensor, metric or column; a LookupError too
│   ├── SignalError       every fault of a signal at once
│   ├── MapError          a map that cannot be read, generated or written
│   ├── LogError          a log of a real robot that cannot be read or scored
│   ├── RecordingError    a recording that cannot be read or repaired
│   └── SavedError        a checkpoint that cannot be resumed
├── PluginFailed          a plugin raised an exception during a run
├── RecordingFailed       a recording that could not be written to its end
├── WritingFailed         a file or folder that could not be written: the disk is full or broken
└── LockstepTimeout       no command arrived that the run waits for
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn, TypeVar

T = TypeVar("T")

Path = tuple[str | int, ...]
"""Keys and indices that lead to a value."""
NO_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)
"""Error numbers of an OSError when too many files are open; that may change in a moment."""


class AstrayError(Exception):
    """The base class of all errors that astray raises."""


class WrongInput(AstrayError):
    """The user's file, value or call is wrong."""


class PluginError(WrongInput):
    """A plugin breaks its contract or cannot be loaded."""


class PluginFailed(AstrayError):
    """A plugin raised an exception during a run; the text names plugin, verb, time and line."""


class UnknownName(WrongInput, LookupError):
    """An unknown robot, sensor, metric or column; the text lists the known names."""


class EventError(WrongInput):
    """An event could not take effect: it names a robot, world or parameter that does not exist."""


class MapError(WrongInput):
    """A map cannot be read, generated or written; the text begins with its file."""


class LogError(WrongInput):
    """A log of a real robot cannot be read or scored; the text begins with its file."""


class RecordingError(WrongInput):
    """A recording cannot be read or repaired; the text begins with its file."""


class RecordingFailed(AstrayError):
    """A recording could not be written to its end; the text begins with its file."""


class WritingFailed(AstrayError):
    """A file or folder could not be written to its end, since the disk is full or broken.

    The text begins with its name.
    """


class SavedError(WrongInput):
    """A file is no checkpoint that this installation can resume."""


class LockstepTimeout(AstrayError):
    """The run waits for a command in lockstep and none arrived in time."""


@dataclass(frozen=True)
class Origin:
    """Where a value was written: a file (or option), its line and its column, both from 1."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a scenario."""

    origin: Origin
    path: str
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in (str(self.origin), self.path, self.message) if part)


class ScenarioError(WrongInput):
    """Every fault of a scenario at once."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = sorted(
            set(faults),
            key=lambda f: (f.origin.file, f.origin.line, f.origin.column, f.path, f.message),
        )
        super().__init__("\n".join(map(str, self.faults)))


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a value whose place in a file is not known yet."""

    path: Path
    message: str
    of_key: bool = False  # whether the key is wrong, not its value

    def __str__(self) -> str:
        return ": ".join(part for part in (format_path(self.path), self.message) if part)

    def under(self, *above: str | int) -> Problem:
        """The same problem, with a path from further up."""
        return Problem((*above, *self.path), self.message, self.of_key)


class SignalError(WrongInput):
    """Every fault of a signal at once."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(map(str, self.problems)))


class AstrayWarning(UserWarning):
    """Something that its author may not have meant."""


class MapWarning(AstrayWarning):
    """A map file has a probable mistake; the text begins with the name of the file."""


class LogWarning(AstrayWarning):
    """A log has a probable mistake; the text begins with the name of the file."""


class SignalWarning(AstrayWarning):
    """A signal is read in a way that its author may not have meant."""


class ScenarioWarning(AstrayWarning):
    """A scenario has a probable mistake; the text has file and line."""


def format_path(path: Path) -> str:
    """A path as people write it: robots[0].motion.radius."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def suggest(name: str, known: Iterable[str]) -> str:
    """A hint for the end of a sentence: "; did you mean …?"; empty if no name is close."""
    close = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean {close[0]!r}?" if close else ""


def unknown_name(what: str, name: object, known: Iterable[str]) -> UnknownName:
    """The error for an unknown name: it suggests the closest name and lists all."""
    names = list(known)
    have = ", ".join(names) or "there are none"
    return UnknownName(f"unknown {what} {name!r}{suggest(str(name), names)} ({have})")


class NamedItems(dict[str, T]):
    """A dictionary by name; an unknown name raises `UnknownName`, which lists the known ones."""

    def __init__(self, what: str, items: Mapping[str, T] | Iterable[tuple[str, T]] = ()) -> None:
        """Copy the items; `what` says in errors what they are: "robot", "sensor"."""
        super().__init__(items)
        self._what = what

    def __missing__(self, name: object) -> NoReturn:
        raise unknown_name(self._what, name, self)


def unknown_attribute(holder: object, name: str, renamed: Mapping[str, str]) -> AttributeError:
    """The error for an unknown attribute: it names the new name, or suggests the closest one."""
    kind = type(holder).__name__
    if name in renamed:
        hint = f"; it is called {renamed[name]!r} now"
    else:
        hint = suggest(name, [n for n in dir(holder) if not n.startswith("_")])
    return AttributeError(f"{kind} has no attribute {name!r}{hint}")


class FormerName:
    """An attribute that has another name now: to read it is an error that gives the new name.

    A `__getattr__` would do the same, but then Python looks up every attribute more slowly, which
    costs a tick of one robot a tenth of its time.
    """

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def __get__(self, holder: object, owner: type) -> FormerName:
        """Raise AttributeError, unless it is looked up in the class."""
        if holder is None:
            return self
        raise unknown_attribute(holder, self.old, {self.old: self.new})


def add_former_names(cls: type, renamed: Mapping[str, str]) -> None:
    """Let a class answer the former names of its attributes with the present ones."""
    for old, new in renamed.items():
        setattr(cls, old, FormerName(old, new))
