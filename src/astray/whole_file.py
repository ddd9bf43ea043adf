"""Files that are written beside their goal and moved there when they are whole.

Whatever goes wrong, a full disk, a kill or Ctrl-C, there is the old file or the new one.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from astray.errors import WrongInput


@contextlib.contextmanager
def whole_file(goal: Path, refusal: type[WrongInput] = WrongInput) -> Iterator[BinaryIO]:
    """A file to write to that takes the place of another in the end, all of it or nothing."""
    part = goal.with_name(f"{goal.name}.part{os.getpid()}")
    try:
        goal.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(goal)
    except (OSError, ValueError) as problem:  # no name of a file is a ValueError
        why = getattr(problem, "strerror", None) or problem
        raise refusal(f"{goal}: cannot be written: {why}") from None
    finally:
        with contextlib.suppress(OSError, ValueError):
            part.unlink(missing_ok=True)
