"""In a notebook: whether we are in one, the page in a frame of its own, and figures."""

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
    """Whether this program runs in Jupyter, as opposed to a terminal or a script."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return found is not None and "IPKernelApp" in found.config


def frame_html(url: str, height: int = HEIGHT) -> str:
    """A frame that shows the page at an address."""
    return (
        f'<iframe src="{escape(url)}" title="astray" width="100%" height="{height}" '
        'style="border:0;border-radius:8px" allow="fullscreen"></iframe>'
    )


def shown_in_notebooks(figure: Figure) -> Figure:
    """Let a notebook draw a figure that pyplot, which it knows, has no part in."""
    figure._repr_png_ = functools.partial(_png, figure)  # type: ignore[attr-defined]
    return figure


def _png(figure: Figure) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=96)
    return out.getvalue()
