"""The results database of a sweep: an SQLite file, one transaction per finished task.

SQLite with a write-ahead log survives `kill -9` of its writer, and other processes may read at the
same time. Only the process that runs the sweep writes; it holds the lock of the folder.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from astray.errors import AstrayError, WrongInput, format_path
from astray.files import lock_file
from astray.sweeps.cases import SweepPlan, SweepTask

DATABASE, LOCK = "results.sqlite", "results.lock"
DERIVED_FILES = ("results.csv", "summary.json", "summary.png")  # made from the database at the end
MAX_DIFFERENCES = 8  # of two plans, in a message


class ResultRow(NamedTuple):
    """A metric of one belief of one robot in one world, over the whole run.

    The names of the fields are the columns of the database.
    """

    world: int
    place: int  # orders the rows of a world
    group: str
    robot: int
    subject: str  # belief, contacts, or the name of a rival: what is compared between cases
    belief: str  # the name of the estimator or rival
    metric: str
    rms: float
    mean: float
    most: float
    last: float


TABLES = f"""
CREATE TABLE IF NOT EXISTS plan (about TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tasks (
    "case" INTEGER, first INTEGER, count INTEGER, failure TEXT, PRIMARY KEY ("case", first)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rows (
    "case" INTEGER, {", ".join(f'"{name}"' for name in ResultRow._fields)},
    PRIMARY KEY ("case", world, place, robot)
) WITHOUT ROWID;
"""


class ResultsDatabase:
    """The results of a sweep. Any number of processes may read it, one may write it."""

    def __init__(self, folder: Path, write: bool = False, clear: bool = False) -> None:
        """Open the database of a folder, with `clear` as an empty one."""
        self.folder = folder
        self._lock: IO[bytes] | None = None
        if write:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _acquire_lock(folder / LOCK)
            if clear:
                _delete_sweep(folder)
        elif not (folder / DATABASE).is_file():
            raise WrongInput(f"{folder} holds no sweep: there is no {DATABASE} in it")
        uri = f"{(folder / DATABASE).resolve().as_uri()}?mode={'rwc' if write else 'ro'}"
        self._connection = sqlite3.connect(uri, uri=True)
        with self._name_errors():
            if write:
                self._connection.execute("PRAGMA journal_mode=WAL")
                self._connection.execute("PRAGMA synchronous=NORMAL")
                self._connection.executescript(TABLES)
            else:
                self._connection.execute("BEGIN")  # all queries read the same snapshot

    def close(self) -> None:
        """Close the database and release its lock."""
        if self._lock is not None:
            with contextlib.suppress(sqlite3.Error):  # not while another process reads it
                self._connection.execute("PRAGMA journal_mode=DELETE")  # leaves a single file
        self._connection.close()
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> ResultsDatabase:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _name_errors(self) -> Iterator[None]:
        """Raise errors of SQLite as those of astray, with the name of the file."""
        try:
            yield
        except sqlite3.DatabaseError as problem:
            code = getattr(problem, "sqlite_errorcode", 0) & 0xFF  # without the extension
            damaged = code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
            kind = WrongInput if damaged else AstrayError
            raise kind(f"{self.folder / DATABASE}: {problem}") from None

    def _query(self, sql: str) -> list[tuple[Any, ...]]:
        with self._name_errors():
            return self._connection.execute(sql).fetchall()

    # The plan.

    def plan(self) -> SweepPlan | None:
        """The plan of the sweep; None before `begin`."""
        try:
            found = self._query("SELECT about FROM plan")
        except AstrayError as problem:
            if isinstance(problem, WrongInput):
                raise
            raise WrongInput(f"{problem}; it is not the results database of a sweep") from None
        if not found:
            return None
        try:
            return SweepPlan(**json.loads(found[0][0]))
        except (ValueError, TypeError, RecursionError) as problem:
            why = f"the plan of the sweep in it is damaged: {problem}"
            raise WrongInput(f"{self.folder / DATABASE}: {why}") from None

    def begin(self, plan: SweepPlan) -> None:
        """Begin a sweep or resume it; WrongInput if the database has another plan."""
        existing = self.plan()
        if existing is not None and (lines := plan_differences(existing, plan)):
            listed = "\n".join(f"  {line}" for line in lines)
            raise WrongInput(
                f"{self.folder} holds another sweep; choose another folder or --overwrite\n{listed}"
            )
        with self._name_errors(), self._connection:
            self._connection.execute("DELETE FROM plan")
            text = json.dumps(dataclasses.asdict(plan))
            self._connection.execute("INSERT INTO plan VALUES (?)", (text,))
            # Failed tasks are tried again.
            self._connection.execute("DELETE FROM tasks WHERE failure IS NOT NULL")

    # Tasks.

    def missing(self, plan: SweepPlan) -> dict[int, list[range]]:
        """The worlds of each case that are not finished."""
        missing: dict[int, list[range]] = {}
        next_world = dict.fromkeys(range(len(plan.cases)), 0)
        for case, first, count in self._query(
            'SELECT "case", first, count FROM tasks ORDER BY "case", first'
        ):
            if first > next_world[case]:
                missing.setdefault(case, []).append(range(next_world[case], first))
            next_world[case] = first + count
        for case, world in next_world.items():
            if world < plan.worlds:
                missing.setdefault(case, []).append(range(world, plan.worlds))
        return missing

    def finished(self) -> dict[int, int]:
        """The number of finished worlds of each case."""
        return dict(
            self._query(
                'SELECT "case", SUM(count) FROM tasks WHERE failure IS NULL GROUP BY "case"'
            )
        )

    def insert_results(self, task: SweepTask, rows: Sequence[ResultRow]) -> None:
        """Write the rows of a finished task, in one transaction."""
        marks = ", ".join("?" * (1 + len(ResultRow._fields)))
        with self._name_errors(), self._connection:
            self._connection.executemany(
                f"INSERT INTO rows VALUES ({marks})", [(task.case, *row) for row in rows]
            )
            self._insert_task(task, None)

    def insert_failure(self, task: SweepTask, reason: str) -> None:
        """Write that a task failed."""
        with self._name_errors(), self._connection:
            self._insert_task(task, reason)

    def _insert_task(self, task: SweepTask, failure: str | None) -> None:
        values = (task.case, task.first, task.count, failure)
        self._connection.execute("INSERT INTO tasks VALUES (?, ?, ?, ?)", values)

    def failures(self) -> list[tuple[SweepTask, str]]:
        """The failed tasks, each with its reason."""
        found = self._query(
            'SELECT "case", first, count, failure FROM tasks WHERE failure IS NOT NULL '
            'ORDER BY "case", first'
        )
        return [(SweepTask(*task), reason) for *task, reason in found]

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows, each with its case first, in an order that no cut into tasks changes."""
        columns = ", ".join(f'"{name}"' for name in ResultRow._fields)
        order = '"case", world, place, robot'
        return self._query(f'SELECT "case", {columns} FROM rows ORDER BY {order}')


def _acquire_lock(path: Path) -> IO[bytes]:
    """Lock the folder for this process; WrongInput if another one runs the sweep."""
    file = path.open("wb")
    try:
        lock_file(file)
    except OSError:
        file.close()
        raise WrongInput(f"{path.parent}: another process is running this sweep") from None
    return file


def _delete_sweep(folder: Path) -> None:
    """Delete the files of a sweep, and no others."""
    for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", *DERIVED_FILES):
        (folder / name).unlink(missing_ok=True)


def plan_differences(existing: SweepPlan, given: SweepPlan) -> list[str]:
    """Why a plan cannot resume an existing sweep, a line each; more worlds are no difference."""
    lines = []
    if given.worlds < existing.worlds:
        lines.append(
            f"worlds: {existing.worlds} there, {given.worlds} here: there can only be more"
        )
    for key in ("astray", "vary", "files"):
        lines += _value_differences((key,), getattr(existing, key), getattr(given, key))
    if existing.vary == given.vary:
        for there, here in zip(existing.cases, given.cases, strict=True):
            lines += [line for line in _value_differences((), there, here) if line not in lines]
    more = len(lines) - MAX_DIFFERENCES
    return [*lines[:MAX_DIFFERENCES], *([f"and {more} more"] if more > 0 else [])]


def _value_differences(path: tuple[str | int, ...], there: Any, here: Any) -> list[str]:
    """The paths at which two values differ, a line each."""
    if isinstance(there, dict) and isinstance(here, dict):
        keys = list(dict.fromkeys([*there, *here]))
        return [
            line
            for key in keys
            for line in _value_differences((*path, key), there.get(key), here.get(key))
        ]
    if isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        pairs = enumerate(zip(there, here, strict=True))
        return [line for k, (a, b) in pairs for line in _value_differences((*path, k), a, b)]
    if there == here:
        return []
    return [f"{format_path(path)}: {_abbreviate(there)} there, {_abbreviate(here)} here"]


def _abbreviate(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
