"""The pace: what another thread may ask of a run, and that it changes no byte."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import astray
from astray.sim import Sim


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20.0
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.005)


@contextlib.contextmanager
def running(sim: Sim, seconds: float, **how: Any) -> Iterator[list[Any]]:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(sim.run(seconds, **how)), daemon=True)
    thread.start()
    try:
        yield found
    finally:
        while thread.is_alive():
            sim.pace.stop()
            thread.join(0.02)


def load(rover: dict[str, Any], seed: int = 3) -> Sim:
    return astray.load({"robots": [rover], "seed": seed, "dt": 0.01, "duration": 5.0})


def test_what_is_asked_is_done_in_the_thread_of_the_run_even_while_it_is_held(
    rover: dict[str, Any],
) -> None:
    sim = load(rover)
    sim.pace.pause()
    who: list[str] = []
    with running(sim, 5.0):
        sim.pace.request(lambda: who.append(threading.current_thread().name))
        until(lambda: bool(who))
    assert who != [threading.current_thread().name]
    assert sim.steps == 0


def test_a_robot_that_is_moved_while_time_is_held_is_there_at_once_and_replays(
    rover: dict[str, Any],
) -> None:
    sim = load(rover)
    sim.run(0.5)
    sim.pace.pause()
    with running(sim, 0.5):
        until(lambda: not sim.is_idle)
        sim.robots["rover"].place(x=4.0)
        sim.pace.request(lambda: None)
        until(lambda: sim.truth["x"][0] == 4.0)
        assert sim.steps == 50
        sim.pace.play()
        until(lambda: sim.is_idle)
    again = load(rover)
    again.replay(sim.events)
    again.run(1.0)
    assert again.digest() == sim.digest()


@pytest.mark.parametrize("seed", [None, 8])
def test_a_run_that_starts_over_is_as_if_it_had_begun_so(
    rover: dict[str, Any], seed: int | None
) -> None:
    sim = load(rover)
    with running(sim, 1.0, speed=4.0, log=0.1) as found:
        until(lambda: sim.steps > 30)
        sim.robots["rover"].place(x=9.0)
        sim.pace.request_restart(seed)
        until(lambda: bool(found))
    plain = load(rover, 3 if seed is None else seed)
    log = plain.run(1.0, log=0.1)
    assert sim.steps == 100
    assert sim.digest() == plain.digest()
    assert sim.events == []  # what happened before belongs to a run that is no more
    assert (found[0].time == log.time).all()
    assert (found[0]["rover"].truth["x"] == log["rover"].truth["x"]).all()


def test_a_run_that_slows_down_does_not_wait_for_what_it_has_had_already(
    rover: dict[str, Any],
) -> None:
    sim = load(rover)
    with running(sim, 1e6):
        until(lambda: sim.time > 20.0)
        sim.pace.set_speed(5.0)
        begun = sim.time
        until(lambda: sim.time > begun + 0.5)  # a run that waits does so for minutes
    assert sim.time < begun + 1000.0


def test_a_slow_run_can_be_asked_between_its_ticks(rover: dict[str, Any]) -> None:
    sim = load(rover)
    asked: list[int] = []
    with running(sim, 1.0, speed=0.0001):
        for k in range(3):
            sim.pace.request(lambda: asked.append(sim.steps))
            until(lambda k=k: len(asked) > k)  # type: ignore[misc]
    assert asked == [0, 0, 0]


def test_a_stop_that_comes_before_a_run_is_meant_for_it_and_for_no_other() -> None:
    sim = astray.load("drift")
    sim.pace.stop()
    sim.run(1.0)
    assert sim.steps == 0
    assert sim.pace.stopped
    sim.run(1.0)
    assert sim.time == pytest.approx(1.0)
    assert not sim.pace.stopped
