"""A run in ROS 2, with a client in the same process."""

from __future__ import annotations

import json
import math
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import astray
from astray.ros.dds import bridge as bridge_module
from astray.ros.dds import participant
from astray.ros.dds.discovery import Discovery
from astray.ros.dds.node_graph import TOPIC, TYPE, NodeGraph
from astray.ros.dds.participant import Participant
from astray.ros.dds.publish_queue import serialize_batch
from astray.ros.messages.types import decode, typestore
from astray.ros.publishers.publisher_set import PublisherSet
from support.ros2_peer import DOMAIN, Peer, Running

TWIST, POSE_2D = "geometry_msgs/msg/Twist", "geometry_msgs/msg/Pose2D"
ODOMETRY, CLOCK = "nav_msgs/msg/Odometry", "rosgraph_msgs/msg/Clock"
HALL = {"walls": [[[-1, -2], [9, -2], [9, 5], [-1, 5], [-1, -2]]]}
ROVER: dict[str, Any] = {
    "name": "rover",
    "start": {"x": 1.0, "y": 2.0, "yaw": 0.5},
    "autonomy": {"kind": "remote", "timeout": 0.5},
    "sensors": [
        {"kind": "imu", "rate": 100},
        {"kind": "wheels", "rate": 50},
        {"kind": "lidar", "name": "scan", "rate": 10, "rays": 91, "max_range": 12.0},
        {"kind": "bumper", "rate": 10},
    ],
    "estimator": {"kind": "odometry"},
}


def load(**robot: Any) -> astray.Sim:
    return astray.load({"dt": 0.01, "world": {"map": HALL}, "robots": [{**ROVER, **robot}]})


def seconds(stamp: Any) -> float:
    return float(stamp.sec + stamp.nanosec * 1e-9)


def test_a_client_receives_the_readings_and_the_truth() -> None:
    sim = load()
    with Running(sim), Peer() as peer:
        imu = peer.subscribe("/imu/data", "sensor_msgs/msg/Imu")
        scan = peer.subscribe("/scan", "sensor_msgs/msg/LaserScan")
        truth = peer.subscribe("/ground_truth/odom", ODOMETRY)
        belief = peer.subscribe("/belief/pose", "geometry_msgs/msg/PoseWithCovarianceStamped")
        clock = peer.subscribe("/clock", CLOCK)
        joints = peer.subscribe("/joint_states", "sensor_msgs/msg/JointState")
        battery = peer.subscribe("/battery_state", "sensor_msgs/msg/BatteryState")
        every = (imu, scan, truth, belief, clock, joints, battery)
        peer.until(lambda: all(len(some) > 1 for some in every))
    assert imu[0].linear_acceleration.z == pytest.approx(9.80665, abs=0.02)
    assert imu[0].orientation_covariance[0] == -1.0
    assert imu[0].header.frame_id == "imu_link"
    assert len(scan[0].ranges) == 91
    bearing = 0.5 + scan[0].angle_min + 45 * scan[0].angle_increment
    wall = min((9.0 - 1.0) / math.cos(bearing), (5.0 - 2.0) / math.sin(bearing))
    assert scan[0].ranges[45] == pytest.approx(wall, abs=0.05)
    position = truth[0].pose.pose.position
    assert (position.x, position.y) == (1.0, 2.0)
    assert truth[0].header.frame_id == "world"
    assert belief[0].header.frame_id == "map"
    assert list(joints[0].name) == ["wheel_left", "wheel_right"]
    assert battery[0].percentage == 1.0
    assert battery[0].present
    ticks = np.diff([seconds(message.clock) for message in clock])
    assert (ticks > 0.0).all()
    assert np.median(ticks) == pytest.approx(0.01)


def test_ticks_serialized_together_have_the_messages_of_each_tick() -> None:
    sim = load(count=2)
    publishers, ticks, alone = PublisherSet(sim), [], []
    for _ in range(30):
        sim.step(1)
        sampled = [
            (publisher, publisher.sample(rows)) for publisher, rows in publishers.due_publishers()
        ]
        ticks.append(sampled)
        alone.extend(serialize_batch([sampled]))
    together = list(serialize_batch(ticks))
    assert together == alone
    assert sum(map(len, together)) > 100


def test_the_bridge_publishes_no_map_to_odom_if_another_node_does() -> None:
    with Running(load(), localization="external"), Peer() as peer:
        frames = peer.subscribe("/tf", "tf2_msgs/msg/TFMessage")
        static = peer.subscribe("/tf_static", "tf2_msgs/msg/TFMessage", latched=True)
        peer.until(lambda: len(frames) > 20 and static)
    frames_found = {t.child_frame_id for message in (*frames, *static) for t in message.transforms}
    assert "odom" not in frames_found
    assert {"base_link", "base_link_truth", "map"} <= frames_found


