"""The robots of one name in one world as a parallel environment of PettingZoo."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from gymnasium.spaces import Box
from pettingzoo import ParallelEnv as PettingZooEnv

from astray.errors import WrongInput
from astray.gym.agents import Agents, Options
from astray.gym.env import plain
from astray.gym.rendering import RenderFrame, checked_mode
from astray.gym.spaces import action_space, observation_space
from astray.scenario import Source
from astray.tables import Array

Infos = dict[str, dict[str, Any]]


class ParallelEnv(PettingZooEnv[str, Array, Array]):  # type: ignore[misc]  # it is untyped
    """Agents "rover_0", "rover_1" … that see each other and are in each other's way.

    Whoever is done stands still where it is.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "name": "astray_v0"}

    def __init__(
        self,
        scenario: Source = "reach",
        *,
        world: int = 0,
        render_mode: str | None = None,
        **options: Unpack[Options],
    ) -> None:
        self._agents = Agents(scenario, [world], options)
        name, count = self._agents.name, len(self._agents.everyone)
        self.possible_agents = [f"{name}_{k}" for k in range(count)]
        self.agents: list[str] = []
        self._number = {agent: k for k, agent in enumerate(self.possible_agents)}
        self._spaces = observation_space(self._agents), action_space(self._agents)
        self.render_mode = checked_mode(render_mode, ("rgb_array",))
        self.metadata = {**self.metadata, "render_fps": self._agents.steps_per_second}
        self._frame: RenderFrame | None = None

    def observation_space(self, agent: str) -> Box:
        """What an agent can see; the same for all."""
        return self._spaces[0]

    def action_space(self, agent: str) -> Box:
        """What an agent can do; the same for all."""
        return self._spaces[1]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Array], Infos]:
        """Begin an episode: the first one of a seed, or the next."""
        self._agents.restart(seed)
        self.agents = list(self.possible_agents)
        return self._by_name(self._agents.see()), self._infos()

    def step(
        self, actions: dict[str, Array]
    ) -> tuple[dict[str, Array], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Let all who are not done act for one period."""
        if unknown := set(actions) - set(self.possible_agents):
            raise WrongInput(f"no agent {min(unknown)!r} ({', '.join(self.possible_agents)})")
        chosen = np.zeros((len(self.possible_agents), len(self._agents.actions.names)))
        for agent in self.agents:
            if agent in actions:
                chosen[self._number[agent]] = actions[agent]
        self._agents.step(chosen)
        rewards, ended, late = self._agents.judge()
        found = (
            self._by_name(self._agents.see()),
            self._by_name(rewards),
            self._by_name(ended),
            self._by_name(late),
            self._infos(),
        )
        over = self._by_name(ended | late)
        self.agents = [agent for agent in self.agents if not over[agent]]
        return found

    def _by_name(self, values: Array) -> dict[str, Any]:
        """The values of those who are not done, by their names."""
        return {agent: plain(values[self._number[agent]]) for agent in self.agents}

    def _infos(self) -> Infos:
        known = {name: self._by_name(values) for name, values in self._agents.info().items()}
        return {agent: {k: known[k][agent] for k in known} for agent in self.agents}

    def render(self) -> Any:
        """The world as pixels, (height, width, 3)."""
        if self.render_mode is None:
            return None
        if self._frame is None:
            self._frame = RenderFrame(self._agents)
        return self._frame.draw(0)
