"""A ring of sonars hears what faces it, and sometimes its neighbours."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import astray
from astray import ScenarioError
from astray.robot.sensors.sonar import RINGS
from astray.tables import Array
from astray.world.raycast.single_ray import make_raycast_scene, scan_hits, scan_rays

ROOM: dict[str, Any] = {"walls": [[[-3, -3], [3, -3], [3, 3], [-3, 3], [-3, -3]]]}


def load(
    sensor: dict[str, Any], start: Any = None, others: Any = (), world: Any = ROOM, **more: Any
) -> astray.Sim:
    robot = {
        "name": "a",
        "start": start or {},
        "footprint": {"radius": 0.2},
        "sensors": [{"kind": "sonar", "min_range": 0.0, **sensor}],
    }
    scenario = {"dt": 0.1, "world": {"map": world}, "robots": [robot, *others]}
    return astray.load(scenario, **more)


def heard(sim: astray.Sim) -> Array:
    return np.asarray(sim.robots["a"].readings["sonar"]["ranges"])


def one(yaw: float = 0.0, **sensor: Any) -> float:
    return float(heard(load({"mounts": [[0, 0, yaw]], **sensor}))[0, 0])


def test_a_cone_hears_the_nearest_point_that_faces_it() -> None:
    assert one() == pytest.approx(3.0)
    assert one(0.2, cone=0.3, rays=7) == pytest.approx(3.0)  # one of its rays is normal to the wall
    assert one(0.2, cone=0.0, rays=1) == pytest.approx(3.0 / math.cos(0.2))


def test_a_wall_is_heard_only_up_to_the_limit_of_incidence() -> None:
    sensor = {"cone": 0.1, "rays": 5, "incidence": 0.4, "max_range": 4.0}
    assert one(0.45, **sensor) == pytest.approx(3.0 / math.cos(0.35))
    assert one(0.55, **sensor) == math.inf  # the flattest ray is 0.45 from the normal
    assert one(math.pi / 4, **sensor) == math.inf  # nor is a corner heard
    assert one(math.pi / 4, **{**sensor, "incidence": 0.8, "max_range": 5.0}) < 4.25


def test_round_things_are_heard_where_they_face_the_sonar() -> None:
    others = [{"name": "b", "footprint": {"radius": 0.5}, "start": {"x": 2.0}}]
    mounts = [[0, 0, 0], [0, 0.3, 0], [0, 0.48, 0]]
    sim = load({"mounts": mounts, "cone": 0, "rays": 1, "incidence": 1.0}, others=others)
    # The third ray meets the circle, but at asin(0.48 / 0.5) = 1.29 rad from its normal.
    assert heard(sim)[0] == pytest.approx([1.5, 1.6, math.inf])
    deaf = load({"mounts": mounts[:1], "robots": False}, others=others)
    assert heard(deaf)[0] == pytest.approx([3.0])


def test_boxes_are_heard_by_their_sides() -> None:
    box = {"length": 1.0, "width": 1.0}
    others = [{"name": "b", "footprint": box, "start": {"x": 2.0, "yaw": 0.3}}]
    sensor = {"mounts": [[0, 0, 0]], "cone": 0.0, "rays": 1}
    side = 2.0 - 0.5 / math.cos(0.3)
    assert heard(load({**sensor, "incidence": 0.31}, others=others))[0, 0] == pytest.approx(side)
    assert heard(load({**sensor, "incidence": 0.29}, others=others))[0, 0] == math.inf


def test_nothing_reads_inf_or_is_clamped_as_aria_has_it() -> None:
    assert one(max_range=2.0) == math.inf
    assert one(max_range=2.0, clamp=True) == 2.0
    assert one(min_range=3.5) == -math.inf
    assert one(min_range=3.5, clamp=True) == 3.5
    assert one(clamp=True) == pytest.approx(3.0)


def test_noise_and_resolution_are_as_asked_for() -> None:
    mounts = [[0, 0, k * math.pi / 2] for k in range(3)]
    sim = load({"mounts": mounts, "sigma": 0.05, "cone": 0, "rays": 1}, worlds=3000)
    errors = heard(sim) - 3.0
    assert np.std(errors, axis=0) == pytest.approx([0.05] * 3, rel=0.06)
    assert np.abs(np.corrcoef(errors.T) - np.eye(3)).max() < 0.08
    rounded = load({"mounts": mounts, "sigma": 0.3, "resolution": 0.25}, worlds=20)
    assert (heard(rounded) / 0.25 % 1.0 == 0.0).all()


def test_crosstalk_lets_a_shorter_echo_through_with_its_probability() -> None:
    sensor = {"mounts": [[0, 0, 0], [0, 0, math.pi]], "cone": 0, "rays": 1, "crosstalk": 0.3}
    sim = load(sensor, {"x": 1.0}, worlds=3000)
    near, far = heard(sim).T
    assert set(near) == {2.0}  # what is longer is never taken
    assert set(far) == {2.0, 4.0}
    assert (far == 2.0).mean() == pytest.approx(0.3, abs=0.034)  # 0.84 % is one sigma
    apart = load({**sensor, "at_once": 1, "crosstalk": 1.0}, {"x": 1.0})
    apart.step()
    assert heard(apart)[0].tolist() == [2.0, 4.0]  # whoever fires alone hears only himself


def test_those_that_fire_in_turn_keep_what_they_heard() -> None:
    mounts = [[0, 0, k * math.pi / 2] for k in range(4)]
    sim = load({"mounts": mounts, "at_once": 2, "cone": 0, "rays": 1}, {"x": 1.0})
    assert heard(sim)[0] == pytest.approx([2.0, math.inf, 4.0, math.inf])
    sim.robots["a"].place(x=0.0)
    sim.step()
    assert heard(sim)[0] == pytest.approx([2.0, 3.0, 4.0, 3.0])
    reading = sim.robots["a"].readings["sonar"]
    assert (reading["first"][0], reading["fired"][0]) == (1, 2)
    sim.step()
    assert heard(sim)[0] == pytest.approx([3.0] * 4)
    sim.reset()
    assert heard(sim)[0] == pytest.approx([2.0, math.inf, 4.0, math.inf])


def test_the_ring_of_the_pioneer_has_two_halves_that_mirror_each_other() -> None:
    ring = np.array(RINGS["p3dx"])
    assert ring.shape == (16, 3)
    mirrored = ring[::-1] * [1, -1, -1]
    turned = np.concatenate([mirrored[8:], mirrored[:8]])
    assert ring == pytest.approx(turned)
    sim = load({"ring": "p3dx"})
    assert heard(sim).shape == (1, 16)
    assert heard(sim)[0, [0, 3, 4, 7]] == pytest.approx([2.864, 2.834, 2.834, 2.864], rel=1e-3)
    assert sim.robots["a"].plan.sensors[0].datasheet()["mounts"] == RINGS["p3dx"]


def test_echoes_have_the_ranges_of_scans() -> None:
    for name in ("office", "maze"):
        sim = load({"mounts": [[0, 0, 0]]}, world=name, start={"x": 2.0, "y": 2.0})
        view = make_raycast_scene(sim.environment.scene.map)
        angles = np.linspace(0, 2 * math.pi, 500)
        rays = np.stack([2.0 + 0 * angles, 2.0 + 0 * angles, np.cos(angles), np.sin(angles)], 1)
        owners = np.tile([0, -1], (500, 1))
        ranges, echoes = np.empty(500), np.empty((500, 2))
        scan_rays(view, rays, owners, 0.02, ranges)
        scan_hits(view, rays, owners, 0.02, echoes)
        assert echoes[:, 0].tobytes() == ranges.tobytes()
        assert (echoes[:, 1] <= 1.0 + 1e-12).all()


@pytest.mark.parametrize(
    ("sensor", "message"),
    [
        ({}, "needs mounts"),
        ({"ring": "p3dx", "mounts": [[0, 0, 0]]}, "either mounts or a ring"),
        ({"mounts": [[0, 0, 0]] * 6, "at_once": 4}, "1, 2, 3, 6 can fire at once, not 4"),
    ],
)
def test_a_ring_that_cannot_be_is_refused(sensor: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        load(sensor)


def test_a_robot_hears_the_same_in_a_batch_and_alone() -> None:
    sensor = {"ring": "p3dx", "sigma": 0.02, "crosstalk": 0.2, "at_once": 4, "latency": 0.1}
    batch, alone = (load(sensor, {"spread": 1.0}, worlds=w) for w in (5, [3]))
    for sim in (batch, alone):
        sim.step(6)
    assert heard(batch)[3:4].tobytes() == heard(alone).tobytes()