def test_late_subscribers_get_the_map_and_the_static_transforms() -> None:
    sim = load()
    with Running(sim), Peer() as peer:
        grids = peer.subscribe("/map", "nav_msgs/msg/OccupancyGrid", latched=True)
        frames = peer.subscribe("/tf_static", "tf2_msgs/msg/TFMessage", latched=True)
        peer.until(lambda: grids and frames)
        sim.replace_map({"walls": [[[0, 0], [3, 0]]]})
        peer.until(lambda: len(grids) > 1, "a map that is replaced is published")
    grid = grids[0]
    cells = np.asarray(grid.data).reshape(grid.info.height, grid.info.width)
    resolution = grid.info.resolution
    column = int((9.0 - grid.info.origin.position.x) / resolution)
    row = int((1.0 - grid.info.origin.position.y) / resolution)
    assert 100 in cells[row, column - 1 : column + 2]  # the wall in the east
    assert cells[row, column - 20] == 0
    parents = {t.child_frame_id: t.header.frame_id for t in frames[0].transforms}
    assert parents["map"] == "world"
    assert parents["scan_link"] == parents["imu_link"] == "base_link"


def test_a_client_drives_and_the_robot_stops_when_commands_end() -> None:
    sim = load()
    with Running(sim), Peer() as peer:
        truth = peer.subscribe("/ground_truth/odom", ODOMETRY)
        writer = peer.writer("/cmd_vel", TWIST)
        fast = lambda: bool(truth) and truth[-1].twist.twist.linear.x > 0.29  # noqa: E731
        data = peer_message(TWIST, {"linear": {"x": 0.3}, "angular": {"z": 0.1}})
        while not fast():
            writer.write(data)
            peer.until(lambda: len(truth) > 0)
            del truth[:-1]
            count = len(truth)
            peer.until(lambda count=count: len(truth) > count)  # type: ignore[misc]
        peer.until(lambda: truth[-1].twist.twist.linear.x == 0.0)
    kinds = {event.kind for event in sim.events}
    assert kinds == {"command"}


def peer_message(type: str, values: Any) -> bytes:
    from astray.ros.messages.types import encode

    return encode(type, values)


def test_resets_and_goals_reach_the_run() -> None:
    sim = load(autonomy={"kind": "navigate", "rate": 10, "goals": []})
    with Running(sim), Peer() as peer:
        belief = peer.subscribe("/belief/pose", "geometry_msgs/msg/PoseWithCovarianceStamped")
        peer.publish("/position_reset", POSE_2D, {"x": 3.0, "y": 1.0, "theta": 0.25})
        peer.until(lambda: any(b.pose.pose.position.x == 3.0 for b in belief))
        goal = {"header": {"frame_id": "map"}, "pose": {"position": {"x": 5.0, "y": 1.0}}}
        peer.publish("/goal_pose", "geometry_msgs/msg/PoseStamped", goal)
        peer.until(lambda: sim.truth["vx"][0] > 0.05)
    assert [event.kind for event in sim.events] == ["believe", "goal"]


def test_invalid_commands_and_peers_that_leave_do_no_harm() -> None:
    sim = load()
    with Running(sim) as running, Peer() as peer:
        clock = peer.subscribe("/clock", CLOCK)
        for _ in range(3):
            with Peer() as leaving:
                leaving.subscribe("/scan", "sensor_msgs/msg/LaserScan")
                leaving.writer("/cmd_vel", TWIST)
        nan = {"linear": {"x": math.nan}}
        peer.publish("/cmd_vel", TWIST, nan)
        peer.until(lambda: any("finite" in text for text in running.reports))
        peer.publish("/cmd_vel", TWIST, {"linear": {"x": 0.2}})
        peer.until(lambda: len(sim.events) > 0)
        count = len(clock)
        peer.until(lambda: len(clock) > count + 5)
    assert all(np.isfinite(event.values["vx"]) for event in sim.events)


def test_tools_find_the_node_and_its_topics() -> None:
    sim = load()
    with Running(sim) as running, Peer() as peer:
        reader = peer.participant.reader(TOPIC, TYPE, latched=True)
        found: list[Any] = []

        def has_arrived() -> bool:
            found.extend(decode(TYPE, data) for data in reader.take())
            return bool(found)

        peer.until(has_arrived)
        writers = set(running.bridge.node._writers)
    (node,) = found[-1].node_entities_info_seq
    assert (node.node_namespace, node.node_name) == ("/", "astray")
    assert len(node.writer_gid_seq) == len(writers)
    assert {"/clock", "/tf", "/tf_static", "/map", "/scan", "/imu/data", "/odom"} <= writers
    assert "/bumper" not in writers  # ROS 2 has no such message


