"""Links of three sorts that Sphinx and MyST do not make by themselves.

1. A link to a file of the repository outside of docs/, such as `../../examples/01_first_run.py`,
   leads on the site to the page of that program, to the README's or the changelog's page, or to a
   copy.
2. Inline code that names something of the reference, `astray.load`, `astray run` or `ekf`, becomes
   a link to its page, once per section. Pages stay plain Markdown.
3. Types in signatures have the name of the module that defines them, `astray.engine.robots.Robots`;
   they lead to the page of the public name.
"""

from __future__ import annotations

import builtins
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

from astray.plugin import parameters_of
from astray_site import inventory
from astray_site.examples import ROOT, programs

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

AMBIGUOUS = {"contacts", "tracker", "collisions", "remote", "map"}
"""Kinds whose names are also keys or other things of a scenario: no links."""
REPOSITORY = "repository"  # the type of a link to a file outside of docs/
MOST_USES = 3  # of a name that the search leads to
NAMED_IN_TABLES = ("reference/kinds/", "reference/ros/", "reference/schema/")
TERM = re.compile(r"[A-Z][^.]*\.$")


def setup(app: Sphinx) -> None:
    """Register the transforms."""
    app.add_transform(RepositoryLinks)
    app.add_transform(BuiltinTypes)
    app.add_transform(ShortContents)
    app.add_transform(GlossaryTerms)
    app.add_transform(TableEntries)
    app.add_post_transform(WordLinks)
    app.connect("missing-reference", _resolve)


class RepositoryLinks(SphinxTransform):
    """Lead links to files outside of docs/ to their pages."""

    default_priority = 5

    def apply(self, **kwargs: Any) -> None:
        """Change the targets of the links of a page."""
        folder = Path(self.env.doc2path(self.env.docname)).parent
        for node in list(self.document.findall(addnodes.download_reference)):
            page = repository_pages().get((folder / node["reftarget"]).resolve())
            if page is not None:
                node.replace_self(page_link(node, page, self.env.docname))
        for node in list(self.document.findall(addnodes.pending_xref)):
            # MyST sees a Markdown file without its suffix.
            suffix = ".md" if node.get("refdomain") == "doc" else ""
            page = repository_pages().get((folder / f"{node['reftarget']}{suffix}").resolve())
            if page is not None:
                node.replace_self(page_link(node, page, self.env.docname))


class BuiltinTypes(SphinxTransform):
    """Leave `type` in signatures alone: it would be taken for an attribute of that name."""

    default_priority = 5

    def apply(self, **kwargs: Any) -> None:
        """Replace references to names of Python itself by their text."""
        for node in list(self.document.findall(addnodes.pending_xref)):
            if node.get("refdomain") == "py" and hasattr(builtins, node["reftarget"]):
                node.replace_self(node.children)


class ShortContents(SphinxTransform):
    """Keep the names of a package out of the contents of its page: a table at its top has them."""

    default_priority = 820

    def apply(self, **kwargs: Any) -> None:
        """Take the names of a page of a package from the contents."""
        if self.env.docname.startswith("reference/api/astray-"):
            for signature in self.document.findall(addnodes.desc_signature):
                signature["_toc_name"] = ""


def page_link(node: nodes.Element, page: str, here: str) -> addnodes.pending_xref:
    """A link to a page with the content of another link, pictures included; resolved below."""
    link: addnodes.pending_xref = addnodes.pending_xref(
        "", refdomain="", reftype=REPOSITORY, reftarget=page, refdoc=here, refwarn=True
    )
    link += nodes.inline("", "", *(child.deepcopy() for child in node.children), classes=["doc"])
    return link


@cache
def repository_pages() -> dict[Path, str]:
    """The page of each file outside of docs/ that has one."""
    return {
        ROOT / "README.md": "index",
        ROOT / "CHANGELOG.md": "project/changelog",
        ROOT / "CONTRIBUTING.md": "project/contributing",
        ROOT / "examples": "gallery/index",
        **{program.file: program.page for program in programs()},
    }


class GlossaryTerms(SphinxTransform):
    """Make each term of the glossary a target, and an entry of the index that the search weighs.

    A term is a paragraph that begins with it in bold: `**Resampling.** Drawing new particles …`.
    """

    default_priority = 820

    def apply(self, **kwargs: Any) -> None:
        """Mark the terms of the glossary."""
        if self.env.docname != "reference/glossary":
            return
        for paragraph in list(self.document.findall(nodes.paragraph)):
            # MyST begins a paragraph with an empty text where it begins with bold.
            first = next((child for child in paragraph.children if child.astext()), None)
            if not (isinstance(first, nodes.strong) and TERM.fullmatch(first.astext())):
                continue
            term = first.astext().rstrip(".")
            anchor = f"term-{nodes.make_id(term)}"
            paragraph["ids"].append(anchor)
            entry = addnodes.index(entries=[("single", term, anchor, "main", None)])
            paragraph.parent.insert(paragraph.parent.index(paragraph), entry)


