"""Docstrings as reStructuredText for autodoc, and as Markdown for the pages that we write.

Docstrings are plain text: names in single backticks, equations and tables as indented blocks. Both
languages would take some of that for markup, so it is converted.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from astray_site.markdown import code

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SECTIONS = ("Args", "Attributes", "Example", "Examples", "Raises", "Returns", "Yields")
SECTION = re.compile(rf"({'|'.join(SECTIONS)}):$")
ATTRIBUTES = ("attribute", "data", "property")
_attributes: dict[str, list[str]] = {}
"""The converted docstrings of attributes, by name, while napoleon works on them."""
TUPLE_FIELD = "Alias for field number"  # what Python says of the fields of a NamedTuple


def setup(app: Sphinx) -> None:
    """Convert docstrings before napoleon, whose priority is 500, reads their sections."""
    app.connect("autodoc-process-docstring", _process, priority=400)
    app.connect("autodoc-process-docstring", _restore, priority=600)
    app.connect("autodoc-skip-member", _skip)


def _process(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Convert a docstring in place, as autodoc hands it over."""
    if inspect.isclass(value):  # autodoc adds the generated one of a dataclass
        generated = f"{value.__name__}("
        if lines and lines[0].startswith(generated) and ":" in lines[0]:
            lines[:] = []
    lines[:] = to_rst(lines)
    if what in ATTRIBUTES:
        _attributes[name] = list(lines)


def _restore(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Undo napoleon for attributes: it takes what is before a colon for a type."""
    if what in ATTRIBUTES and name in _attributes:
        lines[:] = _attributes.pop(name)


def _skip(app: Sphinx, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what Python itself says of the fields of a NamedTuple."""
    return True if (getattr(value, "__doc__", None) or "").startswith(TUPLE_FIELD) else None


def to_rst(lines: list[str]) -> list[str]:
    """Convert a docstring to reStructuredText; napoleon reads its sections afterwards.

    Args:
        lines: The docstring without its indentation.
    """
    converted: list[str] = []
    for is_block, part in _blocks(_with_plain_returns(lines)):
        if is_block:
            converted += ["::", "", *(f"    {line}" if line else "" for line in part), ""]
        else:
            converted += [_escape_rst(line) for line in part]
    return converted


def _with_plain_returns(lines: list[str]) -> list[str]:
    """Make a field of the section `Returns`: napoleon takes what is before a colon for a type."""
    converted: list[str] = []
    inside = False
    for line in lines:
        if line == "Returns:":
            inside = True
            converted += ["", ":returns:"]
        elif inside and line and not line.startswith(" "):
            inside = False
            converted += ["", line]
        else:
            converted.append(line)
    return converted


def to_markdown(docstring: str) -> str:
    """Convert a docstring to Markdown.

    Args:
        docstring: As it is in the source.
    """
    parts = []
    for is_block, lines in _blocks(inspect.cleandoc(docstring).splitlines()):
        parts.append(code("\n".join(lines)) if is_block else "\n".join(lines))
    return "\n".join(parts).strip() + "\n"


def _blocks(lines: list[str]) -> Iterator[tuple[bool, list[str]]]:
    """Divide a docstring into prose (False) and indented blocks (True), without their indentation.

    The indented lines of a section such as `Args:` are prose.
    """
    prose: list[str] = []
    k, in_section = 0, False
    while k < len(lines):
        line = lines[k]
        if line and not line.startswith(" "):
            in_section = SECTION.match(line) is not None or line == ":returns:"
        begins = line.startswith(" ") and not in_section and (k == 0 or not lines[k - 1].strip())
        if not begins:
            prose.append(line)
            k += 1
            continue
        if prose:
            yield False, prose
            prose = []
        end = k
        while end < len(lines) and (not lines[end].strip() or lines[end].startswith(" ")):
            end += 1
        block = "\n".join(lines[k:end]).rstrip("\n").split("\n")
        yield True, inspect.cleandoc("\n" + "\n".join(block)).split("\n")
        prose.append("")
        k = end
    if prose:
        yield False, prose


def _escape_rst(line: str) -> str:
    """Escape what is markup to reStructuredText, and make inline code of what is in backticks."""
    parts = re.split(r"(?<!`)`([^`]+)`(?!`)", line)
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r"([*|\\])", r"\\\1", parts[k])
        parts[k] = re.sub(r"(\w)_(?!\w)", r"\1\\_", parts[k])
    for k in range(1, len(parts), 2):
        after = parts[k + 1][:1]
        parts[k] = f"``{parts[k]}``" + (
            "\\ " if after and (after.isalnum() or after == "_") else ""
        )
    return "".join(parts)
