"""Model files of the truck: read as they are, refused with every fault at once."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import yaml

import astray
from astray.truck import Engine, Model, read_model
from astray.truck.frames import StaticTransform, find_mount, roll_pitch_yaw
from astray.truck.model import IMU_FRAME, LIDAR_FRAME
from support.paths import DATA

ORIGINAL_MODEL = DATA / "truck" / "maps" / "model.yaml"
ROBOTS = Path(astray.__file__).parent / "presets" / "robots"


def test_the_limits_are_those_of_the_steering() -> None:
    model = Model()
    assert model.max_curvature == pytest.approx(1.6974, abs=1e-4)
    assert model.max_base_curvature == pytest.approx(1.605163324388, abs=1e-12)
    tight = Model.model_validate({"limits": {"max_abs_curvature": 0.5}})
    assert tight.max_base_curvature == pytest.approx(0.5, abs=1e-12)


def test_a_model_file_of_the_original_loads_as_it_is() -> None:
    if not ORIGINAL_MODEL.exists():
        pytest.skip("no model.yaml in ../shared/data/truck/maps")
    model = read_model(ORIGINAL_MODEL)
    assert model.limits == Model().limits
    assert model.lidar.rays == 3200
    default, original = Model().mount(IMU_FRAME), model.mount(IMU_FRAME)
    assert original == pytest.approx(default, abs=1e-12)
    assert original[:3] == pytest.approx((0.43648, 0.01978, -0.0326), abs=1e-12)
    assert model.mount(LIDAR_FRAME)[:2] == pytest.approx((0.2025, 0.0))
    one, two = Engine(), Engine(ORIGINAL_MODEL)
    for engine in (one, two):
        engine.set_base_control(0.6, 1.0)
        engine.advance(2.0)
    assert one.state().rear_state == two.state().rear_state


def test_keys_that_a_file_leaves_out_have_defaults(tmp_path: Path) -> None:
    file = tmp_path / "model.yaml"
    file.write_text("wheel: {radius: 0.1}\n")
    assert read_model(file) == Model().model_copy(update={"wheel": read_model(file).wheel})
    assert read_model(file).wheel.radius == 0.1


FAULTY = """\
shape: {length: 0.2, width: 0.313}
wheel_base: {length: -1}
wheel: {radiuss: 0.05}
lidar: {angle_max: 720, range_min: 30}
limits:
  steering: {inner: 95, outer: many}
  velocity: {min: 0.2, max: .nan}
gear_ratio: 0
tf_static:
  - {child_frame_id: lidar_link}
"""


def test_every_fault_of_a_file_is_reported_at_once_with_its_key(tmp_path: Path) -> None:
    file = tmp_path / "model.yaml"
    file.write_text(FAULTY)
    with pytest.raises(astray.ScenarioError) as error:
        Engine(file)
    lines = str(error.value).splitlines()
    for line_number, key, reason in [
        (":1:", "shape", "length must be greater than base_to_rear"),
        (":2:", "wheel_base.length", "greater than 0, not -1"),
        (":3:", "wheel.radiuss", "did you mean 'radius'"),
        (":4:", "lidar", "the angles span more than a full circle"),
        (":6:", "limits.steering.inner", "less than 90"),
        (":6:", "limits.steering.outer", "a number is needed"),
        (":7:", "limits.velocity.min", "must be at most 0"),
        (":7:", "limits.velocity.max", "finite"),
        (":8:", "gear_ratio", "greater than 0"),
        (":10:", "tf_static[0]", "frame_id"),
    ]:
        assert any(line_number in line and key in line and reason in line for line in lines), (
            key,
            lines,
        )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- 1\n- 2\n", "a model is a mapping of keys to values"),
        ("shape: {length: 1\n", "model.yaml:2:1"),
        (None, "No such file"),
    ],
)
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, text: str | None, message: str) -> None:
    file = tmp_path / "model.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(astray.WrongInput, match=message):
        read_model(file)


def test_frames_lead_from_the_base() -> None:
    half = {"x": 0.0, "y": 0.0, "z": math.sqrt(0.5), "w": math.sqrt(0.5)}
    frames = [
        StaticTransform.model_validate(
            {
                "frame_id": "base",
                "child_frame_id": "mast",
                "translation": {"x": 1.0},
                "rotation": half,
            }
        ),
        StaticTransform.model_validate(
            {"frame_id": "mast", "child_frame_id": "eye", "translation": {"x": 0.5, "z": 2.0}}
        ),
    ]
    mount = find_mount(frames, "eye")
    assert mount == pytest.approx((1.0, 0.5, 2.0, 0.0, 0.0, math.pi / 2), abs=1e-12)
    assert find_mount(frames, "nowhere") == (0.0,) * 6
    with pytest.raises(ValueError, match="leads from 'mast'"):
        find_mount(frames[1:], "eye")
    loop = StaticTransform(frame_id="eye", child_frame_id="mast")
    with pytest.raises(ValueError, match="has a cycle at 'eye'"):
        find_mount([frames[1], loop], "eye")


def test_gimbal_lock_has_angles() -> None:
    up = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    assert roll_pitch_yaw(up) == pytest.approx((0.0, math.pi / 2, 0.0), abs=1e-12)


def test_the_preset_is_the_same_vehicle() -> None:
    preset = yaml.safe_load((ROBOTS / "truck.yaml").read_text(encoding="utf-8"))
    robot = Model().robot()
    assert preset["motion"] == robot["motion"]
    assert preset["footprint"] == robot["footprint"]
    sensors = {sensor["kind"]: sensor for sensor in preset["sensors"]}
    defaults = {"field_of_view": math.tau, "min_range": 0.0, "y": 0.0, "pitch": 0.0}
    for sensor in robot["sensors"]:
        for key, value in sensor.items():
            assert {**defaults, **sensors[sensor["kind"]]}[key] == value, key


def test_a_scenario_drives_the_truck_as_the_engine_does() -> None:
    engine = Engine()
    engine.reset_base((0.2025, 0.0, 0.0))
    engine.set_base_control(0.8, 0.0)
    engine.advance(3.0)
    sim = astray.load({"dt": 0.001, "robots": [{"name": "t", "preset": "truck"}]})
    sim.robots["t"].steer(0.8, 0.0)
    sim.run(3.0)
    assert sim.truth["x"][0] == engine.state().rear_state.x


def test_a_plot_shows_the_path_since_the_last_reset() -> None:
    engine = Engine(map="arena")
    engine.set_base_control(0.5, 1.0)
    engine.advance(2.0)
    engine.reset_base((2.0, 0.0, 1.5))
    engine.set_base_control(0.5, -0.5)
    engine.advance(2.0)
    (axes,) = engine.plot().axes
    (line,) = [line for line in axes.lines if line.get_label() == "path of the base"]
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    assert (x[0], y[0]) == pytest.approx((2.0, 0.0), abs=1e-9)
    assert (x[-1], y[-1]) == pytest.approx(engine.state().odom_base_pose[:2], abs=1e-9)
    assert np.hypot(np.diff(x), np.diff(y)).max() < 0.1
