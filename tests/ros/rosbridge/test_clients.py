"""A run served to roslibpy, a client that others have written, over real sockets."""

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
from astray.ros.rosbridge.background import serving
from astray.ros.rosbridge.bridge import RosbridgeBridge
from support.rosbridge import PATIENCE, load, receive, talking, tick_of, twin_log, until


@pytest.fixture
def wire() -> Iterator[RosbridgeBridge]:
    with serving(load()) as wire:
        yield wire


@pytest.fixture
def ros(wire: RosbridgeBridge) -> Iterator[roslibpy.Ros]:
    ros = roslibpy.Ros("127.0.0.1", wire.port, transport="asyncio")
    ros.run(timeout=PATIENCE)
    yield ros
    ros.close()


def hear(ros: roslibpy.Ros, topic: str, type: str, **more: Any) -> queue.Queue[Any]:
    heard: queue.Queue[Any] = queue.Queue()
    roslibpy.Topic(ros, topic, type, **more).subscribe(heard.put)
    return heard


def call(ros: roslibpy.Ros, name: str, request: dict[str, Any] | None = None) -> dict[str, Any]:
    service = roslibpy.Service(ros, name, "")
    return dict(service.call(roslibpy.ServiceRequest(request or {}), timeout=PATIENCE))


# Topics.


def test_roslibpy_hears_what_the_run_is_and_drives_it(
    wire: RosbridgeBridge, ros: roslibpy.Ros
) -> None:
    imu = hear(ros, "/imu/data", "sensor_msgs/Imu")
    scan = hear(ros, "/scan", "sensor_msgs/msg/LaserScan")
    truth = hear(ros, "/ground_truth/odom", "nav_msgs/Odometry")
    belief = hear(ros, "/belief/pose", "geometry_msgs/PoseWithCovarianceStamped")
    frames = hear(ros, "/tf", "tf2_msgs/TFMessage")
    clock = hear(ros, "/clock", "rosgraph_msgs/Clock")
    cmd_vel = roslibpy.Topic(ros, "/cmd_vel", "geometry_msgs/Twist")
    cmd_vel.publish(roslibpy.Message({"linear": {"x": 0.5}, "angular": {"z": 0.2}}))
    until(lambda: wire.sim.truth["x"][0] > 1.2)
    for heard in (imu, scan, truth, belief, frames, clock):
        until(lambda heard=heard: heard.qsize() > 5)
    steps = wire.sim.steps
    rover = twin_log(wire.sim, steps)["rover"]
    compared = 0
    for said in list(truth.queue):
        k = tick_of(said["header"])
        if k < steps:
            state, pose = rover.truth[k, 0], said["pose"]["pose"]
            assert (pose["position"]["x"], pose["position"]["y"]) == (state["x"], state["y"])
            assert pose["orientation"]["z"] == elementary.sin(0.5 * state["yaw"])
            assert said["twist"]["twist"]["linear"]["x"] == state["vx"]
            compared += 1
    for said in list(imu.queue):
        k = tick_of(said["header"])
        if k < steps:
            assert said["angular_velocity"]["z"] == rover.readings["imu"]["wz"][k, 0]
            assert said["linear_acceleration"]["x"] == rover.readings["imu"]["ax"][k, 0]
            compared += 1
    for said in list(scan.queue):
        k = tick_of(said["header"])
        if k < steps:
            ranges = rover.bulk["scan"]["ranges"][k, 0].astype(np.float32)
            ours = [None if r >= 5.0 else float(r) for r in ranges]
            assert said["ranges"] == ours
            compared += 1
    assert compared > 15
    for said in list(frames.queue):
        turns = {t["child_frame_id"]: t["transform"]["rotation"] for t in said["transforms"]}
        assert turns.keys() == {"base_link", "base_link_truth", "odom"}
        assert turns["odom"]["z"] ** 2 + turns["odom"]["w"] ** 2 == pytest.approx(1.0)
    times = [
        said["clock"]["sec"] * 100 + said["clock"]["nanosec"] / 1e7 for said in list(clock.queue)
    ]
    assert times == sorted(times)


