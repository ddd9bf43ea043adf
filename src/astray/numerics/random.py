"""Stateless noise: a random number is a function of the robot, the tick and the purpose.

Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011, "Parallel random numbers: as easy as 1, 2, 3")
turns a counter and a key into 128 random bits. The key is a digest of (seed, group, plugin). The
counter is (tick, world, episode, robot << 16 | draw): the columns of ADDRESS and the number of the
draw. There is no generator whose state advances. So the noise of a robot does not depend on the
batch: how many worlds and robots there are, in which order they are processed, on which thread.

Many numbers are drawn in passes over the draws of one robot or over robots, first the bits and then
what is made of them, so that compilers can vectorise. The numbers are the same.
"""

from __future__ import annotations

import functools
import hashlib
import math
from typing import NamedTuple

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
"""128 bits: four words of 32 bits, each in an integer of 64."""


class NoiseWorkspace(NamedTuple):
    """What a kernel needs to draw normals for a chunk of rows."""

    key: np.uint64
    """The key of the plugin."""
    scratch: Array
    """(3, CHUNK): a pair of numbers of each row, and a row that the caller may use."""
    counters: Array
    """(5, CHUNK): the counter of each row, and what its tick adds to the key."""
    normals: Array
    """(CHUNK, 2 pairs): the normals of each row."""


WorkspaceFields = tuple[np.uint64, Array, Array, Array]
"""The fields of a NoiseWorkspace: a plain tuple takes less time to enter a kernel."""


@functools.lru_cache(maxsize=4096)  # at every start of an episode the same few keys are needed
def key(seed: int, *names: str) -> np.uint64:
    """The 64-bit key of a source of noise, by name, so that the order of plugins is no matter.

    Args:
        seed: The seed of the run.
        *names: The group, the family and name of the plugin, and what the numbers are for.

    Returns:
        The key.
    """
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
def to_uniform(high: np.uint64, low: np.uint64) -> float:
    """A uniform in [0, 1) of 53 bits from two words."""
    # Conversions of signed 32-bit integers to floats are vectorised, those of longer ones are not.
    upper, lower = float(np.int32(high >> _5)), float(np.int32(low >> _6))
    return (upper * 67108864.0 + lower) * TINY


@kernel
def philox(counter: tuple[int, int, int, int], k0: np.uint64, k1: np.uint64) -> Words:
    """128 random bits as four words of 32."""
    c0, c1 = np.uint64(counter[0]) & _MASK, np.uint64(counter[1]) & _MASK
    c2, c3 = np.uint64(counter[2]) & _MASK, np.uint64(counter[3]) & _MASK
    return rounds((c0, c1, c2, c3), np.uint64(k0), np.uint64(k1))


@kernel
def random_bits(address: Row, key: np.uint64, draw: int) -> Words:
    """The 128 bits of one draw; the address has tick, world, episode and robot."""
    a = address
    counter = (a.tick, a.world, a.episode, (a.robot << 16) | draw)
    # A counter word holds 32 bits of the tick; the rest goes to the key, so nothing ever repeats.
    return philox(counter, key & _MASK, (key >> _32) ^ (np.uint64(a.tick) >> _32))


@kernel
def uniform_pair(address: Row, key: np.uint64, draw: int) -> tuple[float, float]:
    """Two independent uniforms in [0, 1) of 53 bits."""
    a, b, c, d = random_bits(address, key, draw)
    return to_uniform(a, b), to_uniform(c, d)


@kernel
def normal_pair(address: Row, key: np.uint64, draw: int) -> tuple[float, float]:
    """Two independent standard normals (Box and Muller, 1958)."""
    u, v = uniform_pair(address, key, draw)
    radius = math.sqrt(-2.0 * elementary.log_normal(1.0 - u))
    s, c = elementary.sincos_quarters(4.0 * v)
    return radius * c, radius * s


# Many draws of one robot.


@kernel
def uniform_pairs(w: Array, address: Row, key: np.uint64, first: int, count: int) -> None:
    """The pairs of the draws from `first` on into the rows of w, (2, count or more)."""
    k0, k1 = key & _MASK, (key >> _32) ^ (np.uint64(address.tick) >> _32)
    c0, c1 = np.uint64(address.tick) & _MASK, np.uint64(address.world) & _MASK
    c2, base = np.uint64(address.episode) & _MASK, np.uint64(address.robot) << _16
    for i in range(count):
        c3 = (base | np.uint64(first + i)) & _MASK
        a, b, c, d = rounds((c0, c1, c2, c3), k0, k1)
        w[0, i] = to_uniform(a, b)
        w[1, i] = to_uniform(c, d)


