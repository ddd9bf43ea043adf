"""Stateless noise: a number is a function of who asks, when, and for the how-manieth time.

Philox4x32-10 (Salmon et al., 2011) turns a counter and a key into 128 random bits. The key is a
digest of (seed, group name, plugin name). The counter is (tick, world, life, robot << 16 | draw).
There is no stream to advance, so nothing that another robot, plugin, thread or batch does can
change what a robot is dealt.

Many numbers are dealt in passes, bits first and then what is made of them, over draws of one robot
or over robots: processors do four of them at a time, and the numbers are the same.
"""

from __future__ import annotations

import functools
import hashlib
import math

import numpy as np

from astray.numerics import elementary
from astray.numerics.elementary import CHUNK
from astray.numerics.kernels import inlined_kernel, kernel
from astray.tables import Array, Row, Table

MAX_ROBOTS = 1 << 16  # per group and world: the robot shares a counter word with the draw
TINY = 2.0**-53
_5, _6, _16, _32 = np.uint64(5), np.uint64(6), np.uint64(16), np.uint64(32)
_MASK = np.uint64(0xFFFFFFFF)
_MULTIPLY_0 = np.uint64(0xD2511F53)
_MULTIPLY_2 = np.uint64(0xCD9E8D57)
_WEYL_0 = np.uint64(0x9E3779B9)
_WEYL_1 = np.uint64(0xBB67AE85)

Words = tuple[np.uint64, np.uint64, np.uint64, np.uint64]
Room = tuple[Array, Array]
NoiseWorkspace = tuple[np.uint64, Array, Array, Array]


