"""Runs as MCAP files with ROS 2 messages: written, mended, read back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astray.lazy import lazy_exports

if TYPE_CHECKING:
    from astray.recording.around_run import check_recording as check_recording
    from astray.recording.around_run import recording_if as recording_if
    from astray.recording.foxglove import check_package as check_package
    from astray.recording.foxglove import on_foxglove as on_foxglove
    from astray.recording.reader import TRUTH as TRUTH
    from astray.recording.reader import NotOurs as NotOurs
    from astray.recording.reader import Recording as Recording
    from astray.recording.reader import Track as Track
    from astray.recording.reader import read_recording as read_recording
    from astray.recording.recorder import Recorder as Recorder
    from astray.recording.recorder import record as record

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "astray.recording.around_run": (
            "check_recording",
            "recording_if",
        ),
        "astray.recording.foxglove": (
            "check_package",
            "on_foxglove",
        ),
        "astray.recording.reader": (
            "TRUTH",
            "NotOurs",
            "Recording",
            "Track",
            "read_recording",
        ),
        "astray.recording.recorder": (
            "Recorder",
            "record",
        ),
    },
)
