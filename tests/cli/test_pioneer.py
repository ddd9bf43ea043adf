"""`astray pioneer`: it prints where the robots are, and stops in order."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import astray
from astray.engine.event_queue import read_events
from astray.pioneer import Client, NoAnswer
from astray.pioneer.commands import PioneerCommand
from astray.recording.reader import Recording

TIMEOUT = 240  # s, for kernels that have to be compiled


@contextmanager
def pioneer(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The command, as a program of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "astray", "pioneer", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def refused(*arguments: str) -> str:
    """What the command says when it refuses its input."""
    done = subprocess.run(
        [sys.executable, "-m", "astray", "pioneer", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=TIMEOUT,
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def ports(process: subprocess.Popen[str], count: int) -> list[int]:
    """The ports that it prints, a line each."""
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(count)]
    return [int(re.findall(r":(\d+)", line)[-1]) for line in lines]


def ended(process: subprocess.Popen[str]) -> int:
    """Press Ctrl-C; the code it ends with."""
    process.send_signal(signal.SIGINT)
    return process.wait(30)


no_signals = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGINT")


@no_signals
def test_robots_are_served_until_ctrl_c_and_their_run_replays(tmp_path: Path) -> None:
    out = tmp_path / "run"
    options = ("-m", "office", "-r", "p3dx", "-r", "amigo:bob", "--start", "2000,2000,90")
    with pioneer(
        *options, "--port", "0", "--lockstep", "--speed", "max", "--out", str(out)
    ) as process:
        first, second = ports(process, 2)
        with Client(port=first, timeout=TIMEOUT) as client:
            assert client.true_pose() == pytest.approx((2.0, 2.0, 1.5708), abs=0.002)
            client.velocity(0.3)
            client.wait(3.0)
            with pytest.raises(NoAnswer):
                Client(port=first).connect()
        with Client(port=second) as other:
            assert other.subclass == "amigo"
        assert ended(process) == 0
    with pytest.raises(NoAnswer):
        Client(port=first).connect()
    again = astray.load(out / "scenario.yaml")
    again.replay(read_events(out / "events.jsonl"))
    again.run()
    assert again.digest() == json.loads((out / "summary.json").read_text("utf-8"))["digest"]


@no_signals
def test_clients_are_served_when_the_log_is_closed() -> None:
    with pioneer("-p", "0") as process:
        (port,) = ports(process, 1)
        assert process.stderr is not None
        process.stderr.close()
        for _ in range(2):
            with Client(port=port) as client:
                client.wait(0.3)
        assert ended(process) == 0
        process.stderr = None


@no_signals
def test_a_run_that_is_stopped_at_once_is_still_written(tmp_path: Path) -> None:
    kept = ("--out", str(tmp_path / "run"), "--record", str(tmp_path / "run.mcap"))
    with pioneer("-p", "0", *kept) as process:
        ports(process, 1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert (tmp_path / "run" / "events.jsonl").exists()
    assert Recording(tmp_path / "run.mcap").robots


@no_signals
def test_a_port_for_each_client_and_a_terminal_are_printed() -> None:
    with pioneer(
        "-r", "p3dx:anna", "-R", "p3at", "--port", "0", "--pty", "--speed", "20"
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(2)]
        assert re.fullmatch(r"anna \(p3dx\): 127\.0\.0\.1:\d+, /dev/\S+\n", lines[0])
        assert re.fullmatch(r"p3at for each client: 127\.0\.0\.1:\d+\n", lines[1])
        assert Path(lines[0].split(", ")[1].strip()).exists()
        with Client(port=int(lines[1].split(":")[-1])) as client:
            assert client.subclass == "p3at"
        assert ended(process) == 0


@no_signals
def test_clients_are_logged_and_end_the_simulator_where_that_is_allowed() -> None:
    with pioneer("--port", "0", "--allow-exit", "--log-packets", "--speed", "20") as process:
        (port,) = ports(process, 1)
        with Client(port=port) as client:
            client.velocity(-0.3)
            client.wait(0.3)
            client.command(PioneerCommand.SIM_EXIT, 7)
            assert process.wait(30) == 7
        assert process.stderr is not None
        error = process.stderr.read()
        assert "p3dx: client connected" in error
        assert "received VEL -300" in error


def test_a_port_in_use_is_reported_with_the_option_that_changes_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        error = refused("--port", str(port))
    assert f"port {port} of 127.0.0.1 cannot be used" in error
    assert "--port" in error


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-r", "p3dxx"), "did you mean 'p3dx'"),
        (("-r", "missing.p"), "missing.p"),
        (("-m", "nowhere.map"), "no such file"),
        (("--start", "1,2"), "neither x,y,th in mm and degrees nor random"),
        (("--start", "nan,0,0"), "neither x,y,th"),
        (("--speed", "0"), "neither a positive number nor max"),
        (("--odom-error-mode", "randon_init"), "did you mean 'random_init'"),
        (("--allow-maps", "no/such/folder"), "not a folder"),
        (("--port", "70000"), "70000"),
        (("--bind-to-address", "300.1.1.1", "--port", "0"), "--bind-to-address"),
    ],
)
def test_wrong_input_is_reported_without_a_traceback(
    arguments: tuple[str, ...], words: str
) -> None:
    assert words in refused(*arguments)


def test_help_is_instant_and_names_mobilesims_options() -> None:
    started = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "astray", "pioneer", "--help"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=TIMEOUT,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert started.returncode == 0
    assert "numpy" not in started.stderr
    for option in ("-m,", "-r,", "-R,", "--start", "--bind-to-address", "--log-packets"):
        assert option in started.stdout
