"""Other DDS implementations with astray, over real sockets, in a network with nothing but loopback."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.paths import PEERS

pytest.importorskip("cyclonedds", reason="needs the extra [ros2]")

from astray.ros.dds.idl import dds_topic_name, dds_type_name
from astray.ros.messages.types import decode, encode

TIMEOUT = 120  # s of real time after which a test fails
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith("ROS_") and name != "CYCLONEDDS_URI"
}
TOPICS = {
    "/imu/data": "sensor_msgs/msg/Imu",
    "/scan": "sensor_msgs/msg/LaserScan",
    "/odom": "nav_msgs/msg/Odometry",
    "/ground_truth/odom": "nav_msgs/msg/Odometry",
    "/tf": "tf2_msgs/msg/TFMessage",
    "/clock": "rosgraph_msgs/msg/Clock",
}
SCENARIO = """\
duration: 1000
world: {map: {walls: [[[-1, -2], [9, -2], [9, 5], [-1, 5], [-1, -2]]]}}
robots:
  - name: rover
    start: {x: 1.0, y: 2.0, yaw: 0.5}
    autonomy: {kind: idle}
    sensors:
      - {kind: imu, rate: 100}
      - {kind: wheels, rate: 50}
      - {kind: lidar, name: scan, rate: 10, rays: 91, max_range: 12}
    estimator: {kind: odometry}
"""


class Network:
    """A network of its own, with nothing but loopback; commands can be run in it."""

    MULTICAST = "ip link set lo multicast on && ip route add 224.0.0.0/4 dev lo"

    def __init__(self, multicast: bool = True) -> None:
        as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
        more = self.MULTICAST if multicast else "true"
        script = f"ip link set lo up && {more} && echo ready && exec sleep 1000"
        command = ["unshare", *as_root, "--net", "sh", "-c", script]
        self.holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.holder.stdout is not None
        self.is_ready = self.holder.stdout.readline() == "ready\n"
        self._started: list[subprocess.Popen[str]] = []

    def start(self, *command: str, **environment: str) -> subprocess.Popen[str]:
        """Start a program in this network."""
        enter = ["nsenter", f"--target={self.holder.pid}", "--net"]
        if os.geteuid() != 0:
            enter += ["--user", "--preserve-credentials"]
        started = subprocess.Popen(
            [*enter, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**ENVIRONMENT, **environment},
        )
        self._started.append(started)
        return started

    def close(self) -> None:
        for process in [*self._started, self.holder]:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def network() -> Iterator[Network]:
    yield from made_network()


@pytest.fixture(scope="module")
def without_multicast() -> Iterator[Network]:
    yield from made_network(multicast=False)


def made_network(multicast: bool = True) -> Iterator[Network]:
    for tool in ("unshare", "nsenter", "ip"):
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool} to make a network namespace")
    made = Network(multicast)
    try:
        if not made.is_ready:
            pytest.skip("may not make a network namespace here")
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def fastdds(tmp_path_factory: pytest.TempPathFactory) -> str:
    if not Path("/usr/include/fastdds/dds/domain/DomainParticipant.hpp").exists():
        pytest.skip("needs Fast DDS: apt install libfastrtps-dev g++")
    program = tmp_path_factory.mktemp("peer") / "fastdds_peer"
    build = ["g++", "-std=c++17", "-O1", str(PEERS / "fastdds_peer.cpp"), "-o", str(program)]
    done = subprocess.run(
        [*build, "-lfastrtps", "-lfastcdr"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return str(program)


def lines(process: subprocess.Popen[str]) -> Iterator[str]:
    assert process.stdout is not None
    deadline = time.monotonic() + TIMEOUT
    for line in process.stdout:
        yield line.rstrip("\n")
        assert time.monotonic() < deadline


@contextlib.contextmanager
def running(network: Network, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A run of astray in that network, once it has connected."""
    file = tmp_path / "hall.yaml"
    file.write_text(SCENARIO)
    run = network.start(sys.executable, "-m", "astray", "run", str(file), "--ros2")
    try:
        assert any("ROS 2: /astray publishes" in line for line in lines(run))
        yield run
    finally:
        run.terminate()
        run.wait(TIMEOUT)


