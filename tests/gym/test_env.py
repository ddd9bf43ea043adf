"""One robot as an environment: observations, actions and rewards."""

import math
import subprocess
import sys
import time
import urllib.request
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from astray.errors import WrongInput
from astray.gym import Env, Reach, Task

FIELD: dict[str, Any] = {
    "dt": 0.1,
    "duration": 20.0,
    "robots": [
        {
            "name": "rover",
            "motion": {"kind": "differential", "accel": 100.0, "decel": 100.0, "turn_accel": 100.0},
            "sensors": [{"kind": "wheels", "rate": 10, "slip_density": 0.2}],
            "estimator": {"kind": "odometry"},
        }
    ],
}


def field(**robot: Any) -> dict[str, Any]:
    return {**FIELD, "robots": [{**FIELD["robots"][0], **robot}]}


class KeepToTheLine(Task):
    def reward(self) -> Any:
        return -np.abs(self.robots.truth["y"])


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():  # it recommends actions from -1 to 1; ours have units
        warnings.filterwarnings("ignore", message=".*symmetric and normalized.*")
        yield


def test_the_registered_environment_passes_gymnasiums_checks() -> None:
    env = gymnasium.make("astray/Reach-v0", render_mode="rgb_array")
    check_env(env.unwrapped)


@pytest.mark.parametrize(
    ("motion", "low", "high"),
    [
        ({"kind": "differential", "max_speed": 0.7, "max_turn": 3}, [-0.7, -3], [0.7, 3]),
        ({"kind": "omni", "max_speed": 0.7, "max_turn": 3}, [-0.7, -0.7, -3], [0.7, 0.7, 3]),
        (
            {"kind": "ackermann", "max_speed": 2, "min_speed": -1, "wheelbase": 0.5},
            [-1, -math.tan(0.6) / 0.5],
            [2, math.tan(0.6) / 0.5],
        ),
    ],
)
def test_actions_have_the_limits_of_the_motion(
    motion: dict[str, Any], low: list[float], high: list[float]
) -> None:
    space: Any = Env(field(motion=motion, sensors=[], estimator=None)).action_space
    assert space.low == pytest.approx(low)
    assert space.high == pytest.approx(high)


def test_an_action_drives_the_robot_and_no_further_than_its_limits() -> None:
    env = Env(FIELD, actions={"vx": (0.0, 0.5), "wz": (-1.0, 1.0)}, period=1.0)
    env.reset(seed=1)
    x = env.step(np.array([9.0, 0.0]))[4]["truth"][0]
    assert x == pytest.approx(0.025 + 0.45)  # to 0.5 m/s within the first tick
    assert env.step(np.array([-9.0, 0.0]))[4]["truth"][0] == pytest.approx(x + 0.025)


def test_an_agent_observes_the_belief_and_an_oracle_the_truth() -> None:
    positions = {}
    for oracle in (False, True):
        env = Env(FIELD, oracle=oracle, observe=["pose"])
        env.reset(seed=1)
        for _ in range(30):
            observation, *_, info = env.step(np.array([1.0, 0.3]))
        positions[oracle] = observation[:2]
        robot = env.agents.robots
        x, y, yaw = info["truth"]
        assert (x, y, yaw) == tuple(robot.truth[["x", "y", "yaw"]][0])
        state = robot.truth[0] if oracle else robot.belief[0]
        expected = [state["x"], state["y"], math.cos(state["yaw"]), math.sin(state["yaw"])]
        assert observation[:4] == pytest.approx(expected, abs=1e-6)
    assert np.hypot(*(positions[True] - positions[False])) > 0.01  # the wheels slip


def test_the_task_observes_the_goal_as_the_robot_believes_it() -> None:
    env = Env(FIELD, observe=["pose"])
    observation, info = env.reset(seed=3)
    for _ in range(20):
        observation, *_, info = env.step(np.array([0.2, 1.0]))
    x, y, cosine, sine, away, ahead, left = observation.astype(float)
    found = x + away * (cosine * ahead - sine * left), y + away * (sine * ahead + cosine * left)
    assert found == pytest.approx(tuple(info["goal"]), abs=1e-5)


def test_ranges_are_finite_and_at_most_the_longest() -> None:
    lidar = {"kind": "lidar", "rate": 10, "rays": 9, "max_range": 3.0}
    env = Env({**field(sensors=[lidar], estimator=None), "world": {"map": "arena"}})
    observation, _ = env.reset(seed=1)
    columns = env.agents.observations.columns
    assert columns == {
        "pose": slice(0, 4),
        "twist": slice(4, 7),
        "lidar": slice(7, 16),
        "task": slice(16, 19),
    }
    true = env.agents.robots.readings["lidar"]["ranges"][0]
    assert np.isinf(true).any()
    assert observation[columns["lidar"]] == pytest.approx(np.minimum(true, 3.0))


