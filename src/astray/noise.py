"""Stateless noise: a number is a function of who asks, when, and for the how-manieth time.

Philox4x32-10 (Salmon et al., 2011) turns a counter and a key into 128 random bits. The key is a
digest of (seed, group name, plugin name). The counter is (tick, world, life, robot << 16 | draw).
There is no stream to advance, so nothing that another robot, plugin, thread or batch does can
change what a robot is dealt.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np

from astray import maths
from astray.kernel import kernel
from astray.table import Array, Row, Table

MOST_ROBOTS = 1 << 16  # per group and world: the robot shares a counter word with the draw
TINY = 2.0**-53
_32 = np.uint64(32)
_MASK = np.uint64(0xFFFFFFFF)
_MULTIPLY_0 = np.uint64(0xD2511F53)
_MULTIPLY_2 = np.uint64(0xCD9E8D57)
_WEYL_0 = np.uint64(0x9E3779B9)
_WEYL_1 = np.uint64(0xBB67AE85)


def key(seed: int, *names: str) -> np.uint64:
    """The 64-bit key of a named source of noise: names, never positions, so order is no matter."""
    text = "\0".join((str(seed), *names)).encode()
    return np.uint64(int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little"))


@kernel
def philox(
    counter: tuple[int, int, int, int], k0: np.uint64, k1: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """128 random bits as four words of 32, held in 64 so that products cannot overflow."""
    c0 = np.uint64(counter[0]) & _MASK
    c1 = np.uint64(counter[1]) & _MASK
    c2 = np.uint64(counter[2]) & _MASK
    c3 = np.uint64(counter[3]) & _MASK
    u0 = np.uint64(k0)
    u1 = np.uint64(k1)
    for _ in range(10):
        p0 = _MULTIPLY_0 * c0
        p1 = _MULTIPLY_2 * c2
        c0, c1, c2, c3 = (p1 >> _32) ^ c1 ^ u0, p1 & _MASK, (p0 >> _32) ^ c3 ^ u1, p0 & _MASK
        u0 = (u0 + _WEYL_0) & _MASK
        u1 = (u1 + _WEYL_1) & _MASK
    return c0, c1, c2, c3


@kernel
def bits(who: Row, key: np.uint64, draw: int) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """The 128 bits of one draw; `who` has tick, world, life and robot."""
    counter = (who.tick, who.world, who.life, (who.robot << 16) | draw)
    # A counter word holds 32 bits of the tick; the rest goes to the key, so nothing ever repeats.
    return philox(counter, key & _MASK, (key >> _32) ^ (np.uint64(who.tick) >> _32))


@kernel
def uniform_pair(who: Row, key: np.uint64, draw: int) -> tuple[float, float]:
    """Two independent uniforms in [0, 1) of 53 bits."""
    a, b, c, d = bits(who, key, draw)
    # Signed integers become floats several times faster than unsigned ones.
    u = float(np.int64((a >> np.uint64(5)) * np.uint64(67108864) + (b >> np.uint64(6))))
    v = float(np.int64((c >> np.uint64(5)) * np.uint64(67108864) + (d >> np.uint64(6))))
    return u * TINY, v * TINY


@kernel
def normal_pair(who: Row, key: np.uint64, draw: int) -> tuple[float, float]:
    """Two independent standard normals, by Box and Muller."""
    u, v = uniform_pair(who, key, draw)
    radius = math.sqrt(-2.0 * maths.log_normal(1.0 - u))
    s, c = maths.sincos_turns(v)
    return radius * c, radius * s


@kernel
def uniforms_all(out: Array, address: Table, rows: Array, key: np.uint64) -> None:
    """Fill out (len(rows), k) with uniforms in [0, 1)."""
    for j in range(len(rows)):
        for k in range(0, out.shape[1], 2):
            a, b = uniform_pair(address[rows[j]], key, k // 2)
            out[j, k] = a
            if k + 1 < out.shape[1]:
                out[j, k + 1] = b


@kernel
def normals_all(out: Array, address: Table, rows: Array, key: np.uint64) -> None:
    """Fill out (len(rows), k) with standard normals."""
    for j in range(len(rows)):
        for k in range(0, out.shape[1], 2):
            a, b = normal_pair(address[rows[j]], key, k // 2)
            out[j, k] = a
            if k + 1 < out.shape[1]:
                out[j, k + 1] = b
