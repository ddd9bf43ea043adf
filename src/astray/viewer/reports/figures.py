"""The figures of a report: paths, errors with their bounds, consistency, histogram."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from astray.numerics import nees_band
from astray.plots import BELIEF, COLOURS, DASHES, OVER_TRUTHS, draw_map, faintness, opaque
from astray.tables import Array
from astray.viewer.reports.source import SIGMAS, Story, Tale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.0  # inches: two columns of a paper
MOST_LINES = 60  # robots of a group that are drawn; averages are over all of them
POINTS = 1500  # of a line; more is not seen
GRID = 400  # times at which robots are averaged
LABELS = ("x error in m", "y error in m", "heading error in rad")
STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "legend.fontsize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "axes.linewidth": 0.7,
    "pdf.fonttype": 42,  # text stays text, as publishers want it
}


class DrawnFigures(NamedTuple):
    """A figure, the name of its file, and what it shows."""

    name: str
    figure: Figure
    caption: str


def draw(story: Story) -> Iterator[DrawnFigures]:
    """Every figure of a report, one after the other."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        yield DrawnFigures("paths", paths(story), PATHS)
        for group in story.groups:
            many = len(story.groups) > 1
            name, of = (f"-{group}", f" of {group}") if many else ("", "")
            yield DrawnFigures(f"errors{name}", errors(story, group), f"Errors{of}. {ERRORS}")
        yield DrawnFigures("distance", distance(story), DISTANCE)
        if any(np.isfinite(tale.nees).any() for tale in story.tales):
            yield DrawnFigures("nees", consistency(story), NEES)
        yield DrawnFigures("histogram", histogram(story), HISTOGRAM)


PATHS = "True paths are solid and begin at the dot; believed ones are dashed."
ERRORS = "Each line is a robot; the band is three standard deviations as the beliefs have them."
DISTANCE = "Distance between belief and truth: root mean square over the robots."
NEES = (
    "Normalised estimation error squared, averaged over the robots. Honest beliefs stay within the "
    "band 95 % of the time; above it they are too sure of themselves."
)
HISTOGRAM = "How often belief and truth are how far apart; the last bar has all beyond it, too."


def paths(story: Story) -> Figure:
    """True and believed paths over the map."""
    from matplotlib.figure import Figure

    low, high = _extent(story)
    ratio = float(np.clip((high[1] - low[1]) / (high[0] - low[0]), 0.35, 1.2))
    figure = Figure(figsize=(WIDTH, WIDTH * ratio + 0.6), layout="constrained")
    axes = figure.subplots()
    if story.map is not None and len(story.map):
        draw_map(axes, story.map, places=False)
    for k, group in enumerate(story.groups):
        colour = COLOURS[k % len(COLOURS)]
        own = story.of(group)
        first = next(iter(own.values()))
        look: Any = {"lw": 1.4 if len(first) <= 4 else 0.9, "alpha": faintness(len(first))}
        for j, tale in enumerate(first[:MOST_LINES]):
            x, y = _thin(tale.truth["x"]), _thin(tale.truth["y"])
            axes.plot(x, y, color=colour, label=f"{group}: truth" if j == 0 else None, **look)
            axes.plot(x[0], y[0], "o", color=colour, ms=4, **look)
            axes.plot(x[-1], y[-1], "s", color=colour, ms=4, **look)
        for i, (who, tales) in enumerate(own.items()):
            if who == "belief" and story.estimators.get(group) is None:
                continue
            shade, style = (BELIEF, DASHES[0]) if who == "belief" else ("#777777", DASHES[i % 3])
            thinner = {**look, "lw": 0.65 * look["lw"], "zorder": OVER_TRUTHS}
            for j, tale in enumerate(tales[:MOST_LINES]):
                label = f"{group}: {story.called(group, who)}" if j == 0 else None
                x, y = _thin(tale.belief["x"]), _thin(tale.belief["y"])
                axes.plot(x, y, style, color=shade, label=label, **thinner)
    margin = 0.03 * max(high - low)
    axes.set(xlim=(low[0] - margin, high[0] + margin), ylim=(low[1] - margin, high[1] + margin))
    axes.set(xlabel="x in m", ylabel="y in m")
    axes.set_aspect("equal")
    _finish(axes, outside=True)
    return figure


def _extent(story: Story) -> tuple[Array, Array]:
    """The corners of all that there is to see: the map, else where robots were."""
    ends = [np.stack([t.truth["x"], t.truth["y"]], axis=1) for t in story.tales]
    ends += [np.stack([t.belief["x"], t.belief["y"]], axis=1) for t in story.tales]
    low, high = (f(np.concatenate(ends), axis=0) for f in (np.min, np.max))
    if story.map is not None and len(story.map):
        west, south, east, north = story.map.bounds
        # A belief that left the map by far shall not shrink it to a dot.
        room = 0.5 * max(east - west, north - south)
        low = np.maximum(np.minimum(low, (west, south)), (west - room, south - room))
        high = np.minimum(np.maximum(high, (east, north)), (east + room, north + room))
    centre, half = 0.5 * (low + high), np.maximum(0.5 * (high - low), 0.5)
    return centre - half, centre + half


