"""The spaces of Gymnasium for what agents see and do."""

from __future__ import annotations

import numpy as np
from gymnasium.spaces import Box

from astray.gym.agents import Agents


def observation_space(agents: Agents) -> Box:
    """What one agent can see."""
    return Box(agents.sight.low, agents.sight.high, dtype=np.float32)


def action_space(agents: Agents) -> Box:
    """What one agent can do, in the units of a command."""
    return Box(agents.actions.low, agents.actions.high, dtype=np.float32)
