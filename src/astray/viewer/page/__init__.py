"""The live page: a run in a browser, and its replay."""

from astray.viewer.page.codec import pack
from astray.viewer.page.live_view import View, view_run
from astray.viewer.page.replay import ReplayServer, write_html

__all__ = ["ReplayServer", "View", "pack", "view_run", "write_html"]
