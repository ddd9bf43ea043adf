"""Reinforcement learning: robots as environments of Gymnasium and PettingZoo.

`import astray.gym` registers `astray/Reach-v0`. `Env` has one robot, `VectorEnv` thousands in as
many worlds, `ParallelEnv` several in one. A scenario has the world and the errors of the sensors, a
`Task` has the reward.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from astray.errors import WrongInput

try:
    import gymnasium
except ImportError:
    raise WrongInput("astray.gym needs Gymnasium: pip install 'astray[gym]'") from None

from astray.gym.agents import Options
from astray.gym.env import Env
from astray.gym.task import Reach, Task
from astray.gym.vector_env import VectorEnv

if TYPE_CHECKING:
    from astray.gym.parallel_env import ParallelEnv

__all__ = ["REACH", "Env", "Options", "ParallelEnv", "Reach", "Task", "VectorEnv", "WrongInput"]

REACH = "astray/Reach-v0"

if REACH not in gymnasium.registry:
    gymnasium.register(
        REACH, entry_point="astray.gym:Env", vector_entry_point="astray.gym:VectorEnv"
    )


def __getattr__(name: str) -> Any:
    if name != "ParallelEnv":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:  # late: only this class needs PettingZoo
        from astray.gym.parallel_env import ParallelEnv
    except ImportError:
        raise WrongInput("ParallelEnv needs PettingZoo: pip install 'astray[gym]'") from None
    return ParallelEnv
