"""Signals for several tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from astray.signals import (
    IntervalConfig,
    Samples,
    SimType,
    Sine,
)

EXAMPLES = """\
# Constant acceleration of 5.0 m/s² from t=0 to t=10
linear_x:
  num_intervals: 1
  interval_0:
    type: "constant"
    t_start: 0.0
    t_end: 10.0
    y_start: 5.0

# Linear ramp from 0 to 10 over 5 seconds
wheel_fl:
  num_intervals: 1
  interval_0:
    type: "linear"
    t_start: 0.0
    t_end: 5.0
    y_start: 0.0
    y_end: 10.0

# Quadratic curve peaking at t=5
angular_z:
  num_intervals: 1
  interval_0:
    type: "quadratic"
    t_start: 0.0
    t_end: 10.0
    y_start: 0.0
    y_end: 0.0
    t_mid: 5.0
    y_mid: 3.14
"""


number = st.floats(-1e6, 1e6, allow_subnormal=False)


length = st.floats(1e-3, 1e3)


@st.composite
def intervals(draw: st.DrawFn) -> list[Any]:
    """Intervals of all kinds, one after the other, some touching and some apart."""
    made: list[Any] = []
    t = draw(st.floats(-50.0, 50.0))
    for kind in draw(st.lists(st.sampled_from(["sine", "samples", *SimType]), max_size=6)):
        end = t + draw(length)
        if kind == "sine":
            made.append(
                Sine(draw(number), draw(st.floats(0.01, 50.0)), draw(number), draw(number), t, end)
            )
        elif kind == "samples":
            ys = draw(st.lists(number, min_size=2, max_size=5))
            made.append(Samples(np.stack([np.linspace(t, end, len(ys)), ys], axis=1)))
        else:
            share = draw(st.floats(0.01, 0.99))
            made.append(
                IntervalConfig(
                    kind, t, end, draw(number), draw(number), t + share * (end - t), draw(number)
                )
            )
        t = made[-1].t_end + draw(st.sampled_from([0.0, 0.0, 1.0, 7.5]))
    return made
