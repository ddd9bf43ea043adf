"""The figure of a sweep: a panel per metric, the first varied path along x, 95 % intervals."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from astray.plots import COLOURS, DASHES
from astray.sweeps.cases import yaml_text
from astray.sweeps.results import MetricKey, Sweep, are_numbers, mean_interval
from astray.tables import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_COLUMNS = 3  # panels side by side
TWO_DECADES = 99.9  # largest by least value, above which the axis is logarithmic
CHARACTER_WIDTH = 0.075  # inches, in a legend
BAR_SPREAD = 0.3  # width of the bars of one text value, in distances between values
LINE_STYLES = ("-", *DASHES)


def plot_sweep(sweep: Sweep) -> Figure:
    """Plot each metric over the first varied path; without one, the distribution."""
    from matplotlib.figure import Figure

    values = sweep.world_values()
    keys = list(dict.fromkeys(key for case in values.values() for key in case))
    metrics = list(dict.fromkeys(key.metric for key in keys))
    columns = max(1, min(MAX_COLUMNS, len(metrics)))
    rows = max(1, -(-len(metrics) // columns))
    figure = Figure(figsize=(max(6.4, 4.6 * columns), 1.2 + 3.6 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, metric in itertools.zip_longest(panels, metrics):
        if metric is None:
            axes.set_axis_off()
            continue
        of_metric = [key for key in keys if key.metric == metric]
        if sweep.plan.vary:
            _draw_means(axes, sweep, of_metric)
        else:
            _draw_distribution(axes, sweep, of_metric)
        axes.grid(alpha=0.25)
    _add_legend(figure, panels)
    figure.suptitle(_title(sweep), fontsize="medium")
    return figure


def _add_legend(figure: Figure, panels: Any) -> None:
    """Add one legend for all panels below them."""
    handles: dict[str, Any] = {}
    for axes in panels:
        lines, labels = axes.get_legend_handles_labels()
        handles |= dict(zip(labels, lines, strict=True))
    if handles:
        widest = CHARACTER_WIDTH * (8 + max(map(len, handles)))  # with its line
        columns = max(1, min(len(handles), int(figure.get_figwidth() / widest)))
        figure.legend(
            handles.values(),
            list(handles),
            loc="outside lower center",
            ncols=columns,
            fontsize="small",
        )


def _title(sweep: Sweep) -> str:
    cases = len(sweep.plan.cases)
    several = f"{cases} cases of " if cases > 1 else ""
    intervals = ", 95 % intervals of the mean" if sweep.plan.vary else ""
    return f"{sweep.plan.scenario}: {several}{sweep.plan.worlds} worlds{intervals}"


def _axis_label(sweep: Sweep, metric: str) -> str:
    """The label of a metric's axis: position_error, rms in m."""
    about = sweep.plan.metrics.get(metric)
    if about is None:
        return f"{metric} per world"
    return f"{metric}, {about['average']}" + (f" in {about['unit']}" if about["unit"] else "")


def _line_label(sweep: Sweep, key: MetricKey, varied: dict[str, Any]) -> str:
    """The group and belief of a line, and the values of the other varied paths."""
    names = {name for (_, found), name in sweep.belief_names().items() if found == key}
    belief = names.pop() if len(names) == 1 else key.subject
    label = f"{key.group}: {belief}" if belief != "truth" else key.group
    more = ", ".join(f"{path.rpartition('.')[2]}={yaml_text(v)}" for path, v in varied.items())
    return f"{label}, {more}" if more else label


def _draw_means(axes: Axes, sweep: Sweep, keys: list[MetricKey]) -> None:
    """Draw a line per belief and combination of the other varied paths."""
    path, *other_paths = sweep.plan.vary
    values, cases = sweep.plan.vary[path], sweep.plan.case_values()
    positions = np.array(values, float) if are_numbers(values) else np.arange(len(values))
    combinations = len(cases) // len(values)  # of the other paths
    groups = dict.fromkeys(key.group for key in keys)
    coloured = list(itertools.product(groups, range(combinations)))
    lines = list(itertools.product(range(combinations), keys))
    for k, (combination, key) in enumerate(lines):
        colour = COLOURS[coloured.index((key.group, combination)) % len(COLOURS)]
        varied = {name: cases[combination][name] for name in other_paths}
        of_line = range(combination, len(cases), combinations)
        x, mean, low, high = _points(sweep, key, positions, of_line)
        style: Any = {"color": colour, "lw": 1.6, "ls": _line_style(key, keys)}
        style["label"] = _line_label(sweep, key, varied)
        if are_numbers(values):
            axes.fill_between(x, low, high, color=colour, alpha=0.2, lw=0)
            axes.plot(x, mean, marker="o", ms=4, **style)
        else:
            x = x + BAR_SPREAD * ((k + 0.5) / len(lines) - 0.5)
            axes.errorbar(x, mean, (mean - low, high - mean), marker="o", ms=5, capsize=4, **style)
    if not are_numbers(values):
        axes.set_xticks(positions, [yaml_text(value) for value in values])
        axes.set_xlim(-0.5, len(values) - 0.5)
    elif positions.min() > 0.0 and positions.max() > TWO_DECADES * positions.min():
        axes.set_xscale("log")
    axes.set(xlabel=path, ylabel=_axis_label(sweep, keys[0].metric))


def _points(sweep: Sweep, key: MetricKey, positions: Array, cases: range) -> Array:
    """Position, mean, low and high of the cases that have results, in order, (4, n)."""
    values = sweep.world_values()
    points = []
    for x, case in zip(positions.tolist(), cases, strict=True):
        if key in values.get(case, {}):
            found = mean_interval(values[case][key])
            mean = found["mean"]
            ends = (mean if found[end] is None else found[end] for end in ("low", "high"))
            points.append((x, mean, *ends))
    return np.array(sorted(points)).reshape(-1, 4).T


def _line_style(key: MetricKey, keys: list[MetricKey]) -> str:
    subjects = list(dict.fromkeys(k.subject for k in keys if k.group == key.group))
    return LINE_STYLES[subjects.index(key.subject) % len(LINE_STYLES)]


def _draw_distribution(axes: Axes, sweep: Sweep, keys: list[MetricKey]) -> None:
    """Draw the share of worlds below each value."""
    of_key = sweep.world_values().get(0, {})
    groups = list(dict.fromkeys(key.group for key in keys))
    for key in keys:
        values = np.sort(list(of_key.get(key, {}).values()))
        share = (np.arange(len(values)) + 0.5) / max(1, len(values))
        colour, label = COLOURS[groups.index(key.group) % len(COLOURS)], _line_label(sweep, key, {})
        style = _line_style(key, keys)
        axes.plot(values, 100 * share, style, color=colour, lw=1.6, label=label)
    axes.set(xlabel=_axis_label(sweep, keys[0].metric), ylabel="worlds below, %", ylim=(0, 100))
