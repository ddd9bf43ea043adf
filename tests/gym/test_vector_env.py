"""Many robots as one environment: equal to single ones, with Gymnasium's automatic resets."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from pettingzoo.test import parallel_api_test, parallel_seed_test

from astray.errors import WrongInput
from astray.gym import Env, ParallelEnv, VectorEnv

WORLDS = 5
SHORT: dict[str, Any] = {"duration": 0.7}  # s: episodes end on the way
MODES = list(AutoresetMode)


def actions(step: int) -> Any:
    rng = np.random.default_rng(step)
    return rng.uniform([-1.0, -2.0], [1.0, 2.0], (WORLDS, 2)).astype(np.float32)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_it_is_what_single_environments_are_side_by_side(mode: AutoresetMode) -> None:
    together = VectorEnv(WORLDS, autoreset_mode=mode, **SHORT)
    one_by_one = SyncVectorEnv(
        [lambda world=world: Env(world=world, **SHORT) for world in range(WORLDS)],
        autoreset_mode=mode,
    )
    observations, infos = together.reset(seed=3)
    expected, expected_infos = one_by_one.reset(seed=[3] * WORLDS)
    assert observations.tobytes() == expected.tobytes()
    ends = 0
    for step in range(30):
        batch, single = together.step(actions(step)), one_by_one.step(actions(step))
        for value, other in zip(batch[:4], single[:4], strict=True):
            assert value.dtype == other.dtype
            assert value.tobytes() == other.tobytes()
        infos, expected_infos = batch[4], single[4]
        for name in ("truth", "goal", "arrived"):
            assert infos[name].tobytes() == expected_infos[name].tobytes()
            assert infos[f"_{name}"].all()
        done = batch[2] | batch[3]
        ends += int(done.sum())
        if mode is AutoresetMode.SAME_STEP and done.any():
            assert (
                infos["_final_obs"].tolist()
                == expected_infos["_final_obs"].tolist()
                == done.tolist()
            )
            for k in np.flatnonzero(done):
                assert infos["final_obs"][k].tobytes() == expected_infos["final_obs"][k].tobytes()
                assert (
                    infos["final_info"]["truth"][k] == expected_infos["final_info"]["truth"][k]
                ).all()
        else:
            assert "final_obs" not in infos
    assert ends >= 3 * WORLDS


def test_without_automatic_resets_a_mask_resets() -> None:
    env = VectorEnv(WORLDS, autoreset_mode="Disabled", **SHORT)
    env.reset(seed=3)
    early = np.array([True, False, True, False, False])
    for step in range(7):
        if step == 3:
            env.reset(options={"reset_mask": early})
        observations, _, terminated, truncated, _ = env.step(actions(step))
        assert not terminated.any()
    done = truncated
    assert done.tolist() == (~early).tolist()
    with pytest.raises(WrongInput, match=f"environment {np.flatnonzero(done)[0]} is over"):
        env.step(actions(8))
    restarted, _ = env.reset(options={"reset_mask": done})
    assert restarted[~done].tobytes() == observations[~done].tobytes()
    assert (restarted[done] != observations[done]).any(axis=1).all()
    env.step(actions(8))


def test_an_observation_is_the_callers_own() -> None:
    env = VectorEnv(WORLDS)
    first, _ = env.reset(seed=1)
    before = first.copy()
    second = env.step(actions(1))[0]
    second[:] = 7.0
    assert (first == before).all()
    assert not (env.step(actions(2))[0] == 7.0).any()


def test_the_number_of_worlds_changes_no_byte_of_any() -> None:
    few, many = VectorEnv(2), VectorEnv(WORLDS)
    assert few.reset(seed=8)[0].tobytes() == many.reset(seed=8)[0][:2].tobytes()
    for step in range(5):
        a, b = few.step(actions(step)[:2]), many.step(actions(step))
        assert a[0].tobytes() == b[0][:2].tobytes()
        assert a[1].tobytes() == b[1][:2].tobytes()


def test_gymnasium_makes_it_and_counts_its_episodes() -> None:
    env = gymnasium.make_vec(
        "astray/Reach-v0", num_envs=WORLDS, autoreset_mode=AutoresetMode.SAME_STEP, **SHORT
    )
    assert isinstance(env.unwrapped, VectorEnv)
    counted = RecordEpisodeStatistics(env)
    counted.reset(seed=1)
    returns = np.zeros(WORLDS)
    for step in range(7):
        _, rewards, terminated, truncated, infos = counted.step(actions(step))
        returns += rewards
        if (done := terminated | truncated).any():
            break
    assert infos["episode"]["r"][done] == pytest.approx(returns[done])
    assert env.observation_space.contains(env.reset()[0])
    assert env.action_space.contains(env.action_space.sample())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reset_mask": np.ones(3, bool)}, "reset_mask: 5 truth values"),
        ({"reset_mask": np.arange(5)}, "reset_mask: 5 truth values"),
    ],
)
def test_a_wrong_mask_is_refused(options: dict[str, Any], message: str) -> None:
    env = VectorEnv(WORLDS)
    with pytest.raises(WrongInput, match=message):
        env.reset(options=options)


def test_wrong_arguments_are_refused() -> None:
    env = VectorEnv(WORLDS)
    with pytest.raises(WrongInput, match="one seed is enough"):
        env.reset(seed=[1, 2, 3, 4, 5])  # type: ignore[arg-type]
    with pytest.raises(WrongInput, match="a seed is for all worlds"):
        env.reset(seed=1, options={"reset_mask": np.ones(WORLDS, bool)})
    with pytest.raises(WrongInput, match="several robots in each world"):
        VectorEnv(2, set=["robots.rover.count=3"])
    with pytest.raises(WrongInput, match="unknown autoreset mode 'never'"):
        VectorEnv(2, autoreset_mode="never")
    with pytest.raises(WrongInput, match="unknown render mode 'human'"):
        VectorEnv(2, render_mode="human")


def test_every_world_has_its_picture() -> None:
    env = VectorEnv(3, render_mode="rgb_array")
    env.reset(seed=1)
    frames = env.render()
    assert frames is not None
    assert len({frame.tobytes() for frame in frames}) == 3


THREE = {"set": ["robots.rover.count=3"]}


def test_a_fleet_passes_pettingzoos_checks() -> None:
    parallel_api_test(ParallelEnv(**THREE, duration=2.0), num_cycles=60)
    parallel_seed_test(lambda: ParallelEnv(**THREE, duration=2.0), num_cycles=5)


def test_agents_sense_each_other_and_stop_when_done() -> None:
    scenario = {
        "dt": 0.1,
        "duration": 20.0,
        "robots": [
            {
                "name": "rover",
                "count": 2,
                "start": {"step": [1.5, 0.0]},
                "motion": {"kind": "differential", "max_speed": 1.0, "accel": 100.0},
                "sensors": [
                    {"kind": "lidar", "rate": 10, "rays": 1, "field_of_view": 0.0, "max_range": 9.0}
                ],
            }
        ],
        "interactions": [{"kind": "collisions"}],
    }
    env = ParallelEnv(scenario, observe=["lidar"])
    observations, _ = env.reset(seed=1)
    assert observations["rover_0"][0] == pytest.approx(
        1.3
    )  # to the rim of the other, 0.2 m before its middle
    assert observations["rover_1"][0] == pytest.approx(9.0)
    while len(env.agents) == 2:
        _, _, terminated, _, infos = env.step(
            {"rover_0": np.array([1.0, 0.0]), "rover_1": np.zeros(2)}
        )
    assert terminated["rover_0"]
    stood = {agent: infos[agent]["truth"] for agent, done in terminated.items() if done}
    for _ in range(3):
        env.step({agent: np.array([1.0, 0.0]) for agent in env.possible_agents})
    truth = env._agents.robots.truth
    for agent, pose in stood.items():
        row = env.possible_agents.index(agent)
        assert (truth["x"][row], truth["y"][row]) == pytest.approx(tuple(pose[:2]), abs=1e-6)


def test_an_unknown_agent_is_refused() -> None:
    env = ParallelEnv(**THREE)
    env.reset(seed=1)
    with pytest.raises(WrongInput, match="unknown agent 'rover_3'"):
        env.step({"rover_3": np.zeros(2)})
