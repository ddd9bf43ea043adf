"""In a notebook: whether we are in one, and the page in a frame of its own."""

from __future__ import annotations

import sys
from html import escape

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
