"""Files that are whole or refused: written beside their goal, read with marks."""

from astray.files.atomic_write import check_writable, part_of, unwritten, whole_file
from astray.files.file_lock import is_locked, lock_file
from astray.files.marked_yaml import DEEPEST, Marked, dump_yaml, mark, read_yaml, walk
from astray.files.npz import read_npz

__all__ = [
    "DEEPEST",
    "Marked",
    "check_writable",
    "dump_yaml",
    "is_locked",
    "lock_file",
    "mark",
    "part_of",
    "read_npz",
    "read_yaml",
    "unwritten",
    "walk",
    "whole_file",
]
