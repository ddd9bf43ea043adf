"""The figures of the tutorial on training, which differ a little between machines."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from PIL import Image

from support.pages import DOCS

SHARE = re.compile(r"([\w ]+): ([\d.]+)% arrive, 95 % interval ([\d.]+)% to ([\d.]+)%")


def test_the_agent_of_the_tutorial_arrives_more_often_than_an_untrained_one(tmp_path: Path) -> None:
    page = (DOCS / "learn" / "train-an-agent.md").read_text(encoding="utf-8")
    programs = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "page.py").write_text("\n".join(programs), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "page.py"],
        capture_output=True,
        cwd=tmp_path,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found = {name: (float(low), float(high)) for name, _, low, high in SHARE.findall(run.stdout)}
    said = {name: (float(low), float(high)) for name, _, low, high in SHARE.findall(page)}
    assert list(found) == list(said)
    assert found["untrained"][1] < 10.0  # the untrained robot stands still
    assert found["trained"][0] > 40.0
    for name in found:  # another processor may train another agent, of the same quality
        assert found[name][0] < said[name][1] + 10.0
        assert said[name][0] - 10.0 < found[name][1]
    with Image.open(tmp_path / "agent.gif") as video:
        assert getattr(video, "n_frames", 1) > 10
