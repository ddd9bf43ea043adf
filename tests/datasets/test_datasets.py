"""Logs of real robots: small ones that are written here, and the real ones if present."""

from __future__ import annotations

import gzip
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from astray.datasets import Dataset, Reference, compare, read_logs, run_on_log, score
from astray.datasets.carmen import spread_stamps, synthetic_odometry
from astray.datasets.gnss_outage import outage_starts
from astray.datasets.log_files import read_matlab
from astray.datasets.mrclam import COMMAND_DELAY, SPEED_SCALE, TURN_SLOWDOWN
from astray.datasets.wheel_conversion import (
    ackermann_wheels,
    differential_wheels,
    integrate_held,
)
from astray.errors import LogError, LogWarning
from astray.numerics.se2 import arc
from astray.robot.estimators import Odometry, Particle
from astray.robot.motion import Ackermann, Differential
from support.logs import carmen_text, course, matrix, real, write_matlab

# UTIAS MRCLAM.


def test_a_folder_of_mrclam_has_a_log_for_each_robot(mrclam: Path) -> None:
    (log,) = read_logs(mrclam)
    assert log.name == "robot 4"
    assert log.start == pytest.approx((1.0, 0.0, 0.5 * math.pi))
    assert log.duration == pytest.approx(19.9 + COMMAND_DELAY)
    assert log.streams["wheels"].datasheet.kind == "wheels"


def test_what_the_camera_saw_at_once_is_one_reading_without_robots(mrclam: Path) -> None:
    stream = read_logs(mrclam)[0].streams["landmarks"]
    assert stream.stamp == pytest.approx([0.05, 0.35])
    assert stream.table["count"].tolist() == [1, 2]
    assert stream.arrays["seen"].tolist() == [[1, 0], [1, 1]]
    assert stream.arrays["identity"][1].tolist() == [1, 0]
    assert stream.arrays["range"][1] == pytest.approx([1.0, math.sqrt(2.0)])
    assert stream.datasheet["beacons"] == [(2.0, 1.0), (0.0, 0.0)]


def test_odometry_on_logged_speeds_drives_the_corrected_speeds(mrclam: Path) -> None:
    goes = SPEED_SCALE * 0.1 - TURN_SLOWDOWN * 0.1**2  # m/s, at 0.1 rad/s
    belief = run_on_log(read_logs(mrclam)[0], Odometry()).beliefs[-1, 0]
    assert belief["stamp"] == pytest.approx(19.9 + COMMAND_DELAY)
    expected = arc((1.0, 0.0, 0.5 * math.pi), goes * 19.9, 0.0, 0.1 * 19.9)
    assert [belief[name] for name in ("x", "y", "yaw")] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("Robot4_Odometry.dat", "# t v w\n1 2 3\n4 five 6\n", r"Odometry\.dat:3: 'five' is not"),
        ("Robot4_Odometry.dat", "1 2 3\n4 5\n", r"Odometry\.dat:2: 3 numbers are needed, not 2"),
        ("Robot4_Odometry.dat", "1 2 3\n4 5 nan\n", r"Odometry\.dat:2: 'nan' is not"),
        ("Robot4_Odometry.dat", "", r"Odometry\.dat: has no row of numbers"),
        ("Robot4_Odometry.dat", "1 2 3\n2 2 3\n", r"odometry and truth of robot 4 are not of"),
        ("Robot4_Groundtruth.dat", None, r"Groundtruth\.dat: No such file"),
        ("Barcodes.dat", "1 5\n", r"Barcodes\.dat: some landmarks have no barcode"),
    ],
)
def test_a_broken_file_is_named_with_its_line(
    mrclam: Path, file: str, text: str | None, message: str
) -> None:
    if text is None:
        (mrclam / file).unlink()
    else:
        (mrclam / file).write_text(text)
    with pytest.raises(LogError, match=message):
        read_logs(mrclam)


# MATLAB files and Victoria Park.


@pytest.mark.parametrize("pack", [False, True])
def test_a_matlab_file_gives_its_arrays_back(tmp_path: Path, pack: bool) -> None:
    values = np.arange(6.0).reshape(2, 3) + 0.5
    parts = (matrix("a", values, pack=pack), matrix("longer_name", [[7], [8]], 5, pack))
    write_matlab(tmp_path / "x.mat", *parts)
    found = read_matlab(tmp_path / "x.mat")
    assert found["a"].tolist() == values.tolist()
    assert found["longer_name"].tolist() == [[7.0], [8.0]]


