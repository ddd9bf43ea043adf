"""The figure of a run: true paths solid, beliefs dashed, and position errors over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from astray.engine import Paths
from astray.plots.map import draw_map
from astray.world import Map

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.legend import Legend

# The palette of Okabe and Ito, which colour-blind people can tell apart.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
DASHES = ("--", ":", "-.")
MAX_PANELS = 4  # groups with a panel of their own; more share one
BELIEF_COLOUR = "#222222"
BELIEF_ZORDER = 2.5  # beliefs are drawn over the truths of all groups


def plot_paths(paths: Sequence[Paths], background: Map | None = None) -> Figure:
    """Plot paths on the map, a panel per group, and position errors over time below.

    Args:
        paths: The logged paths of each group.
        background: The map to draw behind them.

    Returns:
        A matplotlib figure.
    """
    from matplotlib.figure import Figure

    shared = len(paths) > MAX_PANELS
    columns = 1 if shared else len(paths)
    has_errors = any(group.errors for group in paths)
    size = (max(7.0, 3.8 * columns), 7.0 if has_errors else 4.0)
    figure = Figure(figsize=size, layout="constrained")
    heights = (1.25, 1.0) if has_errors else (1.0,)
    parts: Any = figure.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    maps = parts[0].subplots(1, columns, squeeze=False, sharex=True, sharey=True)[0]
    for k, group in enumerate(paths):
        colour = COLOURS[k % len(COLOURS)]
        axes = maps[0 if shared else k]
        if background is not None and len(background) and (k == 0 or not shared):
            draw_map(axes, background, places=False)
        _draw_paths(axes, group, colour)
        axes.set(xlabel="x in m", title="" if shared else group.group)
        axes.set_aspect("equal", adjustable="box")
    maps[0].set_ylabel("y in m")
    if has_errors:
        _draw_errors(parts[1].subplots(), paths)
    for axes in figure.axes:
        axes.grid(alpha=0.25)
    for part in parts:
        _add_legend(part, max_columns=max(4, columns + 1))
    return figure


def _add_legend(part: SubFigure, max_columns: int) -> None:
    """Add the legend below the axes, where it covers no path."""
    count = sum(len(axes.get_legend_handles_labels()[0]) for axes in part.axes)
    if count:
        rows = -(-count // max_columns)
        style: Any = {"fontsize": "small", "frameon": False, "ncols": -(-count // rows)}
        opaque_legend(part.legend(loc="outside lower center", **style))


def path_alpha(robots: int) -> float:
    """The alpha of one path among those of so many robots."""
    return 1.0 if robots <= 4 else max(0.15, 4.0 / robots)


def opaque_legend(legend: Legend) -> None:
    """Draw the lines of a legend opaque, whatever the alpha of the paths."""
    for line in legend.get_lines():
        line.set_alpha(1.0)


def _draw_paths(axes: Axes, group: Paths, colour: str) -> None:
    robots = group.truth.shape[1]
    alpha = path_alpha(robots)
    for row in range(robots):
        label = f"{group.group}: truth" if row == 0 else None
        x, y = group.truth[:, row, 0], group.truth[:, row, 1]
        axes.plot(x, y, color=colour, alpha=alpha, lw=1.8, label=label)
        axes.plot(x[0], y[0], "o", color=colour, alpha=alpha, ms=4)
        axes.plot(x[-1], y[-1], "s", color=colour, alpha=alpha, ms=5)
        for k, (name, belief) in enumerate(group.beliefs.items()):
            label = f"{group.group}: {name}" if row == 0 else None
            dash = DASHES[k % len(DASHES)]
            x, y = belief[:, row, 0], belief[:, row, 1]
            style: Any = {"alpha": alpha, "zorder": BELIEF_ZORDER}
            axes.plot(x, y, dash, color=BELIEF_COLOUR, lw=1.1, label=label, **style)
            ends = np.stack([group.truth[-1, row, :2], belief[-1, row, :2]])
            axes.plot(ends[:, 0], ends[:, 1], color="#888888", lw=0.8, **style)


def _draw_errors(axes: Axes, paths: Sequence[Paths]) -> None:
    for k, group in enumerate(paths):
        _draw_group_errors(axes, group, COLOURS[k % len(COLOURS)])
    axes.set(xlabel="time in s", ylabel="position error in m")
    axes.set_ylim(bottom=0.0)


def _draw_group_errors(axes: Axes, group: Paths, colour: str) -> None:
    for k, (name, error) in enumerate(group.errors.items()):
        dash = DASHES[k % len(DASHES)] if k else "-"  # no truth here: the first one is solid
        robots = error.shape[1]
        if robots > 1:
            axes.plot(group.time, error, dash, color=colour, alpha=max(0.1, 1.0 / robots), lw=0.8)
        rms = np.sqrt((error**2).mean(axis=1))
        label = f"{group.group}: {name}" + (" (rms)" if robots > 1 else "")
        axes.plot(group.time, rms, dash, color=colour, lw=1.8, label=label)
