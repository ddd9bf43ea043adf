"""Parameters that are drawn: any number of a scenario may be a distribution instead.

    radius: {normal: [0.05, 0.0005]}    mean and standard deviation, truncated at five of them
    radius: {uniform: [0.049, 0.051]}   from low to high
    radius: {choice: [0.049, 0.051]}    one of these

A value is drawn per world, episode and robot. The drawn value is the truth; the nominal value is
that of the datasheet, which is all that estimators get.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import numpy as np

from astray.errors import PluginError
from astray.numerics import random
from astray.tables import Array, Rows, Table

TRUNCATION = 5.0  # standard deviations, so that the bounds of a parameter can be checked


class DrawnParameter:
    """A parameter that is a distribution; arithmetic with it raises an error: read `params`."""

    @property
    def nominal(self) -> float:
        """The value of the datasheet."""
        raise TypeError

    def sample(self, address: Table, rows: Rows, key: np.uint64) -> Array:
        """Draw one value per row, (len(rows),)."""
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
    """A normal distribution, truncated at five standard deviations."""

    mean: float
    sd: float

    @property
    def nominal(self) -> float:
        """The mean."""
        return self.mean

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest value that can be drawn."""
        return self.mean - TRUNCATION * self.sd, self.mean + TRUNCATION * self.sd

    def sample(self, address: Table, rows: Rows, key: np.uint64) -> Array:
        """Draw one value per row, (len(rows),)."""
        normal = np.empty((len(rows), 1))
        random.normals_all(normal, address, rows, key)
        return self.mean + self.sd * np.clip(normal[:, 0], -TRUNCATION, TRUNCATION)


@dataclass(frozen=True)
class Uniform(DrawnParameter):
    """A uniform distribution from low to high."""

    low: float
    high: float

    @property
    def nominal(self) -> float:
        """The middle."""
        return 0.5 * (self.low + self.high)

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest value that can be drawn."""
        return self.low, self.high

    def sample(self, address: Table, rows: Rows, key: np.uint64) -> Array:
        """Draw one value per row, (len(rows),)."""
        uniform = np.empty((len(rows), 1))
        random.uniforms_all(uniform, address, rows, key)
        return self.low + (self.high - self.low) * uniform[:, 0]


@dataclass(frozen=True)
class Choice(DrawnParameter):
    """One of some values, with equal probability."""

    values: tuple[float, ...]

    @property
    def nominal(self) -> float:
        """The first value."""
        return self.values[0]

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest value that can be drawn."""
        return min(self.values), max(self.values)

    def sample(self, address: Table, rows: Rows, key: np.uint64) -> Array:
        """Draw one value per row, (len(rows),)."""
        uniform = np.empty((len(rows), 1))
        random.uniforms_all(uniform, address, rows, key)
        return np.asarray(self.values)[(uniform[:, 0] * len(self.values)).astype(np.int64)]


Distribution: TypeAlias = Normal | Uniform | Choice
Number: TypeAlias = float | Distribution


def nominal(value: Any) -> Any:
    """The value of the datasheet.

    Args:
        value: A parameter, which may be a distribution.

    Returns:
        The nominal value of a distribution; any other value itself.
    """
    return value.nominal if isinstance(value, DrawnParameter) else value


def sample_values(
    value: Number, address: Table, rows: Rows, seed: int, *names: str
) -> Array | float:
    """Draw a number for some rows, if it is a distribution.

    Args:
        value: A number or a distribution.
        address: ADDRESS, (n,).
        rows: Indices, (k,).
        seed: The seed of the run.
        *names: What the key of the noise is made of, see `numerics.random.key`.

    Returns:
        (k,) where it is drawn, else the number.
    """
    if not isinstance(value, DrawnParameter):
        return value
    return value.sample(address, rows, random.key(seed, *names))


def parse(written: object) -> Number:
    """Parse a number or a distribution.

    Args:
        written: What a scenario has: a number, {"normal": [mean, sd]}, {"uniform": [low, high]} or
            {"choice": [...]}.

    Returns:
        A float or a distribution.

    Raises:
        ValueError: It is neither; the text says what is wrong.
    """
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
        raise ValueError(f"unknown distribution {name!r}: normal, uniform or choice")
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


def to_scenario(value: Number) -> object:
    """The number or distribution as a scenario has it: the inverse of `parse`.

    Args:
        value: A number or a distribution.

    Returns:
        A number, or a mapping with one key.
    """
    match value:
        case Normal(mean, sd):
            return {"normal": [mean, sd]}
        case Uniform(low, high):
            return {"uniform": [low, high]}
        case Choice(values):
            return {"choice": list(values)}
        case _:
            return value