def test_every_sensor_can_be_observed_within_the_space() -> None:
    sensors = [
        {"kind": "wheels", "rate": 10},
        {"kind": "imu", "rate": 10, "latency": 0.2},
        {"kind": "gnss", "rate": 10},
        {"kind": "compass", "rate": 10},
        {"kind": "bumper", "rate": 10},
    ]
    named = [sensor["kind"] for sensor in sensors]
    env = Env(field(sensors=sensors, estimator={"kind": "inertial"}), observe=["doubt", *named])
    observation, _ = env.reset(seed=1)
    for _ in range(5):
        assert env.observation_space.contains(observation)
        assert len(set(env.agents.observations.columns)) == 7
        observation = env.step(np.array([1.0, 0.0]))[0]
    assert observation[:3].tolist() == [1e6] * 3  # an integrator of forces claims no covariance
    imu = env.agents.robots.readings["imu"]
    assert observation[env.agents.observations.columns["imu"]].tolist() == pytest.approx(
        [imu[c][0] for c in ("wx", "wy", "wz", "ax", "ay", "az")], rel=1e-6
    )


def test_each_metre_nearer_is_worth_one_and_arriving_ends_the_episode() -> None:
    task = Reach(far=3.0, arrival=7.0, step=0.0)
    env = Env(FIELD, oracle=True, task=task, observe=["twist"])
    _, info = env.reset(seed=5)
    before, total = math.dist(info["truth"][:2], info["goal"]), 0.0
    for _ in range(200):
        away, ahead, left = env.agents.observe()[0, 3:]
        action = np.array([min(away, 1.0) if ahead > 0.9 else 0.0, 2.0 * math.atan2(left, ahead)])
        _, reward, terminated, truncated, info = env.step(action)
        total += reward
        if terminated or truncated:
            break
    assert terminated
    assert info["arrived"]
    after = math.dist(info["truth"][:2], info["goal"])
    assert after <= 0.3
    assert total == pytest.approx(before - after + 7.0)


def test_running_into_something_ends_the_episode_and_costs() -> None:
    env = Env(
        {**field(estimator=None, sensors=[], start={"x": 4.0}), "world": {"map": "arena"}},
        task=Reach(crash=-3.0, step=0.0),
    )
    _, info = env.reset(seed=1)
    for _ in range(30):
        away = math.dist(info["truth"][:2], info["goal"])
        _, reward, terminated, _, info = env.step(np.array([1.0, 0.0]))
        if terminated:
            break
    nearer = away - math.dist(info["truth"][:2], info["goal"])
    assert terminated
    assert not info["arrived"]
    assert reward == pytest.approx(nearer - 3.0)


def test_an_episode_is_truncated_after_its_duration() -> None:
    env = Env(FIELD, duration=1.0, task=KeepToTheLine())
    env.reset(seed=1)
    cut = [env.step(np.array([0.0, 0.0]))[2:4] for _ in range(10)]
    assert cut == [(False, False)] * 9 + [(False, True)]


def test_a_task_of_ones_own_needs_only_a_reward() -> None:
    env = Env(FIELD, task=KeepToTheLine())
    env.reset(seed=1)
    for _ in range(5):
        _, reward, terminated, _, info = env.step(np.array([1.0, 1.0]))
        assert (reward, terminated) == (-abs(info["truth"][1]), False)
    assert reward < 0.0


def test_episodes_repeat_with_their_seed_and_differ_from_each_other() -> None:
    def episodes(env: Env) -> list[bytes]:
        made = []
        for seed in (4, None, None, 4):
            observations = [env.reset(seed=seed)[0]]
            observations += [env.step(np.array([0.5, 0.5]))[0] for _ in range(3)]
            made.append(np.array(observations).tobytes())
        return made

    one, another = Env(), Env()
    another.reset(seed=9)
    another.step(np.array([1.0, 0.0]))
    first = episodes(one)
    assert first == episodes(another)
    assert first[0] == first[3]
    assert len(set(first)) == 3


def test_the_agent_replaces_the_autonomy_of_a_scenario() -> None:
    env = Env("office", robot="sound")
    assert env.agents.robots.autonomy.kind == "remote"
    assert env.agents.sim.robots["car"].autonomy.kind == "navigate"
    _, info = env.reset(seed=1)
    assert env.step(np.array([0.0, 0.0]))[4]["truth"] == pytest.approx(info["truth"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"scenario": "office"},
            "which robots are agents? robot=... takes one of sound, car, worn",
        ),
        ({"scenario": "office", "robot": "cars"}, "unknown robot 'cars'; did you mean 'car'?"),
        ({"observe": ["scan"]}, "observe: a list of pose, twist, doubt, wheels, lidar, not 'scan'"),
        ({"observe": "pose"}, "observe: a list of pose"),
        ({"period": 0.07}, "0.07 s is not a whole number of ticks of 0.05 s; 0.05 s is"),
        ({"period": math.nan}, "nan s is no period"),
        ({"duration": 0.0}, "an episode of 0.0 s is none"),
        ({"actions": {"vz": (0.0, 1.0)}}, "actions: no 'vz' (vx, vy, wz, curvature)"),
        ({"actions": {"vx": (1.0, 0.0)}}, "vx goes from 1.0 to 0.0"),
        (
            {"actions": {"vx": (0, 1), "wz": (-1, 1), "curvature": (-1, 1)}},
            "either wz or curvature",
        ),
        ({"task": Reach}, "task: a Task of astray.gym"),
        ({"robots": "rover"}, "unknown option 'robots'; did you mean 'robot'?"),
        ({"render_mode": "ansi"}, "unknown render mode 'ansi'"),
        ({"set": ["robots.rover.count=2"]}, "an Env has one agent, a ParallelEnv several"),
        ({"set": ["robots.rover.capacity=2"]}, "'rover' has a capacity for more"),
    ],
)
def test_a_wrong_argument_is_explained(given: dict[str, Any], message: str) -> None:
    with pytest.raises(WrongInput) as caught:
        Env(**given)
    assert message in str(caught.value)


