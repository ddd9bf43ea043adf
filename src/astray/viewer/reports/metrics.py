"""What a report counts: one line of figures for each robot and each belief about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from astray.tables import Array
from astray.viewer.reports.source import SIGMAS, Story, Tale


@dataclass(frozen=True)
class MetricLine:
    """The figures of one belief about one robot; nan where there is nothing to tell."""

    robot: str
    who: str
    way: float  # m
    rmse: float  # m
    most: float  # m
    final: float  # m
    heading_rmse: float  # rad
    nees: float  # on average; 3 for a belief that knows how wrong it is
    outside: float  # share of beliefs with an error beyond three sigma in x, y or yaw


HEADINGS = {
    "robot": ("robot", ""),
    "who": ("believes by", ""),
    "way": ("way", "m"),
    "rmse": ("rms error", "m"),
    "most": ("largest", "m"),
    "final": ("at the end", "m"),
    "heading_rmse": ("heading rms", "rad"),
    "nees": ("mean NEES", ""),
    "outside": ("beyond 3σ", "%"),
}


def line(tale: Tale, called: str) -> MetricLine:
    """The figures of one tale."""
    steps = np.hypot(np.diff(tale.truth["x"]), np.diff(tale.truth["y"]))
    nees = tale.nees[np.isfinite(tale.nees)]
    said = np.isfinite(tale.sigmas).all(axis=1)
    beyond = (np.abs(tale.errors[said]) > SIGMAS * tale.sigmas[said]).any(axis=1)
    return MetricLine(
        tale.robot,
        called,
        float(steps.sum()),
        _rms(tale.distance),
        float(tale.distance.max()),
        float(tale.distance[-1]),
        _rms(tale.errors[:, 2]),
        float(nees.mean()) if len(nees) else float("nan"),
        float(beyond.mean()) if said.any() else float("nan"),
    )


def lines(story: Story) -> list[MetricLine]:
    """The figures of every tale of a run."""
    return [line(tale, story.called(tale.group, tale.who)) for tale in story.tales]


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def cells(found: MetricLine) -> list[str]:
    """A line as texts."""
    numbers = (found.rmse, found.most, found.final, found.heading_rmse)
    texts = [f"{found.way:.1f}", *(f"{value:.3f}" for value in numbers)]
    texts.append("–" if np.isnan(found.nees) else f"{found.nees:.2f}")
    texts.append("–" if np.isnan(found.outside) else f"{100 * found.outside:.1f}")
    return [found.robot, found.who, *texts]


def table_text(found: list[MetricLine]) -> str:
    """All lines as CSV, in full precision; what is not known is empty."""
    names = list(HEADINGS)
    rows = [",".join(names)]
    for one in found:
        values = [getattr(one, name) for name in names]
        rows.append(",".join("" if value != value else str(value) for value in values))
    return "\n".join(rows) + "\n"
