"""Files of named arrays: read whole, or refused in one way whatever is wrong with them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from astray.errors import WrongInput
from astray.tables import Array


def read_npz(file: Path, what: str, refusal: type[WrongInput] = WrongInput) -> dict[str, Array]:
    """The arrays of a file by name; one that is damaged, or not `what` it is to be, is refused."""
    try:
        with file.open("rb") as stream:
            if not zipfile.is_zipfile(stream):  # what is only its beginning is none either
                raise refusal(f"{file}: not {what}, or damaged")
            stream.seek(0)
            with np.load(stream, allow_pickle=False) as archive:
                found = {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise refusal(f"{file}: no such file") from None
    except WrongInput:
        raise
    except OSError as problem:
        raise refusal(f"{file}: cannot be read: {problem.strerror or problem}") from None
    except Exception as problem:  # noqa: BLE001 - zip, deflate and arrays share no ancestor
        raise refusal(f"{file}: damaged: {problem}") from None
    for name, array in found.items():
        if not isinstance(array, np.ndarray):  # NumPy hands on the bytes of what is no array
            raise refusal(f"{file}: damaged: {name} is no array")
    return found
