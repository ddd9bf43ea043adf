"""A start in a wall, inside a solid object or outside the map is warned of by name and line."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from astray.errors import ScenarioWarning
from astray.scenario import load_scenario

LOOP = "[[-4, -3], [4, -3], [4, 3], [-4, 3], [-4, -3]]"
ROOM = f"{{walls: [{LOOP}], boxes: [[2, 1, 1, 1, 0]]}}"
BOX = "{length: 1, width: 0.2}"


def warned(tmp_path: Path, map: str, robot: str, more: str = "") -> list[str]:
    """The warnings of a scenario with a robot of some keys."""
    file = tmp_path / "lap.yaml"
    file.write_text(f"world: {{map: {map}}}\n{more}\nrobots:\n- name: cart\n  {robot}\n")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        load_scenario(file)
    assert all(one.category is ScenarioWarning for one in found)
    return [str(one.message).removeprefix(f"{file}:") for one in found]


@pytest.mark.parametrize(
    ("robot", "message"),
    [
        ("start: {x: 4}", "in a wall, at x 4, y 0"),
        ("start: {x: 3.85, y: -1}", "in a wall, at x 3.85, y -1"),
        ("start: {x: 2, y: 1}", "inside a solid object, at x 2, y 1"),
        ("start: {x: 9}", "outside the map, at x 9, y 0"),
        (f"{{footprint: {BOX}, start: {{x: 3.7}}}}", "in a wall"),
        (f"{{footprint: {BOX}, start: {{x: 3.7, yaw: 90 deg, y: 2.6}}}}", "in a wall"),
        ("{footprint: {radius: 3}, start: {x: 0.5}}", "in a wall"),
        ("start: {x: {uniform: [3.9, 4.1]}, spread: 0.1}", "in a wall"),
    ],
)
def test_a_blocked_start_is_warned_of(robot: str, message: str, tmp_path: Path) -> None:
    robot = robot.strip("{}") if robot.startswith("{") else robot
    robot = robot + "}" * (robot.count("{") - robot.count("}"))
    robot = robot.replace("}, start", "}\n  start")
    (text,) = warned(tmp_path, ROOM, robot)
    line = 5 if robot.startswith("start") else 6
    assert text.startswith(f"{line}:")
    assert f"robots[0].start: cart starts {message}" in text
    assert "clearance" in text


def test_the_robot_in_a_row_is_named(tmp_path: Path) -> None:
    (text,) = warned(tmp_path, ROOM, "count: 5\n  start: {x: -2, y: -2, step: [2.3, 0]}")
    assert "cart 3 starts outside the map" in text or "cart 2 starts" in text


def test_a_place_in_a_wall_is_warned_of(tmp_path: Path) -> None:
    room = ROOM[:-1] + ", places: [{kind: dock, name: home, x: 4, y: 0}]}"
    assert "in a wall, at x 4, y 0" in warned(tmp_path, room, "start: {place: home}")[0]
    assert warned(tmp_path, room, "start: {place: home, x: -1}") == []


@pytest.mark.parametrize(
    "robot",
    [
        "start: {x: 3.8}",  # touches
        "start: {x: 1.3, y: 1}",
        "start: {clearance: 0.3}",
        "count: 0\n  start: {x: 4}",
        "footprint: {length: 1, width: 0.2}\n  start: {x: 3.7, yaw: 90 deg}",
        "footprint: {length: 1, width: 0.2}\n  start: {x: 3.5}",  # its front along the wall
    ],
)
def test_a_free_start_is_not_warned_of(robot: str, tmp_path: Path) -> None:
    assert warned(tmp_path, ROOM, robot) == []


@pytest.mark.parametrize(
    "map", ["{walls: [[[5, -1], [5, 1]]]}", "{boxes: [[5, 5, 1, 1, 0]]}", "{circles: [[5, 5, 1]]}"]
)
def test_there_is_no_outside_of_what_encloses_nothing(map: str, tmp_path: Path) -> None:
    assert warned(tmp_path, map, "start: {x: -20}") == []


def test_who_passes_through_everything_may_start_anywhere(tmp_path: Path) -> None:
    assert warned(tmp_path, ROOM, "start: {x: 4}", "interactions: []") == []


def test_an_image_has_an_outside(tmp_path: Path) -> None:
    pixels = np.full((50, 60), 255, np.uint8)
    pixels[[0, 1, -2, -1]] = 0
    pixels[:, [0, 1, -2, -1]] = 0
    Image.fromarray(pixels).save(tmp_path / "hall.png")
    hall = "{file: hall.png, scale: 0.1}"
    assert warned(tmp_path, hall, "start: {x: 3, y: 2}") == []
    assert "outside the map" in warned(tmp_path, hall, "start: {x: -3, y: 2}")[0]
    assert (
        "inside a solid object"
        in warned(tmp_path, hall, "start: {x: 0.1, y: 2}\n  footprint: {radius: 0.05}")[0]
    )


def test_a_generated_map_is_looked_at(tmp_path: Path) -> None:
    assert "outside the map" in warned(tmp_path, "maze", "start: {x: 100}")[0]
    assert warned(tmp_path, "{kind: maze, per_world: true}", "start: {x: 100}") == []


def test_the_command_line_prints_one_plain_line(tmp_path: Path) -> None:
    file = tmp_path / "lap.yaml"
    file.write_text(f"world: {{map: {ROOM}}}\nrobots: [{{name: cart, start: {{x: 4, yaw: 90}}}}]\n")
    command = [sys.executable, "-m", "astray", "check", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stderr.splitlines()
    assert done.returncode == 0
    assert [line.split(": ")[0] for line in lines] == ["warning", "warning"]
    assert all(str(file) in line for line in lines)
