"""The table of contacts: all of them in order, or the newest where a run has no end."""

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
MOMENTS = st.lists(st.lists(st.booleans(), min_size=ROWS, max_size=ROWS), max_size=60)


@given(MOMENTS, st.none() | st.integers(1, 12))
def test_a_contact_is_written_down_once_when_it_begins(
    moments: list[list[bool]], most: int | None
) -> None:
    truth, contacts, memory = table(STATE, ROWS), table(COLLISION_STATE, ROWS), table(MEMORY, ROWS)
    truth["world"] = np.arange(ROWS)
    hits, expected, before = CollisionLog(most), [], [False] * ROWS
    for tick, touching in enumerate(moments):
        truth["stamp"], contacts["x"] = tick, 10.0 * tick
        memory["touched"], memory["touching"] = before, False
        hits.write(truth, contacts, memory, np.flatnonzero(touching))
        assert memory["touching"].tolist() == touching
        expected += [(tick, i) for i in range(ROWS) if touching[i] and not before[i]]
        before = touching
    kept = expected if most is None else expected[-most:]
    found = hits.all()
    assert list(zip(found["stamp"].tolist(), found["row"].tolist(), strict=True)) == kept
    assert found["world"].tolist() == found["row"].tolist()
    assert found["x"].tolist() == [10.0 * tick for tick, _ in kept]
    assert hits.total == len(expected)
    assert len(hits) == len(kept)
    np.testing.assert_array_equal(hits.newest(3), found[-3:])


def test_what_was_taken_over_goes_on() -> None:
    saved = table(COLLISION, 3)
    saved["stamp"] = 1.0, 2.0, 3.0
    hits, memory = CollisionLog(), table(MEMORY, 1)
    hits.restore(saved)
    hits.write(table(STATE, 1), table(COLLISION_STATE, 1), memory, np.zeros(1, np.int64))
    assert hits.all()["stamp"].tolist() == [1.0, 2.0, 3.0, 0.0]
    assert saved["stamp"].tolist() == [1.0, 2.0, 3.0]


def test_a_run_that_keeps_no_events_keeps_the_newest_contacts(
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
    everything, newest = (sim.collisions for sim in runs)
    assert len(everything) == 15
    np.testing.assert_array_equal(newest, everything[-10:])
