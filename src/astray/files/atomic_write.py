"""Files that are written beside their goal and moved there when they are whole.

Whatever goes wrong, a full disk, a kill or Ctrl-C, there is the old file or the new one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from astray.errors import AstrayError, WritingFailed, WrongInput

OF_THE_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


def part_of(goal: Path) -> Path:
    """Where a file or folder is written before it takes the place of another."""
    return goal.with_name(f"{goal.name}.part{os.getpid()}")


def unwritten(goal: Path, problem: Exception, refusal: type[WrongInput]) -> AstrayError:
    """What is raised of a goal that cannot be written: wrong input, unless the disk is at fault."""
    why = getattr(problem, "strerror", None) or problem
    kind = WritingFailed if getattr(problem, "errno", None) in OF_THE_DISK else refusal
    return kind(f"{goal}: cannot be written: {why}")


def check_writable(goal: Path, refusal: type[WrongInput] = WrongInput) -> None:
    """Refuse a goal that cannot be written, before an hour was spent on what belongs there."""
    if not goal.name:
        raise refusal(f"{goal}: cannot be written: it has no name")
    try:
        part_of(goal).exists()  # which a name can be too long for
        if goal.exists() and not (goal.is_file() or goal.is_dir()):
            raise refusal(f"{goal}: is no file: a device or the like cannot be replaced")
        goal.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=goal.parent).close()
    except (OSError, ValueError) as problem:  # no name of a file is a ValueError
        raise unwritten(goal, problem, refusal) from None


@contextlib.contextmanager
def whole_file(goal: Path, refusal: type[WrongInput] = WrongInput) -> Iterator[BinaryIO]:
    """A file to write to that takes the place of another in the end, all of it or nothing."""
    check_writable(goal, refusal)
    part = part_of(goal)
    try:
        with part.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(goal)
    except (OSError, ValueError) as problem:
        raise unwritten(goal, problem, refusal) from None
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
