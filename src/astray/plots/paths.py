"""Paths as a picture: truth solid, beliefs dashed, and how far apart they are over time."""

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

# Okabe and Ito's palette: told apart by colour-blind people, too.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
DASHES = ("--", ":", "-.")
MOST_PANELS = 4  # groups that get a map of their own
BELIEF = "#222222"
OVER_TRUTHS = 2.5  # zorder: beliefs are drawn over the truths of all groups


def plot_paths(paths: Sequence[Paths], around: Map | None = None) -> Figure:
    """Paths on the map, a panel per group, and below how far beliefs and truth are apart."""
    from matplotlib.figure import Figure

    shared = len(paths) > MOST_PANELS
    columns = 1 if shared else len(paths)
    erring = any(group.errors for group in paths)
    size = (max(7.0, 3.8 * columns), 7.0 if erring else 4.0)
    figure = Figure(figsize=size, layout="constrained")
    heights = (1.25, 1.0) if erring else (1.0,)
    parts: Any = figure.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    maps = parts[0].subplots(1, columns, squeeze=False, sharex=True, sharey=True)[0]
    for k, group in enumerate(paths):
        colour = COLOURS[k % len(COLOURS)]
        axes = maps[0 if shared else k]
        if around is not None and len(around) and (k == 0 or not shared):
            draw_map(axes, around, places=False)
        _draw_paths(axes, group, colour)
        axes.set(xlabel="x in m", title="" if shared else group.group)
        axes.set_aspect("equal", adjustable="box")
    maps[0].set_ylabel("y in m")
    if erring:
        _draw_errors(parts[1].subplots(), paths)
    for axes in figure.axes:
        axes.grid(alpha=0.25)
    for part in parts:
        _add_legend(part, most=max(4, columns + 1))
    return figure


def _add_legend(part: SubFigure, most: int) -> None:
    """Say what the lines are, below them: paths may go anywhere, and nothing is to cover them."""
    count = sum(len(axes.get_legend_handles_labels()[0]) for axes in part.axes)
    if count:
        rows = -(-count // most)
        look: Any = {"fontsize": "small", "frameon": False, "ncols": -(-count // rows)}
        opaque(part.legend(loc="outside lower center", **look))


def faintness(robots: int) -> float:
    """The alpha of the path of one of so many robots."""
    return 1.0 if robots <= 4 else max(0.15, 4.0 / robots)


def opaque(legend: Legend) -> None:
    """Show the lines of a legend in full, however faint those of many robots are."""
    for line in legend.get_lines():
        line.set_alpha(1.0)


def _draw_paths(axes: Axes, group: Paths, colour: str) -> None:
    robots = group.truth.shape[1]
    faint = faintness(robots)
    for row in range(robots):
        label = f"{group.group}: truth" if row == 0 else None
        x, y = group.truth[:, row, 0], group.truth[:, row, 1]
        axes.plot(x, y, color=colour, alpha=faint, lw=1.8, label=label)
        axes.plot(x[0], y[0], "o", color=colour, alpha=faint, ms=4)
        axes.plot(x[-1], y[-1], "s", color=colour, alpha=faint, ms=5)
        for k, (who, belief) in enumerate(group.beliefs.items()):
            label = f"{group.group}: {who}" if row == 0 else None
            style = DASHES[k % len(DASHES)]
            x, y = belief[:, row, 0], belief[:, row, 1]
            look: Any = {"alpha": faint, "zorder": OVER_TRUTHS}
            axes.plot(x, y, style, color=BELIEF, lw=1.1, label=label, **look)
            ends = np.stack([group.truth[-1, row, :2], belief[-1, row, :2]])
            axes.plot(ends[:, 0], ends[:, 1], color="#888888", lw=0.8, **look)


def _draw_errors(axes: Axes, paths: Sequence[Paths]) -> None:
    for k, group in enumerate(paths):
        _draw_error(axes, group, COLOURS[k % len(COLOURS)])
    axes.set(xlabel="time in s", ylabel="position error in m")
    axes.set_ylim(bottom=0.0)


def _draw_error(axes: Axes, group: Paths, colour: str) -> None:
    for k, (who, error) in enumerate(group.errors.items()):
        style = DASHES[k % len(DASHES)] if k else "-"  # there is no truth to tell it from
        if error.shape[1] > 1:
            axes.plot(
                group.time, error, style, color=colour, alpha=max(0.1, 1.0 / error.shape[1]), lw=0.8
            )
        mean = np.sqrt((error**2).mean(axis=1))
        label = f"{group.group}: {who}" + (" (rms)" if error.shape[1] > 1 else "")
        axes.plot(group.time, mean, style, color=colour, lw=1.8, label=label)
