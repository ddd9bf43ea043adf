"""Pieces of Markdown: headings, tables, code blocks, and what a toctree needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Make a table.

    Args:
        head: The headings of the columns.
        rows: The cells, as Markdown in one line.

    Returns:
        The table; empty if it has no rows.
    """
    lines = [[cell.replace("|", r"\|").replace("\n", " ") for cell in row] for row in rows]
    if not lines:
        return ""
    text = [list(head), ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in text) + "\n"


def code(text: str, language: str = "text") -> str:
    """Make a code block.

    Args:
        text: The code.
        language: How it is highlighted.
    """
    return f"```{language}\n{text.rstrip()}\n```\n"


def literal(text: str) -> str:
    """Make inline code; empty where there is no text."""
    return f"`{text}`" if text else ""


def toctree(names: Iterable[str], depth: int = 1) -> str:
    """List the pages below this one; they are in the sidebar, not in the text.

    Args:
        names: The pages, by their path from this one, without suffix.
        depth: How many levels the sidebar has.
    """
    return "\n".join(["```{toctree}", ":hidden:", f":maxdepth: {depth}", "", *names, "```", ""])


def rst(text: str) -> str:
    """Embed reStructuredText."""
    return f"```{{eval-rst}}\n{text.rstrip()}\n```\n"


def join(*parts: str) -> str:
    """Join the blocks of a page with a blank line between them; empty ones are left out."""
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def one_line(text: str) -> str:
    """The first paragraph of a text, in one line."""
    return re.sub(r"\s+", " ", text.strip().split("\n\n")[0])
