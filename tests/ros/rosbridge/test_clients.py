"""A run served to roslibpy, an independent client, over real sockets."""

from __future__ import annotations

import json
import queue
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import roslibpy

from astray.numerics import elementary
from astray.ros.rosbridge import RosbridgeBridge, serving
from support.rosbridge import TIMEOUT, connect_to, load, receive, tick_of, twin_log, until


@pytest.fixture
def bridge() -> Iterator[RosbridgeBridge]:
    with serving(load()) as bridge:
        yield bridge


@pytest.fixture
def ros(bridge: RosbridgeBridge) -> Iterator[roslibpy.Ros]:
    ros = roslibpy.Ros("127.0.0.1", bridge.port, transport="asyncio")
    ros.run(timeout=TIMEOUT)
    yield ros
    ros.close()


def subscribe(ros: roslibpy.Ros, topic: str, type: str, **more: Any) -> queue.Queue[Any]:
    messages: queue.Queue[Any] = queue.Queue()
    roslibpy.Topic(ros, topic, type, **more).subscribe(messages.put)
    return messages


def call(ros: roslibpy.Ros, name: str, request: dict[str, Any] | None = None) -> dict[str, Any]:
    service = roslibpy.Service(ros, name, "")
    return dict(service.call(roslibpy.ServiceRequest(request or {}), timeout=TIMEOUT))


# Topics.


def test_roslibpy_receives_the_topics_of_the_run_and_drives_it(
    bridge: RosbridgeBridge, ros: roslibpy.Ros
) -> None:
    imu = subscribe(ros, "/imu/data", "sensor_msgs/Imu")
    scan = subscribe(ros, "/scan", "sensor_msgs/msg/LaserScan")
    truth = subscribe(ros, "/ground_truth/odom", "nav_msgs/Odometry")
    belief = subscribe(ros, "/belief/pose", "geometry_msgs/PoseWithCovarianceStamped")
    frames = subscribe(ros, "/tf", "tf2_msgs/TFMessage")
    clock = subscribe(ros, "/clock", "rosgraph_msgs/Clock")
    cmd_vel = roslibpy.Topic(ros, "/cmd_vel", "geometry_msgs/Twist")
    cmd_vel.publish(roslibpy.Message({"linear": {"x": 0.5}, "angular": {"z": 0.2}}))
    until(lambda: bridge.sim.truth["x"][0] > 1.2)
    for messages in (imu, scan, truth, belief, frames, clock):
        until(lambda messages=messages: messages.qsize() > 5)
    steps = bridge.sim.steps
    rover = twin_log(bridge.sim, steps)["rover"]
    compared = 0
    for message in list(truth.queue):
        k = tick_of(message["header"])
        if k < steps:
            state, pose = rover.truth[k, 0], message["pose"]["pose"]
            assert (pose["position"]["x"], pose["position"]["y"]) == (state["x"], state["y"])
            assert pose["orientation"]["z"] == elementary.sin(0.5 * state["yaw"])
            assert message["twist"]["twist"]["linear"]["x"] == state["vx"]
            compared += 1
    for message in list(imu.queue):
        k = tick_of(message["header"])
        if k < steps:
            assert message["angular_velocity"]["z"] == rover.readings["imu"]["wz"][k, 0]
            assert message["linear_acceleration"]["x"] == rover.readings["imu"]["ax"][k, 0]
            compared += 1
    for message in list(scan.queue):
        k = tick_of(message["header"])
        if k < steps:
            ranges = rover.bulk["scan"]["ranges"][k, 0].astype(np.float32)
            expected = [None if r >= 5.0 else float(r) for r in ranges]
            assert message["ranges"] == expected
            compared += 1
    assert compared > 15
    for message in list(frames.queue):
        turns = {t["child_frame_id"]: t["transform"]["rotation"] for t in message["transforms"]}
        assert turns.keys() == {"base_link", "base_link_truth", "odom"}
        assert turns["odom"]["z"] ** 2 + turns["odom"]["w"] ** 2 == pytest.approx(1.0)
    times = [
        message["clock"]["sec"] * 100 + message["clock"]["nanosec"] / 1e7
        for message in list(clock.queue)
    ]
    assert times == sorted(times)


def test_a_new_subscriber_is_sent_the_static_transforms_and_the_map(ros: roslibpy.Ros) -> None:
    frames = subscribe(ros, "/tf_static", "tf2_msgs/TFMessage").get(timeout=TIMEOUT)
    assert "scan_link" in {t["child_frame_id"] for t in frames["transforms"]}
    grid = subscribe(ros, "/map", "nav_msgs/OccupancyGrid").get(timeout=TIMEOUT)
    assert len(grid["data"]) == grid["info"]["width"] * grid["info"]["height"]
    assert set(grid["data"]) == {0, 100}


