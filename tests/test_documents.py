"""Every statement of a document names a test that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs" / "documents").glob("*.md"))
NAMED = re.compile(r"`(test_\w+\.py)?::(test_\w+)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_tests_that_a_page_names_exist(page: Path) -> None:
    file, found = "", 0
    for name, claim in NAMED.findall(page.read_text(encoding="utf-8")):
        file = name or file
        source = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert f"def {claim}(" in source, f"{file} has no {claim}"
        found += 1
    assert found >= 5
