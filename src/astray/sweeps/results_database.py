"""What a sweep has found so far, in a file that loses nothing: one transaction per finished task.

SQLite with a write-ahead log survives `kill -9` of its writer, and others may read meanwhile. Only
the process that runs the sweep writes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from astray.errors import AstrayError, WrongInput, in_words
from astray.files import lock_file
from astray.sweeps.cases import SweepPlan, SweepTask
from astray.sweeps.task import Row

NAME, LOCK = "results.sqlite", "results.lock"
MADE = ("results.csv", "summary.json", "summary.png")  # from the ledger, when all is done
TABLES = f"""
CREATE TABLE IF NOT EXISTS plan (about TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tasks (
    "case" INTEGER, first INTEGER, count INTEGER, failure TEXT, PRIMARY KEY ("case", first)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rows (
    "case" INTEGER, {", ".join(f'"{name}"' for name in Row._fields)},
    PRIMARY KEY ("case", world, place, robot)
) WITHOUT ROWID;
"""
MOST_SAID = 8  # differences between two plans


class Ledger:
    """The ledger of a sweep, to be read or, by one process at a time, to be written."""

    def __init__(self, folder: Path, write: bool = False, anew: bool = False) -> None:
        self.folder = folder
        self._lock: IO[bytes] | None = None
        if write:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _take(folder / LOCK)
            if anew:
                _forget(folder)
        elif not (folder / NAME).is_file():
            raise WrongInput(f"{folder} holds no sweep: there is no {NAME} in it")
        how = "rwc" if write else "ro"
        self._base = sqlite3.connect(f"{(folder / NAME).resolve().as_uri()}?mode={how}", uri=True)
        with self._wording():
            if write:
                self._base.execute("PRAGMA journal_mode=WAL")
                self._base.execute("PRAGMA synchronous=NORMAL")
                self._base.executescript(TABLES)
            else:
                self._base.execute("BEGIN")  # all that is read is of one moment

    def close(self) -> None:
        """Let others have it."""
        if self._lock is not None:
            with contextlib.suppress(sqlite3.Error):  # somebody reads it: then not
                self._base.execute("PRAGMA journal_mode=DELETE")  # one file, also for archives
        self._base.close()
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _wording(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as problem:
            kind = WrongInput if "not a database" in str(problem) else AstrayError
            raise kind(f"{self.folder / NAME}: {problem}") from None

    def _ask(self, question: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._wording():
            return self._base.execute(question, values).fetchall()

    def plan(self) -> SweepPlan | None:
        """What it is the ledger of; None if nobody has said so yet."""
        try:
            found = self._ask("SELECT about FROM plan")
        except AstrayError as problem:
            if isinstance(problem, WrongInput):
                raise
            raise WrongInput(f"{problem}; it is not the ledger of a sweep") from None
        return SweepPlan(**json.loads(found[0][0])) if found else None

    def begin(self, plan: SweepPlan) -> None:
        """Go on with this plan, or refuse it if the ledger is that of another."""
        there = self.plan()
        if there is not None and (said := differences(there, plan)):
            listed = "\n".join(f"  {line}" for line in said)
            raise WrongInput(
                f"{self.folder} holds another sweep; choose another folder or --overwrite\n{listed}"
            )
        with self._wording(), self._base:
            self._base.execute("DELETE FROM plan")
            about = json.dumps(dataclasses.asdict(plan))
            self._base.execute("INSERT INTO plan VALUES (?)", (about,))
            self._base.execute("DELETE FROM tasks WHERE failure IS NOT NULL")  # are tried again

    def missing(self, plan: SweepPlan) -> dict[int, list[range]]:
        """The worlds of each case that are not there yet."""
        left: dict[int, list[range]] = {}
        after = dict.fromkeys(range(len(plan.cases)), 0)
        for case, first, count in self._ask(
            'SELECT "case", first, count FROM tasks ORDER BY "case", first'
        ):
            if first > after[case]:
                left.setdefault(case, []).append(range(after[case], first))
            after[case] = first + count
        for case, world in after.items():
            if world < plan.worlds:
                left.setdefault(case, []).append(range(world, plan.worlds))
        return left

    def done(self) -> dict[int, int]:
        """How many worlds of each case there are."""
        found = self._ask(
            'SELECT "case", SUM(count) FROM tasks WHERE failure IS NULL GROUP BY "case"'
        )
        return dict(found)

    def keep(self, task: SweepTask, rows: Sequence[Row]) -> None:
        """Write what a task found."""
        marks = ", ".join("?" * (1 + len(Row._fields)))
        with self._wording(), self._base:
            self._base.executemany(
                f"INSERT INTO rows VALUES ({marks})", [(task.case, *row) for row in rows]
            )
            self._note(task, None)

    def fail(self, task: SweepTask, why: str) -> None:
        """Write that a task could not be done."""
        with self._wording(), self._base:
            self._note(task, why)

    def _note(self, task: SweepTask, failure: str | None) -> None:
        values = (task.case, task.first, task.count, failure)
        self._base.execute("INSERT INTO tasks VALUES (?, ?, ?, ?)", values)

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows, each behind the number of its case, in an order that no cut changes."""
        columns = ", ".join(f'"{name}"' for name in Row._fields)
        order = '"case", world, place, robot'
        return self._ask(f'SELECT "case", {columns} FROM rows ORDER BY {order}')

    def failures(self) -> list[tuple[SweepTask, str]]:
        """The tasks that could not be done, and why."""
        found = self._ask(
            'SELECT "case", first, count, failure FROM tasks WHERE failure IS NOT NULL '
            'ORDER BY "case", first'
        )
        return [(SweepTask(*task), why) for *task, why in found]


def _take(file: Path) -> IO[bytes]:
    held = file.open("wb")
    try:
        lock_file(held)
    except OSError:
        held.close()
        raise WrongInput(f"{file.parent}: another process is running this sweep") from None
    return held


def _forget(folder: Path) -> None:
    """Take away the sweep in a folder, and nothing else."""
    for name in (NAME, f"{NAME}-wal", f"{NAME}-shm", *MADE):
        (folder / name).unlink(missing_ok=True)


def differences(there: SweepPlan, here: SweepPlan) -> list[str]:
    """In what one plan is another than one to go on with; more worlds are no difference."""
    said = []
    if here.worlds < there.worlds:
        said.append(f"worlds: {there.worlds} there, {here.worlds} here: there can only be more")
    for key in ("astray", "vary", "files"):
        said += _differ((key,), getattr(there, key), getattr(here, key))
    if there.vary == here.vary:
        for one, other in zip(there.cases, here.cases, strict=True):
            said += [line for line in _differ((), one, other) if line not in said]
    more = len(said) - MOST_SAID
    return [*said[:MOST_SAID], *([f"and {more} more"] if more > 0 else [])]


def _differ(path: tuple[str | int, ...], there: Any, here: Any) -> list[str]:
    """Where two values differ, a line each."""
    if isinstance(there, dict) and isinstance(here, dict):
        keys = list(dict.fromkeys([*there, *here]))
        return [line for k in keys for line in _differ((*path, k), there.get(k), here.get(k))]
    if isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        pairs = enumerate(zip(there, here, strict=True))
        return [line for k, (a, b) in pairs for line in _differ((*path, k), a, b)]
    if there == here:
        return []
    return [f"{in_words(path)}: {_short(there)} there, {_short(here)} here"]


def _short(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
