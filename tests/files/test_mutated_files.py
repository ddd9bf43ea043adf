"""Two thousand mutated files, over every reader: each is read, or refused in words.

The mutations are drawn from a seed, so that a failure comes again. What one of them found belongs
into the test of its reader; this test finds the next.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import json
import random
import shutil
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore

import astray
from astray.cli.session import post_events
from astray.datasets import read_logs
from astray.errors import AstrayError
from astray.pioneer.models import find_model
from astray.recording import read_recording
from astray.recording.mcap import recover_recording
from astray.scenario import load_scenario
from astray.signals import Signals
from astray.sweeps import read_sweep, sweep
from astray.truck import read_model
from astray.viewer.page.codec import encode_recording
from astray.viewer.page.sources.mcap import read_recorded
from astray.viewer.page.sources.run_folder import read_folder
from astray.viewer.reports import compute_metrics, read_report_data
from astray.world.maps import describe_map, read_map, write_map
from support.logs import carmen_text, course, matrix, write_matlab

SEED = 24
NUMBERS = b"0 -1 1e308 1e-320 nan .inf 1e400 0.5 99999999999999999999 1_0 0x7fffffff true".split()
PIECES = [b"", b"\t", b"{", b"]", b"'", b'"', b"\xff", b"\0", b"&a ", b"*a", b": ", b"\n- ", b"\n"]
PIECES += [b"#", b"null", b"[" * 70, b"\xe2\x88\x9e", *NUMBERS]
EDGES = (0x00, 0x01, 0x7F, 0x80, 0xFF)


# Mutations.


def mutate(data: bytes, chance: random.Random, text: bool) -> bytes:
    """The bytes with one to three things changed."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        data = (_change_text if text and chance.random() < 0.7 else _change_bytes)(data, chance)
    return data


def _change_bytes(data: bytes, chance: random.Random) -> bytes:
    """Flip a bit, write an edge, cut, double or move a part, or truncate."""
    at = chance.randrange(len(data) + 1)
    end = min(len(data), at + chance.choice((1, 4, 8, 64, 1024)))
    match chance.randrange(6):
        case 0 if at < len(data):
            return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]
        case 1:
            return data[:at] + bytes([chance.choice(EDGES)]) * (end - at) + data[end:]
        case 2:
            return data[:at] + data[end:]
        case 3:
            return data[:end] + data[at:]
        case 4:
            place = chance.randrange(len(data) + 1)
            return data[:place] + data[at:end] + data[place + end - at :]
    return data[:at]


def _change_text(data: bytes, chance: random.Random) -> bytes:
    """Replace, put in, double or take out a word or a line."""
    breaks = (b"\n",) if chance.random() < 0.4 else (b" ", b",", b":", b"\n")
    separator = chance.choice(breaks)
    parts = data.split(separator)
    k = chance.randrange(len(parts))
    match chance.randrange(5):
        case 0:
            parts[k] = chance.choice(PIECES)
        case 1:
            parts.insert(k, chance.choice(PIECES))
        case 2:
            parts.insert(k, parts[chance.randrange(len(parts))])
        case 3:
            del parts[k]
        case 4:
            parts[k] += chance.choice(PIECES)
    return separator.join(parts)


# Good files.