@kernel
def uniforms_to_normals(w: Array, count: int) -> None:
    """Turn pairs of uniforms in the rows of w into pairs of normals, by Box and Muller."""
    for i in range(count):
        radius = math.sqrt(-2.0 * elementary.log_normal(1.0 - w[0, i]))
        s, c = elementary.sincos_quarters(4.0 * w[1, i])
        w[0, i] = radius * c
        w[1, i] = radius * s


@kernel
def normal_pairs(w: Array, address: Row, key: np.uint64, first: int, count: int) -> None:
    """The pairs of the draws from `first` on, as normals, into the rows of w."""
    uniform_pairs(w, address, key, first, count)
    uniforms_to_normals(w, count)


# Some draws of many robots.


@kernel
def gather_counters(c: Array, addresses: Table, rows: Array) -> None:
    """The counters of some rows, and what their ticks add to the key, into the rows of c."""
    for j in range(len(rows)):
        address = addresses[rows[j]]
        c[0, j] = np.uint64(address.tick) & _MASK
        c[1, j] = np.uint64(address.world) & _MASK
        c[2, j] = np.uint64(address.episode) & _MASK
        c[3, j] = (np.uint64(address.robot) << _16) & _MASK
        c[4, j] = np.uint64(address.tick) >> _32


@kernel
def draw_uniforms(w: Array, c: Array, count: int, key: np.uint64, draw: int) -> None:
    """One pair of uniforms for each of the gathered counters into the rows of w."""
    k0, k1 = key & _MASK, key >> _32
    for j in range(count):
        words = (c[0, j], c[1, j], c[2, j], c[3, j] | np.uint64(draw))
        a, b, e, d = rounds(words, k0, k1 ^ c[4, j])
        w[0, j] = to_uniform(a, b)
        w[1, j] = to_uniform(e, d)


@kernel
def draw_normals(workspace: NoiseWorkspace, addresses: Table, rows: Array, pairs: int) -> None:
    """The pairs of the draws from 0 on of at most CHUNK rows, as normals, into `normals`.

    normals[j, 2 k] and normals[j, 2 k + 1] are what `normal_pair` gives for row j and draw k.
    """
    key, w, c, normals = workspace
    gather_counters(c, addresses, rows)
    for k in range(pairs):
        draw_uniforms(w, c, len(rows), key, k)
        uniforms_to_normals(w, len(rows))
        for j in range(len(rows)):
            normals[j, 2 * k] = w[0, j]
            normals[j, 2 * k + 1] = w[1, j]


@kernel
def draw_all(
    out: Array,
    addresses: Table,
    rows: Array,
    key: np.uint64,
    normal: bool,
    workspace: tuple[Array, Array],
) -> None:
    """Fill out (len(rows), k) with normals, or else with uniforms in [0, 1)."""
    w, c = workspace
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK]
        gather_counters(c, addresses, chunk)
        for k in range(0, out.shape[1], 2):
            draw_uniforms(w, c, len(chunk), key, k // 2)
            if normal:
                uniforms_to_normals(w, len(chunk))
            for j in range(len(chunk)):
                out[start + j, k] = w[0, j]
                if k + 1 < out.shape[1]:
                    out[start + j, k + 1] = w[1, j]


def _make_scratch() -> tuple[Array, Array]:
    """The fields `scratch` and `counters` of a NoiseWorkspace."""
    return np.empty((3, CHUNK)), np.empty((5, CHUNK), np.uint64)


def make_noise_workspace(key: np.uint64, pairs: int) -> WorkspaceFields:
    """The fields of a NoiseWorkspace for so many pairs of normals of each row."""
    return key, *_make_scratch(), np.empty((CHUNK, 2 * pairs))


def uniforms_all(out: Array, addresses: Table, rows: Array, key: np.uint64) -> None:
    """Fill an array with uniforms in [0, 1).

    Args:
        out: (k, count), to write.
        addresses: ADDRESS, (n,).
        rows: Indices, (k,).
        key: The key of the noise.
    """
    draw_all(out, addresses, rows, key, False, _make_scratch())


def normals_all(out: Array, addresses: Table, rows: Array, key: np.uint64) -> None:
    """Fill an array with standard normals.

    Args:
        out: (k, count), to write.
        addresses: ADDRESS, (n,).
        rows: Indices, (k,).
        key: The key of the noise.
    """
    draw_all(out, addresses, rows, key, True, _make_scratch())
