"""A run as a folder: what was run, what came of it, and how to run it again.

    scenario.yaml    the effective scenario: loads to the same run
    run.json         seed, worlds, versions
    events.jsonl     what came in from outside, a line each
    summary.json     metrics
    log.npz          poses, speeds, covariances, metrics, scans and tracks over time, (times, rows)
    collisions.csv   who ran into what, where and how fast
    map.geojson      the map of the first world as it was in the end
    plot.png         a picture
    trajectories/    one file per robot and belief in TUM's text format, which evo reads
    files/           maps, plugins and samples that the scenario took from files

It is written beside its goal and moved there when it is whole.
"""

from __future__ import annotations

import contextlib
import json
import platform
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from astray.engine import GroupLog, Log, Run, summary
from astray.errors import WrongInput
from astray.files import check_writable, dump_yaml, part_of, unwritten
from astray.scenario import with_files
from astray.tables import Array, Table
from astray.version import __version__
from astray.world.maps import write_map

if TYPE_CHECKING:
    pass

MOST_FILES = 100  # robots per group that get a trajectory file of their own; log.npz has all
LOGGED = ("stamp", "alive", "x", "y", "yaw", "vx", "vy", "wz", "cov")
MARK = "run.json"


def check_folder(folder: Path, overwrite: bool, mark: str = MARK, what: str = "run") -> None:
    """Refuse a folder that holds something else, or an earlier run that would be lost.

    A folder of ours is known by a file in it, its mark.
    """
    check_writable(folder)
    if folder.exists() and not folder.is_dir():
        raise WrongInput(f"{folder} is a file, not a folder")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not (folder / mark).exists():
        raise WrongInput(f"{folder} holds something else than a {what}; choose another folder")
    if not overwrite:
        raise WrongInput(f"{folder} holds an earlier {what}; choose another folder or --overwrite")


def write_folder(sim: Run, log: Log, folder: Path, overwrite: bool = False) -> None:
    """Write a run to a folder, all of it or nothing."""
    check_folder(folder, overwrite)
    with whole_folder(folder) as part:
        _write(sim, log, part)


@contextlib.contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A folder to write to that takes the place of another in the end, all of it or nothing."""
    part = part_of(folder)
    try:
        part.mkdir(parents=True)
        yield part
        if folder.exists():
            shutil.rmtree(folder)
        part.replace(folder)
    except OSError as problem:
        raise unwritten(folder, problem, WrongInput) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)  # whatever went wrong, Ctrl-C included


def _write(sim: Run, log: Log, folder: Path) -> None:
    from astray.plots import plot_paths

    def text(name: str, content: str) -> None:
        (folder / name).write_text(content, encoding="utf-8", newline="\n")

    scenario, files = with_files(sim.scenario)
    ran = {"duration": sim.steps * sim.dt} if sim.steps else {}  # of 0 s, no scenario loads
    text("scenario.yaml", dump_yaml({**scenario, "seed": sim.seed, **ran}))
    write_files(folder, files)
    text("run.json", json.dumps(_about(sim), indent=2) + "\n")
    text("events.jsonl", "".join(event.to_json() + "\n" for event in sim.events))
    text("summary.json", json.dumps(summary(sim), indent=2) + "\n")
    arrays: dict[str, Any] = {"time": log.time}
    (folder / "trajectories").mkdir()
    for name, group in log.groups.items():
        for who, series in _beliefs(group).items():
            logged = [c for c in LOGGED if (who, c) != ("truth", "cov")]  # zero, and large
            arrays |= {f"{name}/{who}/{column}": series[column] for column in logged}
            for row in range(min(MOST_FILES, series.shape[1])):
                _write_tum(folder / "trajectories", name, who, series[:, row])
        for metric, values in group.metrics.items():
            arrays |= {f"{name}/{metric}/{who}": value for who, value in values.items()}
        for sensor, found in group.bulk.items():
            arrays |= {f"{name}/{sensor}/{array}": values for array, values in found.items()}
        if group.contacts is not None:
            told = group.contacts
            arrays |= {f"{name}/tracks/{column}": told[column] for column in told.dtype.names or ()}
    np.savez_compressed(folder / "log.npz", **arrays)
    if sim.environment.interactions:
        text("collisions.csv", _collisions(sim))
    if len(sim.map()):
        write_map(sim.map(), folder / "map.geojson")
    plot_paths(sim.path_log.paths(), sim.map()).savefig(folder / "plot.png", dpi=120)


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their names from a folder."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def _about(sim: Run) -> dict[str, Any]:
    return {
        "seed": sim.seed,
        "worlds": sim.worlds.tolist(),
        "steps": sim.steps,
        "astray": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": _numba_version(),
        "platform": platform.platform(),
    }


def _numba_version() -> str | None:
    """None where kernels run as plain Python for want of it."""
    try:
        import numba
    except ImportError:
        return None
    return str(numba.__version__)


def _collisions(sim: Run) -> str:
    """The contacts that began, a line each; `with` is a robot or "wall"."""
    names: list[str] = []
    for name, group in sim.robots.items():
        names += [f"{name}-{robot}" for robot in group.truth["robot"]]
    lines = ["stamp,world,robot,with,x,y,speed"]
    for hit in sim.collisions:
        other = "wall" if hit["other"] < 0 else names[hit["other"]]
        place = f"{hit['x']:.6f},{hit['y']:.6f},{hit['speed']:.6f}"
        lines.append(f"{hit['stamp']:.9f},{hit['world']},{names[hit['row']]},{other},{place}")
    return "\n".join(lines) + "\n"


def _beliefs(group: GroupLog) -> dict[str, Table]:
    return {"truth": group.truth, "belief": group.belief, **group.rivals}


def _write_tum(folder: Path, name: str, who: str, series: Table) -> None:
    """Time, position and quaternion of one robot, a line per new stamp."""
    series = series[series["alive"]]
    if not len(series):
        return
    new = np.concatenate([[True], np.diff(series["stamp"]) > 0])
    series = series[new]
    lines = _tum_lines(series["stamp"], series["x"], series["y"], series["yaw"])
    robot = f"{name}-{series['robot'][0]}.world{series['world'][0]}.{who}.tum"
    (folder / robot).write_text(lines, encoding="utf-8", newline="\n")


def _tum_lines(time: Array, x: Array, y: Array, yaw: Array) -> str:
    z, w = np.sin(yaw / 2), np.cos(yaw / 2)
    rows = zip(time.tolist(), x.tolist(), y.tolist(), z.tolist(), w.tolist(), strict=True)
    return "".join(f"{t:.9f} {a:.9f} {b:.9f} 0 0 0 {c:.9f} {d:.9f}\n" for t, a, b, c, d in rows)
