"""The collision log: all collisions in order of time, or the newest of a run without end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import astray
from astray.interactions.collisions.collision_log import COLLISION, CollisionLog
from astray.interactions.collisions.context import MEMORY
from astray.tables import COLLISION_STATE, STATE, table

ROWS = 5
TICKS = st.lists(st.lists(st.booleans(), min_size=ROWS, max_size=ROWS), max_size=60)


@given(TICKS, st.none() | st.integers(1, 12))
def test_a_collision_is_logged_once_when_it_begins(
    ticks: list[list[bool]], max_records: int | None
) -> None:
    truth, collisions, memory = (
        table(STATE, ROWS),
        table(COLLISION_STATE, ROWS),
        table(MEMORY, ROWS),
    )
    truth["world"] = np.arange(ROWS)
    log, expected, before = CollisionLog(max_records), [], [False] * ROWS
    for tick, touching in enumerate(ticks):
        truth["stamp"], collisions["x"] = tick, 10.0 * tick
        memory["touched"], memory["touching"] = before, False
        log.write(truth, collisions, memory, np.flatnonzero(touching))
        assert memory["touching"].tolist() == touching
        expected += [(tick, i) for i in range(ROWS) if touching[i] and not before[i]]
        before = touching
    kept = expected if max_records is None else expected[-max_records:]
    found = log.all()
    assert list(zip(found["stamp"].tolist(), found["row"].tolist(), strict=True)) == kept
    assert found["world"].tolist() == found["row"].tolist()
    assert found["x"].tolist() == [10.0 * tick for tick, _ in kept]
    assert log.total == len(expected)
    assert len(log) == len(kept)
    np.testing.assert_array_equal(log.newest(3), found[-3:])


def test_a_restored_log_continues() -> None:
    saved = table(COLLISION, 3)
    saved["stamp"] = 1.0, 2.0, 3.0
    log, memory = CollisionLog(), table(MEMORY, 1)
    log.restore(saved)
    log.write(table(STATE, 1), table(COLLISION_STATE, 1), memory, np.zeros(1, np.int64))
    assert log.all()["stamp"].tolist() == [1.0, 2.0, 3.0, 0.0]
    assert saved["stamp"].tolist() == [1.0, 2.0, 3.0]


def test_a_run_that_keeps_no_events_keeps_the_newest_collisions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("astray.engine.run.NEWEST_COLLISIONS", 10)
    robot = {"name": "r", "start": {"x": 0.0}, "footprint": {"radius": 0.1}}
    walls = {"walls": [[[0.5, -1.0], [0.5, 1.0]]]}
    scenario = {"dt": 0.1, "world": {"map": walls}, "robots": [robot]}
    runs = [astray.load(scenario, keep_events=keep) for keep in (True, False)]
    for sim in runs:
        for _ in range(15):
            sim.robots["r"].drive(1.0)
            sim.step(20)
            sim.reset(worlds=[0])
    all_collisions, newest = (sim.collisions for sim in runs)
    assert len(all_collisions) == 15
    np.testing.assert_array_equal(newest, all_collisions[-10:])
