"""What a page draws from: a live run, a run folder or a recording."""

from astray.viewer.page.sources.mcap import read_recorded
from astray.viewer.page.sources.run_folder import read_folder
from astray.viewer.page.sources.source import ReplaySource

__all__ = ["ReplaySource", "read_folder", "read_recorded"]
