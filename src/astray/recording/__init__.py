"""Recordings: runs as MCAP files with ROS 2 messages, and as folders; written and read back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astray.lazy import lazy_exports

if TYPE_CHECKING:
    from astray.recording.foxglove import check_package as check_package
    from astray.recording.foxglove import on_foxglove as on_foxglove
    from astray.recording.message_tables import imu_reading as imu_reading
    from astray.recording.message_tables import odometry_states as odometry_states
    from astray.recording.message_tables import transform_states as transform_states
    from astray.recording.message_tables import wheels_reading as wheels_reading
    from astray.recording.reader import TRUTH_TOPIC as TRUTH_TOPIC
    from astray.recording.reader import ForeignRecording as ForeignRecording
    from astray.recording.reader import RecordedRobot as RecordedRobot
    from astray.recording.reader import Recording as Recording
    from astray.recording.reader import read_recording as read_recording
    from astray.recording.recorder import Recorder as Recorder
    from astray.recording.recorder import record as record
    from astray.recording.run_folder import atomic_folder as atomic_folder
    from astray.recording.run_folder import check_folder as check_folder
    from astray.recording.run_folder import read_json_object as read_json_object
    from astray.recording.run_folder import read_log as read_log
    from astray.recording.run_folder import read_run_info as read_run_info
    from astray.recording.run_folder import read_scenario_files as read_scenario_files
    from astray.recording.run_folder import read_text as read_text
    from astray.recording.run_folder import refuse_inconsistent_files as refuse_inconsistent_files
    from astray.recording.run_folder import write_files as write_files
    from astray.recording.run_folder import write_run_folder as write_run_folder

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "astray.recording.foxglove": (
            "check_package",
            "on_foxglove",
        ),
        "astray.recording.message_tables": (
            "imu_reading",
            "odometry_states",
            "transform_states",
            "wheels_reading",
        ),
        "astray.recording.reader": (
            "TRUTH_TOPIC",
            "ForeignRecording",
            "RecordedRobot",
            "Recording",
            "read_recording",
        ),
        "astray.recording.recorder": (
            "Recorder",
            "record",
        ),
        "astray.recording.run_folder": (
            "atomic_folder",
            "check_folder",
            "read_json_object",
            "read_log",
            "read_run_info",
            "read_scenario_files",
            "read_text",
            "refuse_inconsistent_files",
            "write_files",
            "write_run_folder",
        ),
    },
)