def test_the_matlab_reader_agrees_with_that_of_scipy() -> None:
    from scipy.io import loadmat

    for name in ("aa3_dr.mat", "aa3_gpsx.mat", "VictoriaParkSinSincronizar.mat"):
        file = real(f"victoria/{name}")
        theirs = {k: v for k, v in loadmat(file).items() if k[0] != "_" and v.dtype.kind in "fiu"}
        ours = read_matlab(file)
        assert set(ours) == set(theirs)
        for key, values in theirs.items():
            assert ours[key].tolist() == values.tolist()


@pytest.mark.parametrize("cut", [20, 140, 170, 190])
def test_a_truncated_matlab_file_is_refused(tmp_path: Path, cut: int) -> None:
    write_matlab(tmp_path / "x.mat", matrix("time", np.arange(10.0)))
    whole = (tmp_path / "x.mat").read_bytes()
    (tmp_path / "x.mat").write_bytes(whole[:cut])
    with pytest.raises(LogError, match=r"x\.mat: "):
        read_logs(tmp_path)


def test_where_the_truck_starts_is_found_from_its_fixes(victoria: Path) -> None:
    (log,) = read_logs(victoria)
    assert log.start == pytest.approx((10.0, 20.0, 0.3), abs=0.01)
    assert read_logs(victoria / "gps.mat")[0].start == log.start


def test_odometry_of_the_truck_passes_through_its_fixes(victoria: Path) -> None:
    result = run_on_log(read_logs(victoria)[0], Odometry())
    found = compare(result)
    assert len(found.belief) == 160
    assert found.distance.max() < 0.05
    assert math.isnan(score(result).heading_rmse)


def test_a_truck_without_fixes_is_refused_with_what_is_missing(victoria: Path) -> None:
    (victoria / "gps.mat").unlink()
    with pytest.raises(LogError, match=r"needs a \.mat file with La_m, Lo_m, timeGps"):
        read_logs(victoria)


def test_windows_begin_after_a_fix_and_end_before_one() -> None:
    fixes = np.concatenate([np.arange(0.0, 130.0), np.arange(150.0, 400.0)])
    starts = outage_starts(fixes, 30.0)
    assert len(starts) > 10
    for start in starts:
        assert fixes[fixes <= start].max() >= start - 1.0
        assert fixes[fixes >= start + 30.0].min() <= start + 31.0
    assert not ((starts > 131.0) & (starts < 150.0)).any()


# CARMEN.


@pytest.mark.parametrize("name", ["room.log", "room.log.gz", "whatever"])
def test_a_carmen_log_is_known_by_what_is_in_it(tmp_path: Path, name: str) -> None:
    data = carmen_text(course()).encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    (log,) = read_logs(tmp_path / name)
    assert len(log.streams["scan"]) == 30
    assert log.name == name.split(".")[0]


def test_the_map_has_the_walls_that_even_scans_hit(tmp_path: Path) -> None:
    (tmp_path / "room.log").write_text(carmen_text(course(), rays=180))
    map = read_logs(tmp_path / "room.log")[0].map
    assert map is not None
    off = np.abs(np.abs(map.segments.reshape(-1, 2)).max(axis=1) - 4.0)
    assert np.percentile(off, 99) < 0.02
    floor = np.array([corner for place in map.places for corner in place.points])
    assert np.abs(floor).max() < 4.3
    area = sum(_area(place.points) for place in map.places)
    assert 30.0 < area < 66.0


def _area(points: Any) -> float:
    (west, south), (east, _), (_, north), _ = points
    return float((east - west) * (north - south))


def test_odd_scans_are_those_that_the_filter_gets_and_is_judged_by(tmp_path: Path) -> None:
    poses = course()
    (tmp_path / "room.log").write_text(carmen_text(poses))
    log = read_logs(tmp_path / "room.log")[0]
    assert log.reference.x == pytest.approx(poses[1::2, 0])
    assert compare(run_on_log(log, Odometry())).belief["stamp"] == pytest.approx(
        log.reference.stamp
    )