def test_a_newcomer_is_told_where_sensors_sit_and_what_the_map_is(ros: roslibpy.Ros) -> None:
    frames = hear(ros, "/tf_static", "tf2_msgs/TFMessage").get(timeout=PATIENCE)
    assert "scan_link" in {t["child_frame_id"] for t in frames["transforms"]}
    grid = hear(ros, "/map", "nav_msgs/OccupancyGrid").get(timeout=PATIENCE)
    assert len(grid["data"]) == grid["info"]["width"] * grid["info"]["height"]
    assert set(grid["data"]) == {0, 100}


def test_a_pose_that_is_said_resets_the_belief_and_not_the_truth(
    wire: RosbridgeBridge, ros: roslibpy.Ros
) -> None:
    reset = roslibpy.Topic(ros, "/position_reset", "geometry_msgs/Pose2D")
    reset.publish(roslibpy.Message({"x": 5.0, "y": 4.0, "theta": 1.0}))
    rover = wire.sim.robots["rover"]
    until(lambda: bool(rover.belief["x"][0] == 5.0))
    assert rover.truth["x"][0] == 1.0


def test_commands_may_be_stamped(wire: RosbridgeBridge, ros: roslibpy.Ros) -> None:
    cmd_vel = roslibpy.Topic(ros, "/cmd_vel", "geometry_msgs/TwistStamped")
    cmd_vel.publish(roslibpy.Message({"twist": {"linear": {"x": 0.4}}}))
    until(lambda: bool(wire.sim.truth["x"][0] > 1.01))


def test_nobody_else_speaks_in_the_place_of_the_run(wire: RosbridgeBridge) -> None:
    with talking(wire) as line:
        line.send(
            json.dumps(
                {"op": "advertise", "topic": "/ground_truth/odom", "type": "nav_msgs/Odometry"}
            )
        )
        assert "only the run speaks" in receive(line, "status")["msg"]


def test_clients_hear_each_other(wire: RosbridgeBridge, ros: roslibpy.Ros) -> None:
    heard = hear(ros, "/chatter", "std_msgs/String")
    assert call(ros, "/rosapi/get_time")  # by now it has subscribed
    with talking(wire) as line:
        line.send(json.dumps({"op": "advertise", "topic": "chatter", "type": "std_msgs/String"}))
        line.send(json.dumps({"op": "publish", "topic": "chatter", "msg": {"data": "good day"}}))
        assert heard.get(timeout=PATIENCE)["data"] == "good day"


# What there is.


def test_roslibpy_finds_out_what_there_is(wire: RosbridgeBridge, ros: roslibpy.Ros) -> None:
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
    until(lambda: wire.sim.time > 0)
    assert 0 < ros.get_time().to_sec() <= wire.sim.time
    fields = ros.get_message_details("geometry_msgs/Twist")["typedefs"]
    assert fields[0]["fieldnames"] == ["linear", "angular"]
    assert fields[1]["type"] == "geometry_msgs/msg/Vector3"


# Services.


def test_roslibpy_pauses_steps_sets_and_resets(wire: RosbridgeBridge, ros: roslibpy.Ros) -> None:
    sim = wire.sim
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
    assert sim.robots["rover"].belief["x"][0] == pytest.approx(1.0)  # it knows nothing of it
    assert call(ros, "/reset_simulation")["result"]["result"] == 1
    state = call(ros, "/get_entity_state", {"entity": "rover"})["state"]
    assert state["pose"]["position"]["x"] == 1.0
    assert state["header"]["stamp"] == {"sec": 0, "nanosec": 0}
    assert sim.steps == steps + 7
    assert call(ros, "/set_simulation_state", {"state": {"state": 1}})["result"]["result"] == 1
    until(lambda: sim.steps > steps + 10)


