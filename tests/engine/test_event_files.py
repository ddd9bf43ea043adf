"""Files of events: what is wrong with a line is said in the words of events, not of Python."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import astray
from astray.cli.session import post_events
from astray.errors import EventError

KEYS = "(step, kind, group, worlds, robots, values)"


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (
            {"kind": "spawn", "at": 30},
            f"unknown key 'at'; did you mean 'step', a number of ticks? {KEYS}",
        ),
        ({"kind": "spawn", "groups": "r"}, f"unknown key 'groups'; did you mean 'group'? {KEYS}"),
        ({"step": 3}, "needs a kind"),
        ({"kind": None}, "needs a kind"),
        ({"kind": "spawn", "step": 3}, "spawn: needs a group of robots (r)"),
        ({"kind": "spawnn"}, "unknown event kind 'spawnn'; did you mean 'spawn'?"),
    ],
)
def test_a_wrong_event_is_refused_with_its_line(
    event: dict[str, Any], message: str, tmp_path: Path
) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text(f"\n{json.dumps(event)}\n")
    with pytest.raises(EventError, match=rf"events.jsonl:2: .*{re.escape(message)}") as problem:
        post_events(astray.load({"robots": [{"name": "r"}]}), file)
    assert "__init__" not in str(problem.value)
