"""Run folders: a run's log, scenario and pictures, written and read."""

from astray.recording.run_folder.read import (
    fitting_together,
    read_about,
    read_carried,
    read_log,
    read_object,
    read_text,
)
from astray.recording.run_folder.write import check_folder, whole_folder, write_files, write_folder

__all__ = [
    "check_folder",
    "fitting_together",
    "read_about",
    "read_carried",
    "read_log",
    "read_object",
    "read_text",
    "whole_folder",
    "write_files",
    "write_folder",
]
