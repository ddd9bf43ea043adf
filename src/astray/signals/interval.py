"""The intervals of a signal, checked when they are made.

constant    y_start; a y_end of its own is held after it
linear      from y_start to y_end
quadratic   the parabola through (t_start, y_start), (t_mid, y_mid) and (t_end, y_end)
step        y_start before t_mid, y_end from there on
sine        offset + amplitude sin(2π frequency (t − t_start) + phase)
samples     straight lines between points (t, y)
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from astray.errors import Problem, SignalError, SignalWarning, suggest
from astray.tables import Array

UNSET = math.nan


class SimType(Enum):
    """How an interval goes from its start to its end."""

    CONSTANT = "constant"
    LINEAR = "linear"
    QUADRATIC = "quadratic"
    STEP = "step"


EXTRA_FIELDS: dict[SimType, tuple[str, ...]] = {
    SimType.CONSTANT: (),
    SimType.LINEAR: ("y_end",),
    SimType.QUADRATIC: ("y_end", "t_mid", "y_mid"),
    SimType.STEP: ("y_end", "t_mid"),
}
"""The fields that each type has besides t_start, t_end and y_start."""
TYPE_NAMES = [kind.value for kind in SimType]


def sim_type(name: str) -> SimType | None:
    """The type of a name in upper or lower case; None if there is none."""
    return next((kind for kind in SimType if kind.value == name.lower()), None)


@dataclass(frozen=True)
class IntervalConfig:
    """A constant, linear, quadratic or step interval of a signal.

    A field that the type does not use is nan. A constant without y_end has that of y_start. An
    unknown type is taken as constant with a SignalWarning, as the document on the signal simulator
    says.

    Raises:
        SignalError: A field is missing, not finite or out of order.
    """

    type: SimType
    t_start: float  # s
    t_end: float  # s
    y_start: float
    y_end: float = UNSET
    t_mid: float = UNSET  # s; by default the middle
    y_mid: float = UNSET

    def __post_init__(self) -> None:
        if not isinstance(self.type, SimType):
            object.__setattr__(self, "type", self._known_type(self.type))
        if "t_mid" not in EXTRA_FIELDS[self.type]:
            object.__setattr__(self, "t_mid", UNSET)
        elif math.isnan(self.t_mid):
            middle = self.t_start + 0.5 * (self.t_end - self.t_start)
            object.__setattr__(self, "t_mid", middle)
        if "y_mid" not in EXTRA_FIELDS[self.type]:
            object.__setattr__(self, "y_mid", UNSET)
        if self.type is SimType.CONSTANT and math.isnan(self.y_end):
            object.__setattr__(self, "y_end", self.y_start)
        if problems := list(self._problems()):
            raise SignalError(problems)

    def _known_type(self, name: object) -> SimType:
        found = sim_type(str(name))
        if found is None:
            message = unknown_type_message(str(name), TYPE_NAMES)
            warnings.warn(message, SignalWarning, stacklevel=4)
        return found or SimType.CONSTANT

    def _problems(self) -> Iterator[Problem]:
        names = ("t_start", "t_end", "y_start", *EXTRA_FIELDS[self.type])
        if self.jumps_at_end and not math.isnan(self.y_start):
            names = (*names, "y_end")
        wrong = [name for name in names if not math.isfinite(getattr(self, name))]
        for name in wrong:
            value = getattr(self, name)
            missing = math.isnan(value) and name in ("y_end", "y_mid")
            message = f"needs {name!r}" if missing else f"a finite number is needed, not {value}"
            yield Problem(() if missing else (name,), message)
        if wrong:
            return
        if self.t_end < self.t_start:
            message = f"{self.t_end:g} s is before t_start, {self.t_start:g} s"
            yield Problem(("t_end",), message)
        elif self.t_end == self.t_start and self.type is not SimType.CONSTANT:
            message = f"a {self.type.value} interval needs a duration; only a constant may last 0 s"
            yield Problem(("t_end",), message)
        elif "t_mid" in EXTRA_FIELDS[self.type] and not self.t_start < self.t_mid < self.t_end:
            message = f"{self.t_mid:g} s is not between t_start and t_end, {self._span()}"
            yield Problem(("t_mid",), message)
        elif not math.isfinite(self._largest()):
            yield Problem((), "its values are too large for a double between its points")

    def _span(self) -> str:
        return f"{self.t_start:g} and {self.t_end:g} s"

    def _largest(self) -> float:
        """An upper bound of all intermediate results of the interval's formula."""
        length = self.t_end - self.t_start
        bound = abs(self.y_start) + abs(self.y_end) + length
        if self.type is SimType.QUADRATIC:
            before, after = self.t_mid - self.t_start, self.t_end - self.t_mid
            weights = (before * length, before * after, after * length)
            points = (self.y_start, self.y_mid, self.y_end)
            for y, weight in zip(points, weights, strict=True):
                bound += abs(y) * (length * length / weight) if weight else math.inf
        return bound

    @property
    def jumps_at_end(self) -> bool:
        """Whether it is a constant after which another value is held."""
        return self.type is SimType.CONSTANT and self.y_end != self.y_start

    def plain(self) -> dict[str, Any]:
        """The interval as plain data, as in a scenario."""
        names = ("t_start", "t_end", "y_start", *EXTRA_FIELDS[self.type])
        names = (*names, "y_end") if self.jumps_at_end else names
        return {"type": self.type.value, **{name: getattr(self, name) for name in names}}


