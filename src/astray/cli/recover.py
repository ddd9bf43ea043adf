"""Mending recordings from the command line: do it, and tell it in numbers."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console

from astray.recording import check_recording
from astray.recording.mcap import RecoveryReport, recover_recording


def recover_file(
    file: Path,
    *,
    out: Path | None = None,
    overwrite: bool = False,
    quiet: bool = False,
    as_json: bool = False,
) -> None:
    """Mend a file as the command line asks."""
    if out is not None:
        check_recording(out, overwrite)
    mended = recover_recording(file, out)
    if as_json:
        print(json.dumps(_plain(mended)))
    elif not quiet:
        Console().print(_text(mended), soft_wrap=True, highlight=False)


def _plain(mended: RecoveryReport) -> dict[str, object]:
    return {
        "path": str(mended.path),
        "kept": None if mended.kept is None else str(mended.kept),
        "messages": mended.messages,
        "from_tail": mended.from_tail,
        "lost_bytes": mended.lost_bytes,
        "damaged": mended.damaged,
        "seconds": mended.seconds,
        "was_whole": mended.was_whole,
    }


def _text(mended: RecoveryReport) -> str:
    if mended.was_whole and not mended.messages:
        return f"{mended.path} is whole: there is nothing to mend."
    tail = f", {mended.from_tail:,} of them from its tail" if mended.from_tail else ""
    lost = f"; {mended.lost_bytes:,} bytes were no whole record" if mended.lost_bytes else ""
    if mended.damaged:
        lost += f"; {mended.damaged} chunk{'s were' if mended.damaged > 1 else ' was'} damaged"
    kept = f" The torn file is {mended.kept}." if mended.kept else ""
    found = f"{mended.messages:,} messages over {mended.seconds:.3f} s"
    return f"{mended.path}: {found}{tail}{lost}.{kept}"
