"""What can go wrong, as a tree.

AstrayError
├── WrongInput            the user's file, value or call is wrong: exit code 2
│   ├── ScenarioError     every fault of a scenario at once
│   ├── PluginError       a plugin that breaks its contract
│   ├── EventError        an event that names nothing that exists
│   ├── UnknownName       a robot, sensor, metric or column that there is not; a LookupError too
│   ├── SignalError       every fault of a signal at once
│   ├── MapError          a map that cannot be read, made or written
│   ├── LogError          a robot's log that cannot be read or scored
│   ├── RecordingError    a recording that cannot be read or mended
│   └── SavedError        a saved run that cannot be resumed
├── RecordingFailed       a recording that could not be written to its end
├── WritingFailed         a file or folder for which there was no room, or no disk any more
└── LockstepTimeout       nobody sent the command that the run waits for
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Path = tuple[str | int, ...]
"""Keys and indices that lead to a value."""
NO_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)
"""Of an OSError where too many files are open: there may be room again in a moment."""


class AstrayError(Exception):
    """Anything that astray raises on purpose."""


class WrongInput(AstrayError):
    """The user's file, value or call is wrong."""


class PluginError(WrongInput):
    """A plugin breaks its contract or cannot be loaded."""


class UnknownName(WrongInput, LookupError):
    """There is no robot, sensor, metric or column of this name; the text lists those there are."""


class EventError(WrongInput):
    """An event names a robot, world or parameter that does not exist."""


class MapError(WrongInput):
    """A map cannot be read, made or written; the text begins with its file, if it has one."""


class LogError(WrongInput):
    """A robot's log cannot be read or scored; the text begins with its file, if it has one."""


class RecordingError(WrongInput):
    """A recording cannot be read or mended; the text begins with its file."""


class RecordingFailed(AstrayError):
    """A recording could not be written to its end; the text begins with its file."""


class WritingFailed(AstrayError):
    """A file or folder that may be there could not be written to its end; the text begins with it.

    The disk is full or broken: whoever named the file did nothing wrong.
    """


class SavedError(WrongInput):
    """A file does not hold a saved run that this installation can resume."""


class LockstepTimeout(AstrayError):
    """The run waits for a command in lockstep and none came."""


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
    """One thing that is wrong with a value of which nobody knows yet where it was written."""

    path: Path
    message: str
    of_key: bool = False  # the key is wrong, not its value

    def __str__(self) -> str:
        return ": ".join(part for part in (in_words(self.path), self.message) if part)

    def under(self, *above: str | int) -> Problem:
        """The same problem, seen from further up."""
        return Problem((*above, *self.path), self.message, self.of_key)


class SignalError(WrongInput):
    """Every fault of a signal at once."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(map(str, self.problems)))


class SignalWarning(UserWarning):
    """A signal is taken in a way that its author may not have meant."""


def in_words(path: Path) -> str:
    """A path as people write it: robots[0].motion.radius."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def suggest(name: str, known: Iterable[str]) -> str:
    """The name that was probably meant, as the end of a sentence."""
    close = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean {close[0]!r}?" if close else ""


def unknown_name(what: str, name: object, known: Iterable[str]) -> UnknownName:
    """The error for a name of nothing: the name that was probably meant, and all there are."""
    names = list(known)
    have = ", ".join(names) or "there are none"
    return UnknownName(f"no {what} {name!r}{suggest(str(name), names)} ({have})")


def unknown_attribute(holder: object, name: str, renamed: Mapping[str, str]) -> AttributeError:
    """The error for an attribute that there is not: a name that is new, or one that is near."""
    kind = type(holder).__name__
    if name in renamed:
        hint = f"; it is called {renamed[name]!r} now"
    else:
        hint = suggest(name, [n for n in dir(holder) if not n.startswith("_")])
    return AttributeError(f"{kind} has no attribute {name!r}{hint}")
