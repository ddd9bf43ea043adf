"""Thousands of robots, one in each world, as one vector environment of Gymnasium."""

from __future__ import annotations

from typing import Any, Unpack

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from astray.errors import WrongInput
from astray.gym.agents import Agents, Options
from astray.gym.rendering import WorldRenderer, check_render_mode
from astray.scenario import Source
from astray.tables import Array

Infos = dict[str, Any]


class VectorEnv(gymnasium.vector.VectorEnv[Array, Array, Array]):
    """World k is environment k. All are one batch, which the same kernels step together.

    Args:
        num_envs: The number of worlds.
        scenario: A path, the name of a bundled scenario, or a mapping.
        autoreset_mode: Gymnasium's. With NEXT_STEP, the step after the last one of an episode
            begins the next episode and ignores the action. With SAME_STEP, the last step begins it;
            `final_obs` and `final_info` have the end of the episode. With DISABLED, the caller
            begins it by `reset(options={"reset_mask": mask})`.
        render_mode: "rgb_array" or None.
        **options: See `Options`.

    Raises:
        WrongInput: An argument is wrong, or the group has several robots.
        ScenarioError: With every fault of the scenario.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}

    def __init__(
        self,
        num_envs: int = 1,
        scenario: Source = "reach",
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **options: Unpack[Options],
    ) -> None:
        self.agents = Agents(scenario, num_envs, options)
        if len(self.agents.rows) > num_envs:
            raise WrongInput(
                f"{self.agents.name!r} are several robots in each world: "
                "a VectorEnv has one agent per world, a ParallelEnv several in one"
            )
        self.num_envs = num_envs
        self.render_mode = check_render_mode(render_mode, ("rgb_array",))
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            known = ", ".join(mode.value for mode in AutoresetMode)
            raise WrongInput(f"unknown autoreset mode {autoreset_mode!r} ({known})") from None
        self.metadata = {
            **self.metadata,
            "autoreset_mode": self.autoreset_mode,
            "render_fps": self.agents.steps_per_second,
        }
        self.single_observation_space = self.agents.observations.space
        self.single_action_space = self.agents.actions.space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._done = np.zeros(num_envs, bool)
        self._observations: Array = np.zeros(self.observation_space.shape or (), np.float32)
        self._renderer: WorldRenderer | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, Infos]:
        """Begin an episode in every world, or in some.

        Args:
            seed: Begin the first episode of this seed; the next episode unless given.
            options: With `reset_mask`, (num_envs,) bool, only the worlds of the mask begin one.

        Returns:
            The observations, (num_envs, columns), and the infos.

        Raises:
            WrongInput: The seed is no single one, or the mask is none.
        """
        if seed is not None and not isinstance(seed, int | np.integer):
            raise WrongInput("one seed is enough: worlds differ by their number")
        super().reset(seed=seed)
        mask = (options or {}).get("reset_mask")
        if mask is None:
            self.agents.reset(seed)
            self._done[:] = False
            self._observations = self.agents.observe()
        else:
            self._reset_worlds(self._check_mask(mask, seed))
        return self._observations.copy(), self._infos()

    def _check_mask(self, mask: Any, seed: int | None) -> Array:
        given = np.asarray(mask)
        if given.dtype != bool or given.shape != (self.num_envs,):
            raise WrongInput(f"reset_mask: {self.num_envs} truth values")
        if seed is not None:
            raise WrongInput("a seed is for all worlds, not for those of a mask")
        return given

    def _reset_worlds(self, mask: Array) -> None:
        """Begin the next episode in the worlds of a mask."""
        if mask.any():
            rows = self.agents.reset_worlds(mask)
            self._observations[rows] = self.agents.observe(rows)
            self._done[mask] = False

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, Infos]:
        """Apply an action in every world for one period.

        Args:
            actions: In the units of a command, (num_envs, columns).

        Returns:
            Observations, rewards, terminated, truncated and infos.

        Raises:
            WrongInput: Automatic resets are disabled and an episode is over.
        """
        over = self._done.copy()  # episodes that ended in the step before
        if self.autoreset_mode is AutoresetMode.DISABLED and over.any():
            first = int(np.flatnonzero(over)[0])
            raise WrongInput(f"the episode of environment {first} is over: reset it by a mask")
        self.agents.step(actions)
        rewards, terminated, truncated = self.agents.outcome()
        self._observations = self.agents.observe()
        infos: Infos = {}
        if self.autoreset_mode is AutoresetMode.NEXT_STEP:
            rewards[over], terminated[over], truncated[over] = 0.0, False, False
            done = terminated | truncated
            self._reset_worlds(over)
            self._done = done
        else:
            self._done = terminated | truncated
            if self.autoreset_mode is AutoresetMode.SAME_STEP and self._done.any():
                infos = self._final_infos(self._done)
                self._reset_worlds(self._done.copy())
        return self._observations.copy(), rewards, terminated, truncated, self._infos() | infos

    def _final_infos(self, done: Array) -> Infos:
        """The last observations and infos of these episodes, in Gymnasium's form."""
        observations = np.full(self.num_envs, None, dtype=object)
        for k in np.flatnonzero(done):
            observations[k] = self._observations[k].copy()
        return {
            "final_obs": observations,
            "_final_obs": done.copy(),
            "final_info": self._infos(),
            "_final_info": done.copy(),
        }

    def _infos(self) -> Infos:
        """The infos with Gymnasium's masks, by which every environment has a value."""
        infos, present = self.agents.info(), np.ones(self.num_envs, bool)
        return infos | {f"_{name}": present for name in infos}

    def render(self) -> tuple[Array, ...] | None:
        """Every world as pixels, (height, width, 3); None without a render mode."""
        if self.render_mode is None:
            return None
        if self._renderer is None:
            self._renderer = WorldRenderer(self.agents)
        return tuple(self._renderer.draw(world) for world in range(self.num_envs))
