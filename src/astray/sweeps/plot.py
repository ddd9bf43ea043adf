"""A sweep as a picture: a panel per metric, what was varied along x, 95 % intervals as bands."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from astray.plots import COLOURS, DASHES
from astray.sweeps.cases import as_text
from astray.sweeps.results import Key, Sweep, are_numbers, interval
from astray.tables import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_COLUMNS = 3  # panels side by side
TWO_DECADES = 99.9  # times the least value that the largest is, roundly, on a logarithmic axis
WIDTH = 0.075  # inches that a letter of a legend takes
ASIDE = 0.3  # over which bars of one word stand side by side, of the way to the next word
STYLES = ("-", *DASHES)


def plot_sweep(sweep: Sweep) -> Figure:
    """Each metric over the first varied path; how worlds spread, if nothing was varied."""
    from matplotlib.figure import Figure

    worlds = sweep.worlds()
    keys = list(dict.fromkeys(key for case in worlds.values() for key in case))
    metrics = list(dict.fromkeys(key.metric for key in keys))
    columns = max(1, min(MOST_COLUMNS, len(metrics)))
    rows = max(1, -(-len(metrics) // columns))
    figure = Figure(figsize=(max(6.4, 4.6 * columns), 1.2 + 3.6 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, metric in itertools.zip_longest(panels, metrics):
        if metric is None:
            axes.set_axis_off()
            continue
        mine = [key for key in keys if key.metric == metric]
        if sweep.plan.vary:
            _draw_over_varied(axes, sweep, mine)
        else:
            _draw_spread(axes, sweep, mine)
        axes.grid(alpha=0.25)
    handles = {label: line for axes in panels for line, label in zip(*_legend(axes), strict=True)}
    if handles:
        labels = list(handles)
        widest = WIDTH * (8 + max(map(len, labels)))  # with its line
        ways = max(1, min(len(labels), int(figure.get_figwidth() / widest)))
        figure.legend(
            handles.values(), labels, loc="outside lower center", ncols=ways, fontsize="small"
        )
    figure.suptitle(_title(sweep), fontsize="medium")
    return figure


def _legend(axes: Axes) -> Any:
    return axes.get_legend_handles_labels()


def _title(sweep: Sweep) -> str:
    cases = len(sweep.plan.cases)
    several = f"{cases} cases of " if cases > 1 else ""
    about = ", 95 % intervals of the mean" if sweep.plan.vary else ""
    return f"{sweep.plan.scenario}: {several}{sweep.plan.worlds} worlds{about}"


def _measure(sweep: Sweep, metric: str) -> str:
    """What stands at the axis of a metric: position_error, rms in m."""
    about = sweep.plan.metrics.get(metric)
    if about is None:
        return f"{metric} per world"
    return f"{metric}, {about['average']}" + (f" in {about['unit']}" if about["unit"] else "")


def _label(sweep: Sweep, key: Key, others: dict[str, Any]) -> str:
    """Whose belief a line is about, and what else was varied."""
    names = {who for (_, found), who in sweep.names().items() if found == key}
    who = names.pop() if len(names) == 1 else key.subject
    about = f"{key.group}: {who}" if who != "truth" else key.group
    more = ", ".join(f"{path.rpartition('.')[2]}={as_text(v)}" for path, v in others.items())
    return f"{about}, {more}" if more else about


def _draw_over_varied(axes: Axes, sweep: Sweep, keys: list[Key]) -> None:
    """A line per belief and combination of what else was varied."""
    path, *rest = sweep.plan.vary
    values, cases = sweep.plan.vary[path], sweep.plan.values()
    places = np.array(values, float) if are_numbers(values) else np.arange(len(values))
    others = len(cases) // len(values)
    colours = list(itertools.product(dict.fromkeys(key.group for key in keys), range(others)))
    lines = list(itertools.product(range(others), keys))
    for k, (other, key) in enumerate(lines):
        colour = COLOURS[colours.index((key.group, other)) % len(COLOURS)]
        label = _label(sweep, key, {name: cases[other][name] for name in rest})
        x, mean, low, high = _points(sweep, key, places, range(other, len(cases), others))
        look: Any = {"color": colour, "lw": 1.6, "ls": _style(key, keys), "label": label}
        if are_numbers(values):
            axes.fill_between(x, low, high, color=colour, alpha=0.2, lw=0)
            axes.plot(x, mean, marker="o", ms=4, **look)
        else:
            x = x + ASIDE * ((k + 0.5) / len(lines) - 0.5)
            axes.errorbar(x, mean, (mean - low, high - mean), marker="o", ms=5, capsize=4, **look)
    if not are_numbers(values):
        axes.set_xticks(places, [as_text(value) for value in values])
        axes.set_xlim(-0.5, len(values) - 0.5)
    elif places.min() > 0.0 and places.max() > TWO_DECADES * places.min():
        axes.set_xscale("log")
    axes.set(xlabel=path, ylabel=_measure(sweep, keys[0].metric))


def _points(sweep: Sweep, key: Key, places: Array, cases: range) -> Array:
    """Place, mean, low and high of the cases that have something to tell, in order, (4, n)."""
    worlds = sweep.worlds()
    found = []
    for place, case in zip(places.tolist(), cases, strict=True):
        if key in worlds.get(case, {}):
            about = interval(worlds[case][key])
            mean = about["mean"]
            ends = (mean if about[end] is None else about[end] for end in ("low", "high"))
            found.append((place, mean, *ends))
    return np.array(sorted(found)).reshape(-1, 4).T


def _style(key: Key, keys: list[Key]) -> str:
    subjects = list(dict.fromkeys(k.subject for k in keys if k.group == key.group))
    return STYLES[subjects.index(key.subject) % len(STYLES)]


def _draw_spread(axes: Axes, sweep: Sweep, keys: list[Key]) -> None:
    """The share of worlds below each value."""
    worlds = sweep.worlds().get(0, {})
    groups = list(dict.fromkeys(key.group for key in keys))
    for key in keys:
        values = np.sort(list(worlds.get(key, {}).values()))
        share = (np.arange(len(values)) + 0.5) / max(1, len(values))
        colour, label = COLOURS[groups.index(key.group) % len(COLOURS)], _label(sweep, key, {})
        axes.plot(values, 100 * share, _style(key, keys), color=colour, lw=1.6, label=label)
    axes.set(xlabel=_measure(sweep, keys[0].metric), ylabel="worlds below, %", ylim=(0, 100))
