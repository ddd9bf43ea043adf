"""The command line: instant, honest, and never a traceback for a user's fault."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import astray
from astray.cli import session
from astray.cli.run import run_scenario
from astray.errors import MapError, WritingFailed, WrongInput
from astray.files import atomic_write
from astray.numerics.kernel_cache import cache_root
from astray.recording.run_folder import atomic_folder

CART = "robots: [{name: cart, autonomy: {kind: scripted, steps: [{lasts: 9, vx: 0.5}]}}]\n"


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "astray", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=120,
        encoding="utf-8",
    )


def modules_after(*arguments: str) -> set[str]:
    program = (
        "import sys, io, contextlib\n"
        f"sys.argv = ['astray', *{list(arguments)!r}]\n"
        "from astray.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    try: main()\n"
        "    except SystemExit: pass\n"
        "print(' '.join(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_help_imports_neither_numpy_nor_pydantic() -> None:
    loaded = modules_after("--help")
    assert "click" in loaded
    assert not loaded & {"numpy", "pydantic", "numba", "matplotlib", "rich", "yaml"}


@pytest.mark.parametrize("command", [("check", "drift"), ("kinds",), ("check", "--schema")])
def test_check_and_kinds_import_neither_numba_nor_matplotlib_nor_the_web(
    command: tuple[str],
) -> None:
    loaded = modules_after(*command)
    assert "pydantic" in loaded
    assert not loaded & {"numba", "matplotlib", "starlette", "uvicorn", "websockets", "asyncio"}


def test_run_prints_json_that_repeats() -> None:
    first, second = (run("run", "drift", "--duration", "2", "--json", "--quiet") for _ in range(2))
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
    found = json.loads(first.stdout)
    assert found["time"] == 2.0
    assert found["robots"]["worn"]["metrics"]["position_error"]["belief"]["values"] == 101
    other = json.loads(run("run", "drift", "--duration", "2", "--json", "--seed", "8").stdout)
    assert other["digest"] != found["digest"]


def test_out_holds_all_that_is_needed_to_run_it_again(tmp_path: Path) -> None:
    done = run("run", "drift", "--duration", "3", "--worlds", "2", "--out", "a", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "plot.png" in done.stdout
    names = {p.name for p in (tmp_path / "a").iterdir()}
    assert names == {
        "scenario.yaml",
        "run.json",
        "events.jsonl",
        "summary.json",
        "log.npz",
        "plot.png",
        "trajectories",
    }
    again = run(
        *("run", "a/scenario.yaml", "--events", "a/events.jsonl", "--duration", "3"),
        *("--worlds", "2", "--out", "b"),
        cwd=tmp_path,
    )
    assert again.returncode == 0, again.stderr
    first, second = (json.loads((tmp_path / k / "summary.json").read_text()) for k in "ab")
    assert first["digest"] == second["digest"]
    log = np.load(tmp_path / "a" / "log.npz")
    assert log["worn/belief/x"].shape == (31, 2)
    assert (tmp_path / "a" / "plot.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("problem", [WrongInput("no"), MapError("no"), KeyboardInterrupt()])
def test_a_folder_that_is_not_finished_leaves_nothing_behind(
    problem: BaseException, tmp_path: Path
) -> None:
    def write() -> None:
        with atomic_folder(tmp_path / "out") as part:
            (part / "x").write_text("x")
            raise problem

    with pytest.raises(type(problem)):
        write()
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_written_without_numba_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sim = astray.load("drift")
    log = sim.run(0.1, log=0.1)
    monkeypatch.setitem(sys.modules, "numba", None)
    sim.write(log, tmp_path / "out")
    assert json.loads((tmp_path / "out/run.json").read_text())["numba"] is None


def test_the_scenario_of_a_run_that_was_never_stepped_loads(tmp_path: Path) -> None:
    sim = astray.load("drift", seed=7)
    sim.write(sim.run(0.0, log=0.1), tmp_path / "out")
    again = astray.load(str(tmp_path / "out/scenario.yaml"))
    assert (again.seed, again.scenario.duration) == (7, sim.scenario.duration)


def test_trajectories_are_read_and_judged_by_evo(tmp_path: Path) -> None:
    pytest.importorskip("evo", reason="evo is a program of its own; the dev extra installs it")
    done = run("run", "drift", "--duration", "20", "--log", "0.02", "--out", "a", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    files = [f"a/trajectories/slippery-0.world0.{who}.tum" for who in ("truth", "belief")]
    judged = subprocess.run(
        [Path(sys.executable).with_name("evo_ape"), "tum", *files, "--save_results", "ape.zip"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
    )
    assert judged.returncode == 0, judged.stderr
    rms = float(next(line.split()[1] for line in judged.stdout.splitlines() if "rmse" in line))
    summary = json.loads((tmp_path / "a" / "summary.json").read_text())
    ours = summary["robots"]["slippery"]["metrics"]["position_error"]["belief"]["rms"]
    assert rms == pytest.approx(ours, rel=1e-3)


def test_an_earlier_run_is_not_lost_by_mistake(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(CART)
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.txt").write_text("miaow")
    assert run("run", "x.yaml", "--duration", "1", "--out", "a", cwd=tmp_path).returncode == 0
    again = run("run", "x.yaml", "--duration", "1", "--out", "a", cwd=tmp_path)
    assert again.returncode == 2
    assert "holds an earlier run" in again.stderr
    over = run("run", "x.yaml", "--duration", "1", "--out", "a", "--overwrite", cwd=tmp_path)
    assert over.returncode == 0
    other = run("run", "x.yaml", "--out", "photos", "--overwrite", cwd=tmp_path)
    assert other.returncode == 2
    assert (tmp_path / "photos" / "cat.txt").read_text() == "miaow"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "nowhere.yaml"), "no such file"),
        (("run", "bad.yaml"), "bad.yaml:1:"),
        (("check", "bad.yaml"), "bad.yaml:1:"),
        (("run", "drift", "--set", "robots.sound.motion.radius=0"), "--set:1:28"),
        (("run", "drift", "--seed", "x"), "not a valid integer"),
        (("run", "drift", "--speed", "-1"), "positive number"),
        (("run", "drift", "--events", "none.jsonl"), "none.jsonl"),
        (("run", "drift", "--events", "bad.yaml", "--duration", "1"), "not an event"),
        (
            ("run", "drift", "--events", "bad.jsonl", "--duration", "1"),
            "bad.jsonl:2: set: motion.radius",
        ),
        (("run", "drift", "--log", "0.0123", "--out", "a"), "whole number of ticks"),
        (("run", "drift", "--duration", "9e9", "--out", "bad.yaml/x"), "cannot be written"),
        (("run", "drift", "--duration", "9e9", "--save", "bad.yaml/x"), "cannot be written"),
        (("run", "drift", "--save", ""), "cannot be written: it has no name"),
        (("run", "drift", "--save", "/dev/null"), "/dev/null: is no file"),
        (("run", "drift", "--save", "x" * 300), "x: cannot be written"),
        (("run", "drift", "--out", "x" * 300), "x: cannot be written"),
        (("run", "drift", "--out", "x" * 250), "x: cannot be written"),
        (("run", "drift", "--record", "x" * 300), "x: cannot be written"),
        (("replay", "x" * 300), "x: "),
        (("report", "x" * 300), "x: "),
        (("run", "drift", "--set", "dt=1e-300"), "dt: must be at least 1e-06, not"),
        (("run", "drift", "--set", "dt=5e-324"), "dt: must be at least 1e-06, not"),
        (("run", "drift", "--set", "dt=1e300"), "dt: must be at most 1000000.0, not"),
        (("kinds", "weels"), "did you mean 'wheels'?"),
        (("check",), "needs a SCENARIO"),
        (("fly",), "No such command"),
    ],
)
def test_wrong_input_exits_with_2_and_no_traceback(
    arguments: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    (tmp_path / "bad.yaml").write_text("robots: 3\n")
    (tmp_path / "bad.jsonl").write_text(
        '{"step": 2, "kind": "place", "group": "sound", "values": {"x": 7.0}}\n'
        '{"step": 2, "kind": "set", "group": "sound", '
        '"values": {"parameter": "motion.radius", "value": [0.1, 0.2]}}\n'
    )
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for a child process")
@pytest.mark.parametrize(
    "asked",
    [(signal.SIGINT,), (signal.SIGTERM,), (signal.SIGINT, signal.SIGINT)],
    ids=["SIGINT", "SIGTERM", "SIGINT passed on twice"],
)
def test_ctrl_c_ends_a_run_in_good_order(tmp_path: Path, asked: tuple[signal.Signals, ...]) -> None:
    (tmp_path / "begun.py").write_text(
        "from pathlib import Path\n"
        "import astray\n"
        "class Begun(astray.Sensor, kind='begun'):\n"
        "    '''Leaves a file when the run has gone on for a while.'''\n"
        "    measures = astray.tables.FIX\n"
        "    def sense(self, rows, scene, out):\n"
        "        if scene.truth['stamp'][0] > 0.2:\n"
        "            Path('begun').touch()\n"
    )
    (tmp_path / "x.yaml").write_text(
        "plugins: [begun.py]\nrobots: [{name: a, sensors: [{kind: begun, rate: 10}]}]\n"
    )
    command = [sys.executable, "-m", "astray", "run", "x.yaml", "--duration", "600"]
    child = subprocess.Popen(
        [*command, "--speed", "1", "--out", "a"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TERM": "dumb"},
    )
    deadline = time.monotonic() + 300
    while not (tmp_path / "begun").exists():
        assert time.monotonic() < deadline, child.communicate()
        time.sleep(0.1)
    for one in asked:
        child.send_signal(one)
        time.sleep(0.02)  # signals that are waiting are one
    out, err = child.communicate(timeout=60)
    assert child.returncode == 1, (out, err)
    assert "stopped at t =" in err
    assert json.loads((tmp_path / "a" / "summary.json").read_text())["time"] > 0


def test_kinds_lists_parameters_units_and_defaults() -> None:
    found = json.loads(run("kinds", "--json").stdout)
    kinds = {(k["family"], k["kind"]): k for k in found}
    assert {"differential"} == {k for f, k in kinds if f == "motion"} & {"differential"}
    radius = kinds["motion", "differential"]["parameters"][0]
    assert radius == {"name": "radius", "default": 0.1, "unit": "m, of the wheels"}
    assert all(k["about"] for k in found)
    assert all(p["unit"] for k in found for p in k["parameters"])


def test_kinds_begins_with_an_index_a_line_for_each_kind() -> None:
    done = run("kinds")
    lines = done.stdout.splitlines()
    every = json.loads(run("kinds", "--json").stdout)
    for kind in every:
        words = [kind["kind"], *kind["about"].split()]
        assert sum(line.split() == words for line in lines) == 1, kind["kind"]
        assert any(line.startswith(f"{kind['family']}: ") for line in lines)
    assert len(lines) < 2 * len(every)
    assert "position_sd" not in done.stdout


def test_kinds_tells_the_choices_of_an_enumeration() -> None:
    ekf, particle = (json.loads(run("kinds", k, "--json").stdout)[0] for k in ("ekf", "particle"))
    choices = {p["name"]: p.get("choices") for p in [*ekf["parameters"], *particle["parameters"]]}
    assert choices["by"] == ["auto", "imu", "wheels"]
    assert choices["initial"] == ["told", "global"]
    assert choices["rests"] is None
    assert "one of: consumer, industrial, tactical" in run("kinds", "imu").stdout


def test_kinds_finds_words() -> None:
    about = run("kinds", "slip").stdout
    assert about.startswith("About slip:")
    assert "sensor wheels" in about
    assert "slip_density" in about
    assert "see also" not in about.lower()
    named = run("kinds", "lidar").stdout
    assert named.startswith("sensor lidar:")
    assert "estimator particle" in named.split("See also:")[1]
    both = run("kinds", "monte", "carlo").stdout
    assert both.startswith("estimator particle:"), "the only one is printed in full"
    assert run("kinds", "monte", "seasick").returncode == 2


@pytest.mark.parametrize(
    "command", ["demo", "map", "node", "pioneer", "recover", "replay", "report", "run", "sweep"]
)
def test_quiet_has_a_short_form(command: str) -> None:
    assert "-q, --quiet" in run(command, "--help").stdout


def test_check_prints_the_effective_scenario(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(CART)
    done = run("check", "x.yaml", "--set", "seed=5", cwd=tmp_path)
    assert done.returncode == 0
    (tmp_path / "y.yaml").write_text(done.stdout)
    assert run("check", "y.yaml", cwd=tmp_path).stdout == done.stdout
    assert "seed: 5" in done.stdout


def test_version() -> None:
    assert run("--version").stdout.split()[-1] == astray.__version__


def test_a_name_with_brackets_is_no_markup(tmp_path: Path) -> None:
    done = run("run", "remote", "--duration", "0.1", "--set", 'name="a[/b]"', cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "a[/b]: 0.1 s" in done.stdout


def test_a_folder_that_cannot_be_written_loses_no_saved_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise WrongInput("no space left")

    monkeypatch.setattr(session, "write_run_folder", full)
    with pytest.raises(WritingFailed, match="no space left; the run is lost"):
        run_scenario(
            "remote", duration=0.1, out=tmp_path / "o", save=tmp_path / "run.npz", quiet=True
        )
    assert astray.resume(tmp_path / "run.npz").time == pytest.approx(0.1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("command", [("run", "remote", "--duration", "0.1"), ("kinds",)])
def test_what_cannot_be_printed_is_told_without_a_traceback(command: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "astray", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("the output cannot be written: No space")
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_an_answer_arrives_though_nobody_reads_what_is_told_beside_it() -> None:
    reader, nobody = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "astray", "run", "remote", "--duration", "0.1", "--json"],
        stdout=subprocess.PIPE,
        stderr=nobody,
        timeout=120,
    )
    os.close(nobody)
    assert done.returncode == 0
    assert json.loads(done.stdout)["time"] == pytest.approx(0.1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes that have names")
def test_what_is_no_file_is_never_replaced_by_one(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(WrongInput, match="is no file"):
        astray.load("remote").save(tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()


def test_a_full_disk_is_a_failure_and_no_wrong_input(tmp_path: Path) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    with (
        pytest.raises(WritingFailed, match="out: cannot be written: No space left"),
        atomic_folder(tmp_path / "out"),
    ):
        raise full
    with (
        pytest.raises(WritingFailed, match="x: cannot be written: No space left"),
        atomic_write(tmp_path / "x"),
    ):
        raise full
    assert not issubclass(WritingFailed, WrongInput)  # which ends with another exit code
    assert list(tmp_path.iterdir()) == []


def test_a_run_whose_disk_is_full_at_the_end_is_written_elsewhere(tmp_path: Path) -> None:
    """The disk of --out and of the present folder is full, that of the home folder is not."""
    (tmp_path / "home").mkdir()
    program = f"""
