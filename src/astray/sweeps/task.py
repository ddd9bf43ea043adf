"""One task of a sweep, in whatever process it is run: some worlds of one case, to the end.

Heavy imports happen inside functions: a worker first says that it wants one thread.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections import Counter
from multiprocessing import parent_process
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, NamedTuple

from astray.sim import Sim

if TYPE_CHECKING:
    pass

ONE = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
COLLISIONS = "collisions"
WHOLE_GROUP = -1  # the robot of a row that is about all robots of its group


class Row(NamedTuple):
    """A metric of one belief of one robot in one world, over the whole run."""

    world: int
    place: int  # that orders the rows of a world
    group: str
    robot: int
    subject: str  # belief, contacts, or the name of a rival: what is compared between cases
    belief: str  # the name of the estimator or rival
    metric: str
    rms: float
    mean: float
    most: float
    last: float


class TaskOutcome(NamedTuple):
    """What came of a task, and how long it took, s."""

    rows: list[Row]
    took: float


def prepare() -> None:
    """Make ready a worker process: one thread, no Ctrl-C of its own, and no life after its parent.

    A parent that is killed closes no pipes that its workers wait at: they would wait for ever.
    """
    for variable in ONE:
        os.environ[variable] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def run_task(scenario: str, first: int, count: int) -> TaskOutcome:
    """Run some worlds of a case, an effective scenario as JSON."""
    from astray.sim import load

    sim = load(json.loads(scenario), worlds=range(first, first + count))
    started = time.perf_counter()
    sim.run()
    return TaskOutcome(sorted(_rows(sim)), time.perf_counter() - started)


def _rows(sim: Sim) -> list[Row]:
    import numpy as np

    found = []
    for k, (name, group) in enumerate(sim.robots.items()):
        owner = group.estimator.name if group.estimator else "truth"
        for j, judge in enumerate(group.evaluators):
            measured = judge.statistics["count"] > 0
            of, values = judge.belief[measured], judge.statistics[measured]
            who = owner if judge.subject == "belief" else judge.subject
            columns = (
                of["world"],
                of["robot"],
                np.sqrt(values["squares"] / values["count"]),
                values["total"] / values["count"],
                values["most"],
                values["last"],
            )
            about = (judge.subject, who, judge.metric.name)
            for world, robot, *figures in zip(*(c.tolist() for c in columns), strict=True):
                found.append(Row(world, 1000 * k + j, name, robot, *about, *figures))
        if sim.environment.interactions:
            found += _collisions(sim, name, 1000 * k + 999)
    return found


def _collisions(sim: Sim, name: str, place: int) -> list[Row]:
    """How often the robots of a group ran into something, in each world."""
    group, hits = sim.robots[name], sim.collisions
    first = group.scene.first
    mine = (hits["row"] >= first) & (hits["row"] < first + len(group.truth))
    often = Counter(hits["world"][mine].tolist())
    about = (name, WHOLE_GROUP, "truth", "truth", COLLISIONS)
    return [Row(world, place, *about, *[float(often[world])] * 4) for world in sim.worlds.tolist()]