def check(topic: str, message: Any) -> None:
    """The values of a robot that stands at (1, 2, 0.5)."""
    if topic == "/imu/data":
        assert message["linear_acceleration"]["z"] == pytest.approx(9.80665, abs=0.02)
        assert message["header"]["frame_id"] == "imu_link"
    elif topic == "/scan":
        bearing = 0.5 + message["angle_min"] + 45 * message["angle_increment"]
        wall = min((9.0 - 1.0) / math.cos(bearing), (5.0 - 2.0) / math.sin(bearing))
        assert len(message["ranges"]) == 91
        assert message["ranges"][45] == pytest.approx(wall, abs=0.05)
    elif topic == "/odom":
        assert message["child_frame_id"] == "base_link"
        assert message["pose"]["pose"]["position"]["x"] == 0.0
    elif topic == "/ground_truth/odom":
        assert message["pose"]["pose"]["position"] == {"x": 1.0, "y": 2.0, "z": 0.0}
        assert message["pose"]["pose"]["orientation"]["z"] == pytest.approx(math.sin(0.25))
    elif topic == "/tf":
        frames = {t["child_frame_id"]: t["transform"] for t in message["transforms"]}
        assert set(frames) == {"base_link", "base_link_truth", "odom"}
        assert frames["odom"]["translation"] == pytest.approx({"x": 1.0, "y": 2.0, "z": 0.0})
    else:
        assert topic == "/clock"
        assert message["clock"]["nanosec"] % 10_000_000 == 0


def test_a_rustdds_client_subscribes_to_a_run_and_drives_it(
    network: Network, tmp_path: Path
) -> None:
    pytest.importorskip("rosless", reason="needs rosless: pip install rosless")
    with running(network, tmp_path):
        topics = [f"{topic}={type}" for topic, type in TOPICS.items()]
        peer = network.start(sys.executable, str(PEERS / "rosless_peer.py"), *topics)
        found = []
        for line in lines(peer):
            assert line.startswith("{"), line
            found.append(json.loads(line))
        assert peer.wait(TIMEOUT) == 0
    assert [answer.get("topic") for answer in found[:-1]] == list(TOPICS)
    for answer in found[:-1]:
        check(answer["topic"], answer["message"])
    assert found[-1]["speed"] == pytest.approx(0.25, abs=1e-3)


def test_a_fast_dds_client_subscribes_to_a_run(
    network: Network, fastdds: str, tmp_path: Path
) -> None:
    from astray.ros.messages.types import to_plain, type_hash

    with running(network, tmp_path):
        names = [n for t, k in TOPICS.items() for n in (dds_topic_name(t), dds_type_name(k))]
        peer = network.start(fastdds, "subscribe", str(TIMEOUT), *names)
        found: dict[str, Any] = {}
        about: dict[str, str] = {}
        for line in lines(peer):
            first, _, rest = line.partition(" ")
            if first == "matched":
                topic, _, data = rest.partition(" ")
                about[topic] = data or about.get(topic, "")  # it finds its own as well
            else:
                topic = first.removeprefix("rt")
                found[topic] = to_plain(decode(TOPICS[topic], bytes.fromhex(rest)))
            if len(found) == len(TOPICS):
                break
        peer.kill()
    for topic, message in found.items():
        check(topic, message)
    assert about["rt/scan"] == f"typehash={type_hash('sensor_msgs/msg/LaserScan')};"
    assert {"rt/cmd_vel", "rt/position_reset", "rt/map", "ros_discovery_info"} <= set(about)