import errno, os, sys, pathlib
full, mkdir = {str(tmp_path / "full")!r}, pathlib.Path.mkdir
def refuse(self, *args, **options):
    if str(self.parent) == os.path.dirname(full) and ".part" in self.name:
        raise OSError(errno.ENOSPC, "No space left on device", str(self))
    mkdir(self, *args, **options)
pathlib.Path.mkdir = refuse
sys.argv = ["astray", "run", "remote", "--duration", "0.1", "--out", full]
from astray.cli import main
main()
"""
    home = {"HOME": str(tmp_path / "home"), "ASTRAY_CACHE_DIR": str(cache_root())}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
        env={**os.environ, **home},
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    found = re.search(r"No space left.*; the run was written to (.*) instead", done.stderr)
    assert found, done.stderr
    assert Path(found[1]).parent == tmp_path / "home"
    assert json.loads((Path(found[1]) / "summary.json").read_text())["time"] == pytest.approx(0.1)
    assert "digest" in done.stdout, "the result is printed all the same"
    assert not (tmp_path / "full").exists()


def test_a_full_disk_is_told_with_the_checkpoint_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise WritingFailed("no space left")

    monkeypatch.setattr(session, "write_run_folder", full)
    monkeypatch.setattr(session.Sim, "save", full)
    with pytest.raises(WritingFailed, match="the run is lost\nno space left"):
        run_scenario("remote", duration=0.1, out=tmp_path / "o", save=tmp_path / "s", quiet=True)


@pytest.mark.parametrize("verb", ["sense", "reset"])
def test_a_plugin_that_raises_is_a_failure_and_no_wrong_input(verb: str, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(
        "import astray\n"
        "class Broken(astray.Sensor, kind='broken_in_test'):\n"
        '    "Raises."\n'
        "    measures = astray.tables.FIX\n"
        "    def sense(self, rows, scene, out): pass\n"
        f"    def {verb}(self, *handed): raise ZeroDivisionError('oh')\n"
    )
    (tmp_path / "x.yaml").write_text(
        "plugins: [broken.py]\nrobots: [{name: cart, sensors: [{kind: broken_in_test}]}]\n"
    )
    done = run("run", "x.yaml", "--duration", "0.1", cwd=tmp_path)
    assert done.returncode == 1
    assert f"sensor 'broken_in_test' failed in {verb}" in done.stderr
    assert "oh (broken.py:6)" in done.stderr
    assert "Traceback" not in done.stderr


def test_collisions_are_told_of_those_who_had_some(tmp_path: Path) -> None:
    walled = "world: {map: {walls: [[[1, -1], [1, 1]]]}}\nrobots:\n"
    driven = "autonomy: {kind: scripted, steps: [{lasts: 9, vx: 0.5}]}, footprint: {radius: 0.2}"
    still = "footprint: {radius: 0.2}, start: {x: -3}"
    both = f"  - {{name: bold, {driven}}}\n  - {{name: calm, {still}}}\n"
    (tmp_path / "walled.yaml").write_text(walled + both)
    told = run("run", "walled.yaml", "--duration", "5", cwd=tmp_path)
    assert "collided: bold once\n" in told.stdout
    told = run("run", "walled.yaml", "--duration", "0.5", cwd=tmp_path)
    assert "no collisions\n" in told.stdout
