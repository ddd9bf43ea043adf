"""The page from the command line: run --view, and replay."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

import astray
from astray.errors import WrongInput
from astray.viewer.page.codec import encode_recording
from astray.viewer.page.replay import bundle, self_contained
from astray.viewer.page.sources.run_folder import read_folder

COMMAND = [sys.executable, "-m", "astray"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    goal: Path = tmp_path_factory.mktemp("run") / "out"
    sim = astray.load("fusion")
    log = sim.run(2.0, log=0.1)
    sim.write(log, goal)
    return goal


def start(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    """A command that serves a page, and the address that it prints."""
    process = subprocess.Popen(
        [*COMMAND, *arguments, "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("http://127.0.0.1:"):
            return process, line.strip()
    raise AssertionError(process.communicate()[1])


def wait_for_the_end(process: subprocess.Popen[str]) -> None:
    """Read what a command says until it says that its run has ended."""
    assert process.stderr is not None
    for line in process.stderr:
        if "The run has ended" in line:
            return
    raise AssertionError("it ended without a word")


def talk(url: str, *said: dict[str, Any], wait_for: Callable[[Any], bool]) -> dict[str, Any]:
    """Say something as a page would, and wait for a message."""
    address = url.replace("http", "ws").replace("/?", "/ws?")
    origin: Any = url.partition("/?")[0]
    with connect(address, origin=origin, compression=None, max_size=None) as client:
        for message in said:
            client.send(json.dumps(message))
        while True:
            data = client.recv(timeout=60)
            if isinstance(data, str):
                found: dict[str, Any] = json.loads(data)
                if wait_for(found):
                    return found


def test_a_run_is_viewed_touched_and_written_when_it_is_stopped(tmp_path: Path) -> None:
    out = tmp_path / "out"
    process, url = start("run", "office", "--view", "--out", str(out), "--quiet")
    try:
        pose = {"x": 3.0, "y": 7.5, "yaw": 0.0}
        talk(url, {"do": "place", "robot": 0, **pose}, wait_for=lambda m: m.get("events") == 1)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 1  # it did not come to its end
    finally:
        process.kill()
    events = (out / "events.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(event)["kind"] for event in events] == ["place"]


def test_a_viewed_run_that_has_ended_can_begin_anew(tmp_path: Path) -> None:
    process, url = start("run", "drift", "--view", "--speed", "max", "--duration", "2", "--json")
    try:
        assert talk(url, wait_for=lambda m: m["type"] == "scene")["seed"] != 123
        wait_for_the_end(process)
        talk(url, {"do": "reset", "seed": 123}, wait_for=lambda m: m.get("seed") == 123)
        wait_for_the_end(process)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    again = astray.load("drift", seed=123)
    again.run(2.0)
    assert json.loads(said.splitlines()[-1])["digest"] == again.digest()


def test_replay_serves_a_folder_until_it_is_stopped(folder: Path) -> None:
    process, url = start("replay", str(folder))
    try:
        with urllib.request.urlopen(url.replace("/?", "/recording?"), timeout=30) as answer:
            assert answer.read() == encode_recording(read_folder(folder))
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()


def test_replay_writes_one_file(folder: Path, tmp_path: Path) -> None:
    goal = tmp_path / "deep" / "run.html"
    done = subprocess.run([*COMMAND, "replay", str(folder), "--html", str(goal)], check=True)
    assert done.returncode == 0
    text = goal.read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="', text)  # it needs nothing else
    assert 'data-mode="file"' in text
    assert "unsafe" not in text


def test_replay_loses_no_file_by_mistake(folder: Path, tmp_path: Path) -> None:
    goal = tmp_path / "keep.yaml"
    goal.write_text("duration: 5\n")
    command = [*COMMAND, "replay", str(folder), "--html", str(goal)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "keep.yaml exists already; choose another file or --overwrite" in done.stderr
    assert goal.read_text() == "duration: 5\n"
    subprocess.run([*command, "--overwrite"], check=True)
    assert 'data-mode="file"' in goal.read_text(encoding="utf-8")


@pytest.mark.parametrize("what", ["missing", "empty", "torn"])
def test_what_is_no_run_is_wrong_input(what: str, folder: Path, tmp_path: Path) -> None:
    place = tmp_path / what
    if what != "missing":
        place.mkdir()
    if what == "torn":
        for name in ("run.json", "scenario.yaml"):
            (place / name).write_bytes((folder / name).read_bytes())
        (place / "log.npz").write_bytes((folder / "log.npz").read_bytes()[:1000])
    with pytest.raises(WrongInput):
        read_folder(place)
    done = subprocess.run(
        [*COMMAND, "replay", str(place)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


def test_a_recording_has_what_the_run_had(folder: Path) -> None:
    sim = astray.load("fusion")
    log = sim.run(2.0, log=0.1)
    recording = read_folder(folder)
    [name] = [group["name"] for group in recording.scene["groups"]][:1]
    group = log[name]
    n = group.truth.shape[1]
    assert (recording.times == log.time).all()
    assert (recording.robots[:, :n, 0] == group.truth["x"].astype("f4")).all()
    assert (recording.beliefs[:, :n, 4] == group.belief["cov"][:, :, 0, 0].astype("f4")).all()
    values = recording.values[name]
    assert (values["truth.vx"] == group.truth["vx"]).all()
    assert set(group.metrics) <= set(values)


def test_the_program_of_the_page_in_one_piece_imports_and_exports_nothing() -> None:
    program = bundle("main")
    assert not re.search(r"^\s*(import|export)\b", program, re.MULTILINE)
    assert program.count("const module_main") == 1
    assert (
        "</script"
        not in self_contained(b"").split('<script type="module">')[1].split("</script>")[0]
    )
