"""`astray run --rosbridge` as users type it."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from websockets.sync.client import connect

from astray.cli import astray as commands
from astray.cli.bridges import TIMEOUT, make_drivable
from support.rosbridge import HALL, ROVER
from support.rosbridge import TIMEOUT as WAIT_TIMEOUT


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A robot that wants nothing."""
    idle = {**ROVER, "autonomy": {"kind": "idle"}}
    file = tmp_path / "hall.yaml"
    file.write_text(json.dumps({"duration": 600, "world": {"map": HALL}, "robots": [idle]}))
    return file


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent another way there")
def test_a_robot_that_wants_nothing_is_driven_until_nobody_commands_it(scenario: Path) -> None:
    run = subprocess.Popen(
        [sys.executable, "-m", "astray", "run", str(scenario), "--rosbridge", "0"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert run.stderr is not None
        port = next(
            found[1] for line in run.stderr if (found := re.search(r"ws://.*?:(\d+)", line))
        )
        with connect(f"ws://127.0.0.1:{port}", close_timeout=0.5) as line:
            line.send(json.dumps({"op": "subscribe", "topic": "/ground_truth/odom"}))
            moved = {"op": "publish", "topic": "/cmd_vel", "msg": {"linear": {"x": 0.6}}}
            speeds = [0.0]
            while not (max(speeds) > 0.5 and speeds[-1] == 0.0):
                if max(speeds) <= 0.5:  # a busy machine may not tell of each moment
                    line.send(json.dumps(moved))
                said = json.loads(line.recv(timeout=WAIT_TIMEOUT))["msg"]
                speeds.append(said["twist"]["twist"]["linear"]["x"])
        run.send_signal(signal.SIGINT)
        assert run.wait(WAIT_TIMEOUT) == 1
        assert "stopped at" in run.stderr.read()
    finally:
        run.kill()
        run.wait()


def test_only_robots_that_want_nothing_are_made_to_listen(scenario: Path) -> None:
    def sets(autonomy: str) -> list[str]:
        return make_drivable(str(scenario), [f"robots.rover.autonomy={autonomy}"], TIMEOUT)[1:]

    wanted = 'robots.rover.autonomy={"kind": "remote", "timeout": 0.5}'
    assert make_drivable(str(scenario), [], TIMEOUT) == [wanted]
    assert sets("{kind: remote}")[-1] == "robots.rover.autonomy.timeout=0.5"
    assert sets("{kind: remote, timeout: 2}") == []
    assert sets("{kind: remote, lockstep: 0.1}") == []
    assert sets("{kind: wander}") == []


def test_a_port_that_is_taken_is_wrong_input(scenario: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = ["run", str(scenario), "--quiet", "--rosbridge", str(port)]
        done = subprocess.run(
            [sys.executable, "-m", "astray", *command], capture_output=True, text=True, check=False
        )
    assert done.returncode == 2
    assert f"port {port} of 127.0.0.1 cannot be used" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_origin_is_allowed_only_where_there_is_a_server(scenario: Path) -> None:
    done = CliRunner().invoke(commands, ["run", str(scenario), "--allow-origin", "*"])
    assert done.exit_code == 2
    assert "--allow-origin is for --rosbridge" in done.output
