"""Stable-Baselines3 trains on a batch of worlds. It comes with torch, too large to install for us."""

from typing import Any

import numpy as np
import pytest

from astray.gym import VectorEnv

baselines = pytest.importorskip(
    "stable_baselines3", reason="needs stable-baselines3: pip install stable-baselines3"
)

WORLDS = 4
SHORT: dict[str, Any] = {"duration": 0.7}  # s: episodes end on the way


def test_it_is_a_vector_environment_in_other_words() -> None:
    from astray.gym.stable_baselines import StableVecEnv

    stable, reference = (
        StableVecEnv(WORLDS, **SHORT),
        VectorEnv(WORLDS, autoreset_mode="SameStep", **SHORT),
    )
    stable.seed(3)
    assert stable.reset().tobytes() == reference.reset(seed=3)[0].tobytes()
    ends = 0
    for step in range(20):
        actions = np.random.default_rng(step).uniform(-1.0, 1.0, (WORLDS, 2))
        observations, rewards, done, infos = stable.step(actions)
        expected, expected_rewards, terminated, truncated, expected_infos = reference.step(actions)
        assert observations.tobytes() == expected.tobytes()
        assert rewards == pytest.approx(expected_rewards)
        assert done.tolist() == (terminated | truncated).tolist()
        for k in np.flatnonzero(done):
            ends += 1
            assert (infos[k]["terminal_observation"] == expected_infos["final_obs"][k]).all()
            assert infos[k]["TimeLimit.truncated"] == truncated[k]
            assert infos[k]["arrived"] == expected_infos["final_info"]["arrived"][k]
        assert [bool(info) for info in infos] == done.tolist()
    assert ends >= 2 * WORLDS


def test_it_learns() -> None:
    from astray.gym.stable_baselines import StableVecEnv

    model = baselines.PPO(
        "MlpPolicy", StableVecEnv(WORLDS, **SHORT), n_steps=8, batch_size=32, seed=1
    )
    before = model.policy.state_dict()["action_net.weight"].clone()
    model.learn(128)
    assert (model.policy.state_dict()["action_net.weight"] != before).any()