def test_an_action_that_is_not_a_number_is_refused() -> None:
    env = Env()
    env.reset(seed=1)
    with pytest.raises(WrongInput, match="must be finite"):
        env.step(np.array([math.nan, 0.0]))


def test_the_picture_shows_truth_belief_and_goal_where_they_are() -> None:
    env = Env(render_mode="rgb_array")
    env.reset(seed=1)
    robot, picture = env.agents.robots, env.render()
    assert picture.shape == (480, 480, 3)
    assert picture.dtype == np.uint8

    def colour_at(x: float, y: float) -> list[int]:  # the arena is 10 m wide, with 5 % around
        column, row = (480 * (0.5 + where / 11.0) for where in (x, -y))
        found: list[int] = picture[int(row), int(column)].tolist()
        return found

    truth = robot.truth[0]
    blue = colour_at(
        truth["x"] - 0.1 * math.cos(truth["yaw"]), truth["y"] - 0.1 * math.sin(truth["yaw"])
    )
    assert blue[2] > blue[0] + 50
    green = colour_at(*env.agents.task.goals[0])  # type: ignore[attr-defined]
    assert green[1] > green[0] + 50
    moved = np.array([0.8, 0.0])
    for _ in range(5):
        env.step(moved)
    assert (env.render() != picture).any()


def test_without_gymnasium_the_import_says_what_to_install() -> None:
    code = "import sys; sys.modules['gymnasium'] = None\nimport astray.gym"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'astray[gym]'" in done.stderr


def test_the_page_shows_the_run_in_human_mode(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    env = Env(render_mode="human", period=0.05)
    env.reset(seed=1)
    started = time.monotonic()
    for _ in range(4):
        env.step(np.array([0.5, 0.0]))
    assert time.monotonic() - started >= 0.15  # at the pace of real time: a step waits for the last
    assert len(opened) == 1
    with urllib.request.urlopen(opened[0], timeout=5) as page:
        assert b"<html" in page.read()
    assert env.render() is None
    env.close()
    with pytest.raises(OSError):  # noqa: PT011 - whichever way a closed port refuses
        urllib.request.urlopen(opened[0], timeout=5)


def rewarded(**methods: Any) -> Task:
    """A task that is wrong in one way."""
    right = {"reward": lambda self: np.zeros(len(self.robots.truth))}
    kind: Any = type("Wrong", (Task,), {**right, **methods})
    made: Task = kind()
    return made


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"reward": lambda self: 1.0}, "reward must have the shape (1,), not ()"),
        (
            {"terminated": lambda self: [True, False]},
            "terminated must have the shape (1,), not (2,)",
        ),
        ({"low": (0.0,), "high": (1.0,)}, "observe must have the shape (1, 1), not (1, 0)"),
        ({"low": (0.0,)}, "1 values of low need as many of high"),
    ],
)
def test_a_wrong_task_is_explained(methods: dict[str, Any], message: str) -> None:
    def step() -> None:
        env = Env(task=rewarded(**methods))
        env.reset(seed=1)
        env.step(np.zeros(2))

    with pytest.raises(WrongInput) as caught:
        step()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new"), [("tell", "observe"), ("ended", "terminated"), ("begin", "reset")]
)
def test_a_method_of_a_task_with_an_old_name_is_refused_with_the_new_one(
    old: str, new: str
) -> None:
    with pytest.raises(WrongInput, match=f"'{old}' of a task is now '{new}'"):
        rewarded(**{old: lambda self: None})


def test_the_old_name_of_the_observations_is_answered_with_the_new_one() -> None:
    with pytest.raises(AttributeError, match="it is called 'observations' now"):
        _ = Env().agents.sight


def test_a_task_without_a_reward_cannot_be_made() -> None:
    kind: Any = type("Useless", (Task,), {})
    with pytest.raises(TypeError, match="reward"):
        kind()


def test_a_step_needs_an_episode_and_an_action_of_its_shape() -> None:
    env = Env()
    with pytest.raises(WrongInput, match="begins with reset"):
        env.step(np.zeros(2))
    env.reset(seed=1)
    with pytest.raises(WrongInput, match=r"vx, wz for each of 1, so the shape is \(1, 2\), not"):
        env.step(np.zeros(3))
