"""Wheels that slip for a while, and where the ground lets them.

A wheel that slips by the share s turns by s more than it rolls, or less if s is negative. Spells of
slipping come and go at random, each wheel's on its own: `every` so many seconds on average, for
`stay` seconds, by a share that is normal with the standard deviation `sd` and new in each spell. On
a surface all wheels slip by its share besides, as long as the robot's origin is on it.

How far each wheel has slipped so far is in the sensor's memory, as `slipped`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from astray.numerics import kernel, normal_pair, uniform_pair
from astray.robot.sensors.denied_zones import Polygon, zone_at
from astray.robot.sensors.error_models import switch
from astray.tables import WHEELS_PER_ROBOT, Array, Row, Rows, Table

STARTED, STAMP, ANGLE, SHARE, STATE_SIZE = 0, 1, 2, 2 + WHEELS_PER_ROBOT, 2 + 2 * WHEELS_PER_ROBOT
LUCK, SIZE = 8, 10  # the first draws about spells; those before them let wheels slip at random
How = tuple[np.uint64, float, float, float]
"""The noise's key, and every, stay and sd of the spells."""
Ground = tuple[Array, Array, Array]
"""Edges and firsts of the zones, and the share by which wheels slip in each."""


@dataclass(frozen=True)
class Spells:
    """Spells of slipping."""

    every: Annotated[float, Gt(0)] = 60.0  # s without, on average
    stay: Annotated[float, Gt(0)] = 0.5  # s that one lasts, on average
    sd: Annotated[float, Ge(0)] = 0.2  # share by which a wheel slips in one

    def numbers(self) -> tuple[float, float, float]:
        """What kernels need of them."""
        return float(self.every), float(self.stay), float(self.sd)


NO_SPELLS = Spells(sd=0.0)


@dataclass(frozen=True)
class Surface:
    """A zone of the map where wheels slip."""

    zone: Polygon  # [[x, y], …], m
    slip: float = 0.1  # share by which a wheel turns more than it rolls


@kernel
def spell(state: Array, s: Row, wheel: int, elapsed: float, how: How) -> None:
    """Let a spell of one wheel begin, go on or end."""
    key, every, stay, sd = how
    before = state[SHARE + wheel] != 0.0
    pair = uniform_pair(s, key, LUCK + wheel // 2)
    luck = pair[0] if wheel % 2 == 0 else pair[1]
    if state[STARTED] > 0.0:
        now = switch(before, stay, every, elapsed, luck)
    else:
        now = luck * (stay + every) < stay
    if now and not before:
        sizes = normal_pair(s, key, SIZE + wheel // 2)
        state[SHARE + wheel] = sd * (sizes[0] if wheel % 2 == 0 else sizes[1])
    elif not now:
        state[SHARE + wheel] = 0.0


@kernel
def slip_all(
    memory: Table, states: Array, truth: Table, rows: Rows, how: How, ground: Ground
) -> None:
    """Let the wheels of these rows slip by what they rolled since the last reading."""
    for i in rows:
        m, s, state = memory[i], truth[i], states[i]
        zone = zone_at(ground[0], ground[1], s.x, s.y)
        share = ground[2][zone] if zone >= 0 else 0.0
        elapsed = s.stamp - state[STAMP] if state[STARTED] > 0.0 else 0.0
        for k in range(m.wheels):
            if how[3] > 0.0:
                spell(state, s, k, elapsed, how)
            if state[STARTED] > 0.0:
                m.slipped[k] += (share + state[SHARE + k]) * (s.wheel[k] - state[ANGLE + k])
            state[ANGLE + k] = s.wheel[k]
        state[STARTED], state[STAMP] = 1.0, s.stamp
