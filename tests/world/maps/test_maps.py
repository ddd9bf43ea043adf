"""Map files: every format is read, written, and refused with a message where it is broken."""

from __future__ import annotations

import json
import math
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from astray.errors import MapError
from astray.tables import Array
from astray.world.geometry.polygons import assign_holes, map_polylines
from astray.world.geometry.raster import (
    cells_crossed,
    rasterise,
    trace_cell_contours,
    trace_mask_contours,
)
from astray.world.georeference import Georeference
from astray.world.map import Map, Place, block, map_from_dict, map_to_dict, merge, wall
from astray.world.maps import write_map
from astray.world.maps.describe import describe_map, format_description, loose_ends
from astray.world.maps.formats.inline import circle_points
from astray.world.maps.read import bundled_maps, check_spec, differs_per_world, read_map
from support.paths import DATA

TRUCK = DATA / "truck" / "maps"
SQUARE = [[0, 0], [4, 0], [4, 4], [0, 4]]
INNER = [[1, 1], [2, 1], [2, 2], [1, 2]]
quick = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def area(found: Map) -> float:
    """The solid area without holes, m²."""
    x1, y1, x2, y2 = found.segments[found.solid].T
    return 0.5 * float(np.sum(x1 * y2 - x2 * y1))


def length(found: Map) -> float:
    return float(np.linalg.norm(found.segments[:, 2:] - found.segments[:, :2], axis=1).sum())


def rows(segments: Array) -> set[tuple[float, ...]]:
    return {tuple(row) for row in np.asarray(segments, np.float64).tolist()}


def same(a: Map, b: Map) -> bool:
    """Whether two maps have the same obstacles in any order."""
    return len(a) == len(b) and all(
        rows(a.segments[a.solid == s]) == rows(b.segments[b.solid == s]) for s in (True, False)
    )


def put(folder: Path, name: str, content: str | bytes) -> Path:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def geometry(of: str, coordinates: Any, **properties: Any) -> dict[str, Any]:
    inner = {"type": of, "coordinates": coordinates}
    return {"type": "Feature", "properties": properties, "geometry": inner}


def collection(*features: Any) -> str:
    return json.dumps({"type": "FeatureCollection", "features": list(features)})


def refusal(spec: Any, folder: Path = Path()) -> str:
    with pytest.raises(MapError) as problem:
        read_map(spec, folder)
    return str(problem.value)


# GeoJSON.


@pytest.mark.parametrize(
    ("name", "segments"), [("map_5", 86), ("map_6", 52), ("map_7", 54), ("map_tunnel", 12)]
)
def test_the_maps_of_the_truck_have_the_segments_that_the_truck_sees(
    name: str, segments: int
) -> None:
    file = TRUCK / f"{name}.geojson"
    if not file.exists():
        pytest.skip(f"the truck's maps are not here: {file}")
    found = read_map(file)
    assert len(found) == segments
    assert 0 < int(found.solid.sum()) < segments  # the arena's rim is a wall, the rest are blocks
    assert area(found) > 0.0


def test_a_polygon_with_holes_around_everything_is_an_arena(tmp_path: Path) -> None:
    found = read_map(put(tmp_path, "a.geojson", collection(geometry("Polygon", [SQUARE, INNER]))))
    assert (len(found), int(found.solid.sum()), area(found)) == (8, 4, 1.0)


def test_two_polygons_with_holes_are_two_blocks_with_free_holes(tmp_path: Path) -> None:
    other = (np.array(SQUARE) + 10).tolist()
    inner = (np.array(INNER) + 10).tolist()
    text = collection(geometry("MultiPolygon", [[SQUARE, INNER], [other, inner]]))
    found = read_map(put(tmp_path, "a.geojson", text))
    assert found.solid.all()
    assert area(found) == 2 * 15.0


@pytest.mark.parametrize(("solid", "expected"), [(True, (8, 15.0)), (False, (4, 1.0))])
def test_a_property_decides_which_side_of_a_polygon_is_solid(
    solid: bool, expected: tuple[int, float], tmp_path: Path
) -> None:
    text = collection(geometry("Polygon", [SQUARE, INNER], solid=solid))
    found = read_map(put(tmp_path, "a.geojson", text))
    assert (int(found.solid.sum()), area(found)) == expected


@pytest.mark.parametrize("other", [[[2.5, 2.5], [3, 3]], [[0, 0], [3, 3]]])
def test_an_arena_may_have_other_things_in_it(other: Any, tmp_path: Path) -> None:
    text = collection(geometry("Polygon", [SQUARE, INNER]), geometry("LineString", other))
    assert area(read_map(put(tmp_path, "a.geojson", text))) == 1.0


def test_a_polygon_with_something_outside_is_a_block(tmp_path: Path) -> None:
    line = geometry("LineString", [[5, 0], [6, 0]])
    text = collection(geometry("Polygon", [SQUARE, INNER]), line)
    assert area(read_map(put(tmp_path, "a.geojson", text))) == 15.0


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("closed", [False, True])
def test_rings_may_have_either_orientation_and_be_closed_or_open(
    turned: bool, closed: bool, tmp_path: Path
) -> None:
    ring = SQUARE[::-1] if turned else list(SQUARE)
    text = json.dumps({"type": "Polygon", "coordinates": [ring + ring[:1] * closed]})
    found = read_map(put(tmp_path, "a.json", text))
    assert (len(found), area(found), length(found)) == (4, 16.0, 16.0)


