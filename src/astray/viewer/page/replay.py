"""A recording on the page: served, or as one file that holds all it needs."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from astray.files import atomic_write
from astray.viewer.page.server import PageServer, index, static_text

IMPORT = re.compile(r'^import \{ ([\w, ]+) \} from "\./(\w+)\.js";$', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?(?:class|function|const) (\w+))", re.MULTILINE)


class ReplayServer(PageServer):
    """Serves a packed recording and the page that plays it."""

    def __init__(
        self,
        packed: bytes,
        *,
        port: int = 0,
        token: str | None = None,
        log: Callable[[str], None],
    ) -> None:
        async def page(request: Request) -> Response:
            return index("replay")

        async def recording(request: Request) -> Response:
            return Response(packed, media_type="application/octet-stream")

        routes = [Route("/", page), Route("/recording", recording)]
        super().__init__(routes, port=port, token=token, log=log)


def write_html(packed: bytes, goal: Path) -> None:
    """Write the page with its style, its program and the recording in one file."""
    text = self_contained(packed).encode()
    with atomic_write(goal) as stream:
        stream.write(text)


def self_contained(packed: bytes) -> str:
    """The page as one text, which a strict policy allows to run just itself."""
    style, program = static_text("style.css"), f"\n{bundle('main')}"
    policy = (
        f"default-src 'none'; script-src '{_digest(program)}'; style-src '{_digest(style)}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    # Elements that the program sizes by its own hand are no inline styles to a policy.
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    data = base64.b64encode(packed).decode()
    carrier = f'<script id="recording" type="application/octet-stream">{data}</script>\n'
    text = static_text("index.html").replace("{{mode}}", "file")
    text = re.sub(r'<link rel="icon"[^>]*>\n', "", text)
    text = text.replace(
        '<link rel="stylesheet" href="static/style.css">', f"{head}<style>{style}</style>"
    )
    script = '<script type="module" src="static/main.js"></script>'
    text = text.replace(script, "")
    return text.replace("</body>", f'{carrier}<script type="module">{program}</script>\n</body>')


def bundle(name: str) -> str:
    """A module and all that it imports as one, each in a function of its own."""
    done: list[str] = []
    return "".join(_wrapped(name, done))


def _wrapped(name: str, done: list[str]) -> list[str]:
    if name in done:
        return []
    text, made = static_text(f"{name}.js"), []
    done.append(name)
    for needed in IMPORT.finditer(text):
        made += _wrapped(needed[2], done)
    exports = ", ".join(found[2] for found in EXPORT.finditer(text))
    body = IMPORT.sub(r"const { \1 } = module_\2;", EXPORT.sub(r"\1", text))
    return [*made, f"const module_{name} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();\n"]


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
