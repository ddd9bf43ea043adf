"""Every generated page: its name and its text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

GENERATED_FOLDERS = (
    "gallery/programs",
    "project",
    "reference/api",
    "reference/commands",
    "reference/kinds",
    "reference/ros",
    "reference/schema",
)
"""The folders of docs/ in which every file is generated; git ignores them."""


def generated_pages() -> dict[str, str]:
    """Make all pages.

    Returns:
        The Markdown of each page, by its path in docs/ without suffix.
    """
    from astray_site import api, commands, examples, kinds, ros_interface, scenario_keys
    from astray_site.markdown import join

    found = {
        **api.pages(),
        **kinds.pages(),
        **commands.pages(),
        **scenario_keys.pages(),
        **ros_interface.pages(),
        **{program.page: examples.program_page(program) for program in examples.programs()},
    }
    for name in ("CHANGELOG", "CONTRIBUTING"):
        text = (examples.ROOT / f"{name}.md").read_text(encoding="utf-8")
        found[f"project/{name.lower()}"] = join(text.replace("](docs/", "](../"))
    return found


def write_pages(app: Sphinx) -> None:
    """Write the pages into the source folder; those that have not changed are left alone."""
    source = Path(app.srcdir)
    pages = generated_pages()
    for folder in GENERATED_FOLDERS:
        for old in (source / folder).rglob("*.md"):
            if old.relative_to(source).with_suffix("").as_posix() not in pages:
                old.unlink()
    for name, text in pages.items():
        file = source / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