def test_odometry_starts_anew_with_a_run_that_is_reset(
    wire: RosbridgeBridge, ros: roslibpy.Ros
) -> None:
    odom = hear(ros, "/odom", "nav_msgs/Odometry")
    cmd_vel = roslibpy.Topic(ros, "/cmd_vel", "geometry_msgs/Twist")
    cmd_vel.publish(roslibpy.Message({"angular": {"z": 1.0}}))
    while abs(odom.get(timeout=PATIENCE)["pose"]["pose"]["orientation"]["z"]) < 0.3:
        pass
    cmd_vel.publish(roslibpy.Message({"linear": {"x": 0.6}}))
    while odom.get(timeout=PATIENCE)["pose"]["pose"]["position"]["y"] < 0.2:
        pass
    call(ros, "/set_simulation_state", {"state": {"state": 0}})
    call(ros, "/step_simulation", {"steps": 5})
    while tick_of((said := odom.get(timeout=PATIENCE))["header"]) not in (2, 4):
        pass
    pose = said["pose"]["pose"]
    assert [pose["position"]["x"], pose["position"]["y"]] == pytest.approx([0.0, 0.0], abs=0.01)
    assert pose["orientation"]["z"] == pytest.approx(0.0, abs=0.01)


def test_roslibpy_spawns_and_deletes() -> None:
    with serving(load(count=1, capacity=3)) as wire:
        ros = roslibpy.Ros("127.0.0.1", wire.port, transport="asyncio")
        ros.run(timeout=PATIENCE)
        odom = hear(ros, "/rover_1/ground_truth/odom", "nav_msgs/Odometry")
        pose = {"pose": {"position": {"x": 5.0, "y": 3.0}}}
        wanted = {"name": "rover_1", "entity_resource": {"uri": "rover"}, "initial_pose": pose}
        assert call(ros, "/spawn_entity", wanted)["entity_name"] == "rover_1"
        assert odom.get(timeout=PATIENCE)["pose"]["pose"]["position"]["x"] == 5.0
        assert call(ros, "/get_entities")["entities"] == ["rover_0", "rover_1"]
        assert call(ros, "/delete_entity", {"entity": "rover_1"})["result"]["result"] == 1
        assert call(ros, "/get_entities")["entities"] == ["rover_0"]
        ros.close()


def test_a_service_that_is_not_there_fails_and_says_so(ros: roslibpy.Ros) -> None:
    with pytest.raises(roslibpy.core.ServiceException, match="no service /nothing"):
        call(ros, "/nothing")


# Lockstep.


def drive_in_lockstep(sleep: Callable[[], float]) -> tuple[str, int]:
    """A client that answers every tenth of a second with a turn that depends on what it heard."""
    sim = load(autonomy={"kind": "remote", "lockstep": 0.1})
    with serving(sim, speed=None, seconds=2.0) as wire, talking(wire) as line:
        line.send(json.dumps({"op": "subscribe", "topic": "/odom"}))
        line.send(
            json.dumps({"op": "advertise", "topic": "/cmd_vel", "type": "geometry_msgs/Twist"})
        )
        answered = 0
        while answered < 19:
            said = receive(line, "publish")["msg"]
            if tick_of(said["header"]) == 10 * (answered + 1):
                time.sleep(sleep())
                speed = 0.3 + 0.1 * said["pose"]["pose"]["position"]["x"]
                message = {"linear": {"x": speed}, "angular": {"z": 0.3}}
                line.send(json.dumps({"op": "publish", "topic": "/cmd_vel", "msg": message}))
                answered += 1
        until(lambda: sim.steps == 200)
    return sim.digest(), len(sim.events)


def test_a_client_in_lockstep_gives_the_same_run_however_slow_it_is() -> None:
    slow = np.random.default_rng(3)
    first = drive_in_lockstep(lambda: 0.0)
    assert first[1] == 19
    assert {drive_in_lockstep(lambda: slow.uniform(0, 0.02)) for _ in range(3)} == {first}
