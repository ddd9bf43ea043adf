"""A recording on the page: served, or as one file that holds all it needs."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from astray.files import atomic_write
from astray.server import LogLine
from astray.viewer.page.server import PageServer, index, static_text

IMPORT = re.compile(r'^import \{ ([\w, ]+) \} from "\./(\w+)\.js";$', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?(?:class|function|const) (\w+))", re.MULTILINE)


class ReplayServer(PageServer):
    """Serves an encoded recording and the page that plays it.

    Args:
        encoded: The bytes of `encode_recording`.
        port: Where the page is served; a free port if it is 0.
        token: The token in the page's address; a random one if none is given.
        log: Is given a line for each refused client.
    """

    def __init__(
        self, encoded: bytes, *, port: int = 0, token: str | None = None, log: LogLine
    ) -> None:
        async def page(request: Request) -> Response:
            return index("replay")

        async def recording(request: Request) -> Response:
            return Response(encoded, media_type="application/octet-stream")

        routes = [Route("/", page), Route("/recording", recording)]
        super().__init__(routes, port=port, token=token, log=log)


def write_html(encoded: bytes, file: Path) -> None:
    """Write one HTML file with the page, its style, its scripts and a recording.

    Args:
        encoded: The bytes of `encode_recording`.
        file: Where to write; it is complete or not there at all.
    """
    text = self_contained(encoded).encode()
    with atomic_write(file) as stream:
        stream.write(text)


def self_contained(encoded: bytes) -> str:
    """The page as one text, with a content security policy that allows only its own script."""
    style, script = static_text("style.css"), f"\n{bundle('main')}"
    # Styles that the script sets on elements are no inline styles to a policy.
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    data = base64.b64encode(encoded).decode()
    recording = f'<script id="recording" type="application/octet-stream">{data}</script>\n'
    text = static_text("index.html").replace("{{mode}}", "file")
    text = re.sub(r'<link rel="icon"[^>]*>\n', "", text)
    text = text.replace(
        '<link rel="stylesheet" href="static/style.css">', f"{head}<style>{style}</style>"
    )
    text = text.replace('<script type="module" src="static/main.js"></script>', "")
    return text.replace("</body>", f'{recording}<script type="module">{script}</script>\n</body>')


def bundle(name: str) -> str:
    """A script module and all that it imports as one text, each in a function of its own."""
    return "".join(_wrapped(name, []))


def _wrapped(name: str, done: list[str]) -> list[str]:
    """A module and those that it imports and that are not done yet, imported ones first."""
    if name in done:
        return []
    text, modules = static_text(f"{name}.js"), list[str]()
    done.append(name)
    for imported in IMPORT.finditer(text):
        modules += _wrapped(imported[2], done)
    exports = ", ".join(export[2] for export in EXPORT.finditer(text))
    body = IMPORT.sub(r"const { \1 } = module_\2;", EXPORT.sub(r"\1", text))
    return [*modules, f"const module_{name} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();\n"]


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