def test_a_fast_dds_client_finds_a_run_without_multicast_on_loopback(
    without_multicast: Network, fastdds: str, tmp_path: Path
) -> None:
    with running(without_multicast, tmp_path):
        clock = dds_topic_name("/clock"), dds_type_name("rosgraph_msgs/msg/Clock")
        peer = without_multicast.start(fastdds, "subscribe", str(TIMEOUT), *clock)
        assert any(line.startswith("rt/clock") for line in lines(peer))
        peer.kill()


def test_a_fast_dds_client_drives_a_run_after_invalid_bytes(
    network: Network, fastdds: str, tmp_path: Path
) -> None:
    """Bytes that are no Twist at all, and then a Twist: only the second moves the robot."""
    twist = "geometry_msgs/msg/Twist"
    names = dds_topic_name("/cmd_vel"), dds_type_name(twist)
    command = encode(twist, {"linear": {"x": 0.25}})
    odometry = "nav_msgs/msg/Odometry"
    with running(network, tmp_path) as run:
        for garbage in ("00010000", "00010000" + "ff" * 7, "ffff" * 40, "00030000" + "00" * 48):
            peer = network.start(fastdds, "publish", "0.5", "20", *names, garbage)
            peer.wait(TIMEOUT)
        subscriber = network.start(
            fastdds,
            "subscribe",
            str(TIMEOUT),
            dds_topic_name("/ground_truth/odom"),
            dds_type_name(odometry),
        )
        publisher = network.start(fastdds, "publish", str(TIMEOUT), "20", *names, command.hex())
        speeds = []
        for line in lines(subscriber):
            if not line.startswith("matched"):
                message = decode(odometry, bytes.fromhex(line.split(" ")[1]))
                speeds.append(message.twist.twist.linear.x)
                if speeds[-1] > 0.2499:
                    break
        publisher.kill()
        subscriber.kill()
        assert run.poll() is None
    assert speeds[-1] == pytest.approx(0.25, abs=1e-3)


def test_a_fast_dds_client_subscribes_to_the_approximator_of_simulated_data(
    network: Network, fastdds: str, tmp_path: Path
) -> None:
    """Two programs of ours and one of another maker: 1 m/s² for a second, and a metre on."""
    file = tmp_path / "course.yaml"
    file.write_text(
        "linear_x:\n  num_intervals: 2\n"
        "  interval_0: {type: constant, t_start: 0.2, t_end: 1.2, y_start: 1.0}\n"
        "  interval_1: {type: constant, t_start: 1.2, t_end: 9.0, y_start: 0.0}\n"
    )
    pose = "geometry_msgs/msg/Pose2D"
    run = (sys.executable, "-m", "astray", "node")
    estimates = network.start(*run, "imu_position_approximator")
    assert any("publishes /estimated_position" in line for line in lines(estimates))
    names = dds_topic_name("/estimated_position"), dds_type_name(pose)
    subscriber = network.start(fastdds, "subscribe", str(TIMEOUT), *names)
    assert any("matched rt/estimated_position typehash" in line for line in lines(subscriber))
    plays = network.start(
        *run, "imu_data_simulator", "--ros-args", "--params-file", str(file), "-p",
        "wait_for_subscriber:=true",
    )  # fmt: skip
    for line in lines(subscriber):
        if not line.startswith("matched"):
            position = decode(pose, bytes.fromhex(line.split(" ")[1]))
            if position.x > 1.5:
                break
    # After 0.505 m the robot goes on at 1 m/s, a step of 1 cm at a time. A message that got lost on
    # the way while it gained speed, which may happen, is worth a hundredth of that.
    steps = (position.x - 0.505) / 0.01
    assert steps == pytest.approx(round(steps), abs=0.1)
    assert (position.y, position.theta) == (0.0, 0.0)
    for program in (plays, estimates):
        program.send_signal(signal.SIGINT)
        assert program.wait(TIMEOUT) == 0
        assert program.stdout is not None
        assert "Traceback" not in program.stdout.read()
    subscriber.kill()
