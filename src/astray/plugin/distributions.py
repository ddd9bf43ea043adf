"""Parameters that are drawn: any number of a scenario may be a distribution instead.

    radius: {normal: [0.05, 0.0005]}    mean and standard deviation, cut off at five of them
    radius: {uniform: [0.049, 0.051]}   from low to high
    radius: {choice: [0.049, 0.051]}    one of these

A value is drawn per world, life and robot. What was drawn is the truth; the nominal value is
what a datasheet would say, and all that estimators are told.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

import numpy as np

from astray.errors import PluginError
from astray.numerics import random
from astray.tables import Array, Rows, Table

CUT = 5.0  # standard deviations: a positive parameter can then be promised to stay positive


class DrawnParameter:
    """A distribution is not a number: a plugin that computes with one is told what to read."""

    @property
    def nominal(self) -> float:
        """What a datasheet says."""
        raise TypeError

    def sample(self, address: Table, rows: Rows, key: np.uint64) -> Array:
        """One value per row."""
        raise TypeError

    def _refuse(self, *others: object, **options: object) -> NoReturn:
        raise PluginError(
            f"this parameter is drawn per robot ({self}): read self.params[name][rows], "
            "not self.name"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _refuse
    __pow__ = __rpow__ = __neg__ = __pos__ = __abs__ = __round__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __float__ = __int__ = __index__ = _refuse
    __array_ufunc__ = _refuse


@dataclass(frozen=True)
class Normal(DrawnParameter):
    """A bell curve, cut off at five standard deviations."""

    mean: float
    sd: float

    @property
    def nominal(self) -> float:
        """The mean."""
        return self.mean

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest value that can be drawn."""
        return self.mean - CUT * self.sd, self.mean + CUT * self.sd

    def sample(self, address: Table, rows: Rows, key: np.uint64) -> Array:
        """One value per row."""
        error = np.empty((len(rows), 1))
        random.normals_all(error, address, rows, key)
        return self.mean + self.sd * np.clip(error[:, 0], -CUT, CUT)


@dataclass(frozen=True)
class Uniform(DrawnParameter):
    """Any value from low to high alike."""

    low: float
    high: float

    @property
    def nominal(self) -> float:
        """The middle."""
        return 0.5 * (self.low + self.high)

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest value that can be drawn."""
        return self.low, self.high

    def sample(self, address: Table, rows: Rows, key: np.uint64) -> Array:
        """One value per row."""
        share = np.empty((len(rows), 1))
        random.uniforms_all(share, address, rows, key)
        return self.low + (self.high - self.low) * share[:, 0]


@dataclass(frozen=True)
class Choice(DrawnParameter):
    """One of a few values, each as likely."""

    values: tuple[float, ...]

    @property
    def nominal(self) -> float:
        """The first, which the author put first for a reason."""
        return self.values[0]

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest value that can be drawn."""
        return min(self.values), max(self.values)

    def sample(self, address: Table, rows: Rows, key: np.uint64) -> Array:
        """One value per row."""
        share = np.empty((len(rows), 1))
        random.uniforms_all(share, address, rows, key)
        return np.asarray(self.values)[(share[:, 0] * len(self.values)).astype(np.int64)]


Distribution: TypeAlias = Normal | Uniform | Choice
Number: TypeAlias = float | Distribution


def nominal(value: Number) -> float:
    """What a datasheet says of a number that may be drawn."""
    return value.nominal if isinstance(value, DrawnParameter) else value


def values_of(value: Number, address: Table, rows: Rows, seed: int, *names: str) -> Array | float:
    """A value per row where it is drawn, by a key of these names, else the one value."""
    if not isinstance(value, DrawnParameter):
        return value
    return value.sample(address, rows, random.key(seed, *names))


def parse(written: object) -> Number:
    """Read a number or a distribution as a scenario spells it; ValueError says what is wrong."""
    if isinstance(written, Normal | Uniform | Choice):
        return written
    if isinstance(written, dict):
        return _parse_distribution(written)
    return _parse_number(written)


def _parse_number(written: object) -> float:
    if isinstance(written, bool) or not isinstance(written, (int, float)):
        raise ValueError(f"a number is needed, not {written!r}")
    try:
        number = float(written)
    except OverflowError:
        raise ValueError("a number below 1e308 is needed") from None
    if not math.isfinite(number):
        raise ValueError(f"a finite number is needed, not {written}")
    return number


def _parse_distribution(written: dict[object, object]) -> Distribution:
    if len(written) != 1:
        raise ValueError("a distribution has one key: normal, uniform or choice")
    ((name, values),) = written.items()
    if name not in ("normal", "uniform", "choice"):
        raise ValueError(f"no distribution {name!r}: normal, uniform or choice")
    if not isinstance(values, (list, tuple)) or not values:
        raise ValueError(f"{name} needs a list of numbers")
    numbers = tuple(_parse_number(value) for value in values)
    if name == "choice":
        return Choice(numbers)
    if len(numbers) != 2:
        raise ValueError(f"{name} needs two numbers, not {len(numbers)}")
    if name == "normal":
        if numbers[1] < 0.0:
            raise ValueError("normal needs [mean, sd] with sd >= 0")
        return Normal(*numbers)
    if numbers[0] > numbers[1]:
        raise ValueError("uniform needs [low, high] with low <= high")
    return Uniform(*numbers)


def written(value: Number) -> object:
    """The number or distribution as a scenario spells it."""
    match value:
        case Normal(mean, sd):
            return {"normal": [mean, sd]}
        case Uniform(low, high):
            return {"uniform": [low, high]}
        case Choice(values):
            return {"choice": list(values)}
        case _:
            return value
