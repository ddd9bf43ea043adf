"""MCAP files: records, chunks, the write-ahead log, recovery, reading."""

from astray.recording.mcap.channels import COLLISIONS, EVENTS, Topics
from astray.recording.mcap.chunk import Chunk, Memory
from astray.recording.mcap.chunk_encoder import ChunkEncoder
from astray.recording.mcap.chunk_layout import ChannelWriter
from astray.recording.mcap.event_cursor import EventCursor, text_message
from astray.recording.mcap.header import (
    MAP_FILE,
    RUN,
    SCENARIO,
    STATIC,
    Maps,
    attachments,
    own_map_file,
)
from astray.recording.mcap.parse import is_mcap
from astray.recording.mcap.read_topics import McapReader
from astray.recording.mcap.records import Op
from astray.recording.mcap.recover import RecoveryReport, recover_recording
from astray.recording.mcap.sensor_truth import sensor_truths
from astray.recording.mcap.write_ahead_log import WriteAheadLog
from astray.recording.mcap.writer import McapWriter

__all__ = [
    "COLLISIONS",
    "EVENTS",
    "MAP_FILE",
    "RUN",
    "SCENARIO",
    "STATIC",
    "ChannelWriter",
    "Chunk",
    "ChunkEncoder",
    "EventCursor",
    "Maps",
    "McapReader",
    "McapWriter",
    "Memory",
    "Op",
    "RecoveryReport",
    "Topics",
    "WriteAheadLog",
    "attachments",
    "is_mcap",
    "own_map_file",
    "recover_recording",
    "sensor_truths",
    "text_message",
]
