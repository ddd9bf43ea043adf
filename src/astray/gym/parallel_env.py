"""The robots of one group in one world as a parallel environment of PettingZoo."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from gymnasium.spaces import Box
from pettingzoo import ParallelEnv as PettingZooEnv

from astray.errors import WrongInput, suggest
from astray.gym.agents import Agents, Options
from astray.gym.env import to_python
from astray.gym.rendering import WorldRenderer, check_render_mode
from astray.scenario import Source
from astray.tables import Array

Infos = dict[str, dict[str, Any]]


class ParallelEnv(PettingZooEnv[str, Array, Array]):  # type: ignore[misc]  # it is untyped
    """The agents "rover_0", "rover_1" … in one world, which sense and obstruct each other.

    An agent whose episode is over stops and stays where it is.

    Args:
        scenario: A path, the name of a bundled scenario, or a mapping.
        world: The number of the world.
        render_mode: "rgb_array" or None.
        **options: See `Options`.

    Raises:
        WrongInput: An argument is wrong.
        ScenarioError: With every fault of the scenario.
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
        name, count = self._agents.name, len(self._agents.rows)
        self.possible_agents = [f"{name}_{k}" for k in range(count)]
        self.agents: list[str] = []
        self._row = {agent: k for k, agent in enumerate(self.possible_agents)}
        self._observation_space = self._agents.observations.space
        self._action_space = self._agents.actions.space
        self.render_mode = check_render_mode(render_mode, ("rgb_array",))
        self.metadata = {**self.metadata, "render_fps": self._agents.steps_per_second}
        self._renderer: WorldRenderer | None = None

    def observation_space(self, agent: str) -> Box:
        """The observation space of an agent, the same for all."""
        return self._observation_space

    def action_space(self, agent: str) -> Box:
        """The action space of an agent, the same for all."""
        return self._action_space

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Array], Infos]:
        """Begin an episode.

        Args:
            seed: Begin the first episode of this seed; the next episode unless given.
            options: Ignored.

        Returns:
            The observations and infos by agent.
        """
        self._agents.reset(seed)
        self.agents = list(self.possible_agents)
        return self._by_agent(self._agents.observe()), self._infos()

    def step(
        self, actions: dict[str, Array]
    ) -> tuple[dict[str, Array], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Apply the actions of the agents whose episodes go on, for one period.

        Args:
            actions: By agent, in the units of a command; zeros for a missing one.

        Returns:
            Observations, rewards, terminated, truncated and infos, by agent.

        Raises:
            WrongInput: There is no such agent.
        """
        if unknown := set(actions) - set(self.possible_agents):
            name, known = min(unknown), self.possible_agents
            raise WrongInput(f"unknown agent {name!r}{suggest(name, known)} ({', '.join(known)})")
        chosen = np.zeros((len(self.possible_agents), len(self._agents.actions.names)))
        for agent in self.agents:
            if agent in actions:
                chosen[self._row[agent]] = actions[agent]
        self._agents.step(chosen)
        rewards, terminated, truncated = self._agents.outcome()
        results = (
            self._by_agent(self._agents.observe()),
            self._by_agent(rewards),
            self._by_agent(terminated),
            self._by_agent(truncated),
            self._infos(),
        )
        done = self._by_agent(terminated | truncated)
        self.agents = [agent for agent in self.agents if not done[agent]]
        return results

    def _by_agent(self, values: Array) -> dict[str, Any]:
        """The values of the agents whose episodes go on."""
        return {agent: to_python(values[self._row[agent]]) for agent in self.agents}

    def _infos(self) -> Infos:
        by_name = {name: self._by_agent(values) for name, values in self._agents.info().items()}
        return {agent: {k: by_name[k][agent] for k in by_name} for agent in self.agents}

    def render(self) -> Any:
        """The world as pixels, (height, width, 3); None without a render mode."""
        if self.render_mode is None:
            return None
        if self._renderer is None:
            self._renderer = WorldRenderer(self._agents)
        return self._renderer.draw(0)
