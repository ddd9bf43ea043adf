"""Units: what `90 deg`, `5 km/h` and `0.3 deg/√h` are in m, rad and s.

A unit is a product of symbols, each with an exponent: `m/s²`, `m/s^2`, `deg/h/√Hz`, `deg/sqrt(h)`.
Radians count as a dimension, so that `1/s` is no turn rate. What a parameter is measured in says
the comment behind its field: it begins with the unit, or with the entries of a list and the unit.

    speed: float = 0.5  # m/s, at most
    goals: list[tuple[float, float]]  # [x, y] m
    mounts: list[tuple[float, float, float]]  # [x m, y m, yaw rad]
"""

from __future__ import annotations

import functools
import math
import re
from fractions import Fraction
from typing import NamedTuple

from astray.errors import suggest

Dimensions = tuple[Fraction, Fraction, Fraction]
"""The exponents of m, rad and s."""


class Unit(NamedTuple):
    """A unit: its size in SI, in two factors so that `7 cm` is 0.07 to the last bit."""

    rational: Fraction
    irrational: float
    dimensions: Dimensions

    def times(self, other: Unit, exponent: Fraction) -> Unit:
        """The product with a power of another unit; the exponent is a multiple of 1/2."""
        rational, irrational = other.rational, other.irrational
        if exponent.denominator == 2:
            root = math.isqrt(rational.numerator), math.isqrt(rational.denominator)
            if Fraction(root[0] ** 2, root[1] ** 2) == rational:
                rational, irrational = Fraction(*root), math.sqrt(irrational)
            else:
                rational, irrational = Fraction(1), math.sqrt(irrational * float(rational))
            whole = exponent.numerator
        else:
            whole = int(exponent)
        powers = [a + exponent * b for a, b in zip(self.dimensions, other.dimensions, strict=True)]
        return Unit(
            self.rational * rational**whole,
            self.irrational * irrational**whole,
            (powers[0], powers[1], powers[2]),
        )


def _unit(size: str, m: int = 0, rad: int = 0, s: int = 0, pi: bool = False) -> Unit:
    dimensions = Fraction(m), Fraction(rad), Fraction(s)
    return Unit(Fraction(size), math.pi if pi else 1.0, dimensions)


SI = {
    "1": _unit("1"),
    "m": _unit("1", m=1),
    "rad": _unit("1", rad=1),
    "s": _unit("1", s=1),
    "Hz": _unit("1", s=-1),
}
SYMBOLS = {
    **SI,
    "km": _unit("1000", m=1),
    "cm": _unit("1/100", m=1),
    "mm": _unit("1/1000", m=1),
    "in": _unit("0.0254", m=1),
    "ft": _unit("0.3048", m=1),
    "mi": _unit("1609.344", m=1),
    "mrad": _unit("1/1000", rad=1),
    "deg": _unit("1/180", rad=1, pi=True),
    "°": _unit("1/180", rad=1, pi=True),
    "rev": _unit("2", rad=1, pi=True),
    "ms": _unit("1/1000", s=1),
    "us": _unit("1/1000000", s=1),
    "µs": _unit("1/1000000", s=1),
    "min": _unit("60", s=1),
    "h": _unit("3600", s=1),
    "kHz": _unit("1000", s=-1),
    "rpm": _unit("1/30", rad=1, s=-1, pi=True),
    "mph": _unit("0.44704", m=1, s=-1),
    "kn": _unit("1852/3600", m=1, s=-1),
    "g": _unit("9.80665", m=1, s=-2),
    "mg": _unit("0.00980665", m=1, s=-2),
    "ug": _unit("0.00000980665", m=1, s=-2),
    "µg": _unit("0.00000980665", m=1, s=-2),
}
EXAMPLES = (
    *("m", "cm", "mm", "km", "in", "ft", "rad", "deg", "mrad", "s", "ms", "min", "h", "Hz", "kHz"),
    *("m/s", "km/h", "cm/s", "mm/s", "mph", "kn", "rad/s", "deg/s", "deg/h", "rpm"),
    *("m/s²", "cm/s²", "g", "mg", "rad/s²", "deg/s²", "1/s", "1/min"),
    *("rad/s/√Hz", "deg/s/√Hz", "deg/√h", "m/s²/√Hz", "mg/√Hz", "µg/√Hz", "m/s/√h"),
)
"""What errors list, in this order, of the dimensions that are needed."""
OTHER_NAMES = {
    **dict.fromkeys(("degree", "degrees", "º"), "deg"),
    **dict.fromkeys(("radian", "radians"), "rad"),
    **dict.fromkeys(("meter", "meters", "metre", "metres"), "m"),
    **dict.fromkeys(("centimeter", "centimeters", "centimetre", "centimetres"), "cm"),
    **dict.fromkeys(("kilometer", "kilometers", "kilometre", "kilometres"), "km"),
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("msec", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("kph", "kmh", "kmph"), "km/h"),
    **dict.fromkeys(("mps",), "m/s"),
    **dict.fromkeys(("hz", "HZ", "hertz"), "Hz"),
    **dict.fromkeys(("khz",), "kHz"),
    **dict.fromkeys(("inch", "inches"), "in"),
    **dict.fromkeys(("foot", "feet"), "ft"),
    **dict.fromkeys(("knot", "knots", "kt", "kts"), "kn"),
}
"""Names that people write, and the unit to suggest."""

