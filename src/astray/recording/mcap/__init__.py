"""MCAP files: written with a write-ahead log, recovered after a crash, read by topic."""

from astray.recording.mcap.chunk import Chunk, ReusedBuffer
from astray.recording.mcap.chunk_encoder import ChunkEncoder
from astray.recording.mcap.chunk_layout import ChannelWriter
from astray.recording.mcap.cursors import EventCursor, MapCursor, text_message
from astray.recording.mcap.header import (
    COLLISIONS,
    EVENTS,
    MAP_FILE,
    RUN_FILE,
    SCENARIO_FILE,
    STATIC_TRANSFORMS,
    ChannelDeclarations,
    run_attachments,
    world_map_file,
)
from astray.recording.mcap.reader import McapReader
from astray.recording.mcap.records import Opcode, is_mcap
from astray.recording.mcap.recover import RecoveryReport, recover_recording
from astray.recording.mcap.sensor_truth import sensor_truths
from astray.recording.mcap.write_ahead_log import WriteAheadLog
from astray.recording.mcap.writer import McapWriter

__all__ = [
    "COLLISIONS",
    "EVENTS",
    "MAP_FILE",
    "RUN_FILE",
    "SCENARIO_FILE",
    "STATIC_TRANSFORMS",
    "ChannelDeclarations",
    "ChannelWriter",
    "Chunk",
    "ChunkEncoder",
    "EventCursor",
    "MapCursor",
    "McapReader",
    "McapWriter",
    "Opcode",
    "RecoveryReport",
    "ReusedBuffer",
    "WriteAheadLog",
    "is_mcap",
    "recover_recording",
    "run_attachments",
    "sensor_truths",
    "text_message",
    "world_map_file",
]
