"""The messages that a run publishes: their values, names and frames, and when they are due."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import astray
from astray.errors import WrongInput
from astray.ros.messages.types import decode
from astray.ros.publishers.publisher_set import Localization, PublisherSet
from astray.ros.publishers.state_messages import ClockPublisher
from astray.tables import Array

WHEELS = {"kind": "wheels", "rate": 50, "slip_density": 0.01, "radius_sd": 0.01}
PERFECT = {"kind": "wheels", "rate": 50, "ticks": 0}
IMU = {"kind": "imu", "rate": 100, "grade": "consumer", "x": 0.1, "yaw": 0.3}
ROOM = {"walls": [[[-3, -3], [3, -3], [3, 3], [-3, 3], [-3, -3]]]}


def load(*sensors: dict[str, Any], worlds: Any = 1, count: int = 1, **more: Any) -> astray.Sim:
    robot = {"name": "rover", "count": count, "sensors": list(sensors), **more}
    return astray.load(
        {"dt": 0.01, "seed": 3, "world": {"map": ROOM}, "robots": [robot]}, worlds=worlds
    )


class Subscriber:
    """Decodes all messages by topic, with the step at which each was published."""

    def __init__(self, sim: astray.Sim, localization: Localization = "belief") -> None:
        self.publishers = PublisherSet(sim, localization)
        self.messages: dict[str, list[Any]] = {}
        self.steps: dict[str, list[int]] = {}
        sim.observers.append(self)
        self.observe(sim)

    def next_due(self, step: int) -> int:
        return self.publishers.next_due(step)

    def observe(self, sim: astray.Sim) -> None:
        for publisher, rows in self.publishers.due_publishers():
            for topic, data in publisher.messages(rows):
                self.messages.setdefault(topic.name, []).append(decode(topic.type, data))
                self.steps.setdefault(topic.name, []).append(sim.steps)

    def transforms(self, parent: str, child: str) -> Array:
        """Poses of one frame in another over time, (n, 3)."""
        found = [
            t.transform
            for message in self.messages["/tf"]
            for t in message.transforms
            if (t.header.frame_id, t.child_frame_id) == (parent, child)
        ]
        return np.array([pose(t.translation, t.rotation) for t in found])


def pose(at: Any, q: Any) -> tuple[float, float, float]:
    return at.x, at.y, float(np.arctan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y**2 + q.z**2)))


def compose(a: Array, b: Array) -> Array:
    s, c = np.sin(a[2]), np.cos(a[2])
    return np.array([a[0] + c * b[0] - s * b[1], a[1] + s * b[0] + c * b[1], a[2] + b[2]])


def seconds(stamp: Any) -> float:
    return float(stamp.sec + stamp.nanosec * 1e-9)


# Values.


def test_each_reading_is_published_once_when_it_arrives() -> None:
    late = {**WHEELS, "latency": 0.03}
    sim = load(IMU, late)
    received = Subscriber(sim)
    sim.robots["rover"].drive(0.4, 0.2)
    log = sim.run(1.0, log=0.01)
    imu = log["rover"].readings["imu"][:, 0]
    messages = received.messages["/imu/data"]
    assert [m.angular_velocity.z for m in messages] == imu["wz"].tolist()
    assert [m.linear_acceleration.x for m in messages] == imu["ax"].tolist()
    assert all(m.header.frame_id == "imu_link" for m in messages)
    assert messages[0].orientation_covariance[0] == -1.0
    stamps = [seconds(m.header.stamp) for m in received.messages["/joint_states"]]
    steps = received.steps["/joint_states"]
    np.testing.assert_allclose(np.array(steps) * 0.01 - stamps, 0.03, atol=1e-9)
    assert len(stamps) == len(set(stamps)) == 49


def test_wheels_have_the_names_and_the_number_that_the_robot_has() -> None:
    for motion, names in (
        ("differential", ["wheel_left", "wheel_right"]),
        ("omni", ["wheel_fl", "wheel_fr", "wheel_rl", "wheel_rr"]),
    ):
        sim = load(WHEELS, motion={"kind": motion})
        received = Subscriber(sim)
        sim.robots["rover"].drive(0.3, 0.1)
        sim.run(0.2)
        message = received.messages["/joint_states"][-1]
        assert list(message.name) == names
        angles = sim.robots["rover"].readings["wheels"]["angle"][0]
        assert message.position.tolist() == angles[: len(names)].tolist()


def test_a_scan_has_the_angle_of_each_ray_and_infinity_beyond_its_range() -> None:
    sim = load({"kind": "lidar", "rate": 10, "rays": 8, "max_range": 3.5, "field_of_view": 6.0})
    received = Subscriber(sim)
    sim.run(0.1)
    scan, truth = received.messages["/scan"][0], sim.robots["rover"].readings["lidar"]
    angles = scan.angle_min + np.arange(8) * scan.angle_increment
    assert angles[-1] == pytest.approx(scan.angle_max, abs=1e-5)
    walls = 3.0 / np.maximum(np.abs(np.cos(angles)), np.abs(np.sin(angles)))
    near = walls < 3.5
    assert near.any()
    assert not near.all()
    np.testing.assert_allclose(np.asarray(scan.ranges)[near], walls[near], rtol=1e-4)
    assert np.isinf(np.asarray(scan.ranges)[~near]).all()
    assert scan.range_max == pytest.approx(truth["max_range"][0])


def test_the_truth_is_in_the_world_frame_with_the_velocity_of_the_body() -> None:
    sim = load(WHEELS, start={"x": 1.0, "y": -1.0, "yaw": 0.7})
    received = Subscriber(sim)
    sim.robots["rover"].drive(0.5, 0.4)
    sim.run(1.0)
    message, state = received.messages["/ground_truth/odom"][-1], sim.truth[0]
    assert (message.header.frame_id, message.child_frame_id) == ("world", "base_link_truth")
    assert pose(message.pose.pose.position, message.pose.pose.orientation) == pytest.approx(
        (state["x"], state["y"], state["yaw"])
    )
    assert (message.twist.twist.linear.x, message.twist.twist.angular.z) == (
        state["vx"],
        state["wz"],
    )


def test_a_belief_is_published_with_its_covariance_and_only_when_it_is_new() -> None:
    sim = load({**WHEELS, "rate": 10}, estimator={"kind": "odometry"})
    received = Subscriber(sim)
    sim.robots["rover"].drive(0.5, 0.4)
    sim.run(1.0)
    messages, belief = received.messages["/belief/pose"], sim.robots["rover"].belief[0]
    assert len(messages) == 11
    assert messages[-1].header.frame_id == "map"
    whole = messages[-1].pose.covariance.reshape(6, 6)
    np.testing.assert_array_equal(whole[np.ix_([0, 1, 5], [0, 1, 5])], belief["cov"])
    assert not whole[2:5].any()  # z, roll and pitch have none


def test_rivals_and_sensors_of_one_kind_have_topics_of_their_own() -> None:
    second = {**IMU, "name": "imu-2"}
    sim = load(
        WHEELS,
        IMU,
        second,
        estimator={"kind": "odometry"},
        rivals=[{"kind": "inertial", "name": "by-inertia"}],
    )
    received = Subscriber(sim)
    sim.run(0.1)
    assert {"/imu/data", "/imu_2", "/rivals/by_inertia/pose", "/belief/pose"} <= set(
        received.messages
    )


def test_a_fix_is_metres_from_the_origin_of_the_map() -> None:
    sim = load({"kind": "gnss", "rate": 5}, start={"x": 2.0, "y": -1.5})
    received = Subscriber(sim)
    sim.run(0.1)
    fix = received.messages["/gps/fix"][0]
    read = sim.robots["rover"].readings["gnss"]
    a, b = 6378137.0, 6356752.314245  # m: the axes of WGS 84
    assert np.radians(fix.longitude) * a == pytest.approx(read["x"][0], rel=1e-6)
    assert np.radians(fix.latitude) * b * b / a == pytest.approx(read["y"][0], rel=1e-6)


def test_a_command_is_what_the_motion_is_asked_for() -> None:
    sim = load(WHEELS)
    received = Subscriber(sim)
    sim.robots["rover"].drive(0.4, -0.2)
    sim.run(0.5)
    twist = received.messages["/command"][-1].twist
    assert (twist.linear.x, twist.angular.z) == pytest.approx((0.4, -0.2))


# The tree of frames.


def test_the_frames_lead_from_the_map_to_the_belief() -> None:
    sim = load(WHEELS, estimator={"kind": "odometry"}, start={"x": 1.0, "yaw": 0.5})
    received = Subscriber(sim)
    sim.robots["rover"].drive(0.5, 0.4)
    sim.run(1.0)
    sim.robots["rover"].believe(x=2.0, y=2.0, yaw=-1.0)
    sim.run(0.5)
    outer, inner = received.transforms("map", "odom"), received.transforms("odom", "base_link")
    belief = sim.robots["rover"].belief[0]
    found = compose(outer[-1], inner[-1])
    assert found[:2] == pytest.approx([belief["x"], belief["y"]])
    assert np.cos(found[2] - belief["yaw"]) == pytest.approx(1.0)


@pytest.mark.parametrize("sensors", [(PERFECT,), ()], ids=["wheels", "none"])
def test_odometry_never_jumps_though_the_belief_does(sensors: tuple[dict[str, Any], ...]) -> None:
    sim = load(*sensors, estimator={"kind": "odometry"} if sensors else {"kind": "remote"})
    received = Subscriber(sim)
    rover = sim.robots["rover"]
    rover.drive(0.5, 0.4)
    for k in range(5):
        sim.run(0.5)
        rover.believe(x=float(k), y=-float(k), yaw=0.3 * k)
    sim.run(0.5)
    steps = np.diff(received.transforms("odom", "base_link"), axis=0)
    assert len(steps) == 150
    assert np.hypot(steps[:, 0], steps[:, 1]).max() <= 0.5 * 0.02 * 1.05
    jumps = np.diff(received.transforms("map", "odom"), axis=0)
    assert np.hypot(jumps[:, 0], jumps[:, 1]).max() > 0.5
    odom = [pose(m.pose.pose.position, m.pose.pose.orientation) for m in received.messages["/odom"]]
    np.testing.assert_allclose(odom, received.transforms("odom", "base_link"), atol=1e-12)


@pytest.mark.parametrize("sensors", [(WHEELS,), ()], ids=["wheels", "none"])
def test_odometry_begins_anew_with_every_start(sensors: tuple[dict[str, Any], ...]) -> None:
    sim = load(*sensors)
    received = Subscriber(sim)
    sim.robots["rover"].drive(0.5)
    sim.run(1.0)
    assert received.messages["/odom"][-1].pose.pose.position.x > 0.3
    for again in (lambda: sim.reset(worlds=[0]), sim.reset):
        again()
        sim.run(0.1)
        assert abs(received.messages["/odom"][-1].pose.pose.position.x) < 0.01
        sim.robots["rover"].drive(0.5)
        sim.run(1.0)


def test_odometry_without_wheels_ignores_that_a_robot_is_placed() -> None:
    sim = load()
    received = Subscriber(sim)
    sim.robots["rover"].drive(0.5)
    sim.run(0.5)
    sim.robots["rover"].place(x=2.0, y=2.0, yaw=1.0)
    sim.run(0.5)
    steps = np.diff(received.transforms("odom", "base_link"), axis=0)
    assert np.hypot(steps[:, 0], steps[:, 1]).max() <= 0.5 * 0.02 * 1.05
    assert np.abs(steps[:, 2]).max() < 1e-9


@pytest.mark.parametrize("localization", ["belief", "truth", "external"])
def test_what_map_to_odom_follows_can_be_chosen(localization: Localization) -> None:
    sim = load(WHEELS, estimator={"kind": "odometry"})
    received = Subscriber(sim, localization)
    sim.robots["rover"].drive(0.5, 0.2)
    sim.run(1.0)
    outer = received.transforms("map", "odom")
    if localization == "external":
        assert not len(outer)
        return
    inner = received.transforms("odom", "base_link")
    state = sim.truth[0] if localization == "truth" else sim.robots["rover"].belief[0]
    assert compose(outer[-1], inner[-1])[:2] == pytest.approx([state["x"], state["y"]])


def test_static_transforms_have_the_mounts_of_the_datasheets() -> None:
    sim = load(WHEELS, IMU)
    (data,) = PublisherSet(sim).static_transforms()
    frames = decode("tf2_msgs/msg/TFMessage", data).transforms
    named = {(t.header.frame_id, t.child_frame_id): t.transform for t in frames}
    assert set(named) == {("world", "map"), ("base_link", "imu_link")}
    mount = named["base_link", "imu_link"]
    assert pose(mount.translation, mount.rotation) == pytest.approx((0.1, 0.0, 0.3))


# Several robots, several worlds.


def test_every_robot_has_its_own_names_though_they_differ_in_length() -> None:
    sim = load(WHEELS, count=11, estimator={"kind": "odometry"}, start={"spread": 1.0})
    received = Subscriber(sim)
    sim.run(0.1)
    for row in (0, 9, 10):
        message = received.messages[f"/rover_{row}/ground_truth/odom"][-1]
        assert message.child_frame_id == f"rover_{row}/base_link_truth"
        assert message.pose.pose.position.x == sim.truth["x"][row]
        belief = received.messages[f"/rover_{row}/belief/pose"][-1]
        assert belief.header.frame_id == "map"
    frames = {t.child_frame_id for message in received.messages["/tf"] for t in message.transforms}
    assert {"rover_10/odom", "rover_0/base_link", "rover_9/base_link_truth"} <= frames


def test_worlds_have_their_own_names_and_clocks() -> None:
    sim = load(WHEELS, worlds=[4, 12], estimator={"kind": "odometry"})
    received = Subscriber(sim)
    sim.run(0.5)
    sim.reset(worlds=[12])
    sim.run(0.1)
    four, twelve = (received.messages[f"/world_{w}/rover/ground_truth/odom"][-1] for w in (4, 12))
    assert seconds(four.header.stamp) == pytest.approx(0.6)
    assert seconds(twelve.header.stamp) == pytest.approx(0.1)
    assert four.header.frame_id == "world_4/world"
    assert received.messages["/world_12/rover/belief/pose"][-1].header.frame_id == "world_12/map"


def test_a_run_with_a_new_seed_is_not_published_from_the_old_tables() -> None:
    sim = load(start={"x": 1.0})
    Subscriber(sim)
    sim.reset()
    sim.run(0.1)  # the same seed has the same tables
    sim.reset(seed=9)
    with pytest.raises(WrongInput, match="new seed needs new bridges"):
        sim.run(0.1)


def test_a_robot_that_is_not_alive_publishes_nothing() -> None:
    sim = load(WHEELS, count=1, capacity=2)
    received = Subscriber(sim)
    sim.run(0.2)
    assert "/rover_1/ground_truth/odom" not in received.messages
    sim.robots["rover"].spawn(x=1.0)
    sim.run(0.2)
    assert len(received.messages["/rover_1/ground_truth/odom"]) == 10
    sim.robots["rover"].remove(robots=[0])
    before = len(received.messages["/rover_0/ground_truth/odom"])
    sim.run(0.2)
    assert len(received.messages["/rover_0/ground_truth/odom"]) == before


def test_what_is_published_does_not_depend_on_how_the_run_is_cut() -> None:
    def published(cut: list[float]) -> Any:
        sim = load(WHEELS, IMU, estimator={"kind": "odometry"})
        received = Subscriber(sim)
        sim.robots["rover"].drive(0.5, 0.2)
        for part in cut:
            sim.run(part)
        return received.steps

    assert published([1.0]) == published([0.01] * 100) == published([0.3, 0.33, 0.37])


def test_worlds_and_robots_whose_numbers_differ_in_length_keep_their_names() -> None:
    received = Subscriber(load(PERFECT, IMU, worlds=11, count=11))
    for world, robot in ((7, 10), (10, 7), (10, 10), (0, 0)):
        prefix = f"world_{world}/rover_{robot}"
        assert (
            received.messages[f"/{prefix}/belief/pose"][0].header.frame_id == f"world_{world}/map"
        )
        assert received.messages[f"/{prefix}/odom"][0].child_frame_id == f"{prefix}/base_link"
    static = [
        decode("tf2_msgs/msg/TFMessage", data) for data in received.publishers.static_transforms()
    ]
    found = {t.child_frame_id for message in static for t in message.transforms}
    assert {f"world_{w}/rover_{r}/imu_link" for w in range(11) for r in range(11)} <= found
    assert {f"world_{w}/map" for w in range(11)} <= found


@pytest.mark.parametrize(
    ("dt", "ticks"), [(0.001, 10), (0.0035, 2), (0.006, 1), (0.01, 1), (0.02, 1)]
)
def test_the_clock_is_published_every_ten_milliseconds_or_every_tick(dt: float, ticks: int) -> None:
    assert ClockPublisher(astray.load({"dt": dt, "robots": [{"name": "rover"}]})).schedule == (
        ticks,
        0,
    )