def errors(story: Story, group: str) -> Figure:
    """Errors of x, y and heading over time, with what the beliefs say of them."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, 5.0), layout="constrained")
    panels: Any = figure.subplots(3, 1, sharex=True)
    tales = next(iter(story.of(group).values()))
    colour = COLOURS[story.groups.index(group) % len(COLOURS)]
    faint = min(1.0, max(0.25, 3.0 / len(tales)))
    times = _times(tales)
    for k, axes in enumerate(panels):
        bound = SIGMAS * _root_mean([(t.time, t.sigmas[:, k]) for t in tales], times)
        if np.isfinite(bound).any():
            axes.fill_between(times, -bound, bound, color=colour, alpha=0.15, lw=0, label="±3σ")
        for j, tale in enumerate(tales[:MOST_LINES]):
            label = story.called(group, tale.who) if j == 0 else None
            axes.plot(
                _thin(tale.time), _thin(tale.errors[:, k]), color=colour, lw=0.9, alpha=faint,
                label=label,
            )  # fmt: skip
        axes.axhline(0.0, color="#666666", lw=0.6)
        axes.set_ylabel(LABELS[k])
        _finish(axes, legend=k == 0)
    panels[-1].set_xlabel("time in s")
    figure.align_ylabels(panels)
    return figure


def distance(story: Story) -> Figure:
    """How far belief and truth are apart over time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, 2.8), layout="constrained")
    axes = figure.subplots()
    for group, who, tales, colour, style in _each(story):
        times = _times(tales)
        mean = _root_mean([(t.time, t.distance) for t in tales], times)
        axes.plot(times, mean, style, color=colour, lw=1.4, label=_label(story, group, who))
    axes.set(xlabel="time in s", ylabel="position error in m")
    axes.set_ylim(bottom=0.0)
    _finish(axes)
    return figure


def consistency(story: Story) -> Figure:
    """NEES over time with the band of honest beliefs."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, 2.8), layout="constrained")
    axes = figure.subplots()
    bands: dict[int, tuple[float, float]] = {}
    for group, who, tales, colour, style in _each(story):
        some = [t for t in tales if np.isfinite(t.nees).any()]
        if some:
            times = _times(some)
            mean = _mean([(t.time, t.nees) for t in some], times)
            axes.plot(times, mean, style, color=colour, lw=1.1, label=_label(story, group, who))
            bands.setdefault(len(some), nees_band(len(some)))
    for robots, (low, high) in bands.items():
        label = "95 % of " + ("one honest belief" if robots == 1 else f"the mean of {robots}")
        axes.axhspan(low, high, color="#009e73", alpha=0.15, lw=0, label=label)
    axes.axhline(3.0, color="#666666", lw=0.6)
    axes.set_yscale("log")
    axes.set(xlabel="time in s", ylabel="NEES")
    _finish(axes)
    return figure


def histogram(story: Story) -> Figure:
    """How often belief and truth are how far apart."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, 2.8), layout="constrained")
    axes = figure.subplots()
    every = np.concatenate([tale.distance for tale in story.tales])
    top = max(float(np.quantile(every, 0.995)), 1e-6)
    bins = np.linspace(0.0, top, 41).tolist()
    for group, who, tales, colour, style in _each(story):
        found = np.concatenate([tale.distance for tale in tales])
        share = np.full(len(found), 100.0 / len(found))
        kind: Any = "stepfilled" if who == "belief" else "step"
        axes.hist(
            found.clip(max=top), bins, weights=share, histtype=kind, color=colour, lw=1.1,
            alpha=0.45 if who == "belief" else 1.0, ls=style, label=_label(story, group, who),
        )  # fmt: skip
    axes.set(xlabel="position error in m", ylabel="share of beliefs in %", xlim=(0.0, top))
    _finish(axes)
    return figure


def _each(story: Story) -> Iterator[tuple[str, str, list[Tale], str, str]]:
    """Groups and their beliefs with the colour and style of each; those who err only."""
    for k, group in enumerate(story.groups):
        colour = COLOURS[k % len(COLOURS)]
        for i, (who, tales) in enumerate(story.of(group).items()):
            if who == "belief" and story.estimators.get(group) is None:
                continue
            yield group, who, tales, colour, "-" if who == "belief" else DASHES[i % len(DASHES)]


def _label(story: Story, group: str, who: str) -> str:
    return f"{group}: {story.called(group, who)}"


def _times(tales: Sequence[Tale]) -> Array:
    return np.linspace(min(t.time[0] for t in tales), max(t.time[-1] for t in tales), GRID)


def _mean(series: Sequence[tuple[Array, Array]], times: Array) -> Array:
    """The mean of several series at common times, of those that have a value then."""
    rows = np.stack([np.interp(times, t, v, np.nan, np.nan) for t, v in series])
    known = np.isfinite(rows)
    total = np.where(known, rows, 0.0).sum(axis=0)
    return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)


def _root_mean(series: Sequence[tuple[Array, Array]], times: Array) -> Array:
    return np.asarray(np.sqrt(_mean([(t, np.square(v)) for t, v in series], times)))


def _thin(values: Array) -> Array:
    step = max(1, len(values) // POINTS)
    return np.append(values[:-1:step], values[-1])


def _finish(axes: Axes, legend: bool = True, outside: bool = False) -> None:
    axes.grid(alpha=0.25, lw=0.5)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    handles = axes.get_legend_handles_labels()[0]
    if legend and handles:
        where: dict[str, Any] = {"loc": "best"}
        if outside:  # a map is full of lines: the legend goes above it
            where = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 4}
        opaque(axes.legend(framealpha=0.9, edgecolor="none", **where))
