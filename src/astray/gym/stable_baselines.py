"""Thousands of robots as a vector of environments for Stable-Baselines3, which has its own kind."""

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
    """A `VectorEnv` whose episodes begin anew in their last step, as Stable-Baselines3 wants."""

    def __init__(
        self, num_envs: int = 1, scenario: Source = "reach", **options: Unpack[Options]
    ) -> None:
        self.env = VectorEnv(num_envs, scenario, autoreset_mode="SameStep", **options)
        self.render_mode = None
        self._chosen: Array = np.zeros(0)
        spaces = self.env.single_observation_space, self.env.single_action_space
        super().__init__(num_envs, *spaces)

    def reset(self) -> Array:
        """Begin an episode in every world, with the seed that `seed` was told, if any."""
        told = self._seeds[0]
        self._reset_seeds()
        return self.env.reset(seed=told)[0]

    def step_async(self, actions: Array) -> None:
        """Note what is to be done."""
        self._chosen = actions

    def step_wait(self) -> tuple[Array, Array, Array, list[dict[str, Any]]]:
        """Act; who is done has begun anew, and `terminal_observation` is what it saw last."""
        seen, rewards, ended, late, infos = self.env.step(self._chosen)
        done = ended | late
        each: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for k in np.flatnonzero(done):
            each[k] = {name: v[k] for name, v in infos["final_info"].items() if name[0] != "_"}
            each[k]["terminal_observation"] = infos["final_obs"][k]
            each[k]["TimeLimit.truncated"] = bool(late[k])
        return seen, rewards.astype(np.float32), done, each

    def close(self) -> None:
        """Let go of the worlds."""
        self.env.close()

    # What is asked of single environments, all of which are the same one here.

    def _asked(self, indices: int | Iterable[int] | None) -> Sequence[int]:
        return list(self._get_indices(indices))

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """The attribute of the whole, once for each that was asked."""
        return [getattr(self.env, attr_name) for _ in self._asked(indices)]

    def set_attr(
        self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None
    ) -> None:
        """Set an attribute of the whole."""
        setattr(self.env, attr_name, value)

    def env_method(
        self, method_name: str, *args: Any, indices: int | Iterable[int] | None = None, **more: Any
    ) -> list[Any]:
        """Call a method of the whole, once for each that was asked."""
        return [getattr(self.env, method_name)(*args, **more) for _ in self._asked(indices)]

    def env_is_wrapped(
        self, wrapper_class: type, indices: int | Iterable[int] | None = None
    ) -> list[bool]:
        """No world is wrapped by itself."""
        return [False for _ in self._asked(indices)]
