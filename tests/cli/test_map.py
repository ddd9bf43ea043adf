"""The command that tells about a map, draws it and writes it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from astray.world.map import Map, Place, block, merge, wall
from astray.world.maps import write_map
from astray.world.maps.read import bundled_maps, read_map


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "astray", "map", *arguments],
        capture_output=True,
        cwd=cwd,
        timeout=120,
        encoding="utf-8",
    )


def test_a_bundled_map_is_told_in_words() -> None:
    done = run("arena")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "arena: GeoJSON",
        "size      10 x 10 m: x -5 to 5, y -5 to 5",
        "segments  35, 31 of them bound something solid",
        "length    65.4213 m of walls, 6.0316 m² solid",
        "ends      none is loose: every wall meets another",
        "places    home 'home' at 0, 0, yaw 0",
        "          goal 'north west' at -4, 4, yaw 2.356",
        "          goal 'south east' at 4, -4, yaw -0.785",
    ]


def test_a_generated_map_is_drawn_and_written_and_told_as_json(tmp_path: Path) -> None:
    done = run(
        *("maze", "--set", "segments=400", "--set", "seed=3", "--set", "shift=[1, 2, 0]"),
        *("--plot", "maze.png", "--out", "maze.geojson", "--json"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    expected = read_map({"kind": "maze", "segments": 400, "seed": 3, "shift": [1, 2, 0]})
    assert facts["segments"] == len(expected)
    assert facts["format"] == "made by maze"
    assert read_map(tmp_path / "maze.geojson").segments.shape == expected.segments.shape
    assert (tmp_path / "maze.png").read_bytes().startswith(b"\x89PNG")


def test_settings_are_read_as_scenarios_are(tmp_path: Path) -> None:
    done = run("rooms", "--set", "door=9e-1", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["segments"] == len(read_map({"kind": "rooms", "door": 0.9}))


def test_maps_are_converted_without_a_word_if_asked(tmp_path: Path) -> None:
    write_map(read_map("office"), tmp_path / "office.yaml")
    done = run("office.yaml", "--out", "office.map", "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert read_map(tmp_path / "office.map").bounds == pytest.approx((0, 0, 20, 12), abs=0.06)
    done = run("office.pgm", "--scale", "0.1", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["format"] == "image"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nothing",), "no such file, and no bundled map of that name"),
        (("offce",), "did you mean 'office'?"),
        (("maze", "--set", "cel=3"), "--set cel=3: unknown key 'cel'; did you mean 'cell'?"),
        (("maze", "--set", "cell=0"), "map.cell: a number from 0.1 to 100 is needed, not 0"),
        (("maze", "--set", "cell"), "key=value is needed"),
        (("maze", "--set", "cell=["), "'[' is not a YAML value"),
        (("maze", "--set", "cell="), "'' is not a YAML value"),
        (("arena", "--scale", "2"), "scale is for images"),
        (("arena", "--plot", "a.txt"), "a picture is one of .png"),
        (("arena", "--out", "a.txt"), "no format for '.txt'"),
        (("arena", "--out", str(Path(__file__) / "a.map")), "cannot be written"),
    ],
)
def test_a_wrong_call_is_refused_in_words(
    arguments: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_telling_imports_neither_numba_nor_matplotlib_nor_pydantic() -> None:
    program = (
        "import sys\nfrom astray.cli.map import describe_map_file\ndescribe_map_file('rooms', quiet=True)\n"
        "print({'numba', 'matplotlib', 'PIL', 'pydantic'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr


@pytest.mark.parametrize("name", [*bundled_maps(), "rooms", "forest", "warehouse"])
def test_every_map_can_be_drawn(name: str) -> None:
    from astray.plots import plot_map

    found = read_map(name)
    figure = plot_map(found)
    (axes,) = figure.axes
    west, south, east, north = found.bounds
    assert axes.get_xlim()[0] < west < east < axes.get_xlim()[1]
    assert axes.get_ylim()[0] < south < north < axes.get_ylim()[1]
    assert sum(len(c.get_paths()) for c in axes.collections) >= len(found)
    figure.savefig(io.BytesIO(), format="png", dpi=30)


def test_a_hole_in_a_block_is_not_filled_and_areas_are_drawn() -> None:
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from astray.plots import draw_map, plot_map

    ring = block([[0, 0], [3, 0], [3, 3], [0, 3]])
    hole = block([[1, 1], [2, 1], [2, 2], [1, 2]], hole=True)
    figure = Figure(figsize=(3, 3), dpi=100)
    axes = figure.add_axes((0, 0, 1, 1))
    draw_map(axes, merge([ring, hole]))
    axes.set(xlim=(0, 3), ylim=(0, 3))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[:, :, 0]
    assert pixels[150, 150] == 255
    assert pixels[50, 150] < 230
    area = Place("forbidden_area", "$x", points=((0.0, 0.0), (1.0, 0.0), (1.0, 1.0)))
    plot_map(merge([wall([[0, 0], [2, 2]]), Map(places=(area,))])).savefig(
        io.BytesIO(), format="png"
    )
    plot_map(Map()).savefig(io.BytesIO(), format="png")
