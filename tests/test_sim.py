"""Time, events, belief: what a simulation promises to whoever drives it."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.legend import Legend

import astray
from astray import EventError, LockstepTimeout, PluginFailed, WrongInput
from astray.engine.event_queue import Event
from astray.engine.path_log import Paths
from astray.engine.state_arrays import group_arrays
from astray.engine.worlds import bytes_of_row
from astray.plots.paths import plot_paths
from astray.robot.sensors import Lidar
from support.tables import same

REMOTE: dict[str, Any] = {
    "name": "rover",
    "sensors": [{"kind": "wheels", "ticks": 0}],
    "estimator": {"kind": "odometry"},
}


def load(robot: dict[str, Any] | None = None, **more: Any) -> astray.Sim:
    worlds = more.pop("worlds", 1)
    return astray.load({"dt": 0.01, "robots": [robot or REMOTE], **more}, worlds=worlds)


def test_time_is_a_whole_number_of_ticks() -> None:
    sim = load(dt=0.1)
    sim.step(1000)
    assert sim.time == 1000 * 0.1
    assert float(sim.truth["stamp"][0]) == 1000 * 0.1


def test_a_stamp_is_the_time_of_the_state_it_labels() -> None:
    log = load(
        {**REMOTE, "autonomy": {"kind": "scripted", "steps": [{"lasts": 9, "vx": 1.0}]}}
    ).run(1.0, log=0.25)
    assert log.time.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert log["rover"].truth["stamp"][:, 0].tolist() == log.time.tolist()
    assert float(log["rover"].truth["x"][0, 0]) == 0.0
    # x = a t² / 2 while it accelerates at 1 m/s²: the state is that of its stamp, not a tick off
    assert log["rover"].truth["x"][:, 0] == pytest.approx(log.time**2 / 2)


def test_a_robot_without_an_estimator_believes_the_truth_itself() -> None:
    sim = load({"name": "rover"})
    rover = sim.robots["rover"]
    assert rover.belief is rover.truth
    rover.drive(0.5)
    sim.run(1.0)
    assert same(sim.belief, sim.truth)


def test_a_robot_with_an_estimator_does_not() -> None:
    rover = load().robots["rover"]
    assert rover.belief is not rover.truth


def test_belief_starts_at_the_truth() -> None:
    sim = load({**REMOTE, "start": {"x": 3.0, "yaw": 1.0, "spread": 1.0}}, worlds=5)
    for column in ("x", "y", "yaw"):
        assert (sim.belief[column] == sim.truth[column]).all()


def test_readings_come_at_their_rate_and_after_their_latency() -> None:
    wheels = {"kind": "wheels", "rate": 10, "offset": 0.03, "latency": 0.25}
    sim = load({**REMOTE, "sensors": [wheels]})
    seen = []
    for now in sim.ticks(1.0):
        reading = sim.robots["rover"].readings["wheels"]
        if reading.fresh[0]:
            seen.append((now, float(reading.stamp[0])))
    assert [s for _, s in seen] == pytest.approx([0.03, 0.13, 0.23, 0.33, 0.43, 0.53, 0.63, 0.73])
    assert [t - s for t, s in seen] == pytest.approx([0.25] * 8)


def test_a_late_belief_is_judged_by_the_truth_of_its_stamp() -> None:
    robot = {**REMOTE, "sensors": [{"kind": "wheels", "ticks": 0, "latency": 0.3}]}
    sim = load(robot, metrics=[{"kind": "position_error"}])
    sim.robots["rover"].drive(1.0, 0.5)
    sim.run(5.0)
    rover = sim.robots["rover"]
    assert float(rover.belief["stamp"][0]) == pytest.approx(4.7)
    assert (
        np.hypot(rover.belief["x"] - rover.truth["x"], rover.belief["y"] - rover.truth["y"])[0]
        > 0.2
    )
    assert rover.evaluators[0].statistics["most"][0] < 1e-9


def test_the_last_tick_is_judged_too() -> None:
    sim = load(metrics=[{"kind": "position_error"}])
    sim.run(1.0)
    assert sim.robots["rover"].evaluators[0].statistics["count"][0] == 101  # at 0.00, 0.01 … 1.00 s


def test_place_moves_the_truth_and_believe_the_belief() -> None:
    sim = load(worlds=3)
    rover = sim.robots["rover"]
    rover.place(worlds=[1], x=2.0, y=1.0, yaw=np.pi)
    rover.believe(worlds=[2], x=-1.0)
    sim.step()
    assert rover.truth["x"].tolist() == [0.0, 2.0, 0.0]
    assert rover.belief["x"].tolist() == [0.0, 0.0, -1.0]


def test_events_take_effect_at_the_start_of_the_next_tick_and_are_logged() -> None:
    sim = load()
    sim.step(5)
    sim.robots["rover"].drive(1.0)
    assert float(sim.robots["rover"].commands["vx"][0]) == 0.0
    sim.step()
    assert float(sim.robots["rover"].commands["vx"][0]) == 1.0
    assert [(event.kind, event.step) for event in sim.events] == [("command", 5)]


def test_events_of_one_tick_are_ordered_by_world_and_robot_not_by_arrival() -> None:
    results = []
    for order in ((0, 1), (1, 0)):
        sim = load({**REMOTE, "count": 2})
        for robot in order:
            sim.robots["rover"].drive(0.1 + robot, robots=robot)
        sim.step(10)
        results.append((sim.digest(), [event.robots for event in sim.events]))
    assert results[0] == results[1]


def test_a_silent_remote_stops_after_its_timeout() -> None:
    sim = load({**REMOTE, "autonomy": {"kind": "remote", "timeout": 0.5}})
    sim.robots["rover"].drive(0.2)
    sim.run(0.5)
    assert float(sim.truth["vx"][0]) == pytest.approx(0.2)
    sim.run(1.0)
    assert float(sim.truth["vx"][0]) == 0.0


def test_the_servo_drives_a_move_and_a_turn_to_their_end() -> None:
    sim = load()
    rover = sim.robots["rover"]
    rover.go(1.0)
    sim.run(6.0)
    assert float(rover.truth["x"][0]) == pytest.approx(1.0, abs=0.005)
    rover.turn_to(2.0)
    sim.run(6.0)
    assert float(rover.truth["yaw"][0]) == pytest.approx(2.0, abs=0.01)
    rover.go(-0.5)
    sim.run(6.0)
    assert float(rover.truth["x"][0]) == pytest.approx(1.0 - 0.5 * np.cos(2.0), abs=0.02)
    assert float(rover.truth["vx"][0]) == pytest.approx(0.0, abs=1e-6)


def test_waypoints_are_followed_by_belief_and_the_last_is_reached() -> None:
    points = [[2, 0], [2, 2], [0, 2]]
    sim = load({**REMOTE, "autonomy": {"kind": "waypoints", "points": points}})
    log = sim.run(30.0, log=0.1)
    x, y = log["rover"].truth["x"][:, 0], log["rover"].truth["y"][:, 0]
    assert np.hypot(x[-1] - 0, y[-1] - 2) < 0.06
    assert float(sim.truth["vx"][0]) == pytest.approx(0.0, abs=1e-3)
    for px, py in points:
        assert np.hypot(x - px, y - py).min() < 0.3  # corners are rounded by the lookahead


def test_robots_are_spawned_into_spare_rows_and_removed() -> None:
    sim = load({**REMOTE, "count": 1, "capacity": 3}, worlds=2)
    rover = sim.robots["rover"]
    rover.spawn(worlds=1, x=4.0)
    sim.step()
    assert rover.truth["alive"].tolist() == [True, False, False, True, True, False]
    assert float(rover.truth["x"][4]) == float(rover.belief["x"][4]) == 4.0
    rover.drive(0.5)
    sim.run(1.0)
    assert float(rover.truth["x"][4]) > 4.1
    rover.remove(worlds=1, robots=1)
    sim.step(10)
    gone = float(rover.truth["x"][4])
    sim.run(1.0)
    assert float(rover.truth["x"][4]) == gone
    assert not rover.truth["alive"][4]


def test_a_robot_without_autonomy_can_be_removed() -> None:
    sim = load({"name": "rock", "autonomy": {"kind": "idle"}})
    sim.robots["rock"].remove()
    sim.step()
    assert not sim.truth["alive"].any()
    sim.run(1.0)


def test_a_parameter_can_be_set_in_mid_run_and_a_reset_undoes_it() -> None:
    sim = load(worlds=2)
    rover = sim.robots["rover"]
    rover.set("wheels.slip", 0.5, worlds=1)
    sim.step()
    wheels = rover.pipelines["wheels"].sensor
    assert wheels.params["slip"].tolist() == [0.0, 0.5]
    sim.reset()
    assert wheels.params["slip"].tolist() == [0.0, 0.0]


def test_a_remote_estimator_believes_what_is_posted() -> None:
    sim = load(
        {**REMOTE, "estimator": {"kind": "remote"}, "rivals": [{"kind": "remote", "name": "mine"}]},
        metrics=[{"kind": "position_error"}],
    )
    rover = sim.robots["rover"]
    rover.drive(0.5)
    sim.run(2.0)
    stamp = float(rover.truth["stamp"][0]) - 0.1
    rover.believe(x=3.0, y=0.0, stamp=stamp, cov=np.eye(3).tolist())
    rover.believe(estimator="mine", x=7.0)
    sim.step()
    assert float(rover.belief["x"][0]) == 3.0
    assert float(rover.belief["stamp"][0]) == stamp
    assert float(rover.belief["cov"][0, 1, 1]) == 1.0
    assert float(rover.rivals["mine"]["x"][0]) == 7.0
    error = {judge.subject: float(judge.values[0]) for judge in rover.evaluators}
    assert error["belief"] == pytest.approx(3.0 - (0.125 + 0.5 * (stamp - 0.5)), abs=1e-9)
    assert error["mine"] > 6.0


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (
            lambda s: s.post(astray.Event("command", "rower", values={"vx": 1})),
            "unknown robot 'rower'",
        ),
        (lambda s: s.robots["rover"].drive(float("nan")), "must be finite"),
        (lambda s: s.robots["rover"].drive([1.0, 2.0, 3.0]), "one for each of the 1 rows"),
        (lambda s: s.robots["rover"].drive(1.0, worlds=9), "no world 9"),
        (lambda s: s.robots["rover"].drive(1.0, robots=4), "robots 0 to 0"),
        (lambda s: s.robots["rover"].place(z=1.0), "unknown value 'z'"),
        (lambda s: s.robots["rover"].set("wheels.size", 1.0), "no number 'size'"),
        (lambda s: s.robots["rover"].set("motor.size", 1.0), "unknown plugin 'motor'"),
        (lambda s: s.robots["rover"].set("motion.radius", -1.0), "greater than 0"),
        (
            lambda s: s.robots["rover"].set("motion.radius", [0.1, 0.2]),
            "one for each of the 1 rows",
        ),
        (lambda s: s.robots["rover"].set("motion.radius", []), "one for each of the 1 rows"),
        (lambda s: s.robots["rover"].set("motion.radius", "wide"), "'wide': it must be a number"),
        (lambda s: s.robots["rover"].set("wheels.radius_sd", 0.1), "cannot be changed in a run"),
        (
            lambda s: s.robots["rover"].set("remote.timeout", 1.0),
            "remote.timeout cannot be changed",
        ),
        (lambda s: s.robots["rover"].drive("fast"), "'fast': it must be a number"),
        (lambda s: s.robots["rover"].believe(estimator="you", x=1.0), "unknown estimator 'you'"),
        (lambda s: s.robots["rover"].believe(x=1.0, cov=[1.0, 2.0]), "one matrix of 3 x 3 numbers"),
        (lambda s: s.robots["rover"].believe(x=1.0, cov=1.0), "one matrix of 3 x 3 numbers"),
        (
            lambda s: s.robots["rover"].believe(cov=np.diag([1.0, -0.1, 1.0])),
            "must not be negative in any direction",
        ),
        (
            lambda s: s.robots["rover"].believe(cov=[[1, 2, 0], [2, 1, 0], [0, 0, 1]]),
            "must not be negative in any direction",
        ),
        (
            lambda s: s.robots["rover"].believe(cov=[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]),
            "must be symmetric",
        ),
        (
            lambda s: s.reset(episode=-1),
            "episode is -1: it must be a whole number from 0 to 2097151",
        ),
        (lambda s: s.reset(episode=3_000_000), "episode is 3000000"),
        (lambda s: s.post(astray.Event("reset", values={"episode": "x"})), "episode is 'x'"),
        (lambda s: s.post(astray.Event("reset", values={"lives": 1})), "unknown value 'lives'"),
        (lambda s: s.post(astray.Event("remove", "rover", step="a")), "step is 'a'"),
        (lambda s: s.post(astray.Event("explode", "rover")), "unknown event kind 'explode'"),
    ],
)
def test_an_event_that_cannot_happen_is_refused_where_it_is_posted(act: Any, says: str) -> None:
    sim = load()
    before = sim.digest()
    with pytest.raises(EventError, match=says):
        act(sim)
    sim.step()
    assert sim.events == []
    fresh = load()
    fresh.step()
    assert sim.digest() == fresh.digest() != before


def test_a_belief_may_be_set_with_a_covariance_for_each_row() -> None:
    sim = load(worlds=2)
    each = np.stack([np.eye(3), 2.0 * np.eye(3)])
    sim.robots["rover"].believe(x=1.0, cov=each)
    sim.step()
    assert sim.robots["rover"].belief["cov"][:, 0, 0].tolist() == [1.0, 2.0]


def test_a_covariance_may_be_off_by_rounding() -> None:
    sim = load()
    side = np.array([[1.0, 2.0, 3.0]])
    cov = side.T @ side * 1e-3  # certain but for one direction
    cov[0, 1] += 1e-12
    sim.robots["rover"].believe(x=1.0, cov=cov)
    sim.robots["rover"].believe(x=1.0, cov=np.zeros((3, 3)))


def test_the_last_life_there_is_can_be_lived() -> None:
    sim = load()
    sim.reset(episode=2097151)
    assert sim.truth["episode"].tolist() == [2097151 * 1024]


def test_an_event_that_fails_leaves_the_others_of_its_step() -> None:
    sim = load(worlds=2)
    bad = {"parameter": "motion.radius", "value": [1.0, 2.0, 3.0]}
    for step in (None, 0):
        sim.event_queue.post(astray.Event("set", "rover", values=bad, step=step))  # past all checks
        sim.event_queue.post(astray.Event("place", "rover", (1,), values={"x": 7.0}, step=step))
        with pytest.raises(ValueError, match="shape"):
            sim.step()
        sim.step()
        assert float(sim.truth["x"][1]) == 7.0
        assert [event.kind for event in sim.events] == ["place"]
        sim.reset()


def test_events_that_come_in_while_others_take_effect_wait_for_the_next_step() -> None:
    agenda = astray.engine.event_queue.EventQueue()
    agenda.post(astray.Event("remove", "rover"))
    for event in agenda.due(3):
        agenda.post(astray.Event("place", "rover"))
        agenda.post(astray.Event("ghost", "rover", step=3))
        assert event.kind == "remove"
    assert [event.kind for event in agenda.due(4)] == ["ghost", "place"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("[1]", "an object is needed"),
        ("null", "an object is needed"),
        ('{"kind": ["place"]}', "kind is a name"),
        ('{"kind": "place", "group": {}}', "group is a name"),
        ('{"kind": "place", "worlds": 3}', "worlds is a list of whole numbers"),
        ('{"kind": "place", "robots": [0.5]}', "robots is a list of whole numbers"),
        ('{"kind": "place", "values": [1]}', "values is an object"),
        ('{"kind": "place", "step": "a"}', "step is a whole number"),
        ('{"kind": "place", "when": 3}', "when"),
        ('{"kind": "place"', "delimiter"),
    ],
)
def test_a_line_that_holds_no_event_is_named(line: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(EventError, match=f"not an event: .*{says}"):
        astray.Event.from_json(line)
    file = tmp_path / "bad.jsonl"
    file.write_text(f'{{"kind": "remove", "group": "rover"}}\n\n{line}\n')
    with pytest.raises(EventError, match=r"bad\.jsonl:3: not an event"):
        astray.read_events(file)


def test_only_remote_robots_take_commands_and_only_what_their_control_knows() -> None:
    sim = load({**REMOTE, "autonomy": {"kind": "idle"}})
    with pytest.raises(EventError, match="driven by its autonomy 'idle'"):
        sim.robots["rover"].drive(1.0)
    sim = load({**REMOTE, "control": {"kind": "direct"}})
    with pytest.raises(EventError, match="does not understand 'move'"):
        sim.robots["rover"].go(1.0)


def test_lockstep_waits_for_commands_and_gives_the_same_bytes_whatever_their_delay() -> None:
    robot = {**REMOTE, "autonomy": {"kind": "remote", "lockstep": 0.05}}
    digests = []
    for pause in (0.0, 0.004):
        sim = load(robot)

        def client(sim: astray.Sim = sim, pause: float = pause) -> None:
            for k in range(1, 20):
                while sim.steps < 5 * k:
                    time.sleep(0.0005)
                time.sleep(pause)
                sim.robots["rover"].drive(0.1 * (k % 5), 0.3)

        sim.robots["rover"].drive(0.4)  # before time can run
        thread = threading.Thread(target=client, daemon=True)
        thread.start()
        sim.run(1.0)
        thread.join()
        assert sim.steps == 100
        digests.append(sim.digest())
    assert digests[0] == digests[1]


def test_lockstep_gives_up_with_a_clear_word() -> None:
    robot = {**REMOTE, "autonomy": {"kind": "remote", "lockstep": 0.05, "patience": 0.2}}
    with pytest.raises(LockstepTimeout, match=r"no command came for 0\.2 s"):
        load(robot).run(1.0)


def test_lockstep_holds_worlds_whose_clocks_differ() -> None:
    robot = {**REMOTE, "autonomy": {"kind": "remote", "lockstep": 0.05, "patience": 0.2}}
    sim = load(robot, worlds=2)
    sim.step(3)
    sim.reset(worlds=[1])
    with pytest.raises(LockstepTimeout):
        sim.step(40)
    assert sim.clock.tolist() == [5, 2]  # the first has waited for as long as it may
    sim.robots["rover"].drive(0.1)
    sim.step(5)
    assert sim.clock.tolist() == [10, 7]


def test_pace_holds_a_run_back_and_changes_no_byte() -> None:
    paced, free = load(), load()
    started = time.perf_counter()
    paced.run(0.3, speed=2.0)
    assert time.perf_counter() - started >= 0.14  # a lower bound: a loaded machine may be later
    free.run(0.3)
    assert paced.digest() == free.digest()


def test_a_run_can_be_paused_stepped_and_stopped_from_another_thread() -> None:
    sim = load()
    sim.pace.pause()
    thread = threading.Thread(target=lambda: sim.run(10.0), daemon=True)
    thread.start()
    time.sleep(0.05)
    assert sim.steps == 0
    sim.pace.step(7)
    deadline = time.monotonic() + 10
    while sim.steps < 7 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert sim.steps == 7
    sim.pace.stop()
    thread.join(timeout=10)
    assert not thread.is_alive()
    assert sim.steps == 7


def test_a_plugin_that_raises_is_named() -> None:
    class Broken(astray.Sensor, kind="broken_sensor"):
        """Raises."""

        measures = astray.tables.FIX

        def sense(self, rows: Any, scene: Any, out: Any) -> None:
            if scene.truth["stamp"][0] > 0.05:
                raise ZeroDivisionError("oh")

    sim = load({**REMOTE, "sensors": [*REMOTE["sensors"], {"kind": "broken_sensor"}]})
    with pytest.raises(PluginFailed, match=r"sensor 'broken_sensor' failed in sense at t = .*oh"):
        sim.run(1.0)


def test_a_plugin_that_raises_is_told_the_line_of_its_own_file() -> None:
    def helper() -> int:
        return 1 // 0

    def call(it: Callable[[], int]) -> None:
        it()

    class Careless(astray.Sensor, kind="careless_sensor"):
        """Raises somewhere else."""

        measures = astray.tables.FIX

        def sense(self, rows: Any, scene: Any, out: Any) -> None:
            call(helper)

    class Heir(Lidar, kind="careless_heir"):
        """Lets a built-in kind raise."""

        def sense(self, rows: Any, scene: Any, out: Any) -> None:
            super().sense(rows, None, out)  # type: ignore[arg-type]

    for kind, raises in (("careless_sensor", helper), ("careless_heir", Heir.sense)):
        line = raises.__code__.co_firstlineno + 1
        with pytest.raises(PluginFailed, match=rf"{kind}.* \(test_sim.py:{line}\)$"):
            load({**REMOTE, "sensors": [*REMOTE["sensors"], {"kind": kind}]})


@pytest.mark.parametrize("worlds", [0, [], [1, 1], [-1]])
def test_worlds_that_make_no_sense_are_refused(worlds: Any) -> None:
    with pytest.raises(WrongInput, match="worlds"):
        astray.load({"robots": [REMOTE]}, worlds=worlds)


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_that_no_scenario_takes_is_refused(seed: int) -> None:
    with pytest.raises(WrongInput, match="a whole number from 0 on"):
        astray.load({"robots": [REMOTE]}, seed=seed)
    sim = load()
    with pytest.raises(WrongInput, match="a whole number from 0 on"):
        sim.reset(seed=seed)


def test_a_log_that_does_not_fit_the_ticks_is_refused() -> None:
    with pytest.raises(WrongInput, match="whole number of ticks"):
        load().run(1.0, log=0.015)


def test_a_picture_begins_where_the_run_begins_and_ends_where_it_ends() -> None:
    sim = load({**REMOTE, "start": {"x": 2.0}})
    sim.robots["rover"].drive(0.5)
    sim.run(3.07)
    path = sim.path_log.paths()[0]
    assert path.time[0] == 0.0
    assert path.time[-1] == pytest.approx(3.07)
    assert float(path.truth[0, 0, 0]) == 2.0
    assert float(path.truth[-1, 0, 0]) == float(sim.truth["x"][0])
    assert len(sim.plot().axes) == 2


def _paths(group: str, robots: int = 1, beliefs: tuple[str, ...] = ("belief",)) -> Paths:
    time = np.linspace(0.0, 1.0, 11)
    truth = np.zeros((11, robots, 3))
    truth[..., 0] = time[:, None]
    errors = {who: np.full((11, robots), 0.1) for who in beliefs}
    return Paths(group, time, truth, {who: truth + 0.1 for who in beliefs}, errors)


def test_a_picture_shows_a_rival_in_the_same_style_on_the_map_and_over_time() -> None:
    above, below = plot_paths([_paths("rover", beliefs=("belief", "odometry", "ekf"))]).axes
    styles = [
        {line.get_label(): line.get_linestyle() for line in axes.lines} for axes in (above, below)
    ]
    names = [f"rover: {who}" for who in ("belief", "odometry", "ekf")]
    assert [styles[0][name] for name in names[1:]] == [styles[1][name] for name in names[1:]]
    assert len({styles[0][name] for name in ("rover: truth", *names)}) == 4
    assert len({styles[1][name] for name in names}) == 3


def test_a_picture_shows_beliefs_over_the_truths_of_all_groups() -> None:
    lines = plot_paths([_paths(f"rover{k}") for k in range(5)]).axes[0].lines
    beliefs = [line.zorder for line in lines if str(line.get_label()).endswith("belief")]
    truths = [line.zorder for line in lines if str(line.get_label()).endswith("truth")]
    assert len(beliefs) == len(truths) == 5
    assert min(beliefs) > max(truths)


def test_the_legend_of_a_picture_of_many_robots_is_not_faint() -> None:
    legends: list[Any] = plot_paths([_paths("rover", robots=50)]).findobj(Legend)
    assert legends
    assert {line.get_alpha() for legend in legends for line in legend.get_lines()} == {1.0}


@pytest.mark.parametrize("groups", [1, 3, 6])
def test_the_legends_of_a_picture_cover_no_line(groups: int) -> None:
    figure = plot_paths([_paths(f"rover{k}") for k in range(groups)])
    figure.draw_without_rendering()
    legends: list[Any] = figure.findobj(Legend)
    assert len(legends) == 2
    for legend in legends:
        assert legend.get_window_extent().y0 >= 0.0
        for axes in figure.axes:
            assert not legend.get_window_extent().overlaps(axes.get_window_extent())


def test_a_picture_without_beliefs_has_no_panel_of_errors() -> None:
    (axes,) = plot_paths([_paths("rover", beliefs=())]).axes
    assert axes.get_ylabel() == "y in m"


def test_the_profile_names_every_phase_of_the_tick() -> None:
    sim = load()
    sim.run(1.0)
    profile = sim.profile()
    assert list(profile) == ["events", "decide", "move", "sense", "estimate", "evaluate", "observe"]
    assert all(seconds > 0 for seconds in profile.values())


def test_a_log_holds_truth_belief_rivals_readings_and_metrics() -> None:
    robot = {**REMOTE, "rivals": [{"kind": "odometry", "name": "rival"}], "count": 2}
    sim = load(robot, worlds=3, metrics=[{"kind": "position_error"}])
    log = sim.run(1.0, log=0.1)
    rover = log["rover"]
    assert rover.truth["x"].shape == rover.belief["x"].shape == (11, 6)
    assert rover.rivals["rival"]["cov"].shape == (11, 6, 3, 3)
    assert rover.readings["wheels"]["angle"].shape == (11, 6, 4)
    assert rover.metrics["position_error"]["rival"].shape == (11, 6)
    frame = log.to_pandas()
    assert len(frame) == 66
    assert {"truth.x", "belief.x", "rival.x", "position_error.belief"} <= set(frame.columns)


# A look out of turn.

LOOKED_AT = {
    "duration": 1,
    "dt": 0.01,
    "world": {"map": "arena"},
    "robots": [
        {
            "name": "rover",
            "preset": "rover",
            "sensors": [
                {"kind": "lidar", "name": "scan", "rate": 10, "rays": 36, "sigma": 0.1},
                {"kind": "lidar", "name": "asked", "rate": 0, "rays": 36, "sigma": 0.1},
                {"kind": "wheels", "rate": 20, "slip_density": 0.01},
                {"kind": "imu", "rate": 50, "gyro_walk": 0.01, "gyro_density": 0.01},
            ],
            "start": {"x": 3.0, "y": 3.0},
            "autonomy": {"kind": "remote"},
        }
    ],
}


def test_a_look_is_what_a_sensor_reads_and_leaves_no_trace() -> None:
    plain, looked = astray.load(LOOKED_AT), astray.load(LOOKED_AT)
    for sim in (plain, looked):
        sim.robots["rover"].drive(0.4, 0.5)
    rover = looked.robots["rover"]
    for _ in range(100):
        plain.step()
        looked.step()
        for sensor in ("scan", "asked", "wheels", "imu"):
            first = rover.look(sensor)
            values = first.table.copy()
            assert (rover.look(sensor).table == values).all()
            assert first.stamp == looked.time
        scan = rover.readings["scan"]
        if scan.fresh[0]:
            assert (rover.look("scan")["ranges"] == scan["ranges"]).all()
    assert looked.digest() == plain.digest()
    assert np.isnan(rover.readings["asked"].stamp).all()  # never taken in the run
    assert (rover.look("asked")["ranges"] != rover.look("scan")["ranges"]).any()


def test_a_look_through_a_sensor_that_is_not_there_is_refused() -> None:
    rover = astray.load(LOOKED_AT).robots["rover"]
    with pytest.raises(astray.WrongInput, match=r"no sensor 'lidar' \(it has .*scan"):
        rover.look("lidar")


# Ghosts.

GHOSTS = {
    "dt": 0.01,
    "world": {"map": {"walls": [[[0, 0], [8, 0], [8, 4], [0, 4], [0, 0]]]}},
    "robots": [
        {
            "name": "rover",
            "count": 2,
            "start": {"x": 1.0, "y": 2.0, "step": [3.0, 0.0]},
            "footprint": {"length": 0.5, "width": 0.5},
            "sensors": [{"kind": "lidar", "rate": 10, "rays": 4}],
            "autonomy": {"kind": "remote"},
        }
    ],
}


def test_a_ghost_is_not_seen_runs_into_nothing_and_may_become_solid_again(tmp_path: Path) -> None:
    sim = astray.load(GHOSTS)
    rover = sim.robots["rover"]
    assert rover.readings["lidar"]["ranges"][0, 2] == pytest.approx(2.75)
    rover.set_ghost(robots=[1])
    rover.drive([0.8, -0.8])
    sim.run(5.0)
    assert rover.truth["x"] == pytest.approx([1.0 + 0.8 * 4.6, 4.0 - 0.8 * 4.6], abs=0.05)
    assert rover.readings["lidar"]["ranges"][0, 2] == pytest.approx(
        8.0 - rover.truth["x"][0], abs=0.1
    )
    assert len(sim.collisions) == 0
    sim.run(2.0)
    assert rover.truth["x"][1] < -0.5  # through the wall
    assert sim.collisions["row"].tolist() in ([], [0])
    sim.save(tmp_path / "run.npz")
    resumed = astray.resume(tmp_path / "run.npz")
    for one in (sim, resumed):
        robots = one.robots["rover"]
        robots.place(x=2.0, y=2.0, robots=[1])
        robots.place(x=1.8, y=2.0, vx=0.0, robots=[0])
        one.step()
        assert not robots.scene.collisions["touching"].any()
        robots.set_ghost(False, robots=[1])
        one.step()
        assert robots.scene.collisions["touching"].all()
    assert resumed.digest() == sim.digest()
    sim.reset()
    assert not sim.environment.ghosts.any()


def test_a_robot_that_is_put_onto_a_ghost_meets_nothing() -> None:
    rover = {"name": "rover", "count": 2, "start": {"step": [3.0, 0.0]}}
    sim = astray.load({"robots": [rover], "interactions": [{"kind": "collisions"}]})
    rovers = sim.robots["rover"]
    rovers.set_ghost(robots=[0])
    rovers.place(x=0.1, y=0.0, robots=[1])
    sim.step()
    assert not rovers.scene.collisions["touching"].any()
    assert len(sim.environment.collisions()) == 0
    rovers.set_ghost(False, robots=[0])
    sim.step()
    assert rovers.scene.collisions["touching"].all()


def test_a_ghost_is_told_so_in_so_many_words() -> None:
    with pytest.raises(astray.EventError, match="ghostly is true or false"):
        astray.load(GHOSTS).robots["rover"].set_ghost(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -1.0])
def test_a_run_of_no_length_is_wrong_input(wrong: float) -> None:
    sim = astray.load("drift")
    with pytest.raises(astray.WrongInput, match="not a length of time"):
        sim.run(wrong)
    with pytest.raises(astray.WrongInput, match="not a length of time"):
        sim.run(1.0, log=wrong)
    with pytest.raises(astray.WrongInput, match="speed"):
        sim.run(1.0, speed=wrong)
    with pytest.raises(astray.WrongInput, match="speed"):
        sim.run(1.0, speed=0.0)
    sim.run(0.1)
    assert sim.time == pytest.approx(0.1)


def test_worlds_may_be_a_number_of_numpy_and_one_that_is_not_there_is_told() -> None:
    sim = astray.load("drift", worlds=np.int64(3))
    assert sim.worlds.tolist() == [0, 1, 2]
    with pytest.raises(astray.WrongInput, match="no world 7"):
        sim.map(7)


@pytest.mark.parametrize("log", [None, 0.1])
def test_who_comes_to_watch_during_a_run_stays_and_who_leaves_is_gone(log: float | None) -> None:
    class Visitor:
        seen = 0

        def next_due(self, step: int) -> int:
            return step

        def observe(self, sim: astray.Sim) -> None:
            self.seen += 1

    sim, early, late = astray.load("drift"), Visitor(), Visitor()
    sim.observers.append(early)

    def change(_: float) -> None:
        if late not in sim.observers:
            sim.observers.append(late)
            sim.observers.remove(early)

    sim.run(0.5, log=log, progress=change)
    assert late in sim.observers
    assert early not in sim.observers


def test_who_is_spawned_where_there_is_room_keeps_away_from_everyone() -> None:
    walls = [[[-3, -3], [3, -3], [3, 3], [-3, 3], [-3, -3]]]
    start = {"clearance": 0.5}
    robots = [
        {"name": "late", "count": 1, "capacity": 8, "start": start},
        {"name": "early", "start": {"x": 1.0, "y": 1.0}},
    ]
    scenario = {"robots": robots, "world": {"map": {"walls": walls}}}
    sim = astray.load(scenario, worlds=20)
    for _ in range(5):
        sim.robots["late"].spawn()
        sim.step()
    for world in range(20):
        there = sim.truth[sim.truth["alive"] & (sim.truth["world"] == world)]
        assert len(there) == 7
        at = there["x"] + 1j * there["y"]
        apart = np.abs(at[:, None] - at[None, :])[~np.eye(7, dtype=bool)].reshape(7, 6)
        first = np.flatnonzero((there["x"] == 1.0) & (there["y"] == 1.0))
        assert len(first) == 1
        # The two that were there from the first knew nothing of each other.
        spawned = np.setdiff1d(np.arange(7), [0, first[0]])
        assert apart[spawned].min() >= 1.0 - 1e-9
    again = astray.load(scenario, worlds=[7])
    for _ in range(5):
        again.robots["late"].spawn()
        again.step()
    assert same(sim.truth[sim.truth["world"] == 7], again.truth)


def test_worlds_that_are_no_numbers_are_refused_and_not_guessed() -> None:
    sim = load(worlds=3)
    rover, mask = sim.robots["rover"], np.array([False, False, True])
    for which in (mask, [1.7], ["2"]):
        with pytest.raises(WrongInput, match="worlds are whole numbers"):
            rover.drive(0.5, worlds=which)
        with pytest.raises(WrongInput, match="robots are whole numbers"):
            rover.drive(0.5, robots=which)
        with pytest.raises(WrongInput, match="worlds are whole numbers"):
            sim.replace_map({}, worlds=which)
    with pytest.raises(WrongInput, match="worlds are whole numbers"):
        sim.reset(worlds=[1.7])
    with pytest.raises(WrongInput, match="a mask of worlds has 3 values, not 2"):
        sim.reset(worlds=[True, False])
    rover.drive(0.5, worlds=np.flatnonzero(mask))
    sim.step(50)
    sim.reset(worlds=~mask)
    assert sim.clock.tolist() == [0, 0, 50]
    assert (rover.truth["x"] > 0).tolist() == mask.tolist()


@pytest.mark.parametrize("worlds", [3.0, "3", [0.5], [[1, 2]], []])
def test_a_batch_of_what_are_no_worlds_is_wrong_input(worlds: Any) -> None:
    with pytest.raises(WrongInput, match="worlds"):
        load(worlds=worlds)


@pytest.mark.parametrize("ticks", [1.5, -5, "3", math.nan])
def test_a_step_of_what_are_no_ticks_is_wrong_input(ticks: Any) -> None:
    sim = load()
    with pytest.raises(WrongInput, match="not a number of ticks"):
        sim.step(ticks)
    sim.step(np.int64(2))
    assert sim.steps == 2


@pytest.mark.parametrize("seed", [1.5, "abc", math.nan, 2**64])
def test_a_seed_that_is_no_whole_number_is_wrong_input(seed: Any) -> None:
    with pytest.raises(WrongInput, match="seed"):
        astray.load("drift", seed=seed)
    sim = astray.load("drift")
    with pytest.raises(WrongInput, match="seed"):
        sim.reset(seed=seed)


def test_worlds_that_could_never_fit_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("astray.engine.worlds.memory_of_machine", lambda: 1 << 30)
    for worlds in (10**9, range(10**9)):
        with pytest.raises(
            WrongInput, match=r"need [\d,.]+ GiB of memory or more; this machine has"
        ):
            astray.load("drift", worlds=worlds)
    for worlds in (10**30, range(-1, 3), range(10**30)):
        with pytest.raises(WrongInput, match="numbered from 0 to 2147483647"):
            astray.load("drift", worlds=worlds)
    assert len(astray.load("drift", worlds=range(7, 3, -2)).worlds) == 2
    monkeypatch.setattr("astray.engine.worlds.memory_of_machine", lambda: None)
    assert len(astray.load("drift", worlds=1000).worlds) == 1000


def test_what_a_batch_is_estimated_to_need_is_less_than_it_takes() -> None:
    for name in ("drift", "office", "fusion"):
        sim = astray.load(name, worlds=10)
        tables = sum(
            a.nbytes for group in sim.robots.values() for a in group_arrays(group).values()
        )
        least = sum(len(g.truth) * bytes_of_row(g.plan) for g in sim.robots.values())
        assert 0 < least < tables + sim.environment.scene.collisions.nbytes


@pytest.mark.parametrize("values", [{"x": 10**400}, {"x": [10**400]}])
def test_an_integer_that_no_float_can_hold_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(EventError, match=r"place: x is .{40}: it must be a number"):
        load().post(Event("place", "rover", values=values))


def test_what_users_hold_says_what_is_in_it(rover: dict[str, Any]) -> None:
    rival = {"kind": "odometry", "name": "exact"}
    robot = {**rover, "rivals": [rival]}
    sim = astray.load({"robots": [robot], "metrics": [{"kind": "position_error"}]}, worlds=3)
    log = sim.run(1.0, log=0.5)
    assert "3 worlds" in repr(sim)
    assert "3 rover" in repr(sim)
    for word in ("3 of 3 rows active", "differential", "wheels", "odometry"):
        assert word in repr(sim.robots["rover"])
    assert repr(log) == "Log(3 entries, 0 to 1 s; robots: rover)"
    assert repr(log["rover"]) == (
        "GroupLog('rover': 3 times x 3 rows; rivals: exact; readings: wheels; metrics: position_error)"
    )


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (
            lambda sim, log: sim.robots["rovr"],
            "unknown robot 'rovr'; did you mean 'rover'? (rover)",
        ),
        (
            lambda sim, log: sim.robots["rover"].readings["weels"],
            "unknown sensor 'weels'; did you mean",
        ),
        (
            lambda sim, log: sim.robots["rover"].rivals["ekf"],
            "unknown rival 'ekf' (there are none)",
        ),
        (lambda sim, log: log["rovr"], "unknown robot 'rovr'; did you mean 'rover'? (rover)"),
        (lambda sim, log: log["rover"].readings["lidar"], "unknown sensor 'lidar' (wheels)"),
        (lambda sim, log: log["rover"].metrics["nees"], "unknown metric 'nees' (position_error)"),
        (
            lambda sim, log: log["rover"].metrics["position_error"]["x"],
            "unknown belief 'x' (belief)",
        ),
        (
            lambda sim, log: log["rover"].truth["yow"],
            "unknown column 'yow'; did you mean 'yaw'? (world",
        ),
        (lambda sim, log: log["rover"].readings["wheels"]["angel"], "did you mean 'angle'?"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_ones(
    rover: dict[str, Any], ask: Any, says: str
) -> None:
    sim = astray.load({"robots": [rover], "metrics": [{"kind": "position_error"}]})
    log = sim.run(0.1, log=0.1)
    with pytest.raises(astray.UnknownName) as refused:
        ask(sim, log)
    assert says in str(refused.value)
