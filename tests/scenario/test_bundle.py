"""A bundle repeats a run elsewhere, without the maps, plugins and samples on this machine."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import astray
from astray.cli.report import write_report
from astray.errors import MapError
from astray.scenario.export import BundledFiles
from astray.world import Map, read_map, write_map
from astray.world.map import map_to_dict, map_to_json

SOURCE = '''
import astray

class Probe(astray.Sensor, kind="{kind}"):
    """Measures its own position."""

    measures = astray.tables.FIX

    def sense(self, rows, scene, out):
        out["x"][rows] = scene.truth["x"][rows]
'''
SCENARIO = """
duration: 2
plugins: [probe.py]
world: {{map: {world}}}
robots:
  - name: rover
    map: {known}
    start: {{x: 0.5, y: 0.5}}
    sensors: [{{kind: lidar, rays: 30, max_range: 9, sigma: 0.02}}, {{kind: wheels}}, {{kind: {kind}}}]
    estimator: {{kind: odometry}}
    autonomy: {{kind: wander}}
  - name: puppet
    start: {{x: 1.5, y: 0.5}}
    autonomy: {{kind: scripted, signals: {{vx: {{type: csv, file: speed.csv}}}}}}
"""
PIXELS = np.full((60, 80), 254, np.uint8)
PIXELS[[0, -1]] = PIXELS[:, [0, -1]] = 0
PIXELS[20:23, 30:50] = PIXELS[40:50, 10:12] = PIXELS[30, 60] = 0


def put_map(folder: Path, name: str = "hall") -> None:
    """A map of map_server with its image in another folder."""
    (folder / "images").mkdir(exist_ok=True)
    (folder / "images" / "hall.pgm").write_bytes(b"P5\n80 60\n255\n" + PIXELS.tobytes())
    text = "image: images/hall.pgm\nresolution: 0.1\norigin: [-2, -2, 0.1]\n"
    (folder / f"{name}.yaml").write_text(text)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with a scenario and the files that it refers to, for one test."""
    folder = tmp_path / "here"
    folder.mkdir()
    put_map(folder)
    (folder / "old").mkdir()
    write_map(read_map({"kind": "rooms", "seed": 2, "size": [9, 9]}), folder / "old" / "hall.json")
    kind = f"probe_{abs(hash(tmp_path))}"  # a kind is declared in one file only
    (folder / "probe.py").write_text(SOURCE.format(kind=kind))
    (folder / "speed.csv").write_text("0, 0.1\n1, 0.4\n2, 0.2\n")
    known = "{file: old/hall.json, shift: [0.1, 0, 0]}"
    (folder / "x.yaml").write_text(SCENARIO.format(world="hall.yaml", known=known, kind=kind))
    return folder


def ran(source: Any) -> astray.Sim:
    sim = astray.load(source)
    sim.run(2)
    return sim


def test_the_folder_of_a_run_repeats_it_where_nothing_else_is(here: Path, tmp_path: Path) -> None:
    sim = astray.load(here / "x.yaml")
    sim.write(sim.run(2, log=0.5), here / "out")
    digest = sim.digest()
    there = tmp_path / "there"
    shutil.move(here / "out", there)
    shutil.rmtree(here)
    assert str(tmp_path) not in (there / "scenario.yaml").read_text(encoding="utf-8")
    again = astray.load(there / "scenario.yaml")
    again.write(again.run(log=0.5), tmp_path / "thrice")
    assert again.digest() == digest
    for plan, other in zip(sim.scenario.robots, again.scenario.robots, strict=True):
        assert plan.map is None or plan.map.loaded.digest() == other.map.loaded.digest()  # type: ignore[union-attr]
    shutil.rmtree(there)
    assert ran(tmp_path / "thrice" / "scenario.yaml").digest() == digest


def test_the_report_of_a_folder_repeats_the_run_where_nothing_else_is(
    here: Path, tmp_path: Path
) -> None:
    sim = astray.load(here / "x.yaml")
    sim.write(sim.run(2, log=0.1), here / "out")
    write_report(here / "out", out=tmp_path / "report", quiet=True)
    shutil.rmtree(here)
    assert ran(tmp_path / "report" / "scenario.yaml").digest() == sim.digest()


def test_recordings_and_saved_runs_need_no_map_files(here: Path, tmp_path: Path) -> None:
    sim = astray.load(here / "x.yaml")
    with astray.record(sim, tmp_path / "run.mcap"):
        sim.run(1)
        sim.save(tmp_path / "half.npz")
        sim.run(1)
    for name in ("hall.yaml", "old/hall.json", "images/hall.pgm"):
        (here / name).unlink()
    assert ran(astray.read_recording(tmp_path / "run.mcap").scenario).digest() == sim.digest()
    rest = astray.resume(tmp_path / "half.npz")
    rest.run(1)
    assert rest.digest() == sim.digest()
    write_report(tmp_path / "run.mcap", out=tmp_path / "report", quiet=True)
    assert ran(tmp_path / "report" / "scenario.yaml").digest() == sim.digest()


def test_a_bundle_has_the_files_as_they_were_read(here: Path, tmp_path: Path) -> None:
    sim = astray.load(here / "x.yaml")
    source = (here / "probe.py").read_text()
    for file in ("hall.yaml", "probe.py", "speed.csv"):
        (here / file).write_text("changed")
    sim.write(sim.run(2, log=0.5), tmp_path / "out")
    assert (tmp_path / "out" / "files" / "probe.py").read_text() == source
    assert not list((tmp_path / "out" / "files").rglob("*.csv"))  # it can be had no more


def test_two_files_of_one_name_both_go_along() -> None:
    files = BundledFiles()
    assert files.put("hall.json", b"a") == files.put("hall.json", b"a") == "files/hall.json"
    assert files.put("hall.json", b"b") == "files/2/hall.json"
    assert files.put("../a?.json", b"c") == "files/.._a_.json"


def test_a_map_of_a_run_keeps_the_order_of_its_segments(tmp_path: Path) -> None:
    found = read_map({"kind": "rooms", "seed": 3, "per_world": True})
    mixed = np.random.default_rng(0).permutation(len(found))
    found = Map(found.segments[mixed], found.solid[mixed], found.places, "rooms")
    (tmp_path / "rooms.json").write_bytes(map_to_json(map_to_dict(found)))
    again = read_map(tmp_path / "rooms.json")
    assert again.digest() == found.digest()
    assert again.places == found.places
    for wrong in (b'{"segments": [[1, 2, 3]]}', b'{"segments": [', b'{"segments": [], "x": 1}'):
        (tmp_path / "rooms.json").write_bytes(wrong)
        with pytest.raises(MapError, match=r"rooms\.json"):
            read_map(tmp_path / "rooms.json")
