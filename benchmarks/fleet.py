"""What a robot costs: robot-steps per CPU-second, through the front door, beside peers.

Everything goes through `astray.load` and `sim.step`: fresh commands are posted and every
observation is copied out in each step.

- one world of 100 (and of 10 000) robots with 180 rays that see walls and each other, 8 m,
  collisions on, 16 m² per robot; the peer is ir-sim
- 4096 worlds of one robot with 64 rays, an IMU, dead reckoning and collisions in a room with five
  blocks, another in each world; a world is finished after 200 steps or when its robot runs into
  something, and is reset by mask; the peer is vmas, with the same rooms and resets, and with less

CPU time of one thread, interleaved rounds, the median with the least and the largest. Rounds are of
about the same length for all, so that nobody is measured by the caches that another has left cold.
How fast a program is also depends on where its memory happens to lie: vmas differs by a third
from one start to the next, astray by a tenth. So all rounds of several starts are taken together,
and the median of each start is told as well.

    python benchmarks/fleet.py                # with what of ir-sim and vmas is installed
"""

from __future__ import annotations

import json
import math
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rays import lattice_map

import astray
from astray.world import Map, block, merge, wall

STARTS, ROUNDS = 5, 7
ROUND = 100_000  # robot-steps, some tenths of a second, as a step of peers takes
TAU = 2.0 * math.pi
RNG = np.random.default_rng(5)