def test_clocks_that_were_set_back_do_not_turn_the_order_of_scans(tmp_path: Path) -> None:
    stamps = np.arange(60.0)
    stamps[30:] -= 0.9
    stamps[31] = 10.0
    (tmp_path / "room.log").write_text(carmen_text(course(), stamps=stamps))
    with pytest.warns(LogWarning):
        log = read_logs(tmp_path / "room.log")[0]
    assert (np.diff(log.streams["scan"].stamp) > 0).all()
    assert (np.diff(log.streams["wheels"].stamp) > 0).all()


def six_digits(stamps: Any) -> Any:
    return np.array([float(f"{stamp + 1.13486e9:.6g}") for stamp in stamps])


def with_repeats(stamps: Any) -> Any:
    found = stamps.copy()
    found[[11, 12, 30, 47]] = found[[10, 10, 29, 46]]
    return found


def set_back(stamps: Any) -> Any:
    return np.where(np.arange(len(stamps)) < len(stamps) // 2, stamps, stamps - 3600.0)


BAD_CLOCKS = {
    "equal": lambda stamps: 0.0 * stamps,
    "six digits": six_digits,
    "whole seconds": np.floor,
    "set back": set_back,
    "a few equal": with_repeats,
}


@pytest.mark.parametrize("clock", BAD_CLOCKS)
def test_the_error_on_a_log_does_not_depend_on_its_clock(tmp_path: Path, clock: str) -> None:
    good = 0.4 * np.arange(60.0)
    errors = []
    for stamps in (good, BAD_CLOCKS[clock](good)):
        (tmp_path / "room.log").write_text(carmen_text(course(), rays=90, stamps=stamps))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LogWarning)
            log = read_logs(tmp_path / "room.log")[0]
        result = run_on_log(log, Particle())
        assert compare(result).belief["stamp"].tolist() == log.reference.stamp.tolist()
        errors.append(score(result).position_rmse)
    assert errors[1] == errors[0]


@pytest.mark.parametrize("clock", BAD_CLOCKS)
def test_stamps_that_tell_no_time_are_warned_of(tmp_path: Path, clock: str) -> None:
    stamps = BAD_CLOCKS[clock](0.4 * np.arange(60.0))
    (tmp_path / "room.log").write_text(carmen_text(course(), stamps=stamps))
    with pytest.warns(LogWarning, match=r"room\.log: \d+ of 60 scans have no later stamp"):
        read_logs(tmp_path / "room.log")


def test_stamps_that_tell_the_time_are_kept_without_a_warning(tmp_path: Path) -> None:
    stamps = 1.13486e9 + np.cumsum(np.linspace(0.05, 2.0, 60))
    (tmp_path / "room.log").write_text(carmen_text(course(), stamps=stamps))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log = read_logs(tmp_path / "room.log")[0]
    assert log.reference.stamp.tolist() == (stamps[1::2] - stamps[1]).tolist()


def test_stamps_are_spread_between_those_that_tell_the_time() -> None:
    spread, replaced = spread_stamps(np.array([5.0, 5.0, 7.0, 8.0, 1.0, 10.0, 10.0, 3.0]))
    assert spread == pytest.approx([5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0])
    assert replaced == 4
    assert spread_stamps(np.zeros(3)) == (pytest.approx([0.0, 1.0, 2.0]), 2)


@pytest.mark.parametrize("clock", ["equal", "six digits", "set back"])
def test_the_error_on_a_real_log_does_not_depend_on_its_clock(tmp_path: Path, clock: str) -> None:
    data = gzip.decompress(real("carmen/freiburg-101-corrected.log.gz").read_bytes()).decode()
    lines = [line.split() for line in data.splitlines() if line.startswith("FLASER")]
    at = [8 + int(words[1]) for words in lines]
    stamps = np.array([float(words[k]) for words, k in zip(lines, at, strict=True)])
    for words, k, stamp in zip(lines, at, BAD_CLOCKS[clock](stamps), strict=True):
        words[k] = str(stamp)
    errors = []
    for text in (data, "\n".join(map(" ".join, lines)) + "\n"):
        (tmp_path / "real.log").write_text(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LogWarning)
            log = read_logs(tmp_path / "real.log")[0]
        errors.append(score(run_on_log(log, Particle())).position_rmse)
    assert errors[1] == errors[0] < 0.05


