"""Check the built site: all pages are there, links lead somewhere, nothing comes from elsewhere.

    python docs/check_site.py docs/_build/html

`make docs` does so after each build. It prints what is wrong and then exits with 1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

DOCS = Path(__file__).resolve().parent
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"""The attributes that a browser loads without a click."""
SEARCHED = ("jacobian", "reset", "resampl", "relat", "publish", "checkpoint", "ray", "cast")
"""Stems of words that the search has to know."""


class Page(HTMLParser):
    """The links, the loaded files and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what a tag loads, where it leads, and its anchors."""
        values = dict(attrs)
        self.anchors |= {value for key in ("id", "name") if (value := values.get(key))}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"] or "")
        if tag in LOADED and values.get(LOADED[tag]) and values.get("rel") != "canonical":
            self.loaded.append(values[LOADED[tag]] or "")


def faults_of(site: Path) -> Iterator[str]:
    """What is wrong with a site, a line each."""
    files = {
        file: Page(file.read_text(encoding="utf-8"))
        for file in sorted(site.rglob("*.html"))
        if "_static" not in file.parts
    }
    for name in pages():
        if site / f"{name}.html" not in files:
            yield f"{name}: the page is missing"
    for file, page in files.items():
        name = file.relative_to(site).as_posix()
        for url in page.loaded:
            if urlsplit(url).scheme not in ("", "data") or url.startswith("//"):
                yield f"{name}: loads {url} from elsewhere"
        for url in (*page.links, *page.loaded):
            yield from broken(url, file, name, files)
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        if "@import" in text or "url(http" in text or "url(//" in text:
            yield f"{style.relative_to(site)}: loads something from elsewhere"
    index = (site / "searchindex.js").read_text(encoding="utf-8").lower()
    yield from (f"the search does not know {word!r}" for word in SEARCHED if word not in index)
    shown = " ".join(files[site / "gallery" / "index.html"].loaded)
    for picture in sorted((DOCS / "pictures" / "gallery").glob("*.png")):
        if f"/{picture.name}" not in shown:
            yield f"gallery/index.html: {picture.name} is not shown"


def broken(url: str, file: Path, name: str, files: dict[Path, Page]) -> Iterator[str]:
    """Whether a link within the site leads nowhere."""
    parts = urlsplit(url)
    if parts.scheme or parts.netloc:
        return
    target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    anchor = unquote(parts.fragment)
    if not target.exists():
        yield f"{name}: {url} leads nowhere"
    elif anchor and target in files and anchor not in files[target].anchors:
        yield f"{name}: {url} has no such anchor"


def pages() -> list[str]:
    """The pages that a site has to have, by their path without suffix."""
    sys.path.insert(0, str(DOCS / "_extensions"))
    from astray_site import GENERATED_FOLDERS, generated_pages

    left_out = [DOCS / "_build", *(DOCS / folder for folder in GENERATED_FOLDERS)]
    written = [p for p in DOCS.rglob("*.md") if not any(p.is_relative_to(f) for f in left_out)]
    return [*generated_pages(), *(p.relative_to(DOCS).with_suffix("").as_posix() for p in written)]


if __name__ == "__main__":
    found = list(faults_of(Path(sys.argv[1]).resolve()))
    print("\n".join(found) or "The site is complete, and loads nothing from elsewhere.")
    sys.exit(1 if found else 0)