def test_every_geometry_is_read_with_any_sign_and_without_heights(tmp_path: Path) -> None:
    members = [
        {"type": "LineString", "coordinates": [[-1, -1, 9], [-2, -1]]},
        {"type": "MultiLineString", "coordinates": [[[0, 0], [1, 0], [1, 1]], [[5, 5], [6, 5]]]},
        {"type": "MultiPoint", "coordinates": [[1, 2], [3, 4, 5]]},
    ]
    inner = {"type": "GeometryCollection", "geometries": [*members, None]}
    feature = {"type": "Feature", "properties": {"type": "goal", "name": "a"}, "geometry": inner}
    found = read_map(put(tmp_path, "a.geojson", json.dumps(feature)))
    assert (len(found), int(found.solid.sum())) == (4, 0)
    assert found.places == (Place("goal", "a", 1.0, 2.0), Place("goal", "a", 3.0, 4.0))


def test_forbidden_lines_and_areas_are_places(tmp_path: Path) -> None:
    text = collection(
        geometry("Polygon", [SQUARE], kind="forbidden_area", name="stairs"),
        geometry("LineString", INNER[:2], kind="forbidden_line"),
        geometry("Point", [1, 1], name="no kind"),
    )
    found = read_map(put(tmp_path, "a.geojson", text))
    assert len(found) == 0
    assert [place.kind for place in found.places] == ["forbidden_area", "forbidden_line", "point"]
    assert found.places[0].points == ((0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0))


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("", "empty"),
        ("{", ":1: not JSON"),
        ('{"type": "Polygon",\n "coordinates": [}', ":2: not JSON"),
        ("[" * 200_000, "nested too deep"),
        ("{}", "a mapping with a type"),
        ('{"type": "FeatureCollection"}', "features: a list is needed"),
        ('{"type": "FeatureCollection", "features": [3]}', "features[0]: a Feature is needed"),
        (collection(geometry("Sphere", [])), "features[0].geometry: unknown geometry 'Sphere'"),
        (collection(geometry("Polygon", 3)), "coordinates: a list is needed"),
        (collection(geometry("Polygon", [[[0, 0]]])), "coordinates[0]: a list of at least 3"),
        (collection(geometry("LineString", [[0, 0], ["1", 0]])), "coordinates[1][0]: a number"),
        (collection(geometry("LineString", [[0, 0], [1e9, 0]])), "finite and within"),
        (collection(geometry("Point", [float("nan"), 0])), "finite and within"),
        (collection(geometry("LineString", [[0, 0], [10**400, 0]])), "a number from -1e+07"),
        (collection(geometry("Polygon", [SQUARE], solid="yes")), "solid is true or false"),
        ('{"type": "Point", "coordinates": [' + "9" * 5000 + ", 1]}", "a.geojson: "),
    ],
)
def test_a_broken_geojson_file_is_refused_with_a_message(
    text: str, fragment: str, tmp_path: Path
) -> None:
    file = put(tmp_path, "a.geojson", text)
    message = refusal(file)
    assert fragment in message
    assert message.startswith(f"{file}")


# The outline of cells.


def test_an_outline_has_the_longest_straight_runs_with_the_solid_on_the_left() -> None:
    mask = np.zeros((6, 8), bool)
    mask[1:5, 1:7] = True
    mask[2:4, 3:5] = False
    found = Map(trace_mask_contours(mask), np.ones(8, bool))
    assert area(found) == 24 - 4
    assert length(found) == 20 + 8


def test_cells_that_touch_at_a_corner_keep_simple_rings_of_their_own() -> None:
    lines = trace_mask_contours(np.array([[1, 0], [0, 1]], bool))
    rings = map_polylines(Map(lines, np.ones(len(lines), bool)))
    assert [(len(ring.points), ring.area()) for ring in rings] == [(4, 1.0), (4, 1.0)]
    holes = trace_mask_contours(~np.pad(np.array([[1, 0], [0, 1]], bool), 1))
    assert len(holes) == 4 + 8


@quick
@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=6))
def test_an_outline_bounds_exactly_its_cells(cells: list[list[bool]]) -> None:
    mask = np.array(cells, bool)
    lines = trace_mask_contours(mask)
    found = Map(lines, np.ones(len(lines), bool))
    padded = np.pad(mask, 1).astype(int)
    edges = sum(int(np.abs(np.diff(padded, axis=axis)).sum()) for axis in (0, 1))
    assert area(found) == mask.sum()
    assert length(found) == edges
    assert all(chain.closed for chain in map_polylines(found))
    again, corner = rasterise(found, 1.0)
    there = np.argwhere(again)[:, ::-1] + corner
    assert rows(there) == rows(np.argwhere(mask)[:, ::-1])
    y, x = np.nonzero(mask)
    assert rows(trace_cell_contours(np.stack([x, y], axis=1))) == rows(lines)


@pytest.mark.parametrize("shape", [(1, 1_000_000), (1_000_000, 1)])
def test_an_outline_takes_memory_for_its_segments_not_for_every_edge(
    shape: tuple[int, int],
) -> None:
    mask = np.ones(shape, bool)
    tracemalloc.start()
    try:
        assert len(trace_mask_contours(mask)) == 4
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40 * mask.size  # bytes


def test_an_outline_of_too_many_segments_is_refused() -> None:
    mask = np.zeros((2400, 2400), bool)
    mask[::2, ::2] = True
    with pytest.raises(MapError, match="the outline has 5760000 segments; 5000000 is the most"):
        trace_mask_contours(mask)


def test_cells_far_apart_take_no_memory_between_them() -> None:
    assert len(trace_cell_contours(np.array([[0, 0], [10**8, 10**8]]))) == 8


def test_segments_pass_through_the_cells_under_them() -> None:
    whose, cells = cells_crossed(np.array([[0.5, 0.5, 3.5, 0.5], [0.5, 0.5, 1.5, 2.5]]))
    assert cells[whose == 0].tolist() == [[0, 0], [1, 0], [2, 0], [3, 0]]
    assert cells[whose == 1].tolist() == [[0, 0], [0, 1], [1, 1], [1, 2]]


# map_server and images.

GREYS = [0, 89, 90, 205, 254, 255]  # p = 1, 0.651, 0.647, 0.196, 0.004, 0