def test_readings_without_a_message_type_have_one_of_our_own_if_asked_for() -> None:
    running = Running(load(), own_types=True)
    assert "/bumper" in running.bridge.node.published_topics
    running.bridge.node.close()


@pytest.mark.parametrize(("distro", "size"), [("humble", 24), ("jazzy", 16)])
def test_gids_have_the_size_of_the_distribution(distro: str, size: int) -> None:
    peer = Participant(Discovery(DOMAIN + 10))
    sent: list[bytes] = []
    graph = NodeGraph(peer, distro)
    graph._writer.write = sent.append  # type: ignore[method-assign]
    graph.publish("/ns", "node", [b"r" * 16], [b"v" * 16, b"w" * 16])
    peer.close()
    (data,) = sent
    padding = bytes(size - 16)
    assert data[4 : 4 + size] == peer.gid + padding
    assert data.count(b"w" * 16 + padding) == 1
    if size == 16:  # what Jazzy reads it as
        read = typestore().deserialize_cdr(data, TYPE).node_entities_info_seq[0]
        assert (read.node_namespace, read.node_name) == ("/ns", "node")
        assert [bytes(g.data) for g in read.writer_gid_seq] == [b"v" * 16, b"w" * 16]


def test_public_names_of_cyclone_dds_give_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should another version lack the private ones: the same bytes come out, only slower."""
    monkeypatch.setattr(participant, "ddspy_write", None)
    monkeypatch.setattr(participant, "ddspy_take", None)
    kind = "sensor_msgs/msg/LaserScan"
    data = peer_message(kind, {"header": {"frame_id": "laser"}, "ranges": [1.5, math.inf]})
    with Peer() as sender, Peer() as receiver:
        reader = receiver.participant.reader("/slow", kind)
        sender.writer("/slow", kind).write(data)
        found: list[bytes] = []
        receiver.until(lambda: found.extend(reader.take()) or found)
    assert found[0][: len(data)] == data


def run_in_lockstep(seed: int, file: Path) -> tuple[str, str, bytes]:
    """Digest, events and recording of a run whose client takes up to 50 ms for each answer."""
    random_delay = random.Random(seed)
    sim = astray.load(
        {
            "dt": 0.01,
            "duration": 1.0,
            "robots": [{**ROVER, "autonomy": {"kind": "remote", "lockstep": 0.05}}],
        }
    )
    recorder = astray.record(sim, file, overwrite=True)
    with recorder, Running(sim, speed=None) as running, Peer() as peer:
        clock = peer.subscribe("/clock", CLOCK)
        truth = peer.subscribe("/ground_truth/odom", ODOMETRY)
        writer = peer.writer("/cmd_vel", TWIST)
        for k in range(1, 20):
            now = round(0.05 * k, 9)
            peer.until(lambda now=now: clock and round(seconds(clock[-1].clock), 9) == now)  # type: ignore[misc]
            time.sleep(0.05 * random_delay.random())
            v = 0.4 - 0.1 * truth[-1].pose.pose.position.x
            writer.write(peer_message(TWIST, {"linear": {"x": v}, "angular": {"z": 0.02 * k}}))
        running.join()
        assert running.bridge.dropped == 0
    return sim.digest(), "\n".join(event.to_json() for event in sim.events), file.read_bytes()


def test_a_slow_client_in_lockstep_gives_the_same_recording_every_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(bridge_module, "SETTLE_TIME", 0.05)
    runs = [run_in_lockstep(seed, tmp_path / "run.mcap") for seed in range(20)]
    assert len(set(runs)) == 1
    assert runs[0][1].count("\n") == 18
    assert len(runs[0][2]) > 10_000


def test_a_run_folder_of_a_driven_run_repeats_it(tmp_path: Path) -> None:
    """Commands are logged as events: without a bridge the run is the same."""
    sim = load()
    with Running(sim), Peer() as peer:
        truth = peer.subscribe("/ground_truth/odom", ODOMETRY)
        peer.publish("/cmd_vel", TWIST, {"linear": {"x": 0.3}})
        peer.until(lambda: len(truth) > 10)
    lines = [event.to_json() for event in sim.events]
    assert [json.loads(line)["kind"] for line in lines] == ["command"]
    again = load()
    again.replay(sim.events)
    again.step(sim.steps)
    assert again.digest() == sim.digest()
