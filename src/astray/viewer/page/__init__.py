"""The page of a run in a browser: live, or the replay of what was recorded.

`View` serves a live run, `ReplayServer` a recording, and `write_html` makes one file of it. The
package `sources` reads recordings.
"""

from astray.viewer.page.codec import encode_recording
from astray.viewer.page.replay import ReplayServer, write_html
from astray.viewer.page.view import View, view_run

__all__ = [
    "ReplayServer",
    "View",
    "encode_recording",
    "view_run",
    "write_html",
]
