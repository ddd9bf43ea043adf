"""The examples are the documentation that runs."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.paths import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture(params=EXAMPLES, ids=lambda example: example.stem)
def example(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


def test_there_are_examples_and_they_are_numbered_without_gaps() -> None:
    assert [int(example.name[:2]) for example in EXAMPLES] == list(range(1, len(EXAMPLES) + 1))
    assert EXAMPLES


def test_an_example_runs_says_something_and_writes_only_below_its_folder(
    example: Path, tmp_path: Path
) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    elsewhere.mkdir()
    run = subprocess.run(
        [sys.executable, str(example), str(out)],
        capture_output=True,
        cwd=elsewhere,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip()
    assert not list(elsewhere.iterdir())


def test_an_example_is_short_and_its_docstring_begins_with_a_title(example: Path) -> None:
    source = example.read_text(encoding="utf-8")
    title = (ast.get_docstring(ast.parse(source)) or "").splitlines()[0]
    assert title.endswith(".")
    assert len(source.splitlines()) < 50


def test_every_example_is_listed_in_the_index(example: Path) -> None:
    index = ROOT / "docs" / "gallery" / "index.md"
    assert f"(../../examples/{example.name})" in index.read_text(encoding="utf-8")
