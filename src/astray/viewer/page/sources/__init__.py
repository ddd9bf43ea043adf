"""Recordings for the page, read from a run folder or from an MCAP file."""

from astray.viewer.page.sources.mcap import read_recorded
from astray.viewer.page.sources.run_folder import read_folder

__all__ = ["read_folder", "read_recorded"]