NUMBER = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
QUANTITY = re.compile(rf"({NUMBER})\s*([^\s\d.].*)")
QUANTITY_PATTERN = rf"^{NUMBER}\s*[^\s\d.].*$"
"""The pattern of a number with a unit, for the JSON schema."""
FACTOR = re.compile(r"(√?)(1|[A-Za-zµ°]+)(?:\^?(-?[0-9]|[²³]))?")
POWERS = {None: 1, "²": 2, "³": 3}
ENTRIES = re.compile(r"\[([^\[\]]*)\]\s*")


class BadUnit(ValueError):
    """A text that is no quantity of the unit that is needed; says what would be right."""


@functools.lru_cache(maxsize=1024)
def parse_unit(text: str) -> Unit | None:
    """The unit that a text names; None if there is none of that name."""
    unit, text = SI["1"], re.sub(r"sqrt\((\w+)\)", r"√\1", text)
    for k, part in enumerate(re.split(r"\s*([*·/])\s*", "*" + text.strip())[1:]):
        if k % 2 == 0:
            sign = -1 if part == "/" else 1
            continue
        factor = FACTOR.fullmatch(part)
        if factor is None or factor[2] not in SYMBOLS:
            return None
        power = Fraction(POWERS.get(factor[3]) or int(factor[3]), 2 if factor[1] else 1)
        unit = unit.times(SYMBOLS[factor[2]], sign * power)
    return unit


def units_of_comment(comment: str) -> tuple[str, ...]:
    """The units that a field's comment begins with.

    Args:
        comment: The comment behind the field.

    Returns:
        One unit for all its numbers; several, one for each entry of a list; or none.
    """
    entries = ENTRIES.match(comment)
    if entries:
        units = tuple(_si_unit(entry.strip().partition(" ")[2]) for entry in entries[1].split(","))
        if all(units):
            return units
        comment = comment[entries.end() :]
    words = re.split(r"[\s,;:]+", comment, maxsplit=3)
    unit = _si_unit(words[0])
    if len(words) > 2 and words[1] == "and" and _si_unit(words[2]):
        return ()  # of several numbers in one
    return (unit,) if unit else ()


def _si_unit(text: str) -> str:
    """The text, if it is a unit made of m, rad, s and Hz; else empty."""
    symbols = re.findall(r"[A-Za-zµ°]+", text)
    return text if symbols and set(symbols) <= set(SI) and parse_unit(text) else ""


def is_quantity(text: str) -> bool:
    """Whether a text is a number and something behind it."""
    return QUANTITY.fullmatch(text.strip()) is not None


def convert_quantity(text: str, unit: str) -> float:
    """A number with a unit as a number in another one.

    Args:
        text: A number and a unit, "90 deg".
        unit: The unit that is needed; empty for a number that has none.

    Returns:
        The number in that unit.

    Raises:
        BadUnit: There is no such unit, or it measures something else.
    """
    found = QUANTITY.fullmatch(text.strip())
    assert found is not None, "is_quantity has been asked"
    number, written = found[1], found[2].strip()
    needed = parse_unit(unit) if unit else None
    if needed is None:
        raise BadUnit(f"has no unit: a plain number is needed, not {text!r}")
    given = parse_unit(written)
    if given is None or given.dimensions != needed.dimensions:
        raise BadUnit(_explain(text, written, unit, needed.dimensions, known=given is not None))
    return _product(number, given)


def _explain(text: str, written: str, unit: str, dimensions: Dimensions, known: bool) -> str:
    """Why a written unit is wrong, and which ones are right."""
    right = [name for name in EXAMPLES if _dimensions(name) == dimensions] or [unit]
    other = OTHER_NAMES.get(written, "")
    hint = f"; did you mean {other!r}?" if other in right else suggest(written, right)
    listed = f"{hint} ({', '.join(right)})"
    if known:
        return f"a value in {unit} is needed, not {text!r}{listed}"
    return f"unknown unit {written!r} in {text!r}{listed}"


def _dimensions(name: str) -> Dimensions | None:
    unit = parse_unit(name)
    return unit.dimensions if unit else None


def _product(number: str, unit: Unit) -> float:
    value = float(number)
    if not 1e-290 < abs(value) < 1e290:  # its fraction may have any number of digits
        return value * float(unit.rational) * unit.irrational
    return float(Fraction(number) * unit.rational) * unit.irrational
