"""The Sphinx extension of this site: pages made from the code, and links from words to them.

    pages.py           every generated page: its name and its text
    api.py             the public names of the packages
    kinds.py           a page for each kind of plugin
    commands.py        a page for each command
    scenario_keys.py   the keys of a scenario, from its schema
    ros_interface.py   topics, messages and services
    examples.py        the numbered programs, which the gallery shows
    play.py            recorded runs that play in the browser
    docstrings.py      docstrings as reStructuredText and as Markdown
    links.py           links to files of the repository, from words to pages, and to types
    markdown.py        tables, code blocks and headings

Nothing is written by hand that the code says: `generated_pages()` reads the classes, the commands
and the schema. The pages are written when a build begins, into folders that git ignores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from astray_site.pages import GENERATED_FOLDERS, generated_pages

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["GENERATED_FOLDERS", "generated_pages", "setup"]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension.

    Args:
        app: The Sphinx application.

    Returns:
        What Sphinx wants to know about an extension.
    """
    from astray_site import docstrings, links, pages, play

    app.connect("builder-inited", pages.write_pages)
    app.connect("builder-inited", play.write_recordings)
    app.connect("build-finished", play.copy_recordings)
    docstrings.setup(app)
    links.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
