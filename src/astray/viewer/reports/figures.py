"""The figures of a report: paths, errors with their bounds, consistency, histogram."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from astray.numerics import nees_band
from astray.plots import (
    BELIEF_COLOUR,
    BELIEF_ZORDER,
    COLOURS,
    DASHES,
    draw_map,
    opaque_legend,
    path_alpha,
)
from astray.tables import Array
from astray.viewer.reports.report_data import SIGMAS, BeliefSeries, ReportData

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.0  # inches: two columns of a paper
MAX_LINES = 60  # robots of a group that are drawn; averages are over all of them
MAX_POINTS = 1500  # of a line; more cannot be seen
GRID_SIZE = 400  # times at which robots are averaged
ERROR_LABELS = ("x error in m", "y error in m", "heading error in rad")
RIVAL_COLOUR = "#777777"
STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "legend.fontsize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "axes.linewidth": 0.7,
    "pdf.fonttype": 42,  # text stays text, as publishers require
}
PATHS = "True paths are solid and begin at the dot; believed ones are dashed."
ERRORS = "Each line is a robot; the band is three standard deviations as the beliefs claim them."
DISTANCE = "Distance between belief and truth: root mean square over the robots."
NEES = (
    "Normalised estimation error squared, averaged over the robots. Consistent beliefs stay within "
    "the band 95 % of the time; above it they are overconfident."
)
HISTOGRAM = "Distribution of the position error; the last bar includes all larger errors."


class ReportFigure(NamedTuple):
    """A figure, its file name without a suffix, and its caption."""

    name: str
    figure: Figure
    caption: str


def draw_figures(data: ReportData) -> Iterator[ReportFigure]:
    """Draw every figure of a report, one after the other."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        yield ReportFigure("paths", draw_paths(data), PATHS)
        for group in data.groups:
            several = len(data.groups) > 1
            suffix, of = (f"-{group}", f" of {group}") if several else ("", "")
            figure = draw_errors(data, group)
            yield ReportFigure(f"errors{suffix}", figure, f"Errors{of}. {ERRORS}")
        yield ReportFigure("distance", draw_distance(data), DISTANCE)
        if any(np.isfinite(series.nees).any() for series in data.series):
            yield ReportFigure("nees", draw_nees(data), NEES)
        yield ReportFigure("histogram", draw_histogram(data), HISTOGRAM)


def draw_paths(data: ReportData) -> Figure:
    """Draw the true and the believed paths over the map."""
    from matplotlib.figure import Figure

    low, high = _extent(data)
    ratio = float(np.clip((high[1] - low[1]) / (high[0] - low[0]), 0.35, 1.2))
    figure = Figure(figsize=(WIDTH, WIDTH * ratio + 0.6), layout="constrained")
    axes = figure.subplots()
    if data.map is not None and len(data.map):
        draw_map(axes, data.map, places=False)
    for k, group in enumerate(data.groups):
        _draw_group_paths(axes, data, group, COLOURS[k % len(COLOURS)])
    margin = 0.03 * max(high - low)
    axes.set(xlim=(low[0] - margin, high[0] + margin), ylim=(low[1] - margin, high[1] + margin))
    axes.set(xlabel="x in m", ylabel="y in m")
    axes.set_aspect("equal")
    _finish(axes, outside=True)
    return figure


def _draw_group_paths(axes: Axes, data: ReportData, group: str, colour: str) -> None:
    by_subject = data.series_of(group)
    first = next(iter(by_subject.values()))
    style: Any = {"lw": 1.4 if len(first) <= 4 else 0.9, "alpha": path_alpha(len(first))}
    for j, series in enumerate(first[:MAX_LINES]):
        x, y = _decimate(series.truth["x"]), _decimate(series.truth["y"])
        axes.plot(x, y, color=colour, label=f"{group}: truth" if j == 0 else None, **style)
        axes.plot(x[0], y[0], "o", color=colour, ms=4, **style)
        axes.plot(x[-1], y[-1], "s", color=colour, ms=4, **style)
    thinner = {**style, "lw": 0.65 * style["lw"], "zorder": BELIEF_ZORDER}
    for i, (subject, every) in enumerate(by_subject.items()):
        if _believes_truth(data, group, subject):
            continue
        is_own = subject == "belief"
        shade, dash = (BELIEF_COLOUR, DASHES[0]) if is_own else (RIVAL_COLOUR, DASHES[i % 3])
        for j, series in enumerate(every[:MAX_LINES]):
            label = _label(data, group, subject) if j == 0 else None
            x, y = _decimate(series.belief["x"]), _decimate(series.belief["y"])
            axes.plot(x, y, dash, color=shade, label=label, **thinner)


