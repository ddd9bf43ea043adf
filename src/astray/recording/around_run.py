"""Recording, or not, around a run from the command line; nothing is imported unless asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from astray.engine import Run
from astray.errors import RecordingFailed, WrongInput
from astray.files import check_writable

if TYPE_CHECKING:
    pass


def check_recording(path: Path, overwrite: bool) -> None:
    """Refuse a file that would be lost, and a place that cannot be written."""
    check_writable(path)
    if path.is_dir():
        raise WrongInput(f"{path} is a folder, not a file")
    if path.exists() and not overwrite:
        raise WrongInput(f"{path} exists already; choose another file or --overwrite")


class recording_if:  # noqa: N801 - reads as a phrase after with
    """Records a run if there is a file to do so; a failure is kept, so that the run ends well."""

    def __init__(self, sim: Run, path: Path | None, overwrite: bool) -> None:
        self.failure: RecordingFailed | None = None
        self._recorder = None
        if path is not None:
            from astray.recording.recorder import Recorder

            self._recorder = Recorder(sim, path, overwrite)

    def __enter__(self) -> recording_if:
        return self

    def __exit__(self, *problem: object) -> None:
        try:
            if self._recorder is not None:
                self._recorder.close()
        except RecordingFailed as failure:
            self.failure = failure
