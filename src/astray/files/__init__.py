"""Files on disk: YAML with the line and column of every value, atomic writes, .npz archives."""

from astray.files.marked_yaml import (
    MAX_DEPTH,
    Marked,
    dump_yaml,
    format_double,
    iterate_values,
    mark,
    read_yaml,
    syntax_fault,
)
from astray.files.storage import (
    atomic_write,
    check_new_file,
    check_writable,
    is_locked,
    lock_file,
    read_bounded,
    read_npz,
    temporary_path,
    write_error,
)

__all__ = [
    "MAX_DEPTH",
    "Marked",
    "atomic_write",
    "check_new_file",
    "check_writable",
    "dump_yaml",
    "format_double",
    "is_locked",
    "iterate_values",
    "lock_file",
    "mark",
    "read_bounded",
    "read_npz",
    "read_yaml",
    "syntax_fault",
    "temporary_path",
    "write_error",
]
