"""An agent that learns to drive to goals by what its robot believes, with nothing but NumPy.

Twelve numbers make a policy. Each of 40 tries of them drives in 8 worlds of one batch, the best
tries are the middle of the next ones (the cross-entropy method). It learns from beliefs that slip
away from the truth, and is rewarded by the truth.
"""

import numpy as np

from astray.gym import VectorEnv

TRIES, WORLDS_EACH, STEPS = 40, 8, 100
rng = np.random.default_rng(1)
env = VectorEnv(TRIES * WORLDS_EACH, autoreset_mode="SameStep")
columns, limits = env.agents.observations.columns, env.single_action_space.high


def features(seen: np.ndarray) -> np.ndarray:
    """Where the goal is, and how near obstacles are ahead, left and right: (n, 6)."""
    near = 0.5 / (0.1 + seen[:, columns["lidar"]].reshape(-1, 6, 6).min(axis=2))
    ahead, left = seen[:, columns["task"]].T[1:]
    right_side, left_side = near[:, 2] ** 2, near[:, 3] ** 2
    blocked = right_side + left_side
    return np.stack([np.ones_like(left), ahead, left, blocked, left_side, right_side], axis=1)


def rewards_of(policies: np.ndarray, seed: int) -> tuple[np.ndarray, float]:
    """The mean rewards of policies, (tries, 6, 2), and how many episodes end at the goal."""
    seen, _ = env.reset(seed=seed)
    total, ends, goals = np.zeros(len(policies)), 0, 0
    for _ in range(STEPS):
        chosen = np.einsum("tnf,tfa->tna", features(seen).reshape(len(policies), -1, 6), policies)
        seen, paid, terminated, truncated, infos = env.step(limits * np.tanh(chosen).reshape(-1, 2))
        total += paid.reshape(len(policies), -1).mean(axis=1)
        if (over := terminated | truncated).any():
            ends, goals = ends + over.sum(), goals + infos["final_info"]["arrived"][over].sum()
    return total, goals / max(1, ends)


middle, spread = np.zeros((6, 2)), np.ones((6, 2))
for round_ in range(12):
    tries = middle + spread * rng.standard_normal((TRIES, 6, 2))
    rewards, share = rewards_of(tries, seed=round_)
    best = tries[np.argsort(rewards)[-8:]]
    middle, spread = best.mean(axis=0), best.std(axis=0) + 0.05
    if round_ % 4 == 3:
        print(f"round {round_ + 1}: mean reward {rewards.mean():.1f}, {share:.0%} end at the goal")
rewards, share = rewards_of(np.repeat(middle[None], TRIES, 0), seed=100)
print(f"what it has learnt, in new worlds: {rewards.mean():.1f}, {share:.0%} end at the goal")