def _extent(data: ReportData) -> tuple[Array, Array]:
    """The corners of the figure of paths: those of the map, else of the paths."""
    points = [np.stack([s.truth["x"], s.truth["y"]], axis=1) for s in data.series]
    points += [np.stack([s.belief["x"], s.belief["y"]], axis=1) for s in data.series]
    low, high = (f(np.concatenate(points), axis=0) for f in (np.min, np.max))
    if data.map is not None and len(data.map):
        west, south, east, north = data.map.bounds
        # A belief far outside the map must not shrink the map to a dot.
        margin = 0.5 * max(east - west, north - south)
        low = np.maximum(np.minimum(low, (west, south)), (west - margin, south - margin))
        high = np.minimum(np.maximum(high, (east, north)), (east + margin, north + margin))
    centre, half = 0.5 * (low + high), np.maximum(0.5 * (high - low), 0.5)
    return centre - half, centre + half


def draw_errors(data: ReportData, group: str) -> Figure:
    """Draw the errors of x, y and heading over time, with the bounds that the beliefs claim."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, 5.0), layout="constrained")
    panels: Any = figure.subplots(3, 1, sharex=True)
    every = next(iter(data.series_of(group).values()))
    colour = COLOURS[data.groups.index(group) % len(COLOURS)]
    alpha = min(1.0, max(0.25, 3.0 / len(every)))
    times = _time_grid(every)
    for k, axes in enumerate(panels):
        bound = SIGMAS * _rms_over_robots([(s.time, s.sigmas[:, k]) for s in every], times)
        if np.isfinite(bound).any():
            axes.fill_between(times, -bound, bound, color=colour, alpha=0.15, lw=0, label="±3σ")
        for j, series in enumerate(every[:MAX_LINES]):
            label = data.belief_name(group, series.subject) if j == 0 else None
            x, y = _decimate(series.time), _decimate(series.errors[:, k])
            axes.plot(x, y, color=colour, lw=0.9, alpha=alpha, label=label)
        axes.axhline(0.0, color="#666666", lw=0.6)
        axes.set_ylabel(ERROR_LABELS[k])
        _finish(axes, legend=k == 0)
    panels[-1].set_xlabel("time in s")
    figure.align_ylabels(panels)
    return figure


def draw_distance(data: ReportData) -> Figure:
    """Draw the distance between belief and truth over time."""
    figure, axes = _wide_figure()
    for line in _belief_lines(data):
        times = _time_grid(line.series)
        rms = _rms_over_robots([(s.time, s.distance) for s in line.series], times)
        axes.plot(times, rms, line.dash, color=line.colour, lw=1.4, label=line.label)
    axes.set(xlabel="time in s", ylabel="position error in m")
    axes.set_ylim(bottom=0.0)
    _finish(axes)
    return figure


def draw_nees(data: ReportData) -> Figure:
    """Draw the NEES over time, with the 95 % band of consistent beliefs."""
    figure, axes = _wide_figure()
    bands: dict[int, tuple[float, float]] = {}
    for line in _belief_lines(data):
        with_nees = [s for s in line.series if np.isfinite(s.nees).any()]
        if with_nees:
            times = _time_grid(with_nees)
            mean = _mean_over_robots([(s.time, s.nees) for s in with_nees], times)
            axes.plot(times, mean, line.dash, color=line.colour, lw=1.1, label=line.label)
            bands.setdefault(len(with_nees), nees_band(len(with_nees)))
    for robots, (low, high) in bands.items():
        label = "95 % of " + ("one consistent belief" if robots == 1 else f"the mean of {robots}")
        axes.axhspan(low, high, color="#009e73", alpha=0.15, lw=0, label=label)
    axes.axhline(3.0, color="#666666", lw=0.6)
    axes.set_yscale("log")
    axes.set(xlabel="time in s", ylabel="NEES")
    _finish(axes)
    return figure


def draw_histogram(data: ReportData) -> Figure:
    """Draw the distribution of the distance between belief and truth."""
    figure, axes = _wide_figure()
    distances = np.concatenate([series.distance for series in data.series])
    top = max(float(np.quantile(distances, 0.995)), 1e-6)
    bins = np.linspace(0.0, top, 41).tolist()
    for line in _belief_lines(data):
        found = np.concatenate([series.distance for series in line.series])
        share = np.full(len(found), 100.0 / len(found))
        style: Any = {"histtype": "step", "alpha": 1.0}
        if line.subject == "belief":
            style = {"histtype": "stepfilled", "alpha": 0.45}
        style |= {"color": line.colour, "ls": line.dash, "lw": 1.1, "label": line.label}
        axes.hist(found.clip(max=top), bins, weights=share, **style)
    axes.set(xlabel="position error in m", ylabel="share of beliefs in %", xlim=(0.0, top))
    _finish(axes)
    return figure


class _BeliefLine(NamedTuple):
    """The series of one belief of a group, and the style of their line."""

    subject: str
    series: list[BeliefSeries]
    label: str
    colour: str
    dash: str


def _belief_lines(data: ReportData) -> Iterator[_BeliefLine]:
    """A line for each belief of each group that is not the truth itself."""
    for k, group in enumerate(data.groups):
        for i, (subject, series) in enumerate(data.series_of(group).items()):
            if not _believes_truth(data, group, subject):
                dash = "-" if subject == "belief" else DASHES[i % len(DASHES)]
                label, colour = _label(data, group, subject), COLOURS[k % len(COLOURS)]
                yield _BeliefLine(subject, series, label, colour, dash)


def _believes_truth(data: ReportData, group: str, subject: str) -> bool:
    """Whether a belief is the truth, because the group has no estimator."""
    return subject == "belief" and data.estimators.get(group) is None


def _label(data: ReportData, group: str, subject: str) -> str:
    return f"{group}: {data.belief_name(group, subject)}"


def _time_grid(series: Sequence[BeliefSeries]) -> Array:
    first, last = min(s.time[0] for s in series), max(s.time[-1] for s in series)
    return np.linspace(first, last, GRID_SIZE)


def _mean_over_robots(series: Sequence[tuple[Array, Array]], times: Array) -> Array:
    """The mean of series of (time, value) at common times, over those that have a value there."""
    rows = np.stack([np.interp(times, t, v, np.nan, np.nan) for t, v in series])
    known = np.isfinite(rows)
    total = np.where(known, rows, 0.0).sum(axis=0)
    return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)


def _rms_over_robots(series: Sequence[tuple[Array, Array]], times: Array) -> Array:
    return np.asarray(np.sqrt(_mean_over_robots([(t, np.square(v)) for t, v in series], times)))


def _decimate(values: Array) -> Array:
    """Every n-th value and the last one."""
    step = max(1, len(values) // MAX_POINTS)
    return np.append(values[:-1:step], values[-1])


def _wide_figure() -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, 2.8), layout="constrained")
    return figure, figure.subplots()


def _finish(axes: Axes, legend: bool = True, outside: bool = False) -> None:
    """Add grid and legend; outside puts the legend above the axes, where a map is full of lines."""
    axes.grid(alpha=0.25, lw=0.5)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if legend and axes.get_legend_handles_labels()[0]:
        position: dict[str, Any] = {"loc": "best"}
        if outside:
            position = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 4}
        opaque_legend(axes.legend(framealpha=0.9, edgecolor="none", **position))
