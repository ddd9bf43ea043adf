"""What the description of a map may say, and everything that is wrong with one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath

from astray.errors import Path
from astray.world.map_data import is_map_dict, map_dict_fault
from astray.world.maps import generate
from astray.world.maps.faults import MapFaults, short
from astray.world.maps.formats.inline import KEYS as INLINE
from astray.world.maps.formats.inline import parse_inline
from astray.world.maps.generate import FEWEST_SEGMENTS, GENERATORS, MOST_SEGMENTS, parse_layout

FILE = ("file", "scale", "shift")
MADE = ("kind", "segments", "seed", "per_world", "shift")


def check_spec(spec: object) -> list[tuple[Path, str]]:
    """Every fault of a description, each with its path inside; files are not looked into."""
    findings = MapFaults()
    if isinstance(spec, (str, FilePath)):
        if not str(spec):
            findings.fault((), "the name of a map or of its file is needed")
    elif not isinstance(spec, Mapping):
        findings.fault((), f"a name, a file or a mapping is needed, not {short(spec)}")
    else:
        _check_mapping(spec, findings)
    return findings.faults


def per_world(spec: object) -> bool:
    """Whether every world has another map."""
    return isinstance(spec, Mapping) and "kind" in spec and spec.get("per_world") is True


def _check_mapping(spec: Mapping[str, object], findings: MapFaults) -> None:
    if is_map_dict(spec):
        if fault := map_dict_fault(spec):
            findings.fault((), fault)
        return
    if "shift" in spec:
        findings.numbers(spec["shift"], ("shift",), "x y yaw")
    ways = [key for key in ("file", "kind") if key in spec]
    ways += [key for key in INLINE if key in spec][:1]
    if len(ways) > 1:
        findings.fault((), f"is one of file, kind and inline, not {' and '.join(ways)}")
    elif not ways:
        known = dict.fromkeys((*FILE, *MADE, *INLINE))
        findings.refuse_unknown(spec, known)
        findings.fault((), f"needs 'file', 'kind' or one of {', '.join(INLINE)}")
    elif "file" in spec:
        _check_file(spec, findings)
    elif "kind" in spec:
        _check_made(spec, findings)
    else:
        findings.refuse_unknown(spec, (*INLINE, "shift"))
        parse_inline(spec, findings)


def _check_file(spec: Mapping[str, object], findings: MapFaults) -> None:
    findings.refuse_unknown(spec, FILE)
    if not isinstance(spec["file"], (str, FilePath)) or not str(spec["file"]):
        findings.fault(("file",), f"the name of a file is needed, not {short(spec['file'])}")
    if "scale" in spec:
        findings.number(spec["scale"], ("scale",), 0.0, 1000.0, above=True)


def _check_made(spec: Mapping[str, object], findings: MapFaults) -> None:
    kind = spec["kind"]
    if isinstance(kind, str) and kind in GENERATORS:
        own = generate.parameters(kind)
        findings.refuse_unknown(spec, dict.fromkeys(("kind", *own, *MADE)))
    if "segments" in spec:
        findings.whole(spec["segments"], ("segments",), FEWEST_SEGMENTS, MOST_SEGMENTS)
    if "seed" in spec:
        findings.whole(spec["seed"], ("seed",))
    if "per_world" in spec:
        findings.truth(spec["per_world"], ("per_world",))
    parse_layout(spec, findings)