class TableEntries(SphinxTransform):
    """Make the names in the first column of generated tables entries of the index.

    So the search finds `gyro_density` and `/cmd_vel` where they are defined. Names that many kinds
    have, such as `rate`, are left out.
    """

    default_priority = 820

    def apply(self, **kwargs: Any) -> None:
        """Mark the rows of the tables of a page."""
        if not self.env.docname.startswith(NAMED_IN_TABLES):
            return
        marked = 0
        for table in list(self.document.findall(nodes.table)):
            for row in table.findall(nodes.row):
                first = next(iter(row.children[0].findall(nodes.literal)), None)
                name = first.astext() if first is not None else ""
                if name and parameter_uses().get(name, 1) <= MOST_USES:
                    marked += 1
                    anchor = f"row-{marked}-{nodes.make_id(name)}"
                    row.children[0]["ids"].append(anchor)
                    entry = ("single", name, anchor, "main", None)
                    table.parent.insert(table.parent.index(table), addnodes.index(entries=[entry]))


@cache
def parameter_uses() -> dict[str, int]:
    """How many kinds have a parameter of each name."""
    found: dict[str, int] = {}
    for cls in inventory.kind_classes():
        for parameter in parameters_of(cls):
            found[parameter.name] = found.get(parameter.name, 0) + 1
    return found


class WordLinks(SphinxPostTransform):
    """Make links of inline code that names something of the reference."""

    default_priority = 900

    def run(self, **kwargs: Any) -> None:
        """Change the inline code of a page."""
        builder = self.app.builder
        if builder.format != "html":
            return
        here, seen = self.env.docname, set[tuple[int, str]]()
        for node in list(self.document.findall(nodes.literal)):
            target = word_target(node.astext())
            section = _section(node)
            if target is None or target[0] == here or section is None:
                continue
            if (id(section), node.astext()) in seen:
                continue
            seen.add((id(section), node.astext()))
            page, anchor = target
            if page in self.env.found_docs:
                link = make_refnode(builder, here, page, anchor, [node.deepcopy()])
                node.parent.replace(node, link)


def _section(node: nodes.Node) -> nodes.Node | None:
    """The section of inline code; None where it is part of a heading, a link or a signature."""
    at = node.parent
    while at is not None and not isinstance(at, nodes.section):
        if isinstance(at, (nodes.title, nodes.reference, nodes.Admonition, addnodes.pending_xref)):
            return None
        if at.tagname in ("desc_signature", "term"):
            return None
        at = at.parent
    return at


@cache
def word_target(word: str) -> tuple[str, str] | None:
    """The page and the anchor of what inline code names, if it is in the reference."""
    return _targets().get(word.removesuffix("()"))


@cache
def _targets() -> dict[str, tuple[str, str]]:
    from astray.cli import astray as program

    found = {f"astray {name}": (f"reference/commands/{name}", "") for name in program.commands}
    for name in inventory.names().values():
        found[name.full] = (name.page, name.full)
    for package in inventory.packages():
        if package != "astray.errors":
            found[package] = (inventory.package_page(package), "")
    kinds: dict[str, list[str]] = {}
    for cls, page in inventory.kind_classes().items():
        kinds.setdefault(cls.kind, []).append(page)
    for kind, pages in kinds.items():
        if len(pages) == 1 and kind not in AMBIGUOUS:
            found[kind] = (pages[0], "")
    return found


def _resolve(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.TextElement
) -> nodes.Element | None:
    """Resolve a link to a file of the repository, or a name of Python to the public one."""
    if node.get("reftype") == REPOSITORY and node["reftarget"] in env.found_docs:
        return make_refnode(app.builder, node["refdoc"], node["reftarget"], "", content)
    if node.get("refdomain") != "py":
        return None
    target = _public_objects().get(node["reftarget"])
    if target is None:
        # A private type is named without a link; a name that does not exist is a warning.
        return content if _exists(node["reftarget"]) else None
    page, anchor = target
    return make_refnode(app.builder, node["refdoc"], page, anchor, content)


def _exists(name: str) -> bool:
    """Whether a full name is that of something in a module of astray."""
    module, _, short = name.rpartition(".")
    return name.startswith("astray.") and hasattr(sys.modules.get(module), short)


@cache
def _public_objects() -> dict[str, tuple[str, str]]:
    """The page and anchor of each public class and function, by the name of its own module."""
    found = {}
    for name in inventory.names().values():
        if name.kind != "data":
            module, qualified = (
                getattr(name.value, "__module__", ""),
                getattr(name.value, "__qualname__", ""),
            )
            found[f"{module}.{qualified}"] = (name.page, name.full)
            found.setdefault(qualified, (name.page, name.full))
    return found
