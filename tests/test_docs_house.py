"""The page about the house names every room, and no other."""

import re
from pathlib import Path

import astray

PACKAGE = Path(astray.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "house.md"
ENTRANCES = {"__init__", "__main__"}  # which lead to the others
NAMES = 26  # characters of a line of the drawing that are names of rooms


def rooms() -> set[str]:
    """The modules and packages right below astray."""
    packages = {file.parent.name for file in PACKAGE.glob("*/__init__.py")}
    return packages | {file.stem for file in PACKAGE.glob("*.py")} - ENTRANCES


def drawn() -> set[str]:
    """The names in the left column of the drawing."""
    tree = PAGE.read_text(encoding="utf-8").split("```")[1]
    lines = [line for line in tree.splitlines() if not line.startswith("│")]
    return {name for line in lines for name in line[:NAMES].split()}


def test_the_drawing_names_every_room_and_no_other() -> None:
    assert drawn() == rooms()


def test_files_that_the_page_names_are_there() -> None:
    text = PAGE.read_text(encoding="utf-8").split("```")[2]
    named = re.findall(r"`([a-z0-9_/]+\.py)`", text)
    assert len(named) >= 5
    assert [name for name in named if not (PACKAGE / name).is_file()] == []
