"""Estimators on bags of ROS 1, ROS 2 and MCAP, and on recordings of astray."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore

import astray
from astray.cli import astray as commands
from astray.datasets import read_logs, run_on_log
from astray.datasets.bag import BagTopics, wheel_joints
from astray.errors import LogError
from astray.robot.estimators import Ekf, Inertial, Odometry
from support.recordings import scenario

SPEED, TURN, RATE, SECONDS = 0.5, 0.4, 100, 8.0  # m/s, rad/s, Hz, s
BEGUN = 1_700_000_000  # s: bags begin at some time of day
RADIUS, BASELINE = 0.1, 0.3


def circle(t: float) -> tuple[float, float, float]:
    """The pose on a circle that begins at (1, 2) along x."""
    r = SPEED / TURN
    return 1.0 + r * math.sin(TURN * t), 2.0 + r * (1.0 - math.cos(TURN * t)), TURN * t


class Maker:
    """Builds messages of one distribution of ROS."""

    def __init__(self, store: Any) -> None:
        self.store = get_typestore(store)
        self.ros1 = store == Stores.ROS1_NOETIC
        self.types = self.store.types

    def header(self, t: float, frame: str) -> Any:
        time = self.types["builtin_interfaces/msg/Time"](BEGUN + int(t), round(t % 1.0 * 1e9))
        seq = {"seq": 0} if self.ros1 else {}
        return self.types["std_msgs/msg/Header"](stamp=time, frame_id=frame, **seq)

    def make(self, name: str, *values: Any) -> Any:
        return self.types[name](*values)

    def vector(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Any:
        return self.make("geometry_msgs/msg/Vector3", x, y, z)

    def turned(self, yaw: float) -> Any:
        half = 0.5 * yaw
        return self.make("geometry_msgs/msg/Quaternion", 0.0, 0.0, math.sin(half), math.cos(half))

    def pose(self, t: float) -> Any:
        x, y, yaw = circle(t)
        return self.make(
            "geometry_msgs/msg/Pose",
            self.make("geometry_msgs/msg/Point", x, y, 0.0),
            self.turned(yaw),
        )

    def imu(self, t: float) -> Any:
        moving = 0.0 if t == 0.0 else 1.0
        unknown = np.full(9, -1.0)
        return self.make(
            "sensor_msgs/msg/Imu",
            self.header(t, "imu"),
            self.turned(0.0),
            unknown,
            self.vector(z=TURN * moving),
            unknown,
            # Centripetal, and in the first interval the jump from rest to speed.
            self.vector(SPEED * RATE if t == 1 / RATE else 0.0, SPEED * TURN * moving, 9.81),
            unknown,
        )

    def joints(self, t: float, names: list[str]) -> Any:
        sides = {"left": -1.0, "right": 1.0}
        angles = []
        for name in names:
            side = next((s for word, s in sides.items() if word in name), None)
            way = 7.0 if side is None else (SPEED + side * TURN * BASELINE / 2) * t / RADIUS
            angles.append(way)
        empty = np.zeros(0)
        return self.make(
            "sensor_msgs/msg/JointState", self.header(t, ""), names, np.array(angles), empty, empty
        )

    def odometry(self, t: float) -> Any:
        still = self.make("geometry_msgs/msg/Twist", self.vector(), self.vector())
        return self.make(
            "nav_msgs/msg/Odometry",
            self.header(t, "world"),
            "base",
            self.make("geometry_msgs/msg/PoseWithCovariance", self.pose(t), np.zeros(36)),
            self.make("geometry_msgs/msg/TwistWithCovariance", still, np.zeros(36)),
        )


NAMES = ["arm", "wheel_right_joint", "wheel_left_joint"]


def write_bag(path: Path, kind: str) -> Path:
    maker = Maker(Stores.ROS1_NOETIC if kind == "ros1" else Stores.ROS2_HUMBLE)
    store = maker.store
    if kind == "ros1":
        path = path.with_suffix(".bag")
        writer: Any = Writer1(path)
    else:
        plugin = StoragePlugin.MCAP if kind == "mcap" else StoragePlugin.SQLITE3
        writer = Writer2(path, version=9, storage_plugin=plugin)
    topics = {
        "/imu/data": "sensor_msgs/msg/Imu",
        "/joint_states": "sensor_msgs/msg/JointState",
        "/ground_truth/odom": "nav_msgs/msg/Odometry",
        "/odom": "nav_msgs/msg/Odometry",
    }
    with writer:
        links = {t: writer.add_connection(t, type, typestore=store) for t, type in topics.items()}
        for k in range(int(SECONDS * RATE) + 1):
            t = k / RATE
            messages = {"/imu/data": maker.imu(t)}
            if k % 2 == 0:
                messages["/joint_states"] = maker.joints(t, NAMES)
                messages["/odom"] = messages["/ground_truth/odom"] = maker.odometry(t)
            for topic, message in messages.items():
                make = store.serialize_ros1 if kind == "ros1" else store.serialize_cdr
                raw = make(message, topics[topic])
                writer.write(links[topic], int((BEGUN + t) * 1e9) + 5000, bytes(raw))
    return path


@pytest.fixture(scope="module", params=["ros1", "sqlite3", "mcap"])
def bag(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bag(tmp_path_factory.mktemp("bags") / "drive", request.param)


def scored(*arguments: str) -> Any:
    found = run(*arguments, "--json", "--quiet")
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)["logs"][0]["mean"]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(commands, ["score", *arguments], catch_exceptions=False)


ROBOT = {
    "robots": [
        {
            "name": "mine",
            "motion": {"kind": "differential", "radius": RADIUS, "baseline": BASELINE},
            "sensors": [{"kind": "wheels", "ticks": 0}, {"kind": "imu"}],
        }
    ]
}


@pytest.fixture
def robot(tmp_path: Path) -> str:
    (tmp_path / "mine.yaml").write_text(json.dumps(ROBOT), encoding="utf-8")
    return str(tmp_path / "mine.yaml")


def test_odometry_from_the_wheels_of_a_bag_follows_the_circle(bag: Path, robot: str) -> None:
    found = scored(str(bag), "--estimator", "odometry", "--robot", robot)
    assert found["position_rmse"] < 1e-6
    assert found["heading_rmse"] < 1e-6


def test_inertia_from_the_imu_of_a_bag_follows_the_circle(bag: Path) -> None:
    named = ["--imu", "/imu/data", "--truth", "/ground_truth/odom"]
    found = scored(str(bag), "--estimator", "inertial", *named)
    assert found["position_rmse"] < 0.02  # a first-order integral at 100 Hz
    assert found["heading_rmse"] < 0.005


def test_odometry_of_a_bag_replaces_wheels(bag: Path) -> None:
    found = scored(str(bag), "--estimator", "odometry", "--odom", "odom")
    assert found["position_rmse"] < 1e-4


def test_a_filter_fuses_what_there_is(bag: Path, robot: str) -> None:
    assert scored(str(bag), "--estimator", "ekf", "--robot", robot)["position_rmse"] < 0.02


def test_topics_that_are_not_there_are_refused_with_a_list(bag: Path) -> None:
    with pytest.raises(LogError, match=r"unknown topic '/imu'.*/imu/data \(sensor_msgs/msg/Imu\)"):
        read_logs(bag, BagTopics(imu="/imu"))
    with pytest.raises(
        LogError, match=r"/joint_states is sensor_msgs/msg/JointState, and imu needs"
    ):
        read_logs(bag, BagTopics(imu="/joint_states"))


def test_stamps_begin_at_zero_and_the_start_is_the_truth(bag: Path) -> None:
    log = read_logs(bag)[0]
    assert log.streams["imu"].stamp[0] == 0.0
    assert log.start == pytest.approx((1.0, 2.0, 0.0))
    assert log.duration == pytest.approx(SECONDS)


def test_a_bag_that_leaves_a_choice_asks_for_it(tmp_path: Path) -> None:
    maker = Maker(Stores.ROS2_HUMBLE)
    with Writer2(tmp_path / "two", version=9) as writer:
        for topic in ("/a", "/b"):
            link = writer.add_connection(topic, "nav_msgs/msg/Odometry", typestore=maker.store)
            raw = maker.store.serialize_cdr(maker.odometry(0.0), "nav_msgs/msg/Odometry")
            writer.write(link, 0, raw)
    with pytest.raises(LogError, match=r"--truth, since no topic looks like it: /a \(nav_msgs"):
        read_logs(tmp_path / "two")


@pytest.mark.parametrize(
    ("names", "places"),
    [
        (["wheel_left_joint", "wheel_right_joint"], [0, 1]),
        (["right_wheel", "left_wheel", "caster"], [1, 0]),
        (["wheel_fl", "wheel_fr", "wheel_rl", "wheel_rr"], [0, 1, 2, 3]),
        (["rear_right", "front_left", "rear_left", "front_right"], [1, 3, 2, 0]),
        (["a", "b"], [0, 1]),
        (["a", "b", "c"], None),
    ],
)
def test_wheels_are_found_among_joints(names: list[str], places: list[int] | None) -> None:
    assert wheel_joints(names) == places


def test_a_file_that_is_no_bag_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.db3").write_bytes(b"SQLite format 3\0" + bytes(100))
    with pytest.raises(LogError, match="give the folder"):
        read_logs(tmp_path / "x.db3", BagTopics(truth="/a"))
    (tmp_path / "x.bag").write_bytes(b"#ROSBAG V2.0\n" + bytes(100))
    with pytest.raises(LogError, match="cannot be read"):
        read_logs(tmp_path / "x.bag")


def test_a_file_is_closed_after_detection(tmp_path: Path) -> None:
    (tmp_path / "x.db3").write_bytes(b"SQLite format 3\0" + bytes(100))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(LogError, match="give the folder"):
            read_logs(tmp_path / "x.db3", BagTopics(truth="/a"))
    assert [str(warning.message) for warning in warned] == []


# Recordings of ours.

ESTIMATORS = {"odometry": Odometry, "inertial": Inertial, "ekf": Ekf}


@pytest.fixture(scope="module", params=list(ESTIMATORS))
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    kind = request.param
    path = tmp_path_factory.mktemp("recorded") / f"{kind}.mcap"
    sensors = scenario()["robots"][0]["sensors"][:2]
    sim = astray.load(scenario(estimator={"kind": kind}, rivals=[], sensors=sensors))
    with astray.record(sim, path):
        sim.robots["rover"].drive(0.4, 0.3)
        log = sim.run(4.0, log=0.01)
    return kind, path, log


def test_an_estimator_believes_the_same_on_a_recording_as_in_the_run(recorded: Any) -> None:
    kind, path, log = recorded
    for row, found in enumerate(read_logs(path)):
        result = run_on_log(found, ESTIMATORS[kind]())
        belief, had = result.beliefs[:, 0], log["rover"].belief[:, row]
        same = np.searchsorted(had["stamp"], belief["stamp"] - 1e-6)
        for column in ("x", "y", "yaw", "vx", "wz"):
            np.testing.assert_allclose(belief[column], had[column][same], atol=1e-9)
        np.testing.assert_allclose(belief["cov"], had["cov"][same], atol=1e-9)


def test_a_recording_is_scored_robot_by_robot(recorded: Any) -> None:
    kind, path, _ = recorded
    found = run(str(path), "--estimator", kind, "--json", "--quiet")
    assert [log["log"] for log in json.loads(found.stdout)["logs"]] == ["rover_0", "rover_1"]


def test_a_recording_is_read_as_a_bag_once_topics_are_named(recorded: Any) -> None:
    kind, path, _ = recorded
    named = ["--imu", "/rover_1/imu/data", "--wheels", "/rover_1/joint_states"]
    found = scored(str(path), "--estimator", kind, *named, "--truth", "/rover_1/ground_truth/odom")
    assert found["position_rmse"] < 1.0


def test_a_car_is_reckoned_from_a_recording_as_it_was_in_the_run(tmp_path: Path) -> None:
    robot = {
        "name": "car",
        "motion": {"kind": "ackermann"},
        "sensors": [{"kind": "wheels", "rate": 50, "radius_sd": 0.01}],
        "estimator": {"kind": "odometry"},
    }
    sim = astray.load({"dt": 0.01, "seed": 3, "robots": [robot]})
    with astray.record(sim, tmp_path / "car.mcap"):
        sim.robots["car"].steer(1.0, 0.3)
        sim.run(1.5)
        sim.robots["car"].steer(1.0, -0.2)
        log = sim.run(1.5, log=0.01)
    (found,) = read_logs(tmp_path / "car.mcap")
    belief = run_on_log(found, ESTIMATORS["odometry"]()).beliefs[:, 0]
    had = log["car"].belief[:, 0]
    late = belief[belief["stamp"] > 1.6]
    same = np.searchsorted(had["stamp"], late["stamp"] - 1e-6)
    assert np.ptp(had["steer"]) > 0.01  # it is steered on the way
    for column in ("x", "y", "yaw", "steer"):
        np.testing.assert_allclose(late[column], had[column][same], atol=1e-9)


@pytest.mark.parametrize("worlds", [None, [0]])
def test_the_last_episode_of_a_run_that_was_reset_is_scored(
    worlds: list[int] | None, tmp_path: Path
) -> None:
    late = {"kind": "gnss", "rate": 1, "latency": 3.0}
    robot = scenario(count=1, rivals=[])["robots"][0]
    robot["sensors"] = [*robot["sensors"][:3], late]
    sim = astray.load({"dt": 0.01, "robots": [robot]})
    with astray.record(sim, tmp_path / "run.mcap"):
        sim.robots["rover"].drive(1.0)
        sim.run(4.0)
        sim.reset(worlds=worlds)
        sim.robots["rover"].drive(-1.0)
        log = sim.run(2.0, log=0.01)
    (found,) = read_logs(tmp_path / "run.mcap")
    stamps = found.reference.stamp
    assert (stamps[0], stamps[-1], len(stamps)) == (0.02, 2.0, 100)
    assert found.reference.x[-1] == log["rover"].truth["x"][-1, 0]
    assert {name: len(stream) for name, stream in found.streams.items()} == {
        "wheels": 100,
        "imu": 200,
        "lidar": 20,
        "gnss": 0,  # the first of this life is still on its way
    }
    assert found.streams["lidar"].arrays["ranges"].shape == (20, 16)
    belief = run_on_log(found, Odometry()).beliefs[-1, 0]
    assert belief["x"] == pytest.approx(log["rover"].belief["x"][-1, 0], abs=0.05)
