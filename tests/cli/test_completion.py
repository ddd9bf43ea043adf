"""Completion: the shell offers what this installation has."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent


def offered(line: str, tmp_path: Path) -> list[str]:
    """What bash offers at the end of a line."""
    program = (
        'eval "$(astray completion bash)"\n'
        f"COMP_WORDS=({line})\nCOMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\nCOMPREPLY=()\n"
        'compopt() { COMPREPLY+=("<files>"); }\n'
        '_astray_completion astray\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
    )
    assert not done.stderr, done.stderr
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("astray comp", ["completion"]),
        ("astray run off", ["office"]),
        ("astray run my_l", ["my_lap.yaml"]),
        ("astray run elsewhere", ["<files>"]),
        ("astray kinds gns", ["gnss"]),
        ("astray kinds moti", ["motion"]),
        ("astray map ware", ["warehouse"]),
        ("astray pioneer -m corr", ["corridor"]),
        ("astray pioneer -r pioneer", ["pioneer-lx"]),
        ("astray score a.log --estimator od", ["odometry"]),
        ("astray node wheel_d", ["wheel_data_simulator"]),
        # Bash makes a word of its own of the equals sign.
        ("astray run x.yaml --set robots.0.preset = truc", ["truck"]),
        ("astray sweep x.yaml --vary robots.0.estimator.kind = ek", ["ekf"]),
        ("astray run x.yaml --set world.map =", ["arena", "corridor", "office"]),
    ],
)
def test_bash_completes_names(line: str, names: list[str], tmp_path: Path) -> None:
    (tmp_path / "my_lap.yaml").touch()
    assert offered(line, tmp_path) == names


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_the_same_names(shell: str) -> None:
    source = subprocess.run(
        [sys.executable, "-m", "astray", "completion", shell], capture_output=True, text=True
    )
    assert source.returncode == 0
    assert f"_ASTRAY_COMPLETE={shell}_complete" in source.stdout
    line = "astray run x.yaml --set robots.0.preset=truc"
    word = line.split()[-1] if shell == "fish" else "4"
    asked = {"COMP_WORDS": line, "COMP_CWORD": word, "_ASTRAY_COMPLETE": f"{shell}_complete"}
    done = subprocess.run(
        [BIN / "astray"], capture_output=True, text=True, env={**os.environ, **asked}
    )
    assert "robots.0.preset=truck" in done.stdout, done.stderr