def pgm(pixels: Any, white: int = 255, plain: bool = False) -> bytes:
    values = np.array(pixels)
    head = f"P{2 if plain else 5}\n# made by hand\n{values.shape[1]} # wide\n{values.shape[0]}\n{white}\n"
    if plain:
        return (head + "\n".join(" ".join(map(str, row)) for row in values.tolist())).encode()
    return head.encode() + values.astype(">u2" if white > 255 else "u1").tobytes()


def server(folder: Path, picture: bytes, name: str = "m.pgm", **settings: Any) -> Path:
    put(folder, name, picture)
    keys = {"image": name, "resolution": 0.5, "origin": [0.0, 0.0, 0.0], "negate": 0}
    keys |= {"occupied_thresh": 0.65, "free_thresh": 0.25, **settings}
    return put(folder, "m.yaml", "\n".join(f"{k}: {json.dumps(v)}" for k, v in keys.items()))


def occupied_cells(found: Map) -> list[int]:
    mask, (x, _) = rasterise(found, 0.5)
    return [int(k + round(x / 0.5)) for k in np.flatnonzero(mask.any(axis=0))]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [0, 1]),
        ({"mode": "scale"}, [0, 1]),
        ({"negate": 1}, [3, 4, 5]),
        ({"negate": True, "occupied_thresh": 1.0}, [5]),
        ({"occupied_thresh": 0.9}, [0]),
        ({"occupied_thresh": 0.1}, [0, 1, 2, 3]),
        ({"mode": "raw"}, [1, 2]),
        ({"mode": "Raw", "negate": 1, "occupied_thresh": 0.9}, [2]),
    ],
)
@pytest.mark.parametrize("plain", [False, True])
def test_a_cell_is_occupied_by_the_rules_of_map_server(
    settings: dict[str, Any], expected: list[int], plain: bool, tmp_path: Path
) -> None:
    file = server(tmp_path, pgm([GREYS], plain=plain), **settings)
    assert occupied_cells(read_map(file)) == expected


@pytest.mark.parametrize(("white", "factor"), [(15, 1 / 17), (65535, 257), (1, 1 / 255)])
def test_the_maximum_of_a_pgm_is_white(white: int, factor: float, tmp_path: Path) -> None:
    pixels = [[round(255 * factor), 0, round(255 * factor)]]
    assert occupied_cells(read_map(server(tmp_path, pgm(pixels, white)))) == [1]


def test_the_first_row_is_the_top_and_the_origin_the_lower_left_corner(tmp_path: Path) -> None:
    pixels = np.full((3, 4), 254)
    pixels[0, 1] = 0
    found = read_map(server(tmp_path, pgm(pixels), origin=[10.0, 20.0, 0.0]))
    assert found.bounds == (10.5, 21.0, 11.0, 21.5)
    turned = read_map(server(tmp_path, pgm(pixels), origin=[10.0, 20.0, math.pi / 2]))
    assert turned.bounds == pytest.approx((8.5, 20.5, 9.0, 21.0))
    assert area(turned) == pytest.approx(0.25)


def test_unknown_cells_are_no_obstacles(tmp_path: Path) -> None:
    assert len(read_map(server(tmp_path, pgm([[205, 205], [254, 205]])))) == 0


def picture(folder: Path, name: str, pixels: Any, mode: str) -> bytes:
    from PIL import Image

    Image.fromarray(np.array(pixels, np.uint16 if mode == "I;16" else np.uint8)).save(folder / name)
    return (folder / name).read_bytes()


@pytest.mark.parametrize("name", ["m.png", "m.bmp"])
def test_png_and_bmp_are_read_like_pgm(name: str, tmp_path: Path) -> None:
    data = picture(tmp_path, name, [GREYS], "L")
    assert occupied_cells(read_map(server(tmp_path, data, name))) == [0, 1]


def test_colours_depth_and_transparency_of_png_count(tmp_path: Path) -> None:
    clear = picture(
        tmp_path, "m.png", [[[0, 0, 0, 255], [0, 0, 0, 9], [255, 255, 255, 255]]], "RGBA"
    )
    assert occupied_cells(read_map(server(tmp_path, clear, "m.png", mode="scale"))) == [0]
    assert occupied_cells(read_map(server(tmp_path, clear, "m.png"))) == [0, 1]
    deep = picture(tmp_path, "m.png", [[0, 65535, 40000, 9000]], "I;16")
    assert occupied_cells(read_map(server(tmp_path, deep, "m.png"))) == [0, 3]


def test_a_plain_image_needs_a_scale_and_is_dark_where_it_is_occupied(tmp_path: Path) -> None:
    file = put(tmp_path, "m.pgm", pgm([[255, 127], [0, 128]]))
    found = read_map({"file": "m.pgm", "scale": 2.0}, tmp_path)
    assert found.bounds == (0.0, 0.0, 4.0, 4.0)
    assert area(found) == 8.0
    assert "an image needs a scale" in refusal(file)


@pytest.mark.parametrize(
    ("settings", "fragment"),
    [
        ({"image": "none.pgm"}, "none.pgm: No such file"),
        ({"image": 3}, "image: a text is needed"),
        ({"resolution": 0}, "resolution: a number above 0"),
        ({"resolution": "x"}, "resolution: a number is needed"),
        ({"origin": [1, 2, 3, 4]}, "origin: [x, y, yaw] is needed"),
        ({"mode": "grey"}, "mode: unknown mode 'grey'"),
        ({"negate": "maybe"}, "negate: 0 or 1"),
        ({"occupied_thresh": 65}, "occupied_thresh: a number from 0 to 1"),
    ],
)
def test_a_wrong_map_server_file_is_refused_with_a_message(
    settings: dict[str, Any], fragment: str, tmp_path: Path
) -> None:
    message = refusal(server(tmp_path, pgm([GREYS]), **settings))
    assert fragment in message
    assert message.startswith(f"{tmp_path / 'm.yaml'}: ")


