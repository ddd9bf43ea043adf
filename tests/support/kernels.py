"""Kernels as plain Python."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import ModuleType

from astray.numerics.kernels import Kernel


@contextlib.contextmanager
def without_jit(*modules: ModuleType) -> Iterator[None]:
    """The kernels of some modules as plain Python, within this process."""
    every = [k for m in modules for k in vars(m).values() if isinstance(k, Kernel)]
    for kernel in every:
        kernel.set_call(kernel.function)
    try:
        yield
    finally:
        for kernel in every:
            kernel.set_call(kernel.dispatcher())
