"""Support for Jupyter notebooks: detect one, embed the live page, display a figure."""

from __future__ import annotations

import functools
import io
import sys
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEIGHT = 620  # pixels


def in_notebook() -> bool:
    """Whether this process is a Jupyter kernel, not a terminal or a script."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return found is not None and "IPKernelApp" in found.config


def iframe_html(url: str, height: int = HEIGHT) -> str:
    """The HTML of a frame that shows the page at a URL; height in pixels."""
    return (
        f'<iframe src="{escape(url)}" title="astray" width="100%" height="{height}" '
        'style="border:0;border-radius:8px" allow="fullscreen"></iframe>'
    )


def with_png_repr(figure: Figure) -> Figure:
    """Let a notebook display a figure that was made without pyplot."""
    figure._repr_png_ = functools.partial(_to_png, figure)  # type: ignore[attr-defined]
    return figure


def _to_png(figure: Figure) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=96)
    return out.getvalue()
