"""Dead reckoning beside beliefs: it never jumps, and late beliefs are compared with their time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import astray
from astray.ros.messages.types import decode
from astray.ros.publishers.dead_reckoning import PoseHistory
from astray.ros.publishers.publisher_set import Localization, PublisherSet
from astray.ros.publishers.transforms import TransformPublisher
from astray.tables import STATE, table

SPEED, TURN = 0.5, 0.3
TICK = 3.1e-4  # m that a tick of the encoders means


def load(estimator: Any, **robot: Any) -> astray.Sim:
    rover = {
        "name": "rover",
        "start": {"x": 1.0, "y": 2.0, "yaw": 0.5},
        "sensors": [{"kind": "wheels", "rate": 50}],
        "autonomy": {"kind": "remote"},
        **robot,
    }
    if estimator:
        rover["estimator"] = estimator
    return astray.load({"dt": 0.01, "robots": [rover]})


class Frames:
    """Keeps every transform that a run publishes, by child frame."""

    def __init__(self, sim: astray.Sim, localization: Localization = "belief") -> None:
        self.publishers = PublisherSet(sim, localization)
        self.transforms: dict[str, list[tuple[float, float, float, float]]] = {}
        sim.observers.append(self)

    def next_due(self, step: int) -> int:
        return self.publishers.next_due(step)

    def observe(self, sim: astray.Sim) -> None:
        for publisher, rows in self.publishers.due_publishers():
            if isinstance(publisher, TransformPublisher):
                for _, data in publisher.messages(rows):
                    for t in decode(publisher.layout.type, data).transforms:
                        q, p = t.transform.rotation, t.transform.translation
                        time = t.header.stamp.sec + t.header.stamp.nanosec * 1e-9
                        yaw = 2.0 * np.arctan2(q.z, q.w)
                        self.transforms.setdefault(t.child_frame_id, []).append(
                            (time, p.x, p.y, yaw)
                        )

    def of(self, frame: str) -> Any:
        return np.array(self.transforms[frame])


def test_the_body_never_jumps_in_odom_whatever_is_believed() -> None:
    sim = load({"kind": "odometry"})
    frames = Frames(sim)
    sim.robots["rover"].drive(SPEED, TURN)
    for k in range(10):
        sim.run(0.5)
        sim.robots["rover"].believe(x=float(k), y=-3.0, yaw=0.1 * k)
    moved = np.diff(frames.of("base_link"), axis=0)
    assert len(moved) > 200
    assert (moved[:, 0] > 0.0).all()
    far = np.hypot(moved[:, 1], moved[:, 2])
    assert (far <= SPEED * moved[:, 0] + TICK).all()
    jumps = np.abs(np.diff(frames.of("odom")[:, 1:], axis=0)).max(axis=1)
    assert (jumps > 0.5).sum() >= 9  # the jumps are there, in map → odom


@pytest.mark.parametrize("localization", ["belief", "truth"])
def test_map_to_body_is_what_is_believed_or_true(localization: Any) -> None:
    sim = load({"kind": "odometry"})
    frames = Frames(sim, localization)
    sim.robots["rover"].drive(SPEED, TURN)
    sim.run(2.0)
    sim.robots["rover"].believe(x=5.0, y=6.0, yaw=1.0)
    sim.run(2.0)
    (_, x, y, yaw), (_, bx, by, byaw) = frames.of("odom")[-1], frames.of("base_link")[-1]
    state = sim.robots["rover"].belief[0] if localization == "belief" else sim.truth[0]
    at = x + np.cos(yaw) * bx - np.sin(yaw) * by, y + np.sin(yaw) * bx + np.cos(yaw) * by
    assert np.allclose([*at, yaw + byaw], [state["x"], state["y"], state["yaw"]], atol=1e-3)


def test_map_to_odom_is_not_published_if_another_node_does() -> None:
    sim = load({"kind": "odometry"})
    frames = Frames(sim, "external")
    sim.robots["rover"].drive(SPEED)
    sim.run(1.0)
    assert set(frames.transforms) == {"base_link", "base_link_truth"}


def test_a_late_belief_is_compared_with_the_dead_reckoning_of_its_time() -> None:
    """A perfect filter that is 0.2 s late leaves map → odom where it was, also in a curve."""
    sim = load({"kind": "remote"})
    frames = Frames(sim)
    sim.robots["rover"].drive(SPEED, TURN)
    past: list[Any] = []
    for _ in range(200):
        past.append(sim.truth[0].copy())
        sim.step(2)
        if len(past) > 10:
            then = past[-10]
            values = {c: float(then[c]) for c in ("x", "y", "yaw", "stamp")}
            sim.robots["rover"].believe(**values)
    odom = frames.of("odom")[30:]
    assert np.ptp(odom[:, 1]) < 2e-3
    assert np.ptp(odom[:, 2]) < 2e-3
    assert np.allclose(odom[-1, 1:], [1.0, 2.0, 0.5], atol=2e-3)  # where the robot began


def test_a_past_pose_is_interpolated_between_two_kept_ones() -> None:
    state = table(STATE, 2)
    history = PoseHistory(state)
    for k in range(3):
        state["stamp"], state["x"], state["yaw"] = k, 10.0 * k, [0.0, 3.0 if k % 2 else -3.0]
        history.append()
    state["vx"], state["yaw"][0] = 2.0, np.pi / 2
    out, stamps = np.zeros((2, 3)), np.array([0.25, 0.5])
    history.poses_at(out, np.arange(2), stamps)
    assert out[0].tolist() == [2.5, 0.0, 0.0]
    assert abs(out[1, 2]) == pytest.approx(np.pi)  # the short way round, over the back
    history.poses_at(out, np.arange(2), np.array([3.0, -5.0]))
    assert out[0] == pytest.approx([20.0, 2.0, np.pi / 2])  # ahead, with the speed that it has
    assert out[1].tolist() == [0.0, 0.0, -3.0]  # as far back as is known
    history.clear(np.array([1]))
    history.poses_at(out, np.array([1]), np.array([0.0, 0.5]))
    assert out[1].tolist() == [20.0, 0.0, -3.0]  # nothing else is known
