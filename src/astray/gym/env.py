"""One robot as an environment of Gymnasium."""

from __future__ import annotations

import time
from typing import Any, Unpack

import gymnasium
import numpy as np

from astray.errors import WrongInput
from astray.gym.agents import Agents, Options
from astray.gym.rendering import RenderFrame, checked_mode
from astray.gym.spaces import action_space, observation_space
from astray.scenario import Source
from astray.tables import Array

MODES = ("rgb_array", "human")


def plain(value: Any) -> Any:
    """One number or truth as Python's own, which is what others expect; arrays as they are."""
    return value.item() if isinstance(value, np.generic) else value


class Env(gymnasium.Env[Array, Array]):
    """One robot in one world. With `render_mode="human"` it is shown on the live page.

    An episode is a life of the world: with a seed its first one, then the next. Episode k of seed s
    is the same whenever it is run, and in a `VectorEnv` the same as that of its world there.
    """

    metadata = {"render_modes": list(MODES), "render_fps": 10}

    def __init__(
        self,
        scenario: Source = "reach",
        *,
        world: int = 0,
        render_mode: str | None = None,
        **options: Unpack[Options],
    ) -> None:
        self.agents = Agents(scenario, [world], options)
        if len(self.agents.everyone) > 1:
            raise WrongInput(
                f"{self.agents.name!r} are {len(self.agents.everyone)} robots: "
                "an Env has one agent, a ParallelEnv several"
            )
        self.observation_space = observation_space(self.agents)
        self.action_space = action_space(self.agents)
        self.metadata = {**self.metadata, "render_fps": self.agents.steps_per_second}
        self.render_mode = checked_mode(render_mode, MODES)
        self._frame: RenderFrame | None = None
        self._page: Any = None
        self._shown = 0.0  # by the wall clock

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin an episode: the first one of a seed, or the next."""
        super().reset(seed=seed)
        self.agents.restart(seed)
        self._show()
        return self.agents.see()[0], self._info()

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Act for one period."""
        self.agents.step(np.asarray(action).reshape(1, -1))
        rewards, ended, late = self.agents.judge()
        self._show()
        seen = self.agents.see()[0]
        return seen, float(rewards[0]), bool(ended[0]), bool(late[0]), self._info()

    def _info(self) -> dict[str, Any]:
        return {name: plain(values[0]) for name, values in self.agents.info().items()}

    def render(self) -> Any:
        """The world as pixels, (height, width, 3); None where a person looks at the page."""
        if self.render_mode != "rgb_array":
            return None
        if self._frame is None:
            self._frame = RenderFrame(self.agents)
        return self._frame.draw(0)

    def _show(self) -> None:
        """Let a person who watches see it at the pace of real time."""
        if self.render_mode != "human":
            return
        if self._page is None:
            self._page = self.agents.sim.view()
        time.sleep(max(0.0, self._shown + self.agents.period - time.monotonic()))
        self._shown = time.monotonic()

    def close(self) -> None:
        """Serve the page no more."""
        if self._page is not None:
            self._page.close()
            self._page = None
