"""Figures of runs and maps. Matplotlib is imported when the first figure is plotted."""

from astray.plots.map import draw_map, plot_map
from astray.plots.notebook import iframe_html, in_notebook, with_png_repr
from astray.plots.paths import (
    BELIEF_COLOUR,
    BELIEF_ZORDER,
    COLOURS,
    DASHES,
    opaque_legend,
    path_alpha,
    plot_paths,
)

__all__ = [
    "BELIEF_COLOUR",
    "BELIEF_ZORDER",
    "COLOURS",
    "DASHES",
    "draw_map",
    "iframe_html",
    "in_notebook",
    "opaque_legend",
    "path_alpha",
    "plot_map",
    "plot_paths",
    "with_png_repr",
]
