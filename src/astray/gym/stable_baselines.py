"""A vector environment for Stable-Baselines3, which has an interface of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Unpack

import numpy as np
from stable_baselines3.common.vec_env import VecEnv

from astray.gym.agents import Options
from astray.gym.vector_env import VectorEnv
from astray.scenario import Source
from astray.tables import Array


class StableVecEnv(VecEnv):  # type: ignore[misc]  # its package may not be installed
    """A `VectorEnv` with automatic resets in the last step, as Stable-Baselines3 expects.

    Args:
        num_envs: The number of worlds.
        scenario: A path, the name of a bundled scenario, or a mapping.
        **options: See `Options`.
    """

    def __init__(
        self, num_envs: int = 1, scenario: Source = "reach", **options: Unpack[Options]
    ) -> None:
        self.env = VectorEnv(num_envs, scenario, autoreset_mode="SameStep", **options)
        self.render_mode = None
        self._actions: Array = np.zeros(0)
        spaces = self.env.single_observation_space, self.env.single_action_space
        super().__init__(num_envs, *spaces)

    def reset(self) -> Array:
        """Begin an episode in every world, with the seed that was given to `seed`, if any."""
        seed = self._seeds[0]
        self._reset_seeds()
        return self.env.reset(seed=seed)[0]

    def step_async(self, actions: Array) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Array, Array, Array, list[dict[str, Any]]]:
        """Apply the actions; `terminal_observation` is the last one of an episode that ended."""
        observations, rewards, terminated, truncated, infos = self.env.step(self._actions)
        done = terminated | truncated
        each: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for k in np.flatnonzero(done):
            each[k] = {name: v[k] for name, v in infos["final_info"].items() if name[0] != "_"}
            each[k]["terminal_observation"] = infos["final_obs"][k]
            each[k]["TimeLimit.truncated"] = bool(truncated[k])
        return observations, rewards.astype(np.float32), done, each

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    # The interface of single environments, which are all the same one here.

    def _environments(self, indices: int | Iterable[int] | None) -> Sequence[int]:
        return list(self._get_indices(indices))

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """The attribute of the vector environment, once per index."""
        return [getattr(self.env, attr_name) for _ in self._environments(indices)]

    def set_attr(
        self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None
    ) -> None:
        """Set an attribute of the vector environment."""
        setattr(self.env, attr_name, value)

    def env_method(
        self, method_name: str, *args: Any, indices: int | Iterable[int] | None = None, **more: Any
    ) -> list[Any]:
        """Call a method of the vector environment, once per index."""
        method = getattr(self.env, method_name)
        return [method(*args, **more) for _ in self._environments(indices)]

    def env_is_wrapped(
        self, wrapper_class: type, indices: int | Iterable[int] | None = None
    ) -> list[bool]:
        """False for each index: no world has a wrapper of its own."""
        return [False for _ in self._environments(indices)]
