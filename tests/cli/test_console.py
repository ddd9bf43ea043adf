"""Who waits for a compiler is told so."""

from __future__ import annotations

import importlib.util
import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from astray.cli.console import report_compilation
from astray.numerics import kernels

pytestmark = pytest.mark.skipif(not kernels.jit(), reason="nothing is compiled with ASTRAY_JIT=0")


SOURCE = """
from astray.numerics.kernels import kernel

@kernel
def times(x):
    return 2.0 * x

@kernel
def plus(x):
    return 2.0 + x

@kernel
def both(x):
    return plus(times(x))
"""


def load_kernel(folder: Path) -> Any:
    """A kernel that calls two others, as a program that has just started finds it."""
    file = folder / "kernels_of_mine.py"
    file.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("kernels_of_mine", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.both


@pytest.fixture(autouse=True)
def nothing_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASTRAY_CACHE_DIR", str(tmp_path))


def test_a_wait_is_announced_once_and_only_if_there_is_one(tmp_path: Path) -> None:
    said: list[str] = []
    call = load_kernel(tmp_path)
    with report_compilation(said.append):
        assert call(1.0) == 4.0
        assert len(said) == 1
        assert "Compiling" in said[0]
        assert call(2.0) == 6.0
    with report_compilation(said.append):
        assert call(3.0) == 8.0
        assert load_kernel(tmp_path)(3.0) == 8.0  # what was compiled is found
    assert len(said) == 1


@pytest.mark.parametrize("terminal", [True, False])
def test_kernels_are_counted_on_a_terminal_only(tmp_path: Path, terminal: bool) -> None:
    written = io.StringIO()
    console = Console(file=written, force_terminal=terminal, width=80)
    with report_compilation(console.print, console):
        load_kernel(tmp_path)(1.0)
    assert "Compiling" in written.getvalue()
    assert ("2 compiled, 0 left of " in written.getvalue()) == terminal


def test_a_compilation_says_what_it_is_for_and_how_many_kernels_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[kernels.Compilation] = []
    monkeypatch.setattr(kernels, "compile_callbacks", [told.append])
    load_kernel(tmp_path)(1.0)
    assert told == [("kernels_of_mine", 1), ("kernels_of_mine", 0)]


def test_nobody_is_told_afterwards() -> None:
    before = list(kernels.compile_callbacks)
    with pytest.raises(ZeroDivisionError), report_compilation(lambda text: None):
        raise ZeroDivisionError
    assert kernels.compile_callbacks == before
