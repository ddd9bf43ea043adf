"""What a step of an agent costs: env-steps per CPU-second through Gymnasium's interface.

`astray/Reach-v0`: a lidar of 36 noisy rays, wheels that slip, odometry, collisions, two ticks of
0.05 s per step, random starts and goals; episodes reset automatically. A batch of worlds is
beside as many single environments as Gymnasium's own SyncVectorEnv is used with.

CPU time of one thread, interleaved rounds, the median with the least and the largest.

    python benchmarks/agents.py
"""

from __future__ import annotations

import platform
import statistics
import time
from typing import Any

from gymnasium.vector import AutoresetMode, SyncVectorEnv

from astray.gym import Env, VectorEnv

ROUNDS = 7
STEPS = 20_000  # env-steps in a round
SAME = AutoresetMode.SAME_STEP


def rate(env: Any, steps: int) -> float:
    """Env-steps per CPU-second, actions at random."""
    chosen = [env.action_space.sample() for _ in range(8)]
    before = time.process_time()
    for k in range(steps):
        env.step(chosen[k % 8])
    return steps * env.num_envs / (time.process_time() - before)


def main() -> None:
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    envs = {
        "VectorEnv of 4096": VectorEnv(4096, autoreset_mode=SAME),
        "VectorEnv of 256": VectorEnv(256, autoreset_mode=SAME),
        "VectorEnv of 16": VectorEnv(16, autoreset_mode=SAME),
        "SyncVectorEnv of 16": SyncVectorEnv(
            [lambda world=world: Env(world=world) for world in range(16)], autoreset_mode=SAME
        ),
    }
    rates: dict[str, list[float]] = {name: [] for name in envs}
    for env in envs.values():
        env.reset(seed=1)
        rate(env, 8)
    for _ in range(ROUNDS):
        for name, env in envs.items():
            rates[name].append(rate(env, max(8, STEPS // env.num_envs)))
    slowest = rates["SyncVectorEnv of 16"]
    for name, found in rates.items():
        low, middle, high = min(found), statistics.median(found), max(found)
        ratio = statistics.median(a / b for a, b in zip(found, slowest, strict=True))
        print(f"  {name:20} {middle:10,.0f} ({low:,.0f}-{high:,.0f}) per CPU-s   {ratio:.1f} times")


if __name__ == "__main__":
    main()
