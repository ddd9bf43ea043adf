"""A run with or without a recording, as `--record` asks.

The recorder is imported only when a run is recorded, so that other commands start fast.
"""

from __future__ import annotations

from pathlib import Path

from astray.engine import Run
from astray.errors import RecordingFailed, WrongInput
from astray.files import check_writable


def check_recording(path: Path, overwrite: bool) -> None:
    """Refuse a path that cannot be written, or a file that would be lost.

    Raises:
        WrongInput: It is a folder, it exists and `overwrite` is false, or it cannot be written.
    """
    check_writable(path)
    if path.is_dir():
        raise WrongInput(f"{path} is a folder, not a file")
    if path.exists() and not overwrite:
        raise WrongInput(f"{path} exists already; choose another file or --overwrite")


class OptionalRecording:
    """A context that records a run if it is given a file.

    A failure to write is kept in `failure`, so that the run ends in order and its results are
    written. The caller raises it afterwards.
    """

    def __init__(self, sim: Run, path: Path | None, overwrite: bool) -> None:
        self.failure: RecordingFailed | None = None
        self._recorder = None
        if path is not None:
            from astray.recording.recorder import Recorder

            self._recorder = Recorder(sim, path, overwrite)

    def __enter__(self) -> OptionalRecording:
        return self

    def __exit__(self, *problem: object) -> None:
        try:
            if self._recorder is not None:
                self._recorder.close()
        except RecordingFailed as failure:
            self.failure = failure
