"""The pages of the documentation: those that people write, and those that are made of the code."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from support.paths import ROOT

DOCS = ROOT / "docs"


@cache
def generated_names() -> frozenset[str]:
    """The generated pages, by their path in docs/ without suffix."""
    from astray_site import generated_pages

    return frozenset(generated_pages())


def generated(file: Path) -> bool:
    """Whether a file is a page that a build of the site makes."""
    if not file.is_relative_to(DOCS):
        return False
    return file.relative_to(DOCS).with_suffix("").as_posix() in generated_names()


def pages_of(shelf: str = ".") -> list[Path]:
    """The pages that people write, of a shelf or of all."""
    from astray_site import GENERATED_FOLDERS

    left_out = [DOCS / "_build", *(DOCS / folder for folder in GENERATED_FOLDERS)]
    found = sorted((DOCS / shelf).rglob("*.md"))
    return [page for page in found if not any(page.is_relative_to(f) for f in left_out)]


def title_of(page: Path) -> str:
    """A short name of a page, for the names of tests."""
    return page.relative_to(ROOT).with_suffix("").as_posix().removeprefix("docs/")