@functools.lru_cache(maxsize=4096)  # of the same few names, asked for at every start
def key(seed: int, *names: str) -> np.uint64:
    """The 64-bit key of a named source of noise: names, never positions, so order is no matter."""
    text = "\0".join((str(seed), *names)).encode()
    return np.uint64(int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little"))


@inlined_kernel
def rounds(c: Words, u0: np.uint64, u1: np.uint64) -> Words:
    """Ten rounds of Philox over four words of 32 bits, held in 64 so that products fit."""
    c0, c1, c2, c3 = c
    for _ in range(10):
        p0 = _MULTIPLY_0 * c0
        p1 = _MULTIPLY_2 * c2
        c0, c1, c2, c3 = (p1 >> _32) ^ c1 ^ u0, p1 & _MASK, (p0 >> _32) ^ c3 ^ u1, p0 & _MASK
        u0 = (u0 + _WEYL_0) & _MASK
        u1 = (u1 + _WEYL_1) & _MASK
    return c0, c1, c2, c3


@inlined_kernel
def uniform_of(high: np.uint64, low: np.uint64) -> float:
    """A uniform in [0, 1) of 53 bits from two words."""
    # Signed integers of 32 bits become floats several at a time, longer ones do not.
    upper, lower = float(np.int32(high >> _5)), float(np.int32(low >> _6))
    return (upper * 67108864.0 + lower) * TINY


@kernel
def philox(counter: tuple[int, int, int, int], k0: np.uint64, k1: np.uint64) -> Words:
    """128 random bits as four words of 32."""
    c0, c1 = np.uint64(counter[0]) & _MASK, np.uint64(counter[1]) & _MASK
    c2, c3 = np.uint64(counter[2]) & _MASK, np.uint64(counter[3]) & _MASK
    return rounds((c0, c1, c2, c3), np.uint64(k0), np.uint64(k1))


@kernel
def random_words(who: Row, key: np.uint64, draw: int) -> Words:
    """The 128 bits of one draw; `who` has tick, world, life and robot."""
    counter = (who.tick, who.world, who.episode, (who.robot << 16) | draw)
    # A counter word holds 32 bits of the tick; the rest goes to the key, so nothing ever repeats.
    return philox(counter, key & _MASK, (key >> _32) ^ (np.uint64(who.tick) >> _32))


@kernel
def uniform_pair(who: Row, key: np.uint64, draw: int) -> tuple[float, float]:
    """Two independent uniforms in [0, 1) of 53 bits."""
    a, b, c, d = random_words(who, key, draw)
    return uniform_of(a, b), uniform_of(c, d)


@kernel
def normal_pair(who: Row, key: np.uint64, draw: int) -> tuple[float, float]:
    """Two independent standard normals, by Box and Muller."""
    u, v = uniform_pair(who, key, draw)
    radius = math.sqrt(-2.0 * elementary.log_normal(1.0 - u))
    s, c = elementary.sincos_quarters(4.0 * v)
    return radius * c, radius * s


# Many draws of one robot.


@kernel
def uniform_pairs(w: Array, who: Row, key: np.uint64, first: int, count: int) -> None:
    """The pairs of the draws from `first` on into the rows of w, (2, count or more)."""
    k0, k1 = key & _MASK, (key >> _32) ^ (np.uint64(who.tick) >> _32)
    c0, c1 = np.uint64(who.tick) & _MASK, np.uint64(who.world) & _MASK
    c2, base = np.uint64(who.episode) & _MASK, np.uint64(who.robot) << _16
    for i in range(count):
        c3 = (base | np.uint64(first + i)) & _MASK
        a, b, c, d = rounds((c0, c1, c2, c3), k0, k1)
        w[0, i] = uniform_of(a, b)
        w[1, i] = uniform_of(c, d)


@kernel
def make_normal(w: Array, count: int) -> None:
    """Turn pairs of uniforms in the rows of w into pairs of normals, by Box and Muller."""
    for i in range(count):
        radius = math.sqrt(-2.0 * elementary.log_normal(1.0 - w[0, i]))
        s, c = elementary.sincos_quarters(4.0 * w[1, i])
        w[0, i] = radius * c
        w[1, i] = radius * s


@kernel
def normal_pairs(w: Array, who: Row, key: np.uint64, first: int, count: int) -> None:
    """The pairs of the draws from `first` on, as normals, into the rows of w."""
    uniform_pairs(w, who, key, first, count)
    make_normal(w, count)


# Some draws of many robots.


@kernel
def gather(c: Array, address: Table, rows: Array) -> None:
    """The counters of some rows, and what their ticks add to the key, into the rows of c."""
    for j in range(len(rows)):
        who = address[rows[j]]
        c[0, j] = np.uint64(who.tick) & _MASK
        c[1, j] = np.uint64(who.world) & _MASK
        c[2, j] = np.uint64(who.episode) & _MASK
        c[3, j] = (np.uint64(who.robot) << _16) & _MASK
        c[4, j] = np.uint64(who.tick) >> _32


@kernel
def draw_words(w: Array, c: Array, count: int, key: np.uint64, draw: int) -> None:
    """One pair of uniforms for each of the gathered counters into the rows of w."""
    k0, k1 = key & _MASK, key >> _32
    for j in range(count):
        words = (c[0, j], c[1, j], c[2, j], c[3, j] | np.uint64(draw))
        a, b, e, d = rounds(words, k0, k1 ^ c[4, j])
        w[0, j] = uniform_of(a, b)
        w[1, j] = uniform_of(e, d)


@kernel
def draw_normals(deck: NoiseWorkspace, who: Table, rows: Array, pairs: int) -> None:
    """The pairs of the draws from 0 on of at most CHUNK rows, as normals, into the deck's cards.

    cards[j, 2 k] and cards[j, 2 k + 1] are what `normal_pair` gives for row j and draw k.
    """
    key, w, c, cards = deck
    gather(c, who, rows)
    for k in range(pairs):
        draw_words(w, c, len(rows), key, k)
        make_normal(w, len(rows))
        for j in range(len(rows)):
            cards[j, 2 * k] = w[0, j]
            cards[j, 2 * k + 1] = w[1, j]


@kernel
def draw_all(
    out: Array, address: Table, rows: Array, key: np.uint64, normal: bool, room: Room
) -> None:
    """Fill out (len(rows), k) with normals, or else with uniforms in [0, 1)."""
    w, c = room
    for start in range(0, len(rows), CHUNK):
        some = rows[start : start + CHUNK]
        gather(c, address, some)
        for k in range(0, out.shape[1], 2):
            draw_words(w, c, len(some), key, k // 2)
            if normal:
                make_normal(w, len(some))
            for j in range(len(some)):
                out[start + j, k] = w[0, j]
                if k + 1 < out.shape[1]:
                    out[start + j, k + 1] = w[1, j]


def make_room() -> Room:
    """Room for the counters of a chunk of robots, for what is made of them, and a row to spare."""
    return np.empty((3, CHUNK)), np.empty((5, CHUNK), np.uint64)


def make_noise_workspace(key: np.uint64, pairs: int) -> NoiseWorkspace:
    """A key, and room for so many pairs of normals of a chunk of robots."""
    return key, *make_room(), np.empty((CHUNK, 2 * pairs))


def uniforms_all(out: Array, address: Table, rows: Array, key: np.uint64) -> None:
    """Fill out (len(rows), k) with uniforms in [0, 1)."""
    draw_all(out, address, rows, key, False, make_room())


def normals_all(out: Array, address: Table, rows: Array, key: np.uint64) -> None:
    """Fill out (len(rows), k) with standard normals."""
    draw_all(out, address, rows, key, True, make_room())
