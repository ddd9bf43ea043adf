"""Elementary functions made of + − × ÷ √ alone, so that they give the same bytes on every machine.

Those of libm differ between systems, and numba's differ from Python's. Each function here is a
range reduction and a polynomial whose coefficients were fitted in 50 digits (relative error below
2⁻⁵⁷ before rounding). Measured against mpmath: sin, cos, exp, log within 1 ulp, atan2 within 2, tan
within 3, for angles up to 10⁵ rad. `floor`, `sqrt`, `frexp`, `ldexp` and `copysign` are exact
everywhere and are used as they are.
"""

from __future__ import annotations

import math

import numpy as np

from astray.numerics.kernels import inlined_kernel, kernel
from astray.tables import Array

PI = math.pi
TAU = 2.0 * math.pi
NAN = math.nan

# π/2 in three pieces of 33 bits: n times the first two is exact for |n| < 2²⁰.
HALF_PI_1 = 1.5707963267341256
HALF_PI_2 = 6.077100506303966e-11
HALF_PI_3 = 2.0222662487959506e-21
# ln 2 in two pieces, and the tails that the constants lose in double precision.
LN2_HIGH = 0.6931471804855391
LN2_LOW = 7.440617110012397e-11
HALF_PI = 1.5707963267948966
HALF_PI_TAIL = 6.123233995736766e-17
PI_TAIL = 1.2246467991473532e-16
ATAN_HALF = 0.4636476090008061
ATAN_HALF_TAIL = 2.2698777452961687e-17
ATAN_ONE = 0.7853981633974483
ATAN_ONE_TAIL = 3.061616997868383e-17
SQRT_HALF_BITS = 0x3FE6A09E667F3BCD  # of √½ as a double
SMALLEST_NORMAL = 2.2250738585072014e-308
TWO_54 = 18014398509481984.0
LOG_TWO_54 = 37.42994775023705
HUGE = 1e300
SHRINK = 2.0**-64
GROW = 2.0**200
MINUTE = 1e-250
CHUNK = 128  # rows per chunk, in kernels that process rows in passes
MAX_ANGLE = 1e15  # rad; the spacing of doubles above is no longer small against 2π


@inlined_kernel
def sincos_reduced(r: float, tail: float) -> tuple[float, float]:
    """Sine and cosine of r + tail in [−π/4, π/4]; tail is below the last digit of r."""
    z = r * r
    p = 1.605853141458901e-10 + z * -7.586685070091267e-13
    p = -0.0001984126984126506 + z * (
        2.7557319219335453e-06 + z * (-2.5052106231157904e-08 + z * p)
    )
    half = 0.5 * z
    s = r + (
        tail * (1.0 - half) + r * z * (-0.16666666666666666 + z * (0.008333333333333331 + z * p))
    )
    q = -2.7557317270560326e-07 + z * (2.0876146024689747e-09 + z * -1.1382614868556325e-11)
    q = 0.041666666666666664 + z * (-0.0013888888888887395 + z * (2.4801587298763433e-05 + z * q))
    w = 1.0 - half
    c = w + (((1.0 - w) - half) + (z * z * q - s * tail))
    return s, c


@inlined_kernel
def quarter_turns(s: float, c: float, quarters: int | np.int32) -> tuple[float, float]:
    """Sine and cosine of an angle plus some quarter turns, from those of the angle."""
    # Selections and signs instead of branches, which processors could not predict.
    odd = quarters & 1
    sine = c if odd else s
    cosine = s if odd else c
    return sine * (1.0 - (quarters & 2)), cosine * (1.0 - ((quarters + 1) & 2))


@inlined_kernel
def sincos_in_pass(x: float) -> tuple[float, float]:
    """`sincos` without branches: a loop over it is vectorised."""
    n = float(np.floor(x * 0.6366197723675814 + 0.5))
    high = x - n * HALF_PI_1
    low = n * HALF_PI_2
    r = high - low
    s, c = sincos_reduced(r, ((high - r) - low) - n * HALF_PI_3)
    # The quarter, 0 to 3, as a float: conversions of integers are vectorised poorly.
    quarter = n - 4.0 * float(np.floor(0.25 * n))
    odd = (quarter == 1.0) | (quarter == 3.0)
    sine, cosine = c if odd else s, s if odd else c
    sine = -sine if quarter >= 2.0 else sine
    cosine = -cosine if (quarter == 1.0) | (quarter == 2.0) else cosine
    is_angle = abs(x) < MAX_ANGLE
    return sine if is_angle else NAN, cosine if is_angle else NAN


@kernel
def sincos(x: float) -> tuple[float, float]:
    """Sine and cosine of x in rad; nan for infinite or huge x."""
    return sincos_in_pass(x)


@kernel
def sincos_all(w: Array, count: int) -> None:
    """Replace the angles in the first row of w by their sines; the second row gets the cosines."""
    for i in range(count):
        w[0, i], w[1, i] = sincos_in_pass(w[0, i])


@kernel
def sincos_turns(turns: float) -> tuple[float, float]:
    """Sine and cosine of an angle given in full turns, |turns| < 2⁵⁰: the reduction is exact."""
    quarters = 4.0 * turns
    n = math.floor(quarters + 0.5)
    s, c = sincos_reduced((quarters - n) * HALF_PI, 0.0)
    return quarter_turns(s, c, int(n))


