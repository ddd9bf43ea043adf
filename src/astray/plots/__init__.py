"""Pictures of runs and maps with matplotlib, which is imported when one is drawn."""

from astray.plots.map import draw_map, plot_map
from astray.plots.notebook import frame_html, in_notebook, shown_in_notebooks
from astray.plots.paths import BELIEF, COLOURS, DASHES, OVER_TRUTHS, faintness, opaque, plot_paths

__all__ = [
    "BELIEF",
    "COLOURS",
    "DASHES",
    "OVER_TRUTHS",
    "draw_map",
    "faintness",
    "frame_html",
    "in_notebook",
    "opaque",
    "plot_map",
    "plot_paths",
    "shown_in_notebooks",
]
