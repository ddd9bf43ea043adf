"""Reports: a run as one HTML file with figures and metrics."""

from astray.viewer.reports.figures import DrawnFigures, draw
from astray.viewer.reports.metrics import lines, table_text
from astray.viewer.reports.report_page import report_page
from astray.viewer.reports.source import Story, read_story

__all__ = ["DrawnFigures", "Story", "draw", "lines", "read_story", "report_page", "table_text"]