@inlined_kernel
def sincos_quarters(quarters: float) -> tuple[float, float]:
    """Sine and cosine of less than 2³⁰ quarter turns: the reduction is exact."""
    n = math.floor(quarters + 0.5)
    s, c = sincos_reduced((quarters - n) * HALF_PI, 0.0)
    # An integer of 32 bits, since its conversions from and to floats are vectorised.
    return quarter_turns(s, c, np.int32(n))


@kernel
def sin(x: float) -> float:
    """Sine of x in rad."""
    return sincos(x)[0]


@kernel
def cos(x: float) -> float:
    """Cosine of x in rad."""
    return sincos(x)[1]


@kernel
def tan(x: float) -> float:
    """Tangent of x in rad."""
    s, c = sincos(x)
    return s / c  # c is never exactly 0: no double is an odd multiple of π/2


@kernel
def atan2(y: float, x: float) -> float:
    """Angle of the vector (x, y) in [−π, π], with the signs of zero that IEEE 754 asks for."""
    if math.isnan(x) or math.isnan(y):
        return NAN
    across, along = abs(y), abs(x)
    if math.isinf(across) or math.isinf(along):
        across = 1.0 if math.isinf(across) else 0.0
        along = 1.0 if math.isinf(along) else 0.0
    longest = max(across, along)
    if longest > HUGE or longest < MINUTE:  # powers of two are exact, and prevent overflow
        scale = SHRINK if longest > HUGE else GROW
        across, along = across * scale, along * scale
    steep = across > along
    if steep:
        across, along = along, across
    if along == 0.0:
        u, high, tail = 0.0, 0.0, 0.0
    elif across < 0.25 * along:
        u, high, tail = across / along, 0.0, 0.0
    elif across < 0.75 * along:
        u = (across - 0.5 * along) / (along + 0.5 * across)
        high, tail = ATAN_HALF, ATAN_HALF_TAIL
    else:
        u = (across - along) / (along + across)
        high, tail = ATAN_ONE, ATAN_ONE_TAIL
    z = u * u
    p = -0.06658669602454909 + z * (0.05752806754410611 + z * -0.04102627176129059)
    p = 0.11111111035639964 + z * (-0.09090902851232828 + z * (0.07692017001111352 + z * p))
    p = -0.3333333333333333 + z * (0.19999999999998927 + z * (-0.1428571428525604 + z * p))
    low = u * z * p + tail
    if steep:
        low = (HALF_PI_TAIL - low) - u
        high = HALF_PI - high
    else:
        low = low + u
    if math.copysign(1.0, x) < 0.0:
        low = PI_TAIL - low
        high = PI - high
    return math.copysign(high + low, y)


@kernel
def exp(x: float) -> float:
    """E to the power of x."""
    if math.isnan(x):
        return NAN
    if x > 709.782712893384:
        return math.inf
    if x < -745.1332191019412:
        return 0.0
    n = math.floor(x * 1.4426950408889634 + 0.5)
    high = x - n * LN2_HIGH
    low = n * LN2_LOW
    r = high - low
    p = 2.755727347871858e-07 + r * (2.5105312729622103e-08 + r * 2.09147553258932e-09)
    p = 0.0001984126987500228 + r * (2.480158732567746e-05 + r * (2.755725517000089e-06 + r * p))
    p = 0.04166666666666667 + r * (0.008333333333326084 + r * (0.0013888888888883711 + r * p))
    p = r * r * (0.5 + r * (0.1666666666666667 + r * p))
    return math.ldexp(1.0 + (high + (p - low)), int(n))


@inlined_kernel
def log_normal(x: float) -> float:
    """Natural logarithm of a positive number that is neither subnormal nor infinite."""
    # x = m · 2ᵉ with m in [√½, √2), from its bits: a branch could not be predicted.
    bits = np.float64(x).view(np.int64)
    e = (bits - SQRT_HALF_BITS) >> 52
    m = np.int64(bits - (e << 52)).view(np.float64)
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    p = 0.18182895750119193 + z * (0.1533150161114533 + z * 0.1461916613488797)
    p = 0.3999999999989827 + z * (0.2857142862653362 + z * (0.22222211043776857 + z * p))
    p = z * (0.666666666666667 + z * p)
    half = 0.5 * f * f
    # log(1 + f) = f − f²/2 + s(f²/2 + p): the large terms are exact, only the small one is rounded.
    return e * LN2_HIGH + (f - (half - (s * (half + p) + e * LN2_LOW)))


@kernel
def log(x: float) -> float:
    """Natural logarithm of x; −inf at 0, nan below."""
    if math.isnan(x) or x < 0.0:
        return NAN
    if x == 0.0:
        return -math.inf
    if math.isinf(x):
        return x
    if x < SMALLEST_NORMAL:
        return log_normal(x * TWO_54) - LOG_TWO_54
    return log_normal(x)


@kernel
def wrap(angle: float) -> float:
    """The same direction in (−π, π], rad; nan for infinite or huge angles."""
    if -PI < angle <= PI:
        return angle
    if not abs(angle) < MAX_ANGLE:
        return NAN
    turned = angle - TAU * math.ceil((angle - PI) / TAU)
    # Rounding may give a result slightly outside, on either side of ±π.
    return PI if turned <= -PI or turned > PI else turned


@kernel
def effective_limit(requested: float, own: float) -> float:
    """The limit in force: the requested one, at most the robot's own; nan requests none."""
    return own if math.isnan(requested) else min(max(requested, 0.0), own)
