"""Reports: a run as one HTML page with figures and metrics."""

from astray.viewer.reports.figures import ReportFigure, draw_figures
from astray.viewer.reports.report_data import (
    ReportData,
    compute_metrics,
    metrics_csv,
    read_report_data,
)
from astray.viewer.reports.report_page import report_page

__all__ = [
    "ReportData",
    "ReportFigure",
    "compute_metrics",
    "draw_figures",
    "metrics_csv",
    "read_report_data",
    "report_page",
]
