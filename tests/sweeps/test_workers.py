"""Sweeps in worker processes: whatever is killed, nothing is lost and nothing runs twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import astray
from astray.errors import WrongInput
from astray.plugin import KINDS
from astray.scenario.plugin_files import SOURCES
from astray.sweeps.workers import interrupt_later

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills processes by signals")

PLUGIN = """
import os, signal, time
from pathlib import Path
import astray

HERE = Path(__file__).parent

class Journal(astray.Metric, kind="journal"):
    slow: float = 0.0  # s
    deadly: int = -1
    once: int = -1
    rate: astray.Positive | None = 1.0  # Hz
    def measure(self, rows, truth, belief, out):
        worlds = set(belief["world"][rows].tolist())
        time.sleep(self.slow if 0 not in worlds else 0.0)
        with (HERE / "worlds").open("a") as file:
            file.writelines(f"{world} {os.getpid()}\\n" for world in worlds)
        if self.deadly in worlds or self.once in worlds and not (HERE / "killed").exists():
            (HERE / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        out[rows] = 1.0
"""
PROGRAM = """
import sys, astray
if __name__ == "__main__":
    astray.sweep("s.yaml", worlds=12, out="out", workers=2, batch=1)
"""
UNGUARDED = """
import astray
astray.sweep("s.yaml", worlds=2, out="out", workers=1)
"""
SCENARIO = """
dt: 0.1
duration: 0.5
plugins: [journal.py]
robots: [{{name: cart, autonomy: {{kind: scripted, steps: [{{lasts: 9, vx: 0.5}}]}}}}]
metrics: [{{kind: journal, {0}}}]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to work in; workers start sooner without numba."""
    (tmp_path / "journal.py").write_text(PLUGIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASTRAY_JIT", "0")
    yield tmp_path
    KINDS["metric"].pop("journal", None)
    SOURCES.pop(tmp_path / "journal.py", None)


def write(folder: Path, metric: str) -> None:
    (folder / "s.yaml").write_text(SCENARIO.format(metric))


def listed(folder: Path) -> list[list[int]]:
    """World and process of each measurement so far."""
    file = folder / "worlds"
    lines = file.read_text().splitlines() if file.exists() else []
    return [[int(word) for word in line.split()] for line in lines if len(line.split()) == 2]


def start(folder: Path, program: str) -> subprocess.Popen[str]:
    (folder / "program.py").write_text(program)
    return subprocess.Popen(
        [sys.executable, "program.py"], cwd=folder, stderr=subprocess.PIPE, text=True
    )


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def wait_for(what: Any, most: float = 60.0) -> None:
    end = time.monotonic() + most
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


def done(folder: Path) -> int:
    try:
        return sum(astray.read_sweep(folder / "out").done.values())
    except WrongInput:
        return 0


def test_a_killed_sweep_resumes_loses_nothing_and_repeats_nothing(folder: Path) -> None:
    write(folder, "slow: 0.1")
    running = start(folder, PROGRAM)
    wait_for(lambda: done(folder) >= 3)
    with pytest.raises(WrongInput, match="another process is running this sweep"):
        astray.sweep("s.yaml", worlds=12, out="out", workers=0)
    running.kill()
    running.communicate()
    workers = {process for _, process in listed(folder)}
    wait_for(lambda: not any(map(is_alive, workers)))
    kept = set(astray.read_sweep("out").table["world"].tolist())
    assert 3 <= len(kept) < 12
    (folder / "worlds").unlink()
    found = astray.sweep("s.yaml", worlds=12, out="out", workers=0)
    assert {world for world, _ in listed(folder)} == set(range(12)) - kept
    assert found.table["world"].tolist() == list(range(12))
    assert not found.failures


def processes_of(folder: Path, world: int) -> int:
    """The number of processes that began a world."""
    return len({process for listed_world, process in listed(folder) if listed_world == world})


def test_a_task_whose_worker_dies_is_run_again(folder: Path) -> None:
    write(folder, "once: 1, slow: 0.1")
    found = astray.sweep("s.yaml", worlds=6, out="out", workers=2, batch=1)
    assert found.table["world"].tolist() == [0, 1, 2, 3, 4, 5]
    assert not found.failures
    assert processes_of(folder, 1) == 2


@pytest.mark.parametrize(("deadly", "attempts_beside_others"), [(0, 0), (3, 1)])
def test_a_task_that_kills_its_worker_three_times_by_itself_fails_alone(
    folder: Path, deadly: int, attempts_beside_others: int
) -> None:
    write(folder, f"deadly: {deadly}, slow: 0.1")  # the first of all runs alone
    found = astray.sweep("s.yaml", worlds=12, out="out", workers=2, batch=1)
    assert found.table["world"].tolist() == [w for w in range(12) if w != deadly]
    ((task, why),) = found.failures
    assert task.first == deadly
    assert "died, 3 times" in why
    assert processes_of(folder, deadly) == attempts_beside_others + 3


def test_a_world_that_kills_its_worker_is_found_among_those_of_its_task(folder: Path) -> None:
    write(folder, "deadly: 2")
    found = astray.sweep("s.yaml", worlds=4, out="out", workers=1, batch=4)
    assert found.table["world"].tolist() == [0, 1, 3]
    ((task, _),) = found.failures
    assert (task.first, task.count) == (2, 1)


def test_the_number_of_workers_changes_no_byte(folder: Path) -> None:
    vary = {"robots.slippery.sensors.wheels.slip_density": [0.001, 0.01]}
    for workers in (1, 2):
        astray.sweep("drift", vary, worlds=3, duration=0.2, out=f"{workers}", workers=workers)
    for name in ("results.csv", "summary.json"):
        assert (folder / "1" / name).read_bytes() == (folder / "2" / name).read_bytes()


def test_ctrl_c_ends_at_once_and_says_how_to_resume(folder: Path) -> None:
    write(folder, "slow: 60")  # but for the first world
    arguments = ["s.yaml", "--worlds", "500", "--workers", "2", "--out", "out"]
    running = subprocess.Popen(
        [sys.executable, "-m", "astray", "sweep", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    )
    try:
        wait_for(lambda: done(folder) >= 1)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=30)
    finally:
        running.kill()
    assert running.returncode == 1
    assert "of 500 worlds are in out; the same command continues" in errors
    assert "Traceback" not in errors
    assert not any(is_alive(process) for _, process in listed(folder))


def test_ctrl_c_while_a_worker_starts_takes_effect_when_it_has_started() -> None:
    started = False

    def start_worker() -> None:
        nonlocal started
        with interrupt_later():
            os.kill(os.getpid(), signal.SIGINT)
            started = True

    with pytest.raises(KeyboardInterrupt):
        start_worker()
    assert started


def test_a_program_that_its_workers_cannot_import_is_explained(folder: Path) -> None:
    write(folder, "slow: 0.0")
    running = start(folder, UNGUARDED)
    _, errors = running.communicate(timeout=120)
    assert running.returncode == 1
    assert 'belongs under `if __name__ == "__main__":`' in errors
