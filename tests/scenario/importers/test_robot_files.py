"""Robots of ARIA's and MobileSim's files: what is read, ignored and refused."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import astray
from astray.errors import WrongInput
from astray.pioneer.models import find_model
from astray.scenario.importers.aria import read_aria_robot
from astray.scenario.importers.robot_file import chamfered_box, wheel_baseline
from astray.scenario.importers.stage import read_stage_robot

ARIA = """\
;SectionFlags for :
ConfigVersion 2.0
Section General settings
Class Pioneer            ; general type of robot
Subclass Trolley-SH
RobotRadius 300
RobotDiagonal 100
RobotWidth 400           ; width in mm
RobotLength 600
RobotLengthFront 200
RobotLengthRear 400
MaxRVelocity 90
MaxVelocity 800
Section Conversion factors
AngleConvFactor 0.001534
DistConvFactor 0.5
DiffConvFactor 0.004
Vel2Divisor 20.0
Section Accessories the robot has
FrontBumpers true
NumFrontBumpers 3
RearBumpers false
NumRearBumpers 5
Wheelie yes sometimes    ; nobody knows this one
Section Movement control parameters
TransAccel 250
TransDecel 0
RotAccel 90
Section Sonar parameters
SonarNum 4
SonarUnit 0 100 200 90
SonarUnit 1 150 0 0
sonarunit 3 -100 -200 -90 1 2 3
Section Laser parameters
LaserX 120
LaserTh 180.0
LaserType lms1xx
Section Laser 2 parameters
LaserX 7
LaserType urg
"""

STAGE = """\
# robots of ours
include "others.inc"
define echo ranger ( scount 2 spose[0] [0.1 0.2 90] sview [0.1 5.0 30] )
define eye laser (samples 91 fov 90.0 range_max 12.5)
define pioneer position (
  color "red"  gui_nose 1
  odom_error [ 0.01 0.01 0.02 ]
  default_speed [1.0 0.0 0.9]
  accel [0.4 0 1.5]
)
define cart pioneer
(
  pioneer_robot_subtype "cart-SH"   # the subclass for ARIA
  size [0.6 0.4]   origin [-0.1 0 0]
  polygons 1
  polygon[0].points 4
  polygon[0].point[0] [-1 0]  polygon[0].point[1] [0 -1]
  polygon[0].point[2] [1 0]   polygon[0].point[3] [0 1]
  max_speed [0.9 0 1.2]
  pioneer_distconv 1.0
  pioneer_diffconv 0.005
  echo ( spose[1] [-0.1 0.0 180] )
  eye( pose [0.15 0.0 90] laser_return_rule[0].model_gt 1 )
)
define fast_cart cart ( max_speed [1.8 0 2.4] accel [0 0 0] drive "omni" )
"""


def aria(folder: Path, text: str = ARIA) -> Path:
    file = folder / "trolley.p"
    file.write_text(text, encoding="utf-8")
    return file


def stage(folder: Path, text: str = STAGE) -> Path:
    file = folder / "carts.inc"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_parameter_file_of_aria(tmp_path: Path) -> None:
    model = find_model(str(aria(tmp_path)))
    assert (model.name, model.robot_class, model.laser_type) == (
        "trolley-sh",
        "Pioneer",
        "sicklms100",
    )
    assert (model.distance_factor, model.wheel_factor, model.vel2_divisor) == (0.5, 0.004, 20)
    assert (model.max_speed, model.max_turn) == (0.8, pytest.approx(math.pi / 2))
    assert (model.accel, model.decel) == (0.25, 0.6)  # 0 leaves it to the robot
    assert model.turn_accel == model.turn_decel == pytest.approx(math.pi / 2)
    assert model.robot["motion"]["baseline"] == pytest.approx(0.5)
    xs, ys = zip(*model.robot["footprint"]["corners"], strict=True)
    assert (min(xs), max(xs), min(ys), max(ys)) == pytest.approx((-0.4, 0.2, -0.2, 0.2))
    ring = model.sensor(model.sonar)["mounts"]
    assert ring[0] == pytest.approx([0.1, 0.2, math.pi / 2])
    assert ring[2] == pytest.approx([0.0, 0.0, math.pi])  # left out: looks back from the middle
    assert ring[3] == pytest.approx([-0.1, -0.2, -math.pi / 2])
    scanner = model.sensor(model.laser)
    assert (scanner["x"], scanner["yaw"]) == pytest.approx((0.12, math.pi))
    assert (scanner["rays"], scanner["max_range"]) == (541, 20)
    assert len(model.sensor(model.bumper)["arcs"]) == 3
    sim = astray.load({"robots": [{"name": "trolley", **model.robot}]})
    sim.run(0.2)


def test_a_definition_of_mobilesim(tmp_path: Path) -> None:
    model = find_model(f"{stage(tmp_path)}#cart")
    assert (model.name, model.distance_factor, model.lateral) == ("cart-sh", 1.0, False)
    assert (model.max_speed, model.max_turn) == (0.9, 1.2)
    assert (model.default_speed, model.default_turn) == (1.0, 0.9)
    assert (model.accel, model.decel, model.turn_accel) == (0.4, 0.6, 1.5)
    assert (model.way_error, model.turn_error) == (0.01, pytest.approx(math.radians(0.02)))
    assert model.robot["motion"]["baseline"] == pytest.approx(0.4)
    diamond = [[-0.4, 0.0], [-0.1, -0.2], [0.2, 0.0], [-0.1, 0.2]]
    assert model.robot["footprint"]["corners"] == [pytest.approx(point) for point in diamond]
    ring = model.sensor(model.sonar)["mounts"]
    assert ring[0] == pytest.approx([0.1, 0.2, math.pi / 2])
    assert ring[1] == pytest.approx([-0.1, 0.0, math.pi])
    scanner = model.sensor(model.laser)
    assert (scanner["rays"], scanner["max_range"]) == (91, 12.5)
    assert (scanner["x"], scanner["yaw"]) == pytest.approx((0.15, math.pi / 2))
    assert scanner["field_of_view"] == pytest.approx(math.pi / 2)
    astray.load({"robots": [{"name": "cart", **model.robot}]}).run(0.2)


def test_the_last_robot_of_a_file_is_read_with_what_it_inherits(
    tmp_path: Path,
) -> None:
    model = find_model(str(stage(tmp_path)))
    assert (model.max_speed, model.name, model.lateral) == (1.8, "cart-sh", True)
    assert model.robot["motion"]["kind"] == "omni"
    assert (model.accel, model.turn_accel) == (0.3, 1.74)  # 0: it cannot be set
    assert model.sonar == "sonar"
    astray.load({"robots": [{"name": "cart", **model.robot}]}).run(0.2)


@pytest.mark.parametrize(
    ("line", "broken", "message"),
    [
        ("MaxVelocity 800", "MaxVelocity fast", "maxvelocity is 'fast': it must be a number"),
        ("MaxVelocity 800", "MaxVelocity -8", "maxvelocity is '-8': it must be a number from"),
        ("DistConvFactor 0.5", "DistConvFactor nan", "distconvfactor is 'nan'"),
        ("SonarUnit 1 150 0 0", "SonarUnit 1 150", "SonarUnit needs a number, x and y"),
        ("SonarUnit 1 150 0 0", "SonarUnit 999 1 1 1", "sonars are numbered from 0 to 63"),
        ("SonarNum 4", "SonarNum 4000000", "4e+06 sonars are more than 64"),
        ("LaserX 120", "LaserX here", "laserx is 'here': it must be a number"),
        ("Subclass Trolley-SH", "", "no Subclass"),
    ],
)
def test_a_broken_parameter_file_is_refused_with_its_line(
    tmp_path: Path, line: str, broken: str, message: str
) -> None:
    number = ARIA[: ARIA.index(line)].count("\n") + 1 if broken else 1
    file = aria(tmp_path, ARIA.replace(line, broken))
    with pytest.raises(WrongInput) as refused:
        read_aria_robot(file)
    assert f"{file}:{number}: {message}" in str(refused.value)


def test_all_faults_are_reported_at_once(tmp_path: Path) -> None:
    text = ARIA.replace("MaxVelocity 800", "MaxVelocity a").replace("LaserX 120", "LaserX b")
    with pytest.raises(WrongInput) as refused:
        read_aria_robot(aria(tmp_path, text))
    assert len(str(refused.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("define cart pioneer ( size [1 2", "1: a [ without its ]"),
        ("define cart pioneer (\n size [1 2]\n", "1: the block of 'cart' is never closed"),
        ("define cart pioneer ( )\n)", "2: a ) without its ("),
        ("define cart pioneer\ncolor", "1: define needs a name, a parent and a block"),
        ("define cart pioneer (\n size [1 b] )", "2: size needs 2 numbers, not '1 b'"),
        ("define cart pioneer (\n size [1 0] )", "2: size is 0: it must be positive"),
        ("define cart pioneer (\n [1 0] )", "2: '[' where a key was expected"),
        ("define cart pioneer (\n echo() ranger(\n scount 1e9 ) )", "3: 1e+09 is no number of"),
    ],
)
def test_a_broken_definition_is_refused_with_its_line(
    tmp_path: Path, text: str, message: str
) -> None:
    file = stage(tmp_path, text)
    with pytest.raises(WrongInput) as refused:
        read_stage_robot(file)
    assert f"{file}:{message}" in str(refused.value)


def test_files_without_a_robot_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongInput, match="defines no robot"):
        read_stage_robot(stage(tmp_path, "define box model ( size [1 1] )"))
    with pytest.raises(
        WrongInput, match=r"unknown robot 'cort'; did you mean 'cart'\? \(cart, fast"
    ):
        read_stage_robot(stage(tmp_path), "cort")
    (tmp_path / "odd.p").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(WrongInput, match="not a text file in UTF-8"):
        read_aria_robot(tmp_path / "odd.p")
    with pytest.raises(WrongInput, match=r"nowhere.inc: No such file"):
        read_stage_robot(tmp_path / "nowhere.inc")
    with pytest.raises(WrongInput, match="directory"):
        read_stage_robot(tmp_path)


def test_parents_in_a_circle_and_blocks_without_end_harm_nothing(tmp_path: Path) -> None:
    with pytest.raises(WrongInput, match="defines no robot"):
        read_stage_robot(stage(tmp_path, "define a b ( )\ndefine b a ( )"))
    with pytest.raises(WrongInput, match="more than 32 blocks in each other"):
        read_stage_robot(stage(tmp_path, "define a pioneer ( " + "b ( " * 5000))


WORDS = """define cart pioneer ( ) [ ] " # size 1 -2 nan scount spose[0] spose[ echo ranger laser
origin fov drive omni Section SonarUnit SonarNum Subclass x ; 0 1e300 LaserType urg"""
words = st.sampled_from(["\n", *WORDS.split()])


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(words, max_size=60), junk=st.binary(max_size=40))
def test_whatever_a_file_holds_it_is_read_or_refused(
    tmp_path: Path, parts: list[str], junk: bytes
) -> None:
    for name, read in (("a.inc", read_stage_robot), ("a.p", read_aria_robot)):
        file = tmp_path / name
        file.write_bytes(" ".join(parts).encode() + junk)
        try:
            found = read(file)
        except WrongInput:
            continue
        assert found.name


@given(
    front=st.floats(0.05, 2.0),
    rear=st.floats(0.05, 2.0),
    width=st.floats(0.1, 2.0),
    flat=st.floats(0.01, 2.0),
)
def test_a_body_with_cut_corners_fits_its_box(
    front: float, rear: float, width: float, flat: float
) -> None:
    xs, ys = zip(*chamfered_box(front, rear, width, flat), strict=True)
    assert (max(xs), -min(xs)) == pytest.approx((front, rear))
    assert (max(ys), -min(ys)) == pytest.approx((width / 2, width / 2))
    box = (front + rear) * width
    area = 0.5 * sum(
        xs[k - 1] * ys[k] - xs[k] * ys[k - 1] for k in range(len(xs))
    )  # the corners go round once
    assert 0.3 * box < abs(area) <= box * (1 + 1e-9)


def test_a_factor_that_the_firmware_does_not_use_gives_no_baseline() -> None:
    assert wheel_baseline(0.0056, 0.425) == pytest.approx(0.357, abs=1e-3)
    assert wheel_baseline(1.0, 0.5) == pytest.approx(0.425)
    assert wheel_baseline(0.0056, 1.27) == pytest.approx(1.0795)