def unknown_type_message(name: str, known: Iterable[str]) -> str:
    """The message for a type that does not exist."""
    return f"unknown type {name!r}, taken as constant{suggest(name.lower(), known)}"


@dataclass(frozen=True)
class Sine:
    """A sine that starts at t_start; without t_end it never ends.

    Raises:
        SignalError: A field is not finite, the frequency not positive, or the end not after the
            start.
    """

    amplitude: float
    frequency: float  # Hz
    phase: float = 0.0  # rad, at t_start
    offset: float = 0.0
    t_start: float = 0.0  # s
    t_end: float = math.inf  # s

    def __post_init__(self) -> None:
        problems = []
        for name in ("amplitude", "frequency", "phase", "offset", "t_start"):
            if not math.isfinite(getattr(self, name)):
                message = f"a finite number is needed, not {getattr(self, name)}"
                problems.append(Problem((name,), message))
        if not self.frequency > 0.0:
            problems.append(Problem(("frequency",), "must be greater than 0"))
        if not self.t_end > self.t_start:
            message = f"{self.t_end:g} s is not after t_start, {self.t_start:g} s"
            problems.append(Problem(("t_end",), message))
        if problems:
            raise SignalError(problems)

    def plain(self) -> dict[str, Any]:
        """The interval as plain data, as in a scenario."""
        names = ("amplitude", "frequency", "phase", "offset", "t_start")
        fields = {"type": "sine", **{name: getattr(self, name) for name in names}}
        return fields | ({} if math.isinf(self.t_end) else {"t_end": self.t_end})


@dataclass(frozen=True, eq=False)
class Samples:
    """Points with straight lines between them; two points at one time make a step.

    Raises:
        SignalError: There is no point, a point is not finite, or times decrease.
    """

    points: Array
    """Time in s and value of each point, (n, 2)."""
    source: dict[str, Any] = field(default_factory=dict)
    """The file of the points, as in a scenario."""

    def __post_init__(self) -> None:
        points: npt.NDArray[np.float64] = np.array(self.points, float)
        if points.ndim != 2 or points.shape[1] != 2 or not len(points):
            raise SignalError([Problem(("points",), "a list of [t, y] is needed")])
        wrong = np.flatnonzero(~np.isfinite(points).all(axis=1))
        decreasing = np.flatnonzero(np.diff(points[:, 0]) < 0.0) + 1
        problems = [Problem(("points", int(k)), "finite numbers are needed") for k in wrong]
        for k in decreasing:
            message = f"{points[k, 0]:g} s is before {points[k - 1, 0]:g} s"
            problems.append(Problem(("points", int(k)), message))
        if problems:
            raise SignalError(problems)
        with np.errstate(over="ignore"):
            too_large = not np.isfinite(np.diff(points, axis=0)).all()
        if too_large:
            raise SignalError([Problem(("points",), "too far apart for a double")])
        object.__setattr__(self, "points", points)

    @property
    def t_start(self) -> float:
        """The time of the first point, s."""
        return float(self.points[0, 0])

    @property
    def t_end(self) -> float:
        """The time of the last point, s."""
        return float(self.points[-1, 0])

    def plain(self) -> dict[str, Any]:
        """The samples as plain data, as in a scenario."""
        return dict(self.source) or {"type": "samples", "points": self.points.tolist()}


Interval: TypeAlias = IntervalConfig | Sine | Samples
