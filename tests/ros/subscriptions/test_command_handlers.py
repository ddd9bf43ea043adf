"""ROS 2 messages become events, whatever transport they come by."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import astray
from astray.errors import AstrayError
from astray.ros.messages.types import BadMessage, make_message
from astray.ros.publishers.publisher_set import PublisherSet
from astray.ros.subscriptions.command_handlers import Subscriptions, SubscriptionSettings

REMOTE = {"kind": "remote"}


def quaternion(yaw: float) -> dict[str, float]:
    return {"z": math.sin(yaw / 2), "w": math.cos(yaw / 2)}


def load(**robot: Any) -> astray.Sim:
    rover = {"name": "rover", "sensors": [{"kind": "wheels", "rate": 50}], **robot}
    return astray.load({"dt": 0.01, "robots": [rover]})


def send(subscriptions: Subscriptions, topic: str, **values: Any) -> None:
    subscription = subscriptions.topics[topic]
    subscription.callback(make_message(subscription.type, values))


def test_cmd_vel_overrides_a_robot_that_drives_itself_for_half_a_second() -> None:
    sim = load(autonomy={"kind": "scripted", "steps": [{"lasts": 9, "vx": 0.2}]})
    sim.step()
    twist = make_message("geometry_msgs/msg/Twist", {"linear": {"x": -0.1}})
    Subscriptions(sim).topics["/cmd_vel"].callback(twist)
    sim.run(0.45)
    assert sim.truth["vx"][0] == pytest.approx(-0.1)
    sim.run(1.0)
    assert sim.truth["vx"][0] == pytest.approx(0.2)


def test_a_single_robot_has_plain_topics_and_several_have_namespaces() -> None:
    alone = Subscriptions(load(autonomy=REMOTE, estimator={"kind": "odometry"})).topics
    assert set(alone) == {"/cmd_vel", "/initialpose", "/position_reset"}
    assert alone["/cmd_vel"].type == "geometry_msgs/msg/Twist"
    three = Subscriptions(load(autonomy=REMOTE, count=3)).topics
    assert set(three) == {f"/rover_{k}/cmd_vel" for k in range(3)}
    navigating = Subscriptions(load(autonomy={"kind": "navigate"})).topics
    assert set(navigating) == {"/cmd_vel", "/goal_pose"}
    assert set(Subscriptions(load(autonomy={"kind": "wander"})).topics) == {"/cmd_vel"}


@pytest.mark.parametrize("stamped", [False, True])
def test_a_twist_drives_one_robot_of_several(stamped: bool) -> None:
    sim = load(autonomy=REMOTE, count=2, motion={"kind": "omni"})
    subscriptions = Subscriptions(sim, SubscriptionSettings(stamped_cmd_vel=stamped))
    twist = {"linear": {"x": 0.3, "y": 0.1}, "angular": {"z": 0.2}}
    send(subscriptions, "/rover_1/cmd_vel", **({"twist": twist} if stamped else twist))
    sim.run(2.0)
    assert sim.truth["vx"].tolist() == [0.0, pytest.approx(0.3)]
    assert sim.truth["vy"][1] == pytest.approx(0.1)
    assert sim.truth["wz"][1] == pytest.approx(0.2)
    assert sim.events[0].robots == (1,)


def test_an_initial_pose_and_a_reset_move_the_belief_and_not_the_truth() -> None:
    sim = load(autonomy=REMOTE, estimator={"kind": "odometry"}, count=3)
    subscriptions = Subscriptions(sim)
    cov = np.zeros((6, 6))
    cov[np.ix_((0, 1, 5), (0, 1, 5))] = np.array([[4, 1, 0], [1, 3, 0.5], [0, 0.5, 2]]) / 10
    pose = {"position": {"x": 3.0, "y": 4.0}, "orientation": quaternion(-2.0)}
    header = {"frame_id": "map"}
    send(
        subscriptions,
        "/rover_2/initialpose",
        header=header,
        pose={"pose": pose, "covariance": cov.ravel().tolist()},
    )
    send(subscriptions, "/rover_0/position_reset", x=1.0, y=2.0, theta=0.5)
    before = sim.truth.copy()
    sim.step()
    belief = sim.robots["rover"].belief
    assert [float(belief[c][2]) for c in ("x", "y", "yaw")] == pytest.approx([3.0, 4.0, -2.0])
    assert belief["cov"][2] == pytest.approx(np.array([[4, 1, 0], [1, 3, 0.5], [0, 0.5, 2]]) / 10)
    assert [float(belief[c][0]) for c in ("x", "y", "yaw")] == pytest.approx([1.0, 2.0, 0.5])
    assert not belief["cov"][0].any()
    assert sim.truth["x"].tolist() == before["x"].tolist()


def test_a_goal_drives_a_robot_that_navigates() -> None:
    sim = load(autonomy={"kind": "navigate", "rate": 10}, start={"x": 2, "y": 2})
    subscriptions = Subscriptions(sim)
    send(
        subscriptions,
        "/goal_pose",
        header={"frame_id": "map"},
        pose={"position": {"x": 2.0, "y": 3.0}},
    )
    sim.run(10.0)
    assert math.hypot(sim.truth["x"][0] - 2.0, sim.truth["y"][0] - 3.0) < 0.2


@pytest.mark.parametrize("source", ["pose", "odometry"])
def test_the_belief_of_an_external_filter_is_taken_with_its_stamp(source: Any) -> None:
    sim = load(autonomy=REMOTE, estimator=REMOTE)
    subscriptions = Subscriptions(
        sim, SubscriptionSettings(belief_from=source, belief_topic="filter")
    )
    sim.run(1.0)
    header = {"frame_id": "map", "stamp": {"sec": 0, "nanosec": 750_000_000}}
    pose = {"position": {"x": 5.0, "y": 6.0}, "orientation": quaternion(1.0)}
    send(
        subscriptions,
        "/filter",
        header=header,
        pose={"pose": pose, "covariance": np.eye(6).ravel()},
    )
    sim.step()
    belief = sim.robots["rover"].belief[0]
    assert [belief["x"], belief["y"], belief["yaw"]] == pytest.approx([5.0, 6.0, 1.0])
    assert belief["stamp"] == pytest.approx(0.75)
    assert belief["cov"].tolist() == np.eye(3).tolist()


def test_a_filter_that_does_not_use_simulated_time_is_reported() -> None:
    sim = load(autonomy=REMOTE, estimator=REMOTE)
    subscriptions = Subscriptions(sim, SubscriptionSettings(belief_topic="filter"))
    with pytest.raises(BadMessage, match="use_sim_time"):
        send(subscriptions, "/filter", header={"stamp": {"sec": 1_700_000_000}})
    sim.run(1.0)
    send(subscriptions, "/filter", header={"stamp": {"sec": 1, "nanosec": 500_000_000}})
    send(subscriptions, "/filter")
    sim.step()
    assert [event.values.get("stamp") for event in sim.events] == [pytest.approx(1.0), None]


def test_a_filter_that_publishes_map_to_odom_sets_the_belief() -> None:
    """What AMCL does: map → odom, stamped ahead of time; odom → base_link is our dead reckoning."""
    sim = load(autonomy=REMOTE, estimator=REMOTE, start={"x": 2, "y": 2, "yaw": 0.5})
    feed = PublisherSet(sim, "external")

    class Watching:
        def next_due(self, step: int) -> int:
            return feed.next_due(step)

        def observe(self, sim: astray.Sim) -> None:
            list(feed.due_publishers())

    sim.observers.append(Watching())
    subscriptions = Subscriptions(sim, SubscriptionSettings(belief_from="tf"), feed.dead_reckonings)
    sim.robots["rover"].drive(0.4, 0.3)
    sim.run(2.0)
    moved = {"translation": {"x": 2.0, "y": 2.0}, "rotation": quaternion(0.5)}
    transform = {"child_frame_id": "odom", "transform": moved}
    ahead = {"frame_id": "map", "stamp": {"sec": 3, "nanosec": 0}}
    other = {"header": {"frame_id": "odom"}, "child_frame_id": "laser"}
    send(subscriptions, "/tf", transforms=[other, {"header": ahead, **transform}])
    truth = sim.truth[0].copy()
    sim.step()
    belief = sim.robots["rover"].belief[0]
    for column, close in (("x", 2e-3), ("y", 2e-3), ("yaw", 2e-3), ("stamp", 1e-9)):
        assert belief[column] == pytest.approx(truth[column], abs=close), column


@pytest.mark.parametrize(
    ("topic", "values"),
    [
        ("/cmd_vel", {"linear": {"x": math.nan}}),
        ("/cmd_vel", {"angular": {"z": math.inf}}),
        ("/position_reset", {"x": math.nan}),
        ("/initialpose", {"header": {"frame_id": "laser"}}),
        ("/initialpose", {"pose": {"covariance": [-1.0] + [0.0] * 35}}),
        ("/initialpose", {"pose": {"covariance": [math.nan] * 36}}),
        ("/initialpose", {"pose": {"covariance": [1e308] * 36}}),
        ("/initialpose", {"pose": {"pose": {"position": {"y": math.inf}}}}),
    ],
)
def test_an_invalid_message_is_refused_and_changes_nothing(topic: str, values: Any) -> None:
    sim = load(autonomy=REMOTE, estimator={"kind": "odometry"})
    subscriptions = Subscriptions(sim)
    with pytest.raises(AstrayError):
        send(subscriptions, topic, **values)
    sim.step()
    assert not sim.events
