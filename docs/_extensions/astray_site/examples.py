"""The numbered programs under examples/, and the example of a name, a package or a kind."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from astray_site.docstrings import to_markdown
from astray_site.markdown import code, join

DOCS = Path(__file__).resolve().parents[2]
ROOT = DOCS.parent
PICTURES = DOCS / "pictures" / "gallery"
SNIPPETS = DOCS / "reference" / "examples"
"""Short examples of what no numbered program uses: a file per name, package or kind."""
SHORT_TITLES = {"17": "Live page", "22": "Gymnasium"}
"""Of programs whose first line has no colon."""
MOST_LINES = 3  # that an example emphasises


class Program(NamedTuple):
    """A numbered program."""

    file: Path
    title: str
    """The first line of its docstring, up to a colon."""
    text: str
    """What the docstring says after that."""
    source: str
    """Its code, without the docstring."""
    names: frozenset[str]
    """The full names of what it uses: `astray.Sim`, `astray.world.Map`, `astray.world`."""

    @property
    def page(self) -> str:
        """Its page in the gallery."""
        return f"gallery/programs/{self.file.stem}"


@cache
def programs() -> tuple[Program, ...]:
    """The numbered programs in their order."""
    return tuple(map(read_program, sorted((ROOT / "examples").glob("[0-9]*.py"))))


def read_program(file: Path) -> Program:
    """Read a program.

    Args:
        file: A Python file with a docstring whose first line is the title.
    """
    text = file.read_text(encoding="utf-8")
    tree = ast.parse(text)
    docstring = ast.get_docstring(tree) or file.stem
    first, _, rest = docstring.partition("\n")
    title, _, lead = first.rstrip(".").partition(": ")
    if not lead:
        title, lead = SHORT_TITLES[file.name[:2]], first.rstrip(".")
    about = f"{lead[:1].upper()}{lead[1:]}.\n{rest}".strip()
    has_docstring = isinstance(tree.body[0], ast.Expr)
    begin = (tree.body[0].end_lineno or 0) if has_docstring else 0
    source = "\n".join(text.splitlines()[begin:]).strip("\n") + "\n"
    return Program(file, f"{file.name[:2]} {title}", about, source, frozenset(used_names(tree)))


def used_names(tree: ast.Module) -> Iterable[str]:
    """The full names of astray that a program uses, and the packages that they are in."""
    for node in ast.walk(tree):
        found: list[str] = []
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("astray"):
            found = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            found = [ast.unparse(node)]
        elif isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        for name in found:
            if re.fullmatch(r"astray(\.\w+)+", name):
                yield name
                yield from (str(name.rsplit(".", k)[0]) for k in range(1, name.count(".") + 1))


def example_of(name: str) -> str:
    """The example of a public name or a package, as Markdown; empty if there is none.

    A file in `reference/examples` comes first, then the shortest program that uses the name.

    Args:
        name: Its full name, such as `astray.world.Map`.
    """
    snippet = SNIPPETS / f"{name.removeprefix('astray.')}.py"
    using = sorted((p for p in programs() if name in p.names), key=lambda p: len(p.source))
    also = ", ".join(f"[{p.title}](/{p.page}.md)" for p in sorted(using))
    if snippet.exists():
        note = f"Used in: {also}." if also else ""
        return join(code(snippet.read_text(encoding="utf-8"), "python"), note)
    if not using:
        return ""
    program = using[0]
    short = re.escape(name.rpartition(".")[2])
    lines = program.source.splitlines()
    hits = [k for k, line in enumerate(lines, 1) if re.search(rf"\b{short}\b", line)][:MOST_LINES]
    emphasis = f":emphasize-lines: {','.join(map(str, hits))}\n" if hits else ""
    block = f"```{{code-block}} python\n{emphasis}\n{program.source}```"
    return join(block, f"Used in: {also}.")


def program_page(program: Program) -> str:
    """The page of a program in the gallery."""
    picture = PICTURES / f"{program.file.stem[:2]}.png"
    shown = f"![{program.title}](/pictures/gallery/{picture.name})" if picture.exists() else ""
    run = code(f"python examples/{program.file.name}", "sh")
    return join(
        f"# {program.title}",
        to_markdown(program.text) if program.text else "",
        shown,
        code(program.source, "python"),
        run,
    )