def test_a_published_pose_resets_the_belief_and_not_the_truth(
    bridge: RosbridgeBridge, ros: roslibpy.Ros
) -> None:
    reset = roslibpy.Topic(ros, "/position_reset", "geometry_msgs/Pose2D")
    reset.publish(roslibpy.Message({"x": 5.0, "y": 4.0, "theta": 1.0}))
    rover = bridge.sim.robots["rover"]
    until(lambda: bool(rover.belief["x"][0] == 5.0))
    assert rover.truth["x"][0] == 1.0


def test_commands_may_be_stamped(bridge: RosbridgeBridge, ros: roslibpy.Ros) -> None:
    cmd_vel = roslibpy.Topic(ros, "/cmd_vel", "geometry_msgs/TwistStamped")
    cmd_vel.publish(roslibpy.Message({"twist": {"linear": {"x": 0.4}}}))
    until(lambda: bool(bridge.sim.truth["x"][0] > 1.01))


def test_a_client_cannot_publish_a_topic_of_the_run(bridge: RosbridgeBridge) -> None:
    with connect_to(bridge) as socket:
        socket.send(
            json.dumps(
                {"op": "advertise", "topic": "/ground_truth/odom", "type": "nav_msgs/Odometry"}
            )
        )
        assert "only the run publishes /ground_truth/odom" in receive(socket, "status")["msg"]


def test_clients_receive_what_other_clients_publish(
    bridge: RosbridgeBridge, ros: roslibpy.Ros
) -> None:
    chatter = subscribe(ros, "/chatter", "std_msgs/String")
    assert call(ros, "/rosapi/get_time")  # by now it has subscribed
    with connect_to(bridge) as socket:
        socket.send(json.dumps({"op": "advertise", "topic": "chatter", "type": "std_msgs/String"}))
        socket.send(json.dumps({"op": "publish", "topic": "chatter", "msg": {"data": "good day"}}))
        assert chatter.get(timeout=TIMEOUT)["data"] == "good day"


# Introspection.


def test_roslibpy_lists_topics_services_and_nodes(
    bridge: RosbridgeBridge, ros: roslibpy.Ros
) -> None:
    assert {"/scan", "/imu/data", "/odom", "/cmd_vel", "/clock", "/tf"} <= set(ros.get_topics())
    assert ros.get_topic_type("/odom") == "nav_msgs/msg/Odometry"
    assert ros.get_topics_for_type("sensor_msgs/LaserScan") == ["/scan"]
    assert "/step_simulation" in ros.get_services()
    assert ros.get_service_type("/get_entities") == "simulation_interfaces/srv/GetEntities"
    assert ros.get_services_for_type("simulation_interfaces/GetEntities") == ["/get_entities"]
    assert ros.get_nodes() == ["/astray"]
    details = ros.get_node_details("/astray")
    assert "/scan" in details["publishing"]
    assert "/cmd_vel" in details["subscribing"]
    until(lambda: bridge.sim.time > 0)
    assert 0 < ros.get_time().to_sec() <= bridge.sim.time
    fields = ros.get_message_details("geometry_msgs/Twist")["typedefs"]
    assert fields[0]["fieldnames"] == ["linear", "angular"]
    assert fields[1]["type"] == "geometry_msgs/msg/Vector3"


# Services.


def test_roslibpy_pauses_steps_sets_and_resets(bridge: RosbridgeBridge, ros: roslibpy.Ros) -> None:
    sim = bridge.sim
    assert call(ros, "/set_simulation_state", {"state": {"state": 2}})["result"]["result"] == 1
    steps = sim.steps
    assert call(ros, "/step_simulation", {"steps": 7})["result"]["result"] == 1
    assert sim.steps == steps + 7
    pose = {"position": {"x": 3.0, "y": 1.0}, "orientation": {"z": 1.0, "w": 0.0}}
    moved = {"entity": "rover", "state": {"pose": pose}, "set_pose": True}
    assert call(ros, "/set_entity_state", moved)["result"]["result"] == 1
    state = call(ros, "/get_entity_state", {"entity": "rover"})["state"]
    assert (state["pose"]["position"]["x"], state["pose"]["position"]["y"]) == (3.0, 1.0)
    assert abs(state["pose"]["orientation"]["z"]) == pytest.approx(1.0)
    assert sim.robots["rover"].belief["x"][0] == pytest.approx(1.0)  # it does not sense it
    assert call(ros, "/reset_simulation")["result"]["result"] == 1
    state = call(ros, "/get_entity_state", {"entity": "rover"})["state"]
    assert state["pose"]["position"]["x"] == 1.0
    assert state["header"]["stamp"] == {"sec": 0, "nanosec": 0}
    assert sim.steps == steps + 7
    assert call(ros, "/set_simulation_state", {"state": {"state": 1}})["result"]["result"] == 1
    until(lambda: sim.steps > steps + 10)