@pytest.mark.parametrize(
    ("data", "fragment"),
    [
        (b"P5\n1000000000 1000000000\n255\n", "1000000000 x 1000000000 pixels"),
        (b"P5\n9000 9000\n255\nabc", "ends after 3 of 81000000"),
        (b"P2\n2 2\n255\n1 2 3", "ends after 3 of 4"),
        (b"P2\n2 1\n255\n1 x", "not b'x'"),
        (b"P5\n0 5\n255\n", "0 x 5 pixels"),
        (b"P5\n2 1\n70000\n....", "from 1 to 65535"),
        (b"P5\n2 1\n9\n\x00\x10", "above its maximum"),
        (b"P5 what", "not a PGM image"),
        (b"\x89PNG\r\n\x1a\nbroken", "m.pgm: not an image"),
        (b"", "not an image"),
    ],
)
def test_a_broken_image_is_refused_with_a_message(
    data: bytes, fragment: str, tmp_path: Path
) -> None:
    assert fragment in refusal(server(tmp_path, data))


def test_a_png_that_claims_a_billion_pixels_is_refused_before_it_is_unpacked(
    tmp_path: Path,
) -> None:
    import struct
    import zlib

    def chunk(kind: bytes, data: bytes) -> bytes:
        whole = kind + data
        return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 50_000, 50_000, 8, 0, 0, 0, 0))
    data = (
        b"\x89PNG\r\n\x1a\n"
        + head
        + chunk(b"IDAT", zlib.compress(b"\0" * 99))
        + chunk(b"IEND", b"")
    )
    assert "more than 100000000 pixels" in refusal(
        {"file": str(put(tmp_path, "m.png", data)), "scale": 1.0}
    )


# ARIA maps.