SCENARIO = """\
duration: 2
dt: 0.01
seed: 3
world:
  map: {walls: [[[-4, -4], [4, -4], [4, 4]]], boxes: [[2, 2, 1, 1, 0.3]], circles: [[-2, 1, 0.4]]}
robots:
  - name: cart
    preset: trolley.yaml
    count: 2
    capacity: 3
    start: {x: 50 cm, yaw: {uniform: [-60 deg, 1]}, step: [0, 1], spread: 0.1}
    footprint: {corners: [[-0.2, -0.2], [0.2, -0.2], [0.2, 0.2]]}
    sensors:
      - {kind: imu, rate: 0.1 kHz, grade: consumer, latency: 20 ms}
      - {kind: gnss, rate: 10, denied: [[[1, 1], [2, 1], [2, 2]]], loss: 0.1}
      - {kind: sonar, mounts: [[0.1, 0, 0], [0, 0.1, 1.57]]}
      - {kind: landmarks, beacons: [[1, 2], [3, -1]]}
    estimator: {kind: ekf, by: imu}
    rivals: [{kind: odometry}]
    autonomy: {kind: navigate, goals: [[1, 1], [-1, 0]], loop: true}
  - name: lorry
    motion: {kind: ackermann, max_steer: 35°, max_speed: 5 km/h}
    autonomy:
      kind: scripted
      signals: {vx: {type: linear, t_start: 0, y_start: 0, t_end: 4, y_end: 1}}
metrics: [{kind: position_error}, {kind: nees, rate: 10}]
interactions: [{kind: collisions, response: stop}]
"""
TROLLEY = """\
motion: {kind: differential, radius: {normal: [0.1, 0.001]}, baseline: 0.4}
control: {kind: servo}
sensors:
  - {kind: wheels, rate: 50, spells: {every: 5, stay: 1}, surfaces: [{zone: [[0, 0], [1, 0], [1, 1]]}]}
"""
PARAMETERS = """\
simulator:
  ros__parameters:
    vx:
      num_intervals: 2
      interval_0: {type: constant, t_start: 0.0, t_end: 5.0, y_start: 1.0}
      interval_1: {type: quadratic, t_start: 5.0, t_end: 9.0, y_start: 1.0, y_mid: 3.0, y_end: 0.0}
    wz.interval_0.type: linear
    wz.interval_0.t_end: 4.0
    wz.interval_0.y_end: 2.5
"""
SIGNALS = """\
robots:
  - name: r
    autonomy:
      kind: scripted
      signals: {vx: {type: csv, file: points.csv, time: t, value: v}}
"""
EVENTS = [
    {"step": 0, "kind": "command", "group": "rover", "values": {"vx": 0.4, "wz": 0.1}},
    {"step": 1, "kind": "place", "group": "rover", "robots": [0], "values": {"x": 1.0, "yaw": 0.5}},
    {"step": 2, "kind": "believe", "group": "rover", "values": {"y": 1.0}},
    {"step": 2, "kind": "spawn", "group": "rover", "worlds": [0], "values": {"x": 2.0}},
    {"step": 3, "kind": "ghost", "group": "rover", "values": {"ghostly": True}},
    {"step": 3, "kind": "remove", "group": "rover", "robots": [1]},
    {"step": 4, "kind": "reset"},
]
ARIA = """\
Section General settings
Class Pioneer
Subclass Trolley-SH
RobotWidth 400 ; mm
RobotLength 600
MaxRVelocity 90
Section Conversion factors
DistConvFactor 0.5
Section Sonar parameters
SonarNum 2
SonarUnit 0 100 200 90
SonarUnit 1 150 0 0
"""
STAGE = """\
define eye laser (samples 91 fov 90.0 range_max 12.5)
define cart position (
  pioneer_robot_subtype "cart-SH" # the subclass for ARIA
  size [0.6 0.4]  origin [-0.1 0 0]
  polygons 1 polygon[0].points 3
  polygon[0].point[0] [-1 0] polygon[0].point[1] [0 -1] polygon[0].point[2] [1 0]
  max_speed [0.9 0 1.2]
  eye( pose [0.15 0.0 90] )
)
"""
MODEL = """\
shape: {length: 0.5, width: 0.3, base_to_rear: 0.25}
wheel_base: {length: 0.4, width: 0.2, base_to_rear: 0.2}
"""
ROOM = {"walls": [[[-4, -4], [4, -4], [4, 4]]], "polygons": [[[1, 1], [2, 1], [2, 2]]]}
ROVER: dict[str, Any] = {
    "dt": 0.01,
    "world": {"map": ROOM},
    "robots": [
        {
            "name": "rover",
            "count": 2,
            "capacity": 3,
            "sensors": [{"kind": "wheels", "rate": 50}, {"kind": "lidar", "rate": 10, "rays": 4}],
            "estimator": {"kind": "odometry"},
        }
    ],
    "metrics": [{"kind": "position_error"}],
}