def fleet(robots: int, sigma: float = 0.0) -> Callable[[], int]:
    """One world of many robots that wander at random."""
    map_, _ = lattice_map(max(100, round(16.0 * robots / 5.0)))
    lidar = {"kind": "lidar", "rays": 180, "max_range": 8.0, "sigma": sigma}
    robot = {
        "name": "r",
        "count": robots,
        "start": {"clearance": 0.3},
        "footprint": {"radius": 0.2},
        "sensors": [lidar],
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "map.geojson"
        astray.world.write_map(map_, file)
        world = {"map": str(file)}
        sim = astray.load({"dt": 0.1, "world": world, "robots": [robot]}, keep_events=False)
    group = sim.robots["r"]
    steps = max(1, ROUND // robots)

    def job() -> int:
        for _ in range(steps):
            group.drive(RNG.uniform(0.0, 0.6, robots), RNG.uniform(-1.0, 1.0, robots))
            sim.step()
            group.readings["lidar"]["ranges"].copy()
            np.stack([group.truth[c] for c in ("x", "y", "yaw")])
        return steps * robots

    return job


def room() -> Map:
    """Four walls and five blocks: 24 segments, free around the middle."""
    parts = [wall([(-5, -5), (5, -5), (5, 5), (-5, 5)], closed=True)]
    while len(parts) < 6:
        middle, turn = RNG.uniform(-4.0, 4.0, 2), RNG.uniform(0.0, TAU)
        if math.hypot(*middle) > 1.2:
            c, s = math.cos(turn), math.sin(turn)
            ring = np.array([[-0.5, -0.35], [0.5, -0.35], [0.5, 0.35], [-0.5, 0.35]])
            parts.append(block(middle + ring @ np.array([[c, s], [-s, c]])))
    return merge(parts)


def worlds(count: int, sigma: float = 0.0) -> Callable[[], int]:
    """Many worlds of one robot, reset one by one."""
    robot = {
        "name": "r",
        "footprint": {"radius": 0.2},
        "sensors": [
            {"kind": "lidar", "rays": 64, "max_range": 8.0, "robots": False, "sigma": sigma},
            {"kind": "imu", "planar": True, "gyro_density": 1e-3, "accel_density": 1e-2},
        ],
        "estimator": {"kind": "inertial"},
    }
    scenario = {"dt": 0.1, "world": {"map": {"walls": []}}, "robots": [robot]}
    sim = astray.load(scenario, worlds=count, keep_events=False)
    for world in range(count):
        sim.replace_map(room(), worlds=world)
    group, steps = sim.robots["r"], max(1, 4 * ROUND // count)

    def job() -> int:
        for _ in range(steps):
            group.drive(RNG.uniform(0.0, 1.0, count), RNG.uniform(-1.0, 1.0, count))
            sim.step()
            group.readings["lidar"]["ranges"].copy()
            np.stack([group.readings["imu"][c] for c in ("wz", "ax", "ay")])
            np.stack([group.belief[c] for c in ("x", "y", "yaw")])
            finished = group.scene.collisions["touching"] | (sim.clock >= 200)
            if finished.any():
                sim.reset(worlds=finished)
        return steps * count

    return job


IR_SIM = """
world: {{height: {side}, width: {side}, step_time: 0.1, collision_mode: stop}}
robot:
  - number: {robots}
    distribution: {{name: random, range_low: [1, 1, -3.14], range_high: [{most}, {most}, 3.14]}}
    kinematics: {{name: diff}}
    shape: {{name: circle, radius: 0.2}}
    sensors: [{{name: lidar2d, range_min: 0, range_max: 8, angle_range: 6.28, number: 180}}]
obstacle:
{obstacles}
"""


def ir_sim(robots: int) -> Callable[[], int]:
    """The same robots among the same blocks."""
    import irsim

    map_, side = lattice_map(max(100, round(16.0 * robots / 5.0)))
    rings: list[list[list[float]]] = []
    for segment in map_.segments[4:].tolist():
        if rings and rings[-1][-1] == segment[:2]:
            rings[-1].append(segment[2:])
        else:
            rings.append([segment[:2], segment[2:]])
    listed = "".join(f"  - {{shape: {{name: polygon, vertices: {ring[:-1]}}}}}\n" for ring in rings)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "world.yaml"
        file.write_text(IR_SIM.format(side=side, most=side - 1, robots=robots, obstacles=listed))
        env = irsim.make(str(file), headless=True, log_level="ERROR")

    def job() -> int:
        actions = [
            np.array([[v], [w]])
            for v, w in zip(RNG.uniform(0, 0.6, robots), RNG.uniform(-1, 1, robots), strict=True)
        ]
        env.step(actions)
        for robot in env.robot_list:
            robot.get_lidar_scan()
        return robots

    return job


def vmas_room(count: int) -> Callable[[], int]:
    """The same rooms through vmas's own front door, without an IMU and a belief.

    A world is finished after 200 steps or when its robot is nearer to something than its radius,
    and is reset the one way there is: by its number.
    """
    import torch
    from vmas import make_env
    from vmas.simulator.core import Agent, Box, Landmark, Line, Sphere, World
    from vmas.simulator.scenario import BaseScenario
    from vmas.simulator.sensors import Lidar

    torch.set_num_threads(1)

    class Room(BaseScenario):  # type: ignore[misc]
        def make_world(self, batch_dim: int, device: torch.device, **_: object) -> World:
            world = World(batch_dim, device, dt=0.1)
            lidar = Lidar(world, n_rays=64, max_range=8.0)
            world.add_agent(Agent("r", shape=Sphere(0.2), sensors=[lidar], collide=True))
            for k in range(9):
                shape = Line(10.0) if k < 4 else Box(1.0, 0.7)
                world.add_landmark(Landmark(f"{k}", shape=shape, collide=True, movable=False))
            away = 1.2 + 2.8 * torch.rand(9, batch_dim, 1)
            bearing, self.turns = TAU * torch.rand(2, 9, batch_dim, 1)
            away[:4], bearing[:4] = 5.0, 0.25 * TAU * torch.arange(4.0).view(4, 1, 1)
            self.turns[:4] = bearing[:4] + 0.25 * TAU
            self.places = away * torch.cat([torch.cos(bearing), torch.sin(bearing)], -1)
            return world

        def reset_world_at(self, env_index: int | None = None) -> None:
            some = slice(None) if env_index is None else env_index
            self.world.agents[0].set_pos(torch.zeros(2), batch_index=env_index)
            for k, landmark in enumerate(self.world.landmarks):
                landmark.set_pos(self.places[k, some], batch_index=env_index)
                landmark.set_rot(self.turns[k, some], batch_index=env_index)

        def observation(self, agent: Agent) -> torch.Tensor:
            self.ranges, state = agent.sensors[0].measure(), agent.state
            return torch.cat([self.ranges, state.pos, state.rot, state.vel, state.ang_vel], -1)

        def reward(self, agent: Agent) -> torch.Tensor:
            return torch.zeros(self.world.batch_dim)

        def done(self) -> torch.Tensor:
            return (self.ranges < 0.2).any(-1)

    env = make_env(Room(), num_envs=count, max_steps=200, seed=0)
    env.steps = torch.randint(0, 200, (count,)).float()

    def job() -> int:
        _, _, done, _ = env.step([torch.rand(count, 2) * 2 - 1])
        for index in torch.nonzero(done)[:, 0].tolist():
            env.reset_at(index, return_observations=False)
        return count

    return job


def vmas_worlds(count: int) -> Callable[[], int]:
    """Less than that: the world alone, one robot and five boxes in each, no walls, no resets."""
    import torch
    from vmas.simulator.core import Agent, Box, Landmark, Sphere, World
    from vmas.simulator.sensors import Lidar

    torch.set_num_threads(1)
    world = World(count, torch.device("cpu"), dt=0.1)
    robot = Agent(
        "r", shape=Sphere(0.2), sensors=[Lidar(world, n_rays=64, max_range=8.0)], collide=True
    )
    world.add_agent(robot)
    for k in range(5):
        world.add_landmark(Landmark(f"box {k}", shape=Box(1.0, 0.7), collide=True, movable=False))
    for entity in world.entities:
        entity.set_pos(torch.rand(count, 2) * 8 - 4, batch_index=None)

    def job() -> int:
        robot.action.u = torch.rand(count, 2) * 2 - 1
        robot.state.force = robot.action.u
        world.step()
        robot.sensors[0].measure()
        robot.state.pos.clone()
        return count

    return job


def rate(job: Callable[[], int]) -> float:
    before = time.process_time()
    done = job()
    return done / (time.process_time() - before)


def spread(found: list[float], digits: int = 0) -> str:
    low, middle, high = min(found), statistics.median(found), max(found)
    return f"{middle:,.{digits}f} ({low:,.{digits}f}-{high:,.{digits}f})"


def measure(jobs: dict[str, Callable[[], Callable[[], int]]]) -> dict[str, list[float]]:
    """Rates of some jobs in this process, interleaved."""
    made: dict[str, Callable[[], int]] = {}
    for name, make in jobs.items():
        try:
            made[name] = make()
        except ImportError as problem:
            print(f"  {name} cannot be imported: {problem}", file=sys.stderr)
    for job in made.values():
        job()
    rates: dict[str, list[float]] = {name: [] for name in made}
    for _ in range(ROUNDS):
        for name, job in made.items():
            rates[name].append(rate(job))
    return rates


def compare(title: str) -> None:
    """Rates of the jobs of a comparison in several processes, and how many times the first's."""
    started = []
    for _ in range(STARTS):
        command = [sys.executable, __file__, title]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        started.append(json.loads(done.stdout.splitlines()[-1]))
    print(title)
    for name in started[0]:
        found = [rate for rates in started for rate in rates[name]]
        ratios = [
            [a / b for a, b in zip(next(iter(rates.values())), rates[name], strict=True)]
            for rates in started
        ]
        pooled = spread([ratio for each in ratios for ratio in each], 2)
        print(f"  {name:22} {spread(found):>34} per CPU-s   1 : {pooled}")
        starts = " ".join(f"{statistics.median(each):.1f}" for each in ratios)
        print(f"  {'':22} {'each start':>34}             {starts}")


COMPARISONS: dict[str, dict[str, Callable[[], Callable[[], int]]]] = {
    "robot-steps, one world, 180 rays": {
        "astray, 100 robots": lambda: fleet(100),
        "astray, with noise": lambda: fleet(100, 0.01),
        "astray, 10 000 robots": lambda: fleet(10_000),
        "ir-sim, 100 robots": lambda: ir_sim(100),
    },
    "env-steps, 4096 worlds, 64 rays, IMU, dead reckoning, collisions, resets": {
        "astray": lambda: worlds(4096),
        "astray, with noise": lambda: worlds(4096, 0.01),
        "vmas, the same rooms": lambda: vmas_room(4096),
        "vmas, its world alone": lambda: vmas_worlds(4096),
    },
}


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(measure(COMPARISONS[sys.argv[1]])))
        return
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    for title in COMPARISONS:
        compare(title)


if __name__ == "__main__":
    main()