ARIA = """2D-Map-Ex
LineMinPos: 7 7
NumLines: 9999
Resolution: 20
Sources: Sick
MapInfo: SectorType Name=Shelf "Label=A shelf" Sim.Obstacle=yes
MapInfo: BoundaryType Name=Curb Sim.Obstacle=yes
Cairn: RobotHome 1000 -2000 90.000000 "" ICON "my home"
Cairn: Goal 0 0 0 "" ICON "a"
Cairn: GoalWithHeading 10 20 -180 "" ICON "b"
Cairn: Dock 5 6 0 "" ICON ""
Cairn: Lamp 5 6 0 "" ICON "a lamp"
Cairn: ForbiddenLine 0 0 0 "" ICON "l" 0 0 1000 500
Cairn: ForbiddenArea 0 0 90 "" ICON "" 1000 2000 3000 5000 "described"
Cairn: Sim.BoxObstacle 0 0 0 "" ICON "" 5000 5000 6000 7000
Cairn: Shelf 0 0 0 "" ICON "" 0 0 1000 1000
Cairn: Curb 0 0 0 "" ICON "" 0 0 3000 0
LINES
0 0 1000 0
1000 0 1000 1000
Sick_LINES
0 0 0 500
DATA
100 100
120 100
140 120
Sick_DATA
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_aria_map_is_read_whole(newline: str, tmp_path: Path) -> None:
    found = read_map(put(tmp_path, "a.map", ARIA.replace("\n", newline)))
    assert int((~found.solid).sum()) == 3 + 1
    assert length(Map(found.segments[~found.solid], found.solid[~found.solid])) == 2.5 + 3.0
    assert area(found) == pytest.approx(2.0 + 1.0 + 3 * 0.02**2)
    assert int(found.solid.sum()) == 4 + 4 + 4 + 4  # two boxes, two points in a row, one apart
    kinds = ["home", "goal", "goal", "dock", "Lamp", "forbidden_line", "forbidden_area"]
    assert [place.kind for place in found.places] == kinds
    assert found.places[0] == Place("home", "my home", 1.0, -2.0, math.pi / 2)
    assert abs(found.places[2].yaw) == math.pi
    assert found.places[5].points == ((0.0, 0.0), (1.0, 0.5))
    corners = [(-2.0, 1.0), (-2.0, 3.0), (-5.0, 3.0), (-5.0, 1.0)]  # turned about the origin
    assert np.allclose(found.places[6].points, corners)


def test_the_georeference_of_an_aria_map_is_read_moved_kept_and_written(tmp_path: Path) -> None:
    text = "2D-Map\nOriginLatLongAlt: 42.5 -71.25 100\nLINES\n0 0 1000 0\n"
    file = put(tmp_path, "a.map", text)
    found = read_map(file)
    assert found.georeference == Georeference(42.5, -71.25, 100.0)
    moved = read_map({"file": str(file), "shift": [5.0, 0.0, math.pi / 2]})
    assert moved.georeference is not None
    assert moved.georeference.locate(5.0, 1.0) == found.georeference.locate(1.0, 0.0)
    assert map_from_dict(map_to_dict(moved)).georeference == moved.georeference
    write_map(found, tmp_path / "b.map")
    assert read_map(tmp_path / "b.map").georeference == found.georeference
    facts = describe_map(found)
    assert facts["origin"] == [42.5, -71.25]
    assert "origin    at latitude 42.5°, longitude -71.25°" in format_description(facts)
    assert read_map(put(tmp_path, "c.map", "2D-Map\n")).georeference is None


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("2D-Map\nnonsense\n", ":2: neither a key"),
        ("2D-Map\nLINES\n1 2 3\n", ":3: 4 numbers are needed, not '1 2 3'"),
        ("2D-Map\nLINES\n1 2 3 4\n1 2 3 nan\n", ":4: 4 numbers"),
        ("2D-Map\nLINES\n1 2 3 4\n1 2 3 1e99\n", ":4: 4 numbers"),
        ("2D-Map\nDATA\n1 x\n", ":3: 2 numbers"),
        ("2D-Map\nResolution: wide\nDATA\n1 1\n", "Resolution: 'wide'"),
        ("2D-Map\nCairn: Goal 1 2\n", ":2: a cairn is"),
        ("2D-Map\nOriginLatLongAlt: 40 north\n", ": OriginLatLongAlt: '40 north' is no position"),
        ("2D-Map\nOriginLatLongAlt: 95 0 0\n", ": OriginLatLongAlt: latitude 95°"),
        ("LINES\n", ":1: an ARIA map begins with 2D-Map"),
    ],
)
def test_a_broken_aria_map_is_refused_with_its_line(
    text: str, fragment: str, tmp_path: Path
) -> None:
    file = put(tmp_path, "a.map", text)
    message = refusal(file)
    assert fragment in message
    assert message.startswith(f"{file}:")


def test_points_off_any_lattice_are_squares_of_their_own(tmp_path: Path) -> None:
    points = "\n".join(f"{100 * k + k / 7:.4f} {k / 3:.4f}" for k in range(1500))
    found = read_map(put(tmp_path, "a.map", f"2D-Map\nResolution: 30\nDATA\n{points}\n"))
    assert len(found) == 4 * 1500
    assert area(found) == pytest.approx(1500 * 0.03**2)


# Maps that are written where they are used.


def test_an_inline_map_has_its_walls_boxes_polygons_and_places() -> None:
    found = read_map(
        {
            "walls": [[[0, 0], [8, 0], [8, 5]]],
            "boxes": [{"x": 2, "y": 1, "length": 1.6, "width": 0.5, "yaw": 0.3}, [5, 3, 1, 2]],
            "polygons": [[[3, 3], [3, 4], [4, 3]]],
            "places": [{"kind": "home", "name": "h", "x": 1, "y": 2, "yaw": 3}],
        }
    )
    assert (len(found), int(found.solid.sum())) == (2 + 8 + 3, 11)
    assert area(found) == pytest.approx(0.8 + 2.0 + 0.5)
    assert found.places == (Place("home", "h", 1.0, 2.0, 3.0),)


@quick
@given(st.floats(1e-4, 1e3))
def test_a_circle_is_a_polygon_within_a_millimetre(radius: float) -> None:
    points = circle_points(3.0, -2.0, radius)
    corners = np.hypot(points[:, 0] - 3.0, points[:, 1] + 2.0)
    middles = corners[0] * math.cos(math.pi / len(points))
    assert len(points) >= 12
    assert 0.0 < corners.max() - radius <= 1.0001e-3
    assert corners[0] - radius == pytest.approx(radius - middles, rel=1e-3, abs=1e-9)
    assert area(block(points)) == pytest.approx(math.pi * radius**2, rel=0.02)


def test_circles_of_too_many_sides_are_refused() -> None:
    [(path, message)] = check_spec({"circles": [[0, 0, 1e5]] * 400})
    assert (path, message) == (("circles",), "their polygons have more than 5000000 sides")
    assert not check_spec({"circles": [[0, 0, 1e5]] * 20})


def test_every_fault_of_a_description_is_reported_with_its_path() -> None:
    spec = {
        "wals": [],
        "boxes": [[1, 2, 3], {"x": 1, "y": 1, "length": -1, "wdth": 2}, 7],
        "circles": [[0, 0, 0]],
        "polygons": [[[0, 0], [1, 1], [2, 2]], [[0, 0], [1, "x"], [math.nan, 2]]],
        "places": [{"name": 3}],
        "shift": [1, 2],
    }
    found = {path: message for path, message in check_spec(spec)}
    assert "did you mean 'walls'?" in found["wals",]
    assert "did you mean 'width'?" in found["boxes", 1, "wdth"]
    assert set(found) == {
        ("wals",),
        ("boxes", 0),
        ("boxes", 1),
        ("boxes", 1, "wdth"),
        ("boxes", 2),
        ("circles", 0, 2),
        ("polygons", 0),
        ("polygons", 1, 1, 1),
        ("polygons", 1, 2, 0),
        ("places", 0),
        ("places", 0, "name"),
        ("shift",),
    }
    with pytest.raises(MapError, match=r"map\.boxes\[2\]: "):
        read_map(spec)


@pytest.mark.parametrize(
    ("spec", "path", "fragment"),
    [
        (3, (), "a name, a file or a mapping"),
        ("", (), "the name of a map"),
        ({}, (), "needs 'file', 'kind' or one of"),
        ({"fil": "a"}, ("fil",), "did you mean 'file'?"),
        ({"file": 3}, ("file",), "the name of a file"),
        ({"file": "a", "scale": 0}, ("scale",), "above 0"),
        ({"file": "a", "kind": "maze"}, (), "one of file, kind and inline, not file and kind"),
        ({"kind": "mase"}, ("kind",), "did you mean 'maze'?"),
        ({"kind": "maze", "cel": 2}, ("cel",), "did you mean 'cell'?"),
        ({"kind": "maze", "size": 2}, ("size",), "two numbers"),
        ({"kind": "maze", "size": [20, 20], "segments": 10}, ("segments",), "size or segments"),
        ({"kind": "maze", "segments": 1.5}, ("segments",), "a whole number from 4"),
        ({"kind": "maze", "seed": -1}, ("seed",), "a whole number from 0 on"),
        ({"kind": "maze", "per_world": 1}, ("per_world",), "true or false"),
        ({"kind": "maze", "size": [20000, 20000], "cell": 0.1}, (), "more than 1000000 parts"),
        ({"kind": "rooms", "door": 4.5}, (), "door must be"),
        ({"kind": "forest", "radius": [2, 1]}, (), "thinnest"),
        ({"kind": "maze", "clear": 50}, (), "does not fit into the size"),
        ({"walls": 3}, ("walls",), "a list is needed"),
        ({"walls": [[[0, 0]]]}, ("walls", 0), "at least 2 points"),
    ],
)
def test_a_wrong_description_is_refused_with_a_message(spec: Any, path: Any, fragment: str) -> None:
    assert any(where == path and fragment in what for where, what in check_spec(spec)), check_spec(
        spec
    )


def test_an_inline_map_may_stand_in_a_yaml_file_of_its_own(tmp_path: Path) -> None:
    file = put(tmp_path, "m.yaml", "walls: [[[0, 0], [3, 4]]]\ncircles: [[1, 1, 0.5]]\n")
    assert int((~read_map(file).solid).sum()) == 1
    assert "unknown key 'cirles'; did you mean 'circles'?" in refusal(
        put(tmp_path, "n.yaml", "walls: []\ncirles: []")
    )


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("a: 1\n\tb: 2", ":2: not YAML"),
        ("- 1", "a mapping of keys"),
        ("a: &a [1]\nwalls: *a", ":2: aliases and tags are not taken"),
        ("walls: " + "[" * 300_000, "nested deeper"),
        ("a: 1", "needs 'image', as map_server has it, or one of walls"),
        ("walls: 2001-12-14", "walls: a list is needed"),
        ("walls: []\nwalls: []", ":2: key 'walls' is given twice"),
        ("# nothing yet: at all", "a mapping of keys"),
    ],
)
def test_a_wrong_yaml_file_is_refused_with_a_message(
    text: str, fragment: str, tmp_path: Path
) -> None:
    file = put(tmp_path, "m.yaml", text)
    assert fragment in refusal(file)


def test_a_yaml_file_is_read_as_scenarios_are(tmp_path: Path) -> None:
    file = put(tmp_path, "m.yaml", "walls: [[[0, 0], [3e-1, 4E1]]]\n")
    assert rows(read_map(file).segments) == rows(np.array([[0.0, 0.0, 0.3, 40.0]]))
    put(tmp_path, "m.pgm", pgm(np.array([[0]])))
    for negate, cells in (("no", 1), ("Off", 1), ("0", 1), ("yes", 0), ("true", 0)):
        text = f"image: m.pgm\nresolution: 5e-2\nnegate: {negate}\n"
        found = read_map(put(tmp_path, "s.yaml", text))
        assert found.bounds[2] == 0.05 * cells


def test_a_yaml_file_may_hold_a_large_map(tmp_path: Path) -> None:
    walls = [[[k, 0], [k, 1]] for k in range(30_000)]
    assert len(read_map(put(tmp_path, "m.yaml", f"walls: {walls}"))) == 30_000


# Whatever it is.


def test_a_map_is_turned_about_the_origin_and_then_moved() -> None:
    spec: dict[str, Any] = {"walls": [[[1, 0], [2, 0]]], "places": [{"kind": "goal", "x": 1}]}
    found = read_map({**spec, "shift": [10, 20, math.pi / 2]})
    assert np.allclose(found.segments, [[10, 21, 10, 22]])
    goal = found.places[0]
    assert (goal.x, goal.y, goal.yaw) == pytest.approx((10, 21, math.pi / 2))
    assert read_map({"file": "arena", "shift": [5, 5, 0]}).bounds == (0, 0, 10, 10)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.map", collection(geometry("LineString", [[0, 0], [1, 0]]))),
        ("a", collection(geometry("LineString", [[0, 0], [1, 0]]))),
        ("a.json", "2D-Map\nLINES\n0 0 1000 0\n"),
        ("a", "2D-Map\r\nLINES\r\n0 0 1000 0"),
        ("a", "\ufeffwalls: [[[0, 0], [1, 0]]]"),
        (
            "a.png",
            "walls: [[[0, 0], [1, 0]]]".replace("walls", '{"type": "LineString", "coordinates"')
            .replace("]]]", "]]}")
            .replace(": [[[", ": [["),
        ),
    ],
)
def test_the_content_counts_where_the_suffix_lies(name: str, content: str, tmp_path: Path) -> None:
    assert read_map(put(tmp_path, name, content)).segments.tolist() == [[0.0, 0.0, 1.0, 0.0]]


def test_a_scale_is_for_images_only(tmp_path: Path) -> None:
    put(tmp_path, "a.map", "2D-Map\nLINES\n")
    assert "scale is for images; this is ARIA map" in refusal(
        {"file": "a.map", "scale": 1}, tmp_path
    )


def test_a_missing_map_lists_what_there_is() -> None:
    message = refusal("offce")
    assert "did you mean 'office'?" in message
    assert "bundled maps: arena, corridor, office; generators: forest, maze" in message


@pytest.mark.parametrize("name", ["\0", "x" * 300, "x" * 300 + ".map", "."])
def test_impossible_file_names_are_refused_with_a_message(name: str) -> None:
    assert refusal(name)


def test_only_generators_can_differ_between_worlds() -> None:
    assert differs_per_world({"kind": "maze", "per_world": True})
    same: list[Any] = ["maze", {"kind": "maze"}, {"file": "a", "per_world": True}, 3]
    assert not any(map(differs_per_world, same))


@pytest.mark.parametrize("name", bundled_maps())
def test_bundled_maps_are_closed_and_their_places_are_free(name: str) -> None:
    found = read_map(name)
    assert found.name == name
    assert len(loose_ends(found)) == 0
    assert "home" in {place.kind for place in found.places}
    mask, (x, y) = rasterise(found, 0.1)
    for place in found.places:
        column, row = int((place.x - x) / 0.1), int((place.y - y) / 0.1)
        assert not mask[row - 2 : row + 3, column - 2 : column + 3].any(), place
    assert np.allclose(np.round(found.segments, 3), found.segments)  # a person can read them


def test_the_office_is_20_by_12_m_with_a_free_path_along_the_course_of_the_example() -> None:
    office = read_map("office")
    assert office.bounds == (0.0, 0.0, 20.0, 12.0)
    mask, (x, y) = rasterise(office, 0.1)
    for ax, ay, bx, by in ((2, 2, 8, 2), (8, 2, 8, 6)):
        columns = slice(round((ax - x) / 0.1) - 4, round((bx - x) / 0.1) + 4)
        lines = slice(round((ay - y) / 0.1) - 4, round((by - y) / 0.1) + 4)
        assert not mask[lines, columns].any()


# No bytes give anything but a map or a MapError.

WHOLE = [
    collection(geometry("Polygon", [SQUARE, INNER]), geometry("Point", [1, 1])).encode(),
    ARIA.encode(),
    pgm([GREYS, GREYS]),
    pgm([GREYS, GREYS], plain=True),
    b"image: m.pgm\nresolution: 0.05\norigin: [0, 0, 0]\nnegate: 0\noccupied_thresh: 0.65\n",
    b"walls: [[[0, 0], [8, 0]]]\nboxes: [{x: 1, y: 1, length: 2, width: 1}]\n",
]
NAMES = st.sampled_from(["a", "a.map", "a.yaml", "a.json", "a.pgm", "a.png", "a.bmp", "a.jpg"])


def read_or_refuse(folder: Path, name: str, data: bytes) -> None:
    file = put(folder, name, data)
    for spec in (file, {"file": str(file), "scale": 0.5}):
        try:
            read_map(spec)
        except MapError as problem:
            message = str(problem)
        else:
            message = str(folder)
        assert message.startswith(str(folder))


@quick
@given(name=NAMES, data=st.binary(max_size=200))
@example(name="a.yaml", data=b"\xff\xfe")
@example(name="a", data=b"\x89PNG\r\n\x1a\n" + b"\0" * 50)
@example(name="a", data=b"BM" + b"\xff" * 60)
@example(name="a", data=b"\xff\xd8\xff\xe0" + b"\1" * 60)
@example(name="a", data=b"P6\n99999 99999\n255\n")
@example(name="a.yaml", data=b"image: .\nresolution: 1")
@example(name="a.yaml", data=b"? [a]\n: b")
@example(name="a.yaml", data=b"!!python/object:os.system {}")
@example(name="a.yaml", data=b"a: !!binary x")
@example(name="a.yaml", data=b"walls: !!timestamp 99")
def test_no_bytes_give_anything_but_a_map_error(name: str, data: bytes, tmp_path: Path) -> None:
    read_or_refuse(tmp_path, name, data)


@quick
@given(
    name=NAMES,
    whole=st.sampled_from(WHOLE),
    at=st.integers(0, 400),
    cut=st.integers(0, 9),
    put_in=st.binary(max_size=9),
)
def test_no_broken_file_gives_anything_but_a_map_error(
    name: str, whole: bytes, at: int, cut: int, put_in: bytes, tmp_path: Path
) -> None:
    read_or_refuse(tmp_path, name, whole[:at] + put_in + whole[at + cut :])


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.just(10**400),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["type", "coordinates", "geometry", "features", "kind", "walls", "x"]),
            inner | st.sampled_from(["Feature", "Polygon", "LineString", "Point", "maze"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


@quick
@given(ANYTHING)
def test_no_tree_gives_anything_but_a_map_error(tree: Any) -> None:
    faults = check_spec(tree)
    assert all(isinstance(path, tuple) and message for path, message in faults)
    if faults and isinstance(tree, dict):
        refusal(tree)


@quick
@given(
    tree=ANYTHING,
    kind=st.sampled_from(["Polygon", "LineString", "Point", "GeometryCollection"]),
)
def test_no_json_gives_anything_but_a_map_error(tree: Any, kind: str, tmp_path: Path) -> None:
    for whole in (tree, {"type": kind, "coordinates": tree, "geometries": tree}):
        read_or_refuse(tmp_path, "a.json", json.dumps(whole).encode())


# Writing.

METRES = st.floats(-1e3, 1e3).map(lambda v: round(v, 3))
POINTS = st.lists(st.tuples(METRES, METRES), min_size=2, max_size=6)
WORDS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)
PLACES = st.builds(
    Place,
    kind=st.sampled_from(["home", "dock", "goal", "lamp"]),
    name=WORDS,
    x=METRES,
    y=METRES,
    yaw=st.floats(-3.1, 3.1),
)


def joined(lines: list[Any], blocks: list[Any], places: list[Place]) -> Map:
    made = merge([*map(wall, lines), *map(block, blocks)])
    return Map(made.segments, made.solid, tuple(places))


MAPS = st.builds(
    joined,
    st.lists(POINTS, max_size=3),
    st.lists(POINTS.filter(lambda p: len(p) > 2), max_size=3),
    st.lists(PLACES, max_size=3),
)
AREAS = (
    Place("forbidden_line", "l", 0.5, 0.25, 0.0, ((0.0, 0.0), (1.0, 2.0))),
    Place("forbidden_area", "a", 1.0, 1.0, 0.0, ((0.0, 0.0), (2.0, 0.0), (2.0, 3.0), (0.0, 3.0))),
    Place("carpet", "c", 0.0, 0.0, 0.0, ((0.0, 0.0), (2.0, 0.0), (2.0, 3.0), (0.0, 3.0))),
    Place("curb", "", 0.0, 0.0, 0.0, ((4.0, 0.0), (5.0, 7.0))),
)


@quick
@given(found=MAPS)
def test_geojson_reads_exactly_what_was_written(found: Map, tmp_path: Path) -> None:
    write_map(found, tmp_path / "m.geojson")
    again = read_map(tmp_path / "m.geojson")
    assert same(found, again)
    assert again.places == found.places


@quick
@given(found=MAPS)
def test_an_aria_map_gives_back_what_was_written_to_a_millimetre(
    found: Map, tmp_path: Path
) -> None:
    write_map(found, tmp_path / "m.map")
    again = read_map(tmp_path / "m.map")
    assert len(again) == len(found)
    assert np.abs(again.segments - found.segments).max(initial=0.0) <= 0.5001e-3
    for was, now in zip(found.places, again.places, strict=True):
        assert (now.kind, now.name) == (was.kind, was.name)
        assert (now.x, now.y, now.yaw) == pytest.approx((was.x, was.y, was.yaw), abs=0.6e-3)


@pytest.mark.parametrize("suffix", [".geojson", ".map", ".yaml"])
def test_lines_and_areas_are_kept_by_every_format(suffix: str, tmp_path: Path) -> None:
    found = merge([block(SQUARE), Map(places=AREAS)])
    write_map(found, tmp_path / f"m{suffix}")
    assert read_map(tmp_path / f"m{suffix}").places == AREAS


def test_a_turned_area_is_kept_by_an_aria_map(tmp_path: Path) -> None:
    text = '2D-Map\nCairn: ForbiddenArea 0 0 30 "" ICON "" 1000 2000 3000 5000\nLINES\n'
    found = read_map(put(tmp_path, "a.map", text))
    write_map(found, tmp_path / "b.map")
    again = read_map(tmp_path / "b.map")
    assert np.allclose(again.places[0].points, found.places[0].points, atol=1e-6)


def test_blocks_with_holes_are_polygons_with_holes_in_geojson(tmp_path: Path) -> None:
    found = merge([block(SQUARE), block(INNER, hole=True)])
    write_map(found, tmp_path / "m.geojson")
    feature = json.loads((tmp_path / "m.geojson").read_text())["features"][0]
    assert feature["geometry"]["type"] == "Polygon"
    assert len(feature["geometry"]["coordinates"]) == 2
    assert same(read_map(tmp_path / "m.geojson"), found)
    assert [len(holes) for _, holes in assign_holes(map_polylines(found))] == [1]


@pytest.mark.parametrize("name", [*bundled_maps(), "maze", "forest"])
def test_a_raster_gives_back_the_obstacles_within_a_cell(name: str, tmp_path: Path) -> None:
    cell = 0.05
    found = read_map(name)
    write_map(found, tmp_path / "m.yaml")
    again = read_map(tmp_path / "m.yaml")
    assert again.places == found.places
    for a, b in ((found, again), (again, found)):
        whose, cells = cells_crossed(b.segments / cell)
        near = {(x + i, y + j) for x, y in cells.tolist() for i in (-1, 0, 1) for j in (-1, 0, 1)}
        middles = np.floor(0.5 * (a.segments[:, :2] + a.segments[:, 2:]) / cell).astype(int)
        assert {tuple(m) for m in middles.tolist()} <= near
        assert len(whose)


def test_a_raster_of_blocks_between_cells_is_exact(tmp_path: Path) -> None:
    found = merge([block(SQUARE), block(INNER, hole=True)])
    write_map(found, tmp_path / "m.yaml", resolution=0.25)
    assert rows(read_map(tmp_path / "m.yaml").segments) == rows(found.segments)


def test_a_raster_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MapError, match="take a coarser resolution"):
        write_map(wall([[0, 0], [1e6, 1e6]]), tmp_path / "m.yaml")
    assert list(tmp_path.iterdir()) == []


def test_a_map_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    with pytest.raises(MapError, match="no format for"):
        write_map(Map(), tmp_path / "m.xyz")
    (tmp_path / "folder.map").mkdir()
    with pytest.raises(MapError, match="cannot be written"):
        write_map(Map(), tmp_path / "folder.map")
    assert [file.name for file in tmp_path.iterdir()] == ["folder.map"]


# Figures of a map.


def test_a_map_in_figures() -> None:
    found = merge([wall([[0, 0], [4, 0], [4, 3]]), block(INNER), wall([[4, 1], [3, 1]])])
    facts = describe_map(found)
    assert facts["bounds"] == [0.0, 0.0, 4.0, 3.0]
    assert (facts["segments"], facts["solid"]) == (7, 4)
    assert (facts["length"], facts["solid_area"]) == (12.0, 1.0)
    assert rows(loose_ends(found)) == {(0.0, 0.0), (4.0, 3.0), (3.0, 1.0)}  # (4, 1) is on a wall


def test_large_maps_are_read_in_seconds(tmp_path: Path) -> None:
    import time

    k = np.arange(25_000)
    x, y = (k % 158) * 1.0, (k // 158) * 1.0
    blocks = np.stack([x, y, x + 0.5, y, x + 0.5, y + 0.5, x, y + 0.5], axis=1).reshape(-1, 4, 2)
    text = collection(*(geometry("Polygon", [ring]) for ring in blocks.tolist()))
    lines = "\n".join(f"{i} {2 * i} {i + 50} {2 * i}" for i in range(100_000))
    points = "\n".join(f"{20 * (i % 251)} {40 * (i // 251)}" for i in range(63_311))
    pixels = np.full((4000, 4000), 254, np.uint8)
    pixels[::50, ::40] = 0
    spent = []
    for name, content, segments in (
        ("m.geojson", text.encode(), 100_000),
        ("l.map", f"2D-Map\nLINES\n{lines}\n".encode(), 100_000),
        ("p.map", f"2D-Map\nDATA\n{points}\n".encode(), 4 * 253),
        ("i.pgm", b"P5\n4000 4000\n255\n" + pixels.tobytes(), 4 * 80 * 100),
    ):
        file = put(tmp_path, name, content)
        began = time.perf_counter()
        found = read_map({"file": str(file), "scale": 0.05} if name == "i.pgm" else file)
        spent.append(time.perf_counter() - began)
        assert len(found) == segments, name
    assert max(spent) < 10.0
