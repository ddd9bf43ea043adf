"""Run folders: what `--out` writes of a run, and the same files read back.

    scenario.yaml    the effective scenario; it loads to the same run
    run.json         seed, worlds, versions
    events.jsonl     the events of the run, one per line
    summary.json     metrics
    log.npz          poses, speeds, covariances, metrics, scans and tracks over time, (times, rows)
    collisions.csv   every collision: which robots, where and how fast
    map.geojson      the map of the first world at the end of the run
    plot.png         the paths
    trajectories/    one file per robot and belief in TUM's text format, which evo reads
    files/           maps, plugins and samples that the scenario reads from files

A folder is written under a temporary name and renamed when it is complete. On reading, a damaged
file is refused by its name.
"""

from __future__ import annotations

import contextlib
import json
import platform
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from astray.engine import GroupLog, Log, Run, is_whole, summary
from astray.errors import WrongInput
from astray.files import check_writable, dump_yaml, read_npz, temporary_path, write_error
from astray.scenario import BUNDLE_FOLDER, bundle_files
from astray.tables import Array, Table
from astray.version import __version__
from astray.world.maps import write_map

MAX_TRAJECTORIES = 100  # robots per group with a trajectory file of their own; log.npz has all
LOGGED = ("stamp", "alive", "x", "y", "yaw", "vx", "vy", "wz", "cov")
MARKER_FILE = "run.json"

# Writing.


def check_folder(
    folder: Path, overwrite: bool, marker: str = MARKER_FILE, content: str = "run"
) -> None:
    """Refuse to write to a folder of other content, or over an earlier result.

    Args:
        folder: The folder to be written; it need not exist.
        overwrite: Whether an earlier result may be replaced.
        marker: The file by which a folder of ours is recognised.
        content: What the folder holds, for the message.

    Raises:
        WrongInput: The folder cannot be written, or its content would be lost.
    """
    check_writable(folder)
    if folder.exists() and not folder.is_dir():
        raise WrongInput(f"{folder} is a file, not a folder")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not (folder / marker).exists():
        raise WrongInput(f"{folder} holds something else than a {content}; choose another folder")
    if not overwrite:
        raise WrongInput(
            f"{folder} holds an earlier {content}; choose another folder or --overwrite"
        )


def write_run_folder(sim: Run, log: Log, folder: Path, overwrite: bool = False) -> None:
    """Write a run to a folder, completely or not at all.

    Args:
        sim: The run, after its last step.
        log: Its log.
        folder: Where to write.
        overwrite: Whether an earlier run in the folder may be replaced.

    Raises:
        WrongInput: The folder cannot be written, or its content would be lost.
    """
    check_folder(folder, overwrite)
    with atomic_folder(folder) as part:
        _write_files(sim, log, part)


