"""`astray recover`: mend a recording whose writer was killed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from astray.cli.options import JSON, OVERWRITE, PATH, QUIET

if TYPE_CHECKING:
    from astray.recording.mcap import RecoveryReport


@click.command()
@click.argument("file", type=PATH)
@click.option(
    "--out", type=PATH, help="Write the recovered recording to this file; FILE by default."
)
@OVERWRITE
@QUIET
@JSON
def recover(file: Path, out: Path | None, overwrite: bool, quiet: bool, as_json: bool) -> None:
    """Recover a recording whose program was killed.

    FILE is a recording of astray or another MCAP file.
    """
    import json

    from astray.files import check_new_file
    from astray.recording.mcap import recover_recording

    if out is not None:
        check_new_file(out, overwrite)
    mended = recover_recording(file, out)
    if as_json:
        print(json.dumps(_as_dict(mended)))
    elif not quiet:
        click.echo(_describe(mended))


def _as_dict(mended: RecoveryReport) -> dict[str, Any]:
    return {
        "path": str(mended.path),
        "kept": None if mended.original is None else str(mended.original),
        "messages": mended.messages,
        "from_tail": mended.from_log,
        "lost_bytes": mended.lost_bytes,
        "damaged": mended.damaged_chunks,
        "seconds": mended.seconds,
        "was_whole": mended.was_intact,
    }


def _describe(mended: RecoveryReport) -> str:
    """What was found and what was lost, in one line."""
    if mended.was_intact and not mended.messages:
        return f"{mended.path} is whole: there is nothing to mend."
    tail = f", {mended.from_log:,} of them from its write-ahead log" if mended.from_log else ""
    lost = f"; {mended.lost_bytes:,} bytes were no whole record" if mended.lost_bytes else ""
    if chunks := mended.damaged_chunks:
        lost += f"; {chunks} chunk{'s were' if chunks > 1 else ' was'} damaged"
    kept = f" The damaged file is {mended.original}." if mended.original else ""
    found = f"{mended.messages:,} messages over {mended.seconds:.3f} s"
    return f"{mended.path}: {found}{tail}{lost}.{kept}"
