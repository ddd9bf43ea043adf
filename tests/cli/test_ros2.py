"""ROS 2 from the command line: arguments and environment variables."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from astray.cli import astray as command
from astray.errors import WrongInput
from astray.ros.arguments import parse_arguments
from astray.ros.dds.discovery import Discovery, check_transport
from astray.ros.dds.settings import DdsSettings
from astray.ros.subscriptions.drivable import make_drivable
from astray.scenario.load import load_scenario


@pytest.mark.parametrize(
    ("variables", "domain", "range_", "peers"),
    [
        ({}, 0, "LOCALHOST", ()),
        ({"ROS_DOMAIN_ID": "42"}, 42, "LOCALHOST", ()),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}, 0, "SUBNET", ()),
        (
            {"ROS_LOCALHOST_ONLY": "1", "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"},
            0,
            "LOCALHOST",
            (),
        ),
        ({"ROS_LOCALHOST_ONLY": "0"}, 0, "SUBNET", ()),
        ({"ROS_STATIC_PEERS": "10.0.0.1;robot.local"}, 0, "LOCALHOST", ("10.0.0.1", "robot.local")),
    ],
)
def test_discovery_is_read_from_the_environment(
    variables: Any, domain: int, range_: str, peers: Any
) -> None:
    found = Discovery.from_environment(variables)
    assert (found.domain, found.range, found.peers) == (domain, range_, peers)


def test_by_default_a_node_stays_on_this_machine() -> None:
    for multicast in (True, False):
        config = Discovery().config(multicast) or ""
        assert 'address="127.0.0.1"' in config
        assert "autodetermine" not in config
        assert f"<AllowMulticast>{str(multicast).lower()}</AllowMulticast>" in config
        assert '<Peer address="localhost"/>' in config
    beyond = Discovery(range="SUBNET").config() or ""
    assert 'autodetermine="true"' in beyond
    named = Discovery(peers=('10.0.0.1"/><x a="',)).config() or ""
    assert "<x" not in named  # any text is quoted as an address
    assert "<AllowMulticast>false" in named
    off = Discovery(range="OFF").config(multicast=True) or ""
    assert "<Peers></Peers>" in off
    assert "<AllowMulticast>false" in off


def test_settings_of_the_transport_itself_are_left_to_it() -> None:
    assert (
        Discovery.from_environment({"CYCLONEDDS_URI": "<x/>", "ROS_DOMAIN_ID": "3"}).config()
        is None
    )


@pytest.mark.parametrize(
    "variables",
    [
        {"ROS_DOMAIN_ID": "x"},
        {"ROS_DOMAIN_ID": "-1"},
        {"ROS_DOMAIN_ID": "233"},
        {"ROS_AUTOMATIC_DISCOVERY_RANGE": "EVERYWHERE"},
    ],
)
def test_an_environment_that_makes_no_sense_is_told(variables: Any) -> None:
    with pytest.raises(WrongInput, match="ROS_"):
        Discovery.from_environment(variables)


def test_names_parameters_and_files_mean_what_they_mean_in_ros(tmp_path: Path) -> None:
    file = tmp_path / "params.yaml"
    file.write_text(
        "/**:\n  ros__parameters:\n    rate: 20\n    localization: truth\n"
        "astray:\n  ros__parameters:\n    localization: external\n"
        "other:\n  ros__parameters:\n    rate: 1.0\n"
    )
    found = parse_arguments(
        "astray",
        ["scan:=/laser", "other:odom:=x", "astray:imu/data:=imu"],
        ["stamped_cmd_vel:=true"],
        [file],
    )
    assert found.settings(DdsSettings) == DdsSettings(
        localization="external", rate=20.0, stamped_cmd_vel=True
    )
    names = ("scan", "/scan", "odom", "imu/data", "~/x")
    assert [found.topic(name) for name in names] == [
        "/laser",
        "/laser",
        "/odom",
        "/imu",
        "/astray/x",
    ]


@pytest.mark.parametrize(
    ("remaps", "params"),
    [(["scan"], []), (["scan:=a b"], []), (["scan:="], []), ([], ["rate:=0"]), ([], ["rat:=5"]),
     ([], ["ros_distro:=noetic"]), ([], ["localization:=gps"]), ([], ["rate"])],
)  # fmt: skip
def test_what_makes_no_sense_is_told(remaps: list[str], params: list[str]) -> None:
    with pytest.raises(WrongInput):
        parse_arguments("astray", remaps, params).settings(DdsSettings)


def test_robots_that_want_nothing_listen_and_stop_when_nobody_speaks() -> None:
    robots = [
        {"name": "idle", "autonomy": {"kind": "idle"}},
        {"name": "plain"},
        {"name": "own", "autonomy": {"kind": "remote", "timeout": 2.0}},
        {"name": "waits", "autonomy": {"kind": "remote", "lockstep": 0.05}},
        {"name": "goes", "autonomy": {"kind": "wander"}},
    ]
    source = {"dt": 0.01, "robots": robots}
    found = load_scenario(source, make_drivable(source, (), 0.5)).robots
    assert [plan.autonomy.kind for plan in found] == ["remote"] * 4 + ["wander"]
    timeouts = [getattr(plan.autonomy, "timeout", None) for plan in found]
    assert timeouts == [0.5, 0.5, 2.0, None, None]


def test_options_for_a_node_need_a_node() -> None:
    answer = CliRunner().invoke(command, ["run", "office", "-p", "rate:=5"])
    assert answer.exit_code == 2
    assert "--ros2" in answer.output


def test_without_the_transport_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "cyclonedds" else find(name)
    )
    with pytest.raises(WrongInput, match=r"astray\[ros2\].*--rosbridge"):
        check_transport()


WITHOUT_CYCLONEDDS = """
import importlib.util, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "cyclonedds" else find(name, *more)
sys.modules["cyclonedds"] = None
from astray.cli import main
main()
"""


@pytest.mark.parametrize("arguments", [("run", "office", "--ros2"), ("node", "imu_data_simulator")])
def test_without_the_transport_the_command_line_ends_with_code_2(arguments: tuple[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_CYCLONEDDS, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert "astray[ros2]" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_parameter_ends_with_code_2_and_no_traceback() -> None:
    pytest.importorskip("cyclonedds", reason="needs the extra [ros2]")
    done = subprocess.run(
        [sys.executable, "-m", "astray", "run", "office", "--ros2", "-p", "localization:=gps"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert "belief, truth, external" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_of_its_own_pace_ends_by_itself(tmp_path: Path) -> None:
    pytest.importorskip("cyclonedds", reason="needs the extra [ros2]")
    from support.ros2_peer import DOMAIN

    done = subprocess.run(
        [
            sys.executable, "-m", "astray", "run", "office", "--ros2", "--duration", "0.5",
            "--speed", "max", "--json", "--ros-args", "-r", "__node:=sim", "-p", "own_types:=true",
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "/sim publishes" in done.stderr