def test_odometry_starts_at_zero_after_a_reset(bridge: RosbridgeBridge, ros: roslibpy.Ros) -> None:
    odom = subscribe(ros, "/odom", "nav_msgs/Odometry")
    cmd_vel = roslibpy.Topic(ros, "/cmd_vel", "geometry_msgs/Twist")
    cmd_vel.publish(roslibpy.Message({"angular": {"z": 1.0}}))
    while abs(odom.get(timeout=TIMEOUT)["pose"]["pose"]["orientation"]["z"]) < 0.3:
        pass
    cmd_vel.publish(roslibpy.Message({"linear": {"x": 0.6}}))
    while odom.get(timeout=TIMEOUT)["pose"]["pose"]["position"]["y"] < 0.2:
        pass
    call(ros, "/set_simulation_state", {"state": {"state": 0}})
    call(ros, "/step_simulation", {"steps": 5})
    while tick_of((message := odom.get(timeout=TIMEOUT))["header"]) not in (2, 4):
        pass
    pose = message["pose"]["pose"]
    assert [pose["position"]["x"], pose["position"]["y"]] == pytest.approx([0.0, 0.0], abs=0.01)
    assert pose["orientation"]["z"] == pytest.approx(0.0, abs=0.01)


def test_roslibpy_spawns_and_deletes() -> None:
    with serving(load(count=1, capacity=3)) as bridge:
        ros = roslibpy.Ros("127.0.0.1", bridge.port, transport="asyncio")
        ros.run(timeout=TIMEOUT)
        odom = subscribe(ros, "/rover_1/ground_truth/odom", "nav_msgs/Odometry")
        pose = {"pose": {"position": {"x": 5.0, "y": 3.0}}}
        wanted = {"name": "rover_1", "entity_resource": {"uri": "rover"}, "initial_pose": pose}
        assert call(ros, "/spawn_entity", wanted)["entity_name"] == "rover_1"
        assert odom.get(timeout=TIMEOUT)["pose"]["pose"]["position"]["x"] == 5.0
        assert call(ros, "/get_entities")["entities"] == ["rover_0", "rover_1"]
        assert call(ros, "/delete_entity", {"entity": "rover_1"})["result"]["result"] == 1
        assert call(ros, "/get_entities")["entities"] == ["rover_0"]
        ros.close()


def test_a_call_of_an_unknown_service_fails_with_its_name(ros: roslibpy.Ros) -> None:
    with pytest.raises(roslibpy.core.ServiceException, match="no service /nothing"):
        call(ros, "/nothing")


# Lockstep.


def drive_in_lockstep(sleep: Callable[[], float]) -> tuple[str, int]:
    """A client that answers every tenth of a second with a command that depends on what it received."""
    sim = load(autonomy={"kind": "remote", "lockstep": 0.1})
    with serving(sim, speed=None, seconds=2.0) as bridge, connect_to(bridge) as socket:
        socket.send(json.dumps({"op": "subscribe", "topic": "/odom"}))
        socket.send(
            json.dumps({"op": "advertise", "topic": "/cmd_vel", "type": "geometry_msgs/Twist"})
        )
        answered = 0
        while answered < 19:
            message = receive(socket, "publish")["msg"]
            if tick_of(message["header"]) == 10 * (answered + 1):
                time.sleep(sleep())
                speed = 0.3 + 0.1 * message["pose"]["pose"]["position"]["x"]
                message = {"linear": {"x": speed}, "angular": {"z": 0.3}}
                socket.send(json.dumps({"op": "publish", "topic": "/cmd_vel", "msg": message}))
                answered += 1
        until(lambda: sim.steps == 200)
    return sim.digest(), len(sim.events)


def test_a_client_in_lockstep_gives_the_same_run_however_slow_it_is() -> None:
    slow = np.random.default_rng(3)
    first = drive_in_lockstep(lambda: 0.0)
    assert first[1] == 19
    assert {drive_in_lockstep(lambda: slow.uniform(0, 0.02)) for _ in range(3)} == {first}