def write_texts(**texts: str) -> Callable[[Path], None]:
    """Write texts to files; __ in a name stands for a dot."""

    def write(folder: Path) -> None:
        for name, text in texts.items():
            (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")

    return write


def write_maps(folder: Path) -> None:
    made = read_map({**ROOM, "places": [{"kind": "home", "name": "dock", "x": 1, "y": 2}]})
    for name in ("a.geojson", "b.map", "c.yaml"):
        write_map(made, folder / name, 0.25)
    pixels = np.full((8, 9), 255, np.uint8)
    pixels[2:5, 3:6] = 0
    for name in ("d.png", "e.bmp", "f.jpg"):
        Image.fromarray(pixels).save(folder / name)
    rows = "\n".join(" ".join(map(str, row)) for row in pixels)
    (folder / "g.pgm").write_text(f"P2\n# grey\n9 8\n255\n{rows}\n")
    (folder / "h.yaml").write_text("boxes: [[1, 2, 1, 1, 0.5]]\ncircles: [[0, 0, 1]]\n")
    (folder / "i.yaml").write_text("kind: rooms\nsize: [12, 9]\nseed: 4\n")


def write_mrclam(folder: Path) -> None:
    stamps = 1000.0 + np.arange(0.0, 4.0, 0.1)
    np.savetxt(folder / "Robot4_Groundtruth.dat", np.stack([stamps] * 4, 1) / 1e3, fmt="%.4f")
    np.savetxt(folder / "Robot4_Odometry.dat", np.stack([stamps] * 3, 1) / 1e3, fmt="%.4f")
    np.savetxt(folder / "Robot4_Measurement.dat", [[1.0005, 61, 1.0, 1.57], [1.002, 5, 2.0, 0.0]])
    np.savetxt(folder / "Barcodes.dat", [[1, 5], [6, 27], [7, 61]], fmt="%d")
    np.savetxt(folder / "Landmark_Groundtruth.dat", [[6, 2, 1, 0, 0], [7, 0, 0, 0, 0]])


def write_victoria(folder: Path) -> None:
    stamps = np.arange(0.0, 100.0, 0.5)
    x, y = 2.0 * stamps, 0.1 * stamps
    write_matlab(
        folder / "driven.mat",
        matrix("time", (1000 * stamps)[:, None], 5),
        matrix("speed", (2.0 + 0 * stamps)[:, None], pack=True),
        matrix("steering", (0.01 * np.sin(stamps))[:, None]),
    )
    write_matlab(
        folder / "gps.mat",
        matrix("timeGps", (1000 * stamps)[:, None], 5),
        matrix("Lo_m", x[:, None]),
        matrix("La_m", y[:, None]),
    )


def write_carmen(folder: Path) -> None:
    text = carmen_text(course(12), rays=6)
    (folder / "plain.log").write_text(text)
    (folder / "packed.log.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def write_bag(folder: Path, kind: str) -> None:
    """A bag of a second with an IMU, joints and the true pose."""
    ros1 = kind == "ros1"
    store: Any = get_typestore(Stores.ROS1_NOETIC if ros1 else Stores.ROS2_HUMBLE)
    make = {name.rpartition("/")[2]: type for name, type in store.types.items()}
    head = {"seq": 0} if ros1 else {}
    plugin = StoragePlugin.MCAP if kind == "mcap" else StoragePlugin.SQLITE3
    writer: Any = (
        Writer1(folder / "log.bag")
        if ros1
        else Writer2(folder / "log", version=9, storage_plugin=plugin)
    )
    types = {"/imu": "sensor_msgs/msg/Imu", "/joints": "sensor_msgs/msg/JointState"}
    types["/truth"] = "nav_msgs/msg/Odometry"
    zero, level = make["Vector3"](0.0, 0.0, 9.81), make["Quaternion"](0.0, 0.0, 0.0, 1.0)
    unknown, none = np.zeros(9), np.zeros(0)
    with writer:
        links = {t: writer.add_connection(t, name, typestore=store) for t, name in types.items()}
        for k in range(20):
            header = make["Header"](
                stamp=store.types["builtin_interfaces/msg/Time"](9, 50_000_000 * k),
                frame_id="f",
                **head,
            )
            pose = make["Pose"](make["Point"](0.1 * k, 0.0, 0.0), level)
            messages = {
                "/imu": make["Imu"](header, level, unknown, zero, unknown, zero, unknown),
                "/joints": make["JointState"](
                    header, ["left_wheel", "right_wheel"], np.array([0.1 * k, 0.1 * k]), none, none
                ),
                "/truth": make["Odometry"](
                    header,
                    "base",
                    make["PoseWithCovariance"](pose, np.zeros(36)),
                    make["TwistWithCovariance"](make["Twist"](zero, zero), np.zeros(36)),
                ),
            }
            for topic, message in messages.items():
                serialize = store.serialize_ros1 if ros1 else store.serialize_cdr
                raw = bytes(serialize(message, types[topic]))
                writer.write(links[topic], 9_000_000_000 + 50_000_000 * k, raw)


def write_recording(folder: Path) -> None:
    sim = astray.load(ROVER)
    sim.robots["rover"].drive(0.4, 0.3)
    with astray.record(sim, folder / "run.mcap"):
        sim.run(0.3)


def write_run(folder: Path) -> None:
    sim = astray.load(ROVER)
    sim.robots["rover"].drive(0.4, 0.3)
    sim.write(sim.run(0.3, log=0.1), folder / "out")


def write_checkpoint(folder: Path) -> None:
    sim = astray.load(ROVER)
    sim.run(0.05)
    sim.save(folder / "run.npz")


def write_sweep(folder: Path) -> None:
    vary = {"robots.rover.sensors.wheels.slip_density": [0.0, 0.01]}
    sweep({**ROVER, "duration": 0.1}, vary=vary, worlds=2, out=folder / "out", workers=1)


# Readers.


def read_scenario_files(folder: Path) -> object:
    return load_scenario(folder / "scenario.yaml")


def replay_events(folder: Path) -> None:
    sim = astray.load(ROVER)
    post_events(sim, folder / "events.jsonl")
    sim.step(5)


def read_each_map(folder: Path, file: Path) -> object:
    scale = 0.1 if file.suffix in (".png", ".bmp", ".jpg", ".pgm") and file.stem != "c" else None
    file = file.with_suffix(".yaml") if file.stem == "c" else file
    spec = {"file": str(file)} | ({} if scale is None else {"scale": scale})
    return describe_map(read_map(spec))


def read_log_files(folder: Path, file: Path) -> object:
    return read_logs(file if file.suffix in (".log", ".gz", ".bag", ".mcap") else file.parent)


def read_recorded_file(folder: Path, file: Path) -> None:
    for read in (_read_series, lambda file: encode_recording(read_recorded(file)), recover_copy):
        _try(read, file)
    _try(lambda file: compute_metrics(read_report_data(file)), file)
    read_logs(file)


def _read_series(file: Path) -> None:
    recording = read_recording(file)
    for robot in recording.robots.values():
        assert isinstance(robot.beliefs, dict)
        assert isinstance(robot.readings, dict)
        assert robot.truth.ndim == 1


def recover_copy(file: Path) -> object:
    report = recover_recording(file, file.with_name("mended.mcap"))
    _read_series(file.with_name("mended.mcap"))
    return report


def _try(read: Callable[[Path], object], file: Path) -> None:
    """Read a file that may be refused."""
    with contextlib.suppress(AstrayError):
        read(file)


def read_run_folder(folder: Path, file: Path) -> None:
    _try(lambda folder: encode_recording(read_folder(folder)), folder / "out")
    compute_metrics(read_report_data(folder / "out"))


class Reader(NamedTuple):
    """A reader, and how often one of its files is mutated."""

    count: int
    write: Callable[[Path], None]
    """Writes good files into a folder."""
    read: Callable[..., object]
    """Reads the folder, in which a file was mutated; `file` names it where it is taken."""
    text: bool = True
    """Whether words are mutated, not only bytes."""


def of_folder(read: Callable[[Path], object]) -> Callable[[Path, Path], object]:
    return lambda folder, file: read(folder)


READERS: dict[str, Reader] = {
    "scenario": Reader(
        260,
        write_texts(scenario__yaml=SCENARIO, trolley__yaml=TROLLEY),
        of_folder(read_scenario_files),
    ),
    "parameters": Reader(
        150,
        write_texts(params__yaml=PARAMETERS),
        of_folder(lambda folder: Signals.read(folder / "params.yaml")),
    ),
    "samples": Reader(
        100,
        write_texts(scenario__yaml=SIGNALS, points__csv="t,v\n0,1\n0.5,2\n1.5,-1\n"),
        of_folder(read_scenario_files),
    ),
    "events": Reader(
        150,
        write_texts(events__jsonl="".join(json.dumps(event) + "\n" for event in EVENTS)),
        of_folder(replay_events),
    ),
    "maps": Reader(300, write_maps, read_each_map),
    "aria": Reader(
        70, write_texts(cart__p=ARIA), of_folder(lambda folder: find_model(str(folder / "cart.p")))
    ),
    "stage": Reader(
        80,
        write_texts(cart__inc=STAGE),
        of_folder(lambda folder: find_model(f"{folder / 'cart.inc'}#cart")),
    ),
    "truck": Reader(
        60,
        write_texts(model__yaml=MODEL),
        of_folder(lambda folder: read_model(folder / "model.yaml")),
    ),
    "mrclam": Reader(80, write_mrclam, read_log_files),
    "victoria": Reader(80, write_victoria, read_log_files, text=False),
    "carmen": Reader(90, write_carmen, read_log_files),
    "ros1": Reader(140, functools.partial(write_bag, kind="ros1"), read_log_files, text=False),
    "ros2": Reader(120, functools.partial(write_bag, kind="sqlite3"), read_log_files, text=False),
    "mcap": Reader(60, functools.partial(write_bag, kind="mcap"), read_log_files, text=False),
    "recording": Reader(100, write_recording, read_recorded_file, text=False),
    "run": Reader(80, write_run, read_run_folder),
    "checkpoint": Reader(
        40,
        write_checkpoint,
        of_folder(lambda folder: astray.resume(folder / "run.npz")),
        text=False,
    ),
    "sweep": Reader(
        40, write_sweep, of_folder(lambda folder: read_sweep(folder / "out")), text=False
    ),
}


def mutated(reader: Reader, folder: Path, name: str) -> Iterator[tuple[int, Path]]:
    """The mutated file, again and again; all other files are as they were."""
    chance = random.Random(f"{SEED} {name}")
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    whole = {file: file.read_bytes() for file in files}
    for k in range(reader.count):
        file = files[k % len(files)]
        file.write_bytes(mutate(whole[file], chance, reader.text))
        yield k, file
        for other in set(folder.rglob("*")) - set(files):
            if other.is_file():
                other.unlink()
        file.write_bytes(whole[file])


def test_there_are_two_thousand() -> None:
    assert sum(reader.count for reader in READERS.values()) == 2000


@pytest.mark.parametrize("name", READERS)
@pytest.mark.filterwarnings("ignore")
def test_a_mutated_file_is_read_or_refused(name: str, tmp_path: Path) -> None:
    reader = READERS[name]
    reader.write(tmp_path)
    failures, refused = [], 0
    for k, file in mutated(reader, tmp_path, name):
        try:
            reader.read(tmp_path, file)
        except AstrayError:
            refused += 1
        except Exception:  # noqa: BLE001 - any other is what is looked for
            shutil.copy(file, tmp_path.with_name(f"{name}-{k}-{file.name}"))
            failures.append(f"{k} {file.name}: {traceback.format_exc(limit=-4)}")
    assert not failures, f"{len(failures)} of {reader.count}\n" + "\n".join(failures)
    assert refused > 0.1 * reader.count
