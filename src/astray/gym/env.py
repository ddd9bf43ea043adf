"""One robot as an environment of Gymnasium."""

from __future__ import annotations

import time
from typing import Any, Unpack

import gymnasium
import numpy as np

from astray.errors import WrongInput
from astray.gym.agents import Agents, Options
from astray.gym.rendering import WorldRenderer, check_render_mode
from astray.scenario import Source
from astray.tables import Array

RENDER_MODES = ("rgb_array", "human")


def to_python(value: Any) -> Any:
    """A scalar of NumPy as Python's own, which other libraries expect; arrays as they are."""
    return value.item() if isinstance(value, np.generic) else value


class Env(gymnasium.Env[Array, Array]):
    """One robot in one world. With `render_mode="human"` the live page shows it.

    An episode is an episode of the world: a reset with a seed begins its first one, a reset without
    one the next. Episode k of a seed is the same whenever it is run, and in a `VectorEnv` the same
    as that of its world there.

    Args:
        scenario: A path, the name of a bundled scenario, or a mapping.
        world: The number of the world.
        render_mode: "rgb_array", "human" or None.
        **options: See `Options`.

    Raises:
        WrongInput: An argument is wrong, or the group has several robots.
        ScenarioError: With every fault of the scenario.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 10}

    def __init__(
        self,
        scenario: Source = "reach",
        *,
        world: int = 0,
        render_mode: str | None = None,
        **options: Unpack[Options],
    ) -> None:
        self.agents = Agents(scenario, [world], options)
        if len(self.agents.rows) > 1:
            raise WrongInput(
                f"{self.agents.name!r} are {len(self.agents.rows)} robots: "
                "an Env has one agent, a ParallelEnv several"
            )
        self.observation_space = self.agents.observations.space
        self.action_space = self.agents.actions.space
        self.metadata = {**self.metadata, "render_fps": self.agents.steps_per_second}
        self.render_mode = check_render_mode(render_mode, RENDER_MODES)
        self._renderer: WorldRenderer | None = None
        self._page: Any = None
        self._shown_at = 0.0  # s, real time

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: Begin the first episode of this seed; the next episode unless given.
            options: Ignored.

        Returns:
            The observation, (columns,), and the info.
        """
        super().reset(seed=seed)
        self.agents.reset(seed)
        self._pace_page()
        return self.agents.observe()[0], self._info()

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Apply an action for one period.

        Args:
            action: In the units of a command, (columns,).

        Returns:
            Observation, reward, terminated, truncated and info.
        """
        self.agents.step(np.asarray(action).reshape(1, -1))
        rewards, terminated, truncated = self.agents.outcome()
        self._pace_page()
        observation = self.agents.observe()[0]
        outcome = float(rewards[0]), bool(terminated[0]), bool(truncated[0])
        return observation, *outcome, self._info()

    def _info(self) -> dict[str, Any]:
        return {name: to_python(values[0]) for name, values in self.agents.info().items()}

    def render(self) -> Any:
        """The world as pixels, (height, width, 3); None unless the mode is "rgb_array"."""
        if self.render_mode != "rgb_array":
            return None
        if self._renderer is None:
            self._renderer = WorldRenderer(self.agents)
        return self._renderer.draw(0)

    def _pace_page(self) -> None:
        """In the mode "human", serve the page and wait for real time."""
        if self.render_mode != "human":
            return
        if self._page is None:
            self._page = self.agents.sim.view()
        time.sleep(max(0.0, self._shown_at + self.agents.period - time.monotonic()))
        self._shown_at = time.monotonic()

    def close(self) -> None:
        """Stop serving the page."""
        if self._page is not None:
            self._page.close()
            self._page = None
