"""The tutorials run as they are written: every block in its order, and they print what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from astray_site.tutorials import BLOCK, pictures_of, run_tutorial, steps_of, tutorials

from support.pages import DOCS, pages_of

PICTURES = DOCS / "pictures" / "learn"
NUMBER = re.compile(r"-?\d+\.?\d*")
ROUNDED = {"your-own-estimator"}
"""Pages whose plugins compute in NumPy: its last digits differ from machine to machine."""

each_tutorial = pytest.mark.parametrize("page", tutorials(), ids=lambda page: page.stem)


def is_same_but_for_rounding(said: str, printed: str) -> bool:
    """Whether two texts differ in nothing but the last digit of their numbers."""
    if NUMBER.sub("#", said) != NUMBER.sub("#", printed):
        return False
    for a, b in zip(NUMBER.findall(said), NUMBER.findall(printed), strict=True):
        decimals = len(a.partition(".")[2])
        if abs(float(a) - float(b)) > 1.5 * 10.0**-decimals:
            return False
    return True


def test_a_digit_more_than_the_last_is_no_rounding() -> None:
    assert is_same_but_for_rounding("rms 0.05 m, 3.1", "rms 0.06 m, 3.0")
    assert not is_same_but_for_rounding("rms 0.05 m", "rms 0.07 m")
    assert not is_same_but_for_rounding("rms 0.05 m", "mean 0.05 m")


@each_tutorial
def test_a_tutorial_runs_as_written_and_prints_what_it_says(page: Path, tmp_path: Path) -> None:
    steps = steps_of(page)
    printed = run_tutorial(page, tmp_path)
    assert len(printed) == len(steps) >= 5
    compared = 0
    for step, text in zip(steps, printed, strict=True):
        if step.printed is not None:
            compared += 1
            said, text = step.printed.rstrip(), text.rstrip()
            assert text == said or (
                page.stem in ROUNDED and is_same_but_for_rounding(said, text)
            ), f"{step.code}\nprinted\n{text}\nand not\n{step.printed}"
    assert compared >= 2
    assert {file.name for file in tmp_path.glob("*.png")} >= set(pictures_of(page))


@each_tutorial
def test_every_picture_of_a_tutorial_is_one_that_its_code_saves(page: Path) -> None:
    shown = re.findall(r"\]\(\.\./pictures/learn/([\w.-]+)\)", page.read_text(encoding="utf-8"))
    assert shown == pictures_of(page)
    assert all((PICTURES / name).exists() for name in shown)


@each_tutorial
def test_every_block_of_a_tutorial_is_run_or_is_what_one_prints(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"^```", BLOCK.sub("", text), re.MULTILINE)


@each_tutorial
def test_a_tutorial_ends_with_three_lines_of_what_was_learned_and_links_onward(page: Path) -> None:
    last = page.read_text(encoding="utf-8").rpartition("\n## ")[2]
    assert last.startswith("What you have learned\n")
    assert len(re.findall(r"^- ", last, re.MULTILINE)) == 3
    assert "](../howto/" in last
    assert "](../reference/" in last


def test_every_picture_of_the_shelf_is_shown_by_a_page() -> None:
    shown = "".join(page.read_text(encoding="utf-8") for page in pages_of("learn"))
    for file in PICTURES.glob("*.png"):
        assert f"(../pictures/learn/{file.name})" in shown