@contextlib.contextmanager
def atomic_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder that replaces `folder` when the block ends without an error."""
    part = temporary_path(folder)
    try:
        part.mkdir(parents=True)
        yield part
        if folder.exists():
            shutil.rmtree(folder)
        part.replace(folder)
    except OSError as problem:
        raise write_error(folder, problem, WrongInput) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)  # after any error, Ctrl-C included


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their paths relative to a folder."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def _write_files(sim: Run, log: Log, folder: Path) -> None:
    from astray.plots import plot_paths

    def write_text(name: str, content: str) -> None:
        (folder / name).write_text(content, encoding="utf-8", newline="\n")

    scenario, files = bundle_files(sim.scenario)
    duration = {"duration": sim.steps * sim.dt} if sim.steps else {}  # no scenario loads with 0 s
    write_text("scenario.yaml", dump_yaml({**scenario, "seed": sim.seed, **duration}))
    write_files(folder, files)
    write_text(MARKER_FILE, json.dumps(_run_info(sim), indent=2) + "\n")
    write_text("events.jsonl", "".join(event.to_json() + "\n" for event in sim.events))
    write_text("summary.json", json.dumps(summary(sim), indent=2) + "\n")
    np.savez_compressed(folder / "log.npz", **_log_arrays(log))
    (folder / "trajectories").mkdir()
    for name, group in log.groups.items():
        for subject, series in _states(group).items():
            for row in range(min(MAX_TRAJECTORIES, series.shape[1])):
                _write_tum(folder / "trajectories", name, subject, series[:, row])
    if sim.environment.interactions:
        write_text("collisions.csv", _collisions_csv(sim))
    if len(sim.map()):
        write_map(sim.map(), folder / "map.geojson")
    plot_paths(sim.path_log.paths(), sim.map()).savefig(folder / "plot.png", dpi=120)


def _run_info(sim: Run) -> dict[str, Any]:
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
    """The version of numba; None where it is missing and kernels run as plain Python."""
    try:
        import numba
    except ImportError:
        return None
    return str(numba.__version__)


def _states(group: GroupLog) -> dict[str, Table]:
    """The logged truth, belief and rivals, by name."""
    return {"truth": group.truth, "belief": group.belief, **group.rivals}


def _log_arrays(log: Log) -> dict[str, Any]:
    """The arrays of log.npz, by name."""
    arrays: dict[str, Any] = {"time": log.time}
    for name, group in log.groups.items():
        for subject, series in _states(group).items():
            logged = [c for c in LOGGED if (subject, c) != ("truth", "cov")]  # zero, and large
            arrays |= {f"{name}/{subject}/{column}": series[column] for column in logged}
        for metric, values in group.metrics.items():
            arrays |= {f"{name}/{metric}/{subject}": value for subject, value in values.items()}
        for sensor, found in group.bulk.items():
            arrays |= {f"{name}/{sensor}/{array}": values for array, values in found.items()}
        if group.contacts is not None:
            tracks = group.contacts
            arrays |= {f"{name}/tracks/{c}": tracks[c] for c in tracks.dtype.names or ()}
    return arrays


def _collisions_csv(sim: Run) -> str:
    """The collisions, one per line in the order of their begin; `with` is a robot or "wall"."""
    names: list[str] = []
    for name, group in sim.robots.items():
        names += [f"{name}-{robot}" for robot in group.truth["robot"]]
    lines = ["stamp,world,robot,with,x,y,speed"]
    for hit in sim.collisions:
        other = "wall" if hit["other"] < 0 else names[hit["other"]]
        point = f"{hit['x']:.6f},{hit['y']:.6f},{hit['speed']:.6f}"
        lines.append(f"{hit['stamp']:.9f},{hit['world']},{names[hit['row']]},{other},{point}")
    return "\n".join(lines) + "\n"


def _write_tum(folder: Path, name: str, subject: str, series: Table) -> None:
    """Write time, position and quaternion of one robot, a line per new stamp."""
    series = series[series["alive"]]
    if not len(series):
        return
    is_new = np.concatenate([[True], np.diff(series["stamp"]) > 0])
    series = series[is_new]
    lines = _tum_lines(series["stamp"], series["x"], series["y"], series["yaw"])
    file = f"{name}-{series['robot'][0]}.world{series['world'][0]}.{subject}.tum"
    (folder / file).write_text(lines, encoding="utf-8", newline="\n")


def _tum_lines(time: Array, x: Array, y: Array, yaw: Array) -> str:
    z, w = np.sin(yaw / 2), np.cos(yaw / 2)
    rows = zip(time.tolist(), x.tolist(), y.tolist(), z.tolist(), w.tolist(), strict=True)
    return "".join(f"{t:.9f} {a:.9f} {b:.9f} 0 0 0 {c:.9f} {d:.9f}\n" for t, a, b, c, d in rows)


# Reading.


def read_run_info(folder: Path) -> dict[str, Any]:
    """Read seed, worlds and versions of the run in a folder; WrongInput if there is none."""
    file = folder / MARKER_FILE
    if not file.is_file():
        raise WrongInput(f"{folder}: holds no run that was written by --out")
    info = read_json_object(file)
    worlds = info.get("worlds")
    if not isinstance(worlds, list) or not worlds or not all(map(is_whole, worlds)):
        raise WrongInput(f"{file}: worlds are the whole numbers of one or more")
    return info


def read_json_object(file: Path) -> dict[str, Any]:
    """Read a JSON file that holds one object."""
    try:
        found = json.loads(read_text(file))
    except (ValueError, RecursionError) as problem:
        raise WrongInput(f"{file}: damaged: {problem}") from None
    if not isinstance(found, dict):
        raise WrongInput(f"{file}: an object is needed, not {found!r:.40}")
    return found


def read_scenario_files(folder: Path) -> dict[str, bytes]:
    """Read the files that the scenario in a folder refers to, by their paths from there."""
    found = [file for file in (folder / BUNDLE_FOLDER).rglob("*") if file.is_file()]
    try:
        return {file.relative_to(folder).as_posix(): file.read_bytes() for file in found}
    except OSError as problem:
        raise WrongInput(f"{folder}: cannot be read: {problem.strerror or problem}") from None


def read_text(file: Path) -> str:
    """Read a text file; WrongInput if it is missing or not UTF-8."""
    try:
        return file.read_text(encoding="utf-8")
    except OSError as problem:
        raise WrongInput(f"{file}: cannot be read: {problem.strerror or problem}") from None
    except UnicodeDecodeError as problem:
        raise WrongInput(f"{file}: damaged: {problem}") from None


def read_log(folder: Path) -> dict[str, Array]:
    """Read the series of log.npz by name: numeric arrays with one entry per time."""
    file = folder / "log.npz"
    log = read_npz(file, "the log of a run")
    if "time" not in log or log["time"].ndim != 1:
        raise WrongInput(f"{file}: it has no 'time'")
    times = len(log["time"])
    if not times:
        raise WrongInput(f"{file}: nothing was logged")
    for name, series in log.items():
        if series.dtype.kind not in "biuf":
            raise WrongInput(f"{file}: {name!r} has no numbers")
        if name != "time" and (series.ndim < 2 or len(series) != times):
            raise WrongInput(f"{file}: {name!r} has no row for each of {times} times")
    return log


@contextlib.contextmanager
def refuse_inconsistent_files(folder: Path) -> Iterator[None]:
    """Turn errors of the block into WrongInput: the files are valid, but of different runs."""
    try:
        yield
    except KeyError as missing:
        raise WrongInput(f"{folder}: its files do not fit together: no {missing}") from None
    except (ValueError, TypeError, LookupError, AttributeError) as problem:
        raise WrongInput(f"{folder}: its files do not fit together: {problem}") from None