def test_synthetic_odometry_has_the_stated_errors() -> None:
    way = np.linspace(0.0, 2000.0, 2001)
    poses = np.stack([way, 0 * way, 0 * way], axis=1)
    body = Differential(radius=0.1, baseline=0.4)
    wheels = synthetic_odometry(poses, way, seed=3)
    went = body.radius * wheels["angle"][:, :2].mean(axis=1)
    turned = body.radius * (wheels["angle"][:, 1] - wheels["angle"][:, 0]) / body.baseline
    steps, turns = np.diff(went[::3]), np.diff(turned[::3])
    assert steps.mean() == pytest.approx(1.03, abs=4 * 0.05 / math.sqrt(2000))
    assert steps.std() == pytest.approx(0.05, rel=0.07)
    assert turns.mean() == pytest.approx(0.01, abs=4 * 0.03 * math.sqrt(2 / 2000))
    assert turns.std() == pytest.approx(0.03 * math.sqrt(2), rel=0.07)
    assert synthetic_odometry(poses, way, 3).tobytes() == wheels.tobytes()
    assert synthetic_odometry(poses, way, 4).tobytes() != wheels.tobytes()


def test_synthetic_odometry_follows_the_path_except_for_its_errors() -> None:
    poses = course(200)[::-1].copy()  # backwards
    poses[:, 2] = np.arctan2(np.sin(poses[:, 2]), np.cos(poses[:, 2]))
    way = np.hypot(*np.diff(poses[:, :2], axis=0).T)
    wheels = synthetic_odometry(poses, np.arange(200.0), seed=0)
    went = np.diff(0.1 * wheels["angle"][::3, :2].mean(axis=1))
    assert went == pytest.approx(-1.03 * way, abs=5 * 0.05 * way.max())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("FLASER 36 ", "FLASER 36 oops "), r"room\.log:3: not a laser scan"),
        (("FLASER 36 ", "FLASER 9999 "), r"room\.log:3: not a laser scan"),
        (("FLASER 36 ", "FLASER 36 -1.0 "), r"room\.log:3: not a laser scan"),
        (("FLASER 36 ", "FLASER 35 "), r"room\.log:4: 36 rays, but 35 in the scans before"),
    ],
)
def test_a_broken_scan_is_named_with_its_line(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    (tmp_path / "room.log").write_text(carmen_text(course()).replace(*change, 1))
    with pytest.raises(LogError, match=message):
        read_logs(tmp_path / "room.log")


def broken(data: bytes, seed: int) -> bytes:
    """Bytes with a part removed, repeated, changed or inserted."""
    rng = np.random.default_rng(seed)
    made = bytearray(data)
    for _ in range(rng.integers(1, 5)):
        at, some = int(rng.integers(max(1, len(made) - 1))), int(rng.integers(1, 60))
        match rng.integers(4):
            case 0:
                made[at : at + 1] = bytes(rng.integers(256, size=1, dtype=np.uint8))
            case 1:
                del made[at : at + some]
            case 2:
                made[at:at] = made[max(0, at - some) : at]
            case _:
                made[at:at] = b" -1e999 nan\n#"[: some % 13]
    return bytes(made) or b"x"


@pytest.mark.parametrize("kind", ["carmen", "mrclam", "victoria"])
def test_a_broken_log_is_read_or_refused_with_a_message(
    kind: str, mrclam: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp(kind)
    whole = {
        "carmen": {"room.log": carmen_text(course(12), rays=12).encode()},
        "mrclam": {file.name: file.read_bytes() for file in mrclam.iterdir()},
        "victoria": {file.name: file.read_bytes() for file in _victoria_files(folder)},
    }[kind]
    for seed in range(150):
        victim = sorted(whole)[seed % len(whole)]
        for name, data in whole.items():
            (folder / name).write_bytes(broken(data, seed) if name == victim else data)
        messages = ""
        try:
            read_logs(folder)
        except LogError as problem:
            messages = str(problem)
        assert not messages or str(folder) in messages


def _victoria_files(folder: Path) -> list[Path]:
    stamps = np.arange(0.0, 40.0, 0.5)[:, None]
    driven = (
        matrix("time", 1e3 * stamps, 5),
        matrix("speed", stamps),
        matrix("steering", stamps / 99),
    )
    write_matlab(folder / "driven.mat", *driven)
    fixes = (matrix("timeGps", 1e3 * stamps, 5), matrix("Lo_m", stamps), matrix("La_m", stamps))
    write_matlab(folder / "gps.mat", *fixes)
    return sorted(folder.glob("*.mat"))


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="there is no such file"):
        read_logs(tmp_path / "none")
    with pytest.raises(LogError, match="no log that can be read in this folder"):
        read_logs(tmp_path)
    (tmp_path / "x.txt").write_text("hello\n")
    with pytest.raises(LogError, match=r"x\.txt: not a log that can be read"):
        read_logs(tmp_path / "x.txt")
    (tmp_path / "x.log.gz").write_bytes(b"\x1f\x8bnonsense")
    with pytest.raises(LogError, match=r"x\.log\.gz: cannot be unpacked"):
        read_logs(tmp_path / "x.log.gz")
    (tmp_path / "few.log").write_text(carmen_text(course(4)))
    with pytest.raises(LogError, match="4 scans are too few"):
        read_logs(tmp_path / "few.log")


# Running and comparing.


def test_wheels_rolled_by_speeds_are_rolled_back_by_odometry() -> None:
    stamps = np.array([0.0, 0.5, 1.5, 1.6])
    body = Differential(radius=0.1, baseline=0.5)
    made = differential_wheels(
        body, stamps, integrate_held(np.array([1.0, 2.0, 0.0, 9.0]), stamps), 0 * stamps
    )
    assert made["angle"][:, 0] == pytest.approx([0.0, 5.0, 25.0, 25.0])
    assert made["rate"][1:, 1] == pytest.approx([10.0, 20.0, 0.0])
    car = Ackermann(wheelbase=2.0, track=1.0, radius=0.5)
    steer = np.full(4, math.atan(1.0))  # a circle of 2 m
    made = ackermann_wheels(car, stamps, np.ones(4), steer)
    assert made["angle"][1, 2:] == pytest.approx([0.75, 1.25][0:2])
    front = [math.hypot(1.5, 2.0) / 2.0, math.hypot(2.5, 2.0) / 2.0]
    assert made["angle"][1, :2] == pytest.approx(front)


def test_a_reference_covers_only_times_close_to_its_own_stamps() -> None:
    stamp = np.array([0.0, 0.1, 0.2, 5.0])
    yaw = np.array([3.1, -3.1, -3.0, 0.0])
    reference = Reference(stamp, 10 * stamp, 0 * stamp, yaw)
    asked = np.array([-1.0, 0.0, 0.05, 0.2, 0.3, 5.0, 5.1])
    assert reference.covers(asked).tolist() == [False, True, True, True, False, True, False]
    assert reference.truth(np.array([0.05]))["x"][0] == pytest.approx(0.5)
    assert abs(reference.truth(np.array([0.05]))["yaw"][0]) == pytest.approx(math.pi)


def test_rows_that_are_kept_from_a_reading_are_as_if_it_had_never_come(mrclam: Path) -> None:
    log = read_logs(mrclam)[0]
    kept = np.ones((len(log.streams["wheels"]), 2), bool)
    kept[50:, 1] = False
    both = run_on_log(log, Odometry(), n=2, delivered={"wheels": kept})
    alone = run_on_log(log, Odometry())
    assert both.beliefs["x"][:, 0].tobytes() == alone.beliefs["x"][:, 0].tobytes()
    assert both.beliefs["stamp"][-1, 1] == log.streams["wheels"].stamp[49]


def room_log(tmp_path: Path) -> Dataset:
    (tmp_path / "room.log").write_text(carmen_text(course(), rays=180))
    return read_logs(tmp_path / "room.log")[0]


def test_the_same_seed_gives_the_same_run_and_another_another(tmp_path: Path) -> None:
    log = room_log(tmp_path)
    one, two, other = (run_on_log(log, Particle(), seed=s) for s in (1, 1, 2))
    assert one.beliefs.tobytes() == two.beliefs.tobytes()
    assert one.beliefs["x"].tobytes() != other.beliefs["x"].tobytes()


def test_a_particle_filter_in_a_square_room_knows_where_it_is(tmp_path: Path) -> None:
    log = room_log(tmp_path)
    assert score(run_on_log(log, Odometry())).position_rmse > 0.1
    assert score(run_on_log(log, Particle())).position_rmse < 0.05


def test_an_old_name_of_a_dataset_is_refused_with_the_new_one(mrclam: Path) -> None:
    log = read_logs(mrclam)[0]
    for holder, old, new in ((log, "seeded", "with_seed"), (log.reference, "knows", "covers")):
        with pytest.raises(AttributeError, match=f"{old!r}; it is called {new!r} now"):
            getattr(holder, old)
