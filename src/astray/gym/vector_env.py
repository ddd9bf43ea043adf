"""Thousands of robots, one in each world, as one environment of Gymnasium."""

from __future__ import annotations

from typing import Any, Unpack

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from astray.errors import WrongInput
from astray.gym.agents import Agents, Options
from astray.gym.rendering import RenderFrame, checked_mode
from astray.gym.spaces import action_space, observation_space
from astray.scenario import Source
from astray.tables import Array

Infos = dict[str, Any]


class VectorEnv(gymnasium.vector.VectorEnv[Array, Array, Array]):
    """World k is environment k; all of them are one batch, stepped by the same few kernels.

    `autoreset_mode` is Gymnasium's: in NEXT_STEP the step after the last of an episode begins the
    next one, whatever the action; in SAME_STEP the last one does, and `final_obs` has what was seen
    before; with DISABLED it is `reset(options={"reset_mask": mask})`.
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
        if len(self.agents.everyone) > num_envs:
            raise WrongInput(
                f"{self.agents.name!r} are several robots in each world: "
                "a VectorEnv has one agent per world, a ParallelEnv several in one"
            )
        self.num_envs, self.render_mode = num_envs, checked_mode(render_mode, ("rgb_array",))
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            known = ", ".join(mode.value for mode in AutoresetMode)
            raise WrongInput(f"no autoreset mode {autoreset_mode!r} ({known})") from None
        self.metadata = {
            **self.metadata,
            "autoreset_mode": self.autoreset_mode,
            "render_fps": self.agents.steps_per_second,
        }
        self.single_observation_space = observation_space(self.agents)
        self.single_action_space = action_space(self.agents)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._done = np.zeros(num_envs, bool)
        self._seen: Array = np.zeros(self.observation_space.shape or (), np.float32)
        self._frame: RenderFrame | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, Infos]:
        """Begin an episode in every world, or in those of `options["reset_mask"]`."""
        if seed is not None and not isinstance(seed, int | np.integer):
            raise WrongInput("one seed is enough: worlds differ by their number")
        super().reset(seed=seed)
        mask = (options or {}).get("reset_mask")
        if mask is None:
            self.agents.restart(seed)
            self._done[:] = False
            self._seen = self.agents.see()
        else:
            self._begin(self._checked(mask, seed))
        return self._seen.copy(), self._infos()

    def _checked(self, mask: Any, seed: int | None) -> Array:
        given = np.asarray(mask)
        if given.dtype != bool or given.shape != (self.num_envs,):
            raise WrongInput(f"reset_mask: {self.num_envs} truth values")
        if seed is not None:
            raise WrongInput("a seed is for all worlds, not for those of a mask")
        return given

    def _begin(self, worlds: Array) -> None:
        """Begin the next episode of these worlds, by a mask."""
        if worlds.any():
            rows = self.agents.begin(worlds)
            self._seen[rows] = self.agents.see(rows)
            self._done[worlds] = False

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, Infos]:
        """Act in every world for one period."""
        over = self._done.copy()
        if self.autoreset_mode is AutoresetMode.DISABLED and over.any():
            first = int(np.flatnonzero(over)[0])
            raise WrongInput(f"the episode of environment {first} is over: reset it by a mask")
        self.agents.step(actions)
        rewards, ended, late = self.agents.judge()
        self._seen = self.agents.see()
        infos: Infos = {}
        if self.autoreset_mode is AutoresetMode.NEXT_STEP:
            rewards[over], ended[over], late[over] = 0.0, False, False
            self._done = ended | late
            self._begin_kept(over)
        else:
            self._done = ended | late
            if self.autoreset_mode is AutoresetMode.SAME_STEP and self._done.any():
                infos = self._last_words(self._done)
                self._begin(self._done.copy())
        return self._seen.copy(), rewards, ended, late, self._infos() | infos

    def _begin_kept(self, over: Array) -> None:
        """Begin the next episode of these; whoever was done by now still is."""
        done = self._done
        self._begin(over)
        self._done = done

    def _last_words(self, over: Array) -> Infos:
        """What was seen and known at the end of these episodes, as Gymnasium hands it on."""
        seen = np.full(self.num_envs, None, dtype=object)
        for k in np.flatnonzero(over):
            seen[k] = self._seen[k].copy()
        return {
            "final_obs": seen,
            "_final_obs": over.copy(),
            "final_info": self._infos(),
            "_final_info": over.copy(),
        }

    def _infos(self) -> Infos:
        known, everyone = self.agents.info(), np.ones(self.num_envs, bool)
        return known | {f"_{name}": everyone for name in known}

    def render(self) -> tuple[Array, ...] | None:
        """Every world as pixels, (height, width, 3)."""
        if self.render_mode is None:
            return None
        if self._frame is None:
            self._frame = RenderFrame(self.agents)
        return tuple(self._frame.draw(world) for world in range(self.num_envs))
