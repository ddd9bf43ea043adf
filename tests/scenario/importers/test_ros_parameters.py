"""ROS 2 parameter files: all their forms, faults with their origin, and the round trip."""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from astray import ScenarioError, SignalError
from astray.errors import Fault, SignalWarning
from astray.files.marked_yaml import read_yaml
from astray.scenario.importers import read_ros_parameters, write_ros_parameters
from astray.scenario.importers.ros_parameters import matches_node, signals_in
from astray.signals import IntervalConfig, Signal, Signals, SimType, Sine
from support.signals import EXAMPLES, intervals

DOTTED = """\
linear_x.num_intervals: 1
linear_x.interval_0.type: "constant"
linear_x.interval_0:
  t_start: 0
  t_end: 10.0
linear_x:
  interval_0.y_start: 5.0
"""


def indented(text: str, by: int = 4) -> str:
    return "".join(f"{' ' * by}{line}\n" if line else "\n" for line in text.splitlines())


def read(text: str, folder: Path, *arguments: Any, **options: Any) -> Signals:
    """The signals of a file, where a warning is an error."""
    file = folder / "params.yaml"
    file.write_text(text, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_ros_parameters(file, *arguments, **options)


def faults(text: str, folder: Path, *arguments: Any, **options: Any) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        read(text, folder, *arguments, **options)
    return [line.replace(f"{folder}{os.sep}", "") for line in str(caught.value).splitlines()]


@pytest.mark.parametrize(
    "wrapped",
    [
        EXAMPLES,
        f"/**:\n  ros__parameters:\n{indented(EXAMPLES)}",
        f"imu_simulator:\n  ros__parameters:\n{indented(EXAMPLES)}",
        f"/robot/imu_simulator:\n  ros__parameters:\n{indented(EXAMPLES)}",
        f"robot:\n  imu_simulator:\n    ros__parameters:\n{indented(EXAMPLES, 6)}",
    ],
    ids=["bare", "any node", "a node", "a node in a namespace", "nested namespaces"],
)
def test_the_examples_of_the_document_are_read_bare_or_under_a_node(
    wrapped: str, tmp_path: Path
) -> None:
    expected = dict(Signals.read(yaml.safe_load(EXAMPLES)))
    assert dict(read(wrapped, tmp_path)) == expected
    assert dict(read(wrapped, tmp_path, node="imu_simulator")) == expected
    one = read(wrapped, tmp_path, ["angular_z", "linear_y"])
    assert list(one) == ["angular_z", "linear_y"]
    assert one.get_object_value("angular_z", 5.0) == 3.14
    assert one.get_object_value("linear_y", 5.0) == 0.0  # asked for, and not in the file


def test_dotted_and_nested_keys_mean_the_same(tmp_path: Path) -> None:
    nested = Signals.read({"linear_x": yaml.safe_load(EXAMPLES)["linear_x"]})
    assert dict(read(DOTTED, tmp_path)) == dict(nested)
    assert dict(read(f"/**:\n  ros__parameters:\n{indented(DOTTED)}", tmp_path)) == dict(nested)


def test_other_parameters_of_a_node_are_left_alone(tmp_path: Path) -> None:
    text = f'publish_rate: 50.0\nframe_id: "imu"\nqos: {{depth: 5}}\nnames: [a, b]\n{EXAMPLES}'
    assert list(read(text, tmp_path)) == ["linear_x", "wheel_fl", "angular_z"]


def section(name: str, y: float, more: str = "") -> str:
    one = f'{{type: "constant", t_start: 0.0, t_end: 1.0, y_start: {y}}}'
    return f"{name}:\n  ros__parameters:\n    a:\n      num_intervals: 1\n      interval_0: {one}\n{more}"


def test_of_two_sections_that_fit_the_later_one_counts(tmp_path: Path) -> None:
    assert read(section("/**", 1.0) + section("imu", 2.0), tmp_path, node="imu")["a"](0.5) == 2.0
    assert read(section("imu", 2.0) + section("/**", 1.0), tmp_path, node="imu")["a"](0.5) == 1.0
    assert read(section("/**", 1.0) + section("imu", 2.0), tmp_path, node="other")["a"](0.5) == 1.0
    assert read(section("/**", 1.0) + section("imu", 2.0), tmp_path)["a"](0.5) == 2.0
    partly = section("/**", 1.0) + "imu:\n  ros__parameters:\n    a.interval_0.y_start: 7.0\n"
    assert read(partly, tmp_path, node="imu")["a"](0.5) == 7.0


def test_a_file_for_several_nodes_asks_which_is_meant(tmp_path: Path) -> None:
    text = section("imu", 1.0) + section("wheels", 2.0) + "log:\n  ros__parameters:\n    level: 3\n"
    assert faults(text, tmp_path) == [
        "params.yaml:1:1: has signals of several nodes: say which is meant (/imu, /wheels)"
    ]
    assert read(text, tmp_path, node="wheels")["a"](0.5) == 2.0
    assert read(text, tmp_path, node="/imu")["a"](0.5) == 1.0
    assert faults(text, tmp_path, node="gps") == [
        "params.yaml:1:1: no section for node 'gps' (/imu, /wheels, /log)"
    ]
    only = text.replace("    a:", "    b:", 1)
    assert read(only, tmp_path, ["b"])["b"](0.5) == 1.0  # only one of them speaks of it


@pytest.mark.parametrize(
    ("pattern", "node", "meant"),
    [
        ("/**", "imu", True),
        ("/**", "/a/b/imu", True),
        ("/*", "imu", True),
        ("/*", "/a/imu", False),
        ("/a/*", "/a/imu", True),
        ("/**/imu", "/a/b/imu", True),
        ("/**/imu", "/a/b/gps", False),
        ("/a/imu", "imu", True),
        ("/a/imu", "/imu", False),
        ("/imu", "/imu", True),
        ("/imu", "gps", False),
    ],
)
def test_a_section_means_a_node(pattern: str, node: str, meant: bool) -> None:
    assert matches_node(pattern, node) is meant


WRONG = """\
/**:
  ros__parameters:
    max_intervals: 1.5
    linear_x:
      num_intervals: 2
      interval_0:
        type: "linear"
        t_start: 5.0
        t_end: 1.0
        y_start: 0.0
        y_end: "ten"
      interval_1: {type: linear, t_start: 0, t_end: 2, y_strat: 1}
    linear_y.num_intervals: 2
    linear_y.interval_0: {type: constant, t_start: 0.0, t_end: 5.0, y_start: 1.0}
    linear_y.interval_1:
      {type: quadratic, t_start: 4.0, t_end: 6.0, y_start: 1.0, y_end: 2.0, t_mid: 6.0, y_mid: .nan}
    linear_z:
      num_intervals: 3
      interval_0: {type: constant, t_start: 0.0, t_end: 5.0, y_start: 1.0}
      interval_2: {type: constant, t_start: 4.0, t_end: 6.0, y_start: 1.0}
"""


def test_every_fault_is_reported_with_line_and_column(tmp_path: Path) -> None:
    assert faults(WRONG, tmp_path) == [
        "params.yaml:3:20: max_intervals: a whole number from 0 on is needed, not 1.5",
        "params.yaml:11:16: linear_x.interval_0.y_end: a number is needed, not 'ten'",
        "params.yaml:12:19: linear_x.interval_1: needs 'y_start', 'y_end'",
        "params.yaml:12:56: linear_x.interval_1.y_strat: unknown key 'y_strat'; did you mean 'y_start'? "
        "(type, t_start, t_end, y_start, y_end, t_mid, y_mid)",
        "params.yaml:16:96: linear_y.interval_1.y_mid: a finite number is needed, not nan",
        "params.yaml:18:7: linear_z: needs 'interval_1': num_intervals is 3",
        "params.yaml:20:19: linear_z.interval_2: begins at 4 s, before interval_0 ends at 5 s",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "params.yaml:2:1: not YAML"),
        ("- 1", "params.yaml:1:1: a parameter file is a mapping"),
        ("a.b: 1\na: {b: 2}", "params.yaml:2:5: key 'b' is given twice, first in line 1"),
        ("a: 1\na: 2", "params.yaml:2:1: key 'a' is given twice, first in line 1"),
        ("a: 1\na.b: 2", "params.yaml:2:1: key 'a' is given twice, first in line 1"),
        ("a" + ".a" * 100 + ": 1", "params.yaml:1:1: nested deeper than 64 levels"),
        ("rate: 5", "params.yaml:1:1: holds no signals"),
        ("", "params.yaml:1:1: holds no signals"),
        (
            "n: {ros_parameters: {a: {num_intervals: 0}}}",
            "params.yaml:1:1: holds no signals; did you mean 'ros__parameters'?",
        ),
    ],
)
def test_a_file_that_is_no_parameter_file_is_refused(
    text: str, message: str, tmp_path: Path
) -> None:
    assert any(line.startswith(message) for line in faults(text, tmp_path))


@pytest.mark.parametrize("digits", [20, 301, 400, 5000])
def test_a_number_of_many_digits_is_a_number_or_a_fault(digits: int, tmp_path: Path) -> None:
    text = section("/**", 1.0).replace("y_start: 1.0", f"y_start: {'9' * digits}")
    if digits < 308:
        assert read(text, tmp_path)["a"](0.5) == float("9" * digits)
    else:
        assert (
            "a.interval_0.y_start: a finite number is needed, not inf" in faults(text, tmp_path)[0]
        )


def test_a_file_that_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="No such file"):
        read_ros_parameters(tmp_path / "nothing.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScenarioError, match="not a text file"):
        read_ros_parameters(tmp_path / "bytes.yaml")


def test_a_warning_has_its_origin_and_is_a_fault_with_strict(tmp_path: Path) -> None:
    text = section("/**", 1.0).replace("constant", "cubic")
    file = tmp_path / "params.yaml"
    file.write_text(text)
    with pytest.warns(
        SignalWarning, match=r"params.yaml:5:26: a.interval_0.type: unknown type 'cubic'"
    ):
        assert read_ros_parameters(file)["a"](0.5) == 1.0
    assert faults(text, tmp_path, strict=True)[0].startswith("params.yaml:5:26: a.interval_0.type")


@settings(max_examples=200)
@given(
    st.one_of(
        st.text(max_size=80),
        st.lists(
            st.sampled_from(
                [
                    "a:",
                    "b:",
                    ".interval_0",
                    "num_intervals:",
                    "1",
                    "ros__parameters:",
                    "{}",
                    "[]",
                    "/**:",
                    "-",
                    "\n",
                    "\n__",
                    "type",
                ]
            )
        ).map(" ".join),
    )
)
def test_no_text_ends_in_anything_but_signals_or_faults(text: str) -> None:
    found: list[Fault] = []
    tree = read_yaml(text, "x", found)
    if tree is not None:
        made = signals_in(tree, found, None, None)
        assert isinstance(made.value, dict)
        with contextlib.suppress(SignalError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Signals.read(made.plain())


def test_samples_in_a_file_are_found_from_there(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("0,1\n2,3\n")
    text = section("/**", 1.0).replace("{type:", '{type: "csv", file: "data.csv"} #')
    assert read(text, tmp_path)["a"](1.0) == 2.0


# Writing.


def test_what_is_written_reads_back_to_the_same(tmp_path: Path) -> None:
    signals = Signals.read(yaml.safe_load(EXAMPLES))
    text = write_ros_parameters(signals, tmp_path / "params.yaml", node="imu_simulator")
    assert (tmp_path / "params.yaml").read_text(encoding="utf-8") == text
    assert dict(read_ros_parameters(tmp_path / "params.yaml", strict=True)) == dict(signals)
    inside = yaml.safe_load(text)["imu_simulator"]["ros__parameters"]
    assert inside.pop("max_intervals") == 1
    assert inside == yaml.safe_load(EXAMPLES)


def test_doubles_always_have_a_point(tmp_path: Path) -> None:
    values = (0.0, 1.0, -3.0, 1e3, 1e16, 1e22, 1e-5, 1.5e-7, 123456789012345680.0)
    lines = [IntervalConfig(SimType.LINEAR, k, k + 1.0, y, -y) for k, y in enumerate(values)]
    text = write_ros_parameters({"a": Signal(lines)})
    numbers = re.findall(r"(?:t|y)_\w+: (.+)", text)
    assert len(numbers) == 4 * len(values)
    for number in numbers:
        assert re.fullmatch(r"-?[0-9]+\.[0-9]+(e[-+][0-9]+)?", number)
        assert isinstance(yaml.safe_load(number), float)  # YAML 1.1, as ROS reads it
    assert read(text, tmp_path)["a"] == Signal(lines)


def test_names_that_yaml_would_not_read_as_strings_are_quoted(tmp_path: Path) -> None:
    names = ("y", "on", "null", "a b", "x: y", "#a", "1", "-", "wheel_fl", "käse")
    signals = {name: Signal([IntervalConfig(SimType.CONSTANT, 0.0, 1.0, 2.0)]) for name in names}
    text = write_ros_parameters(signals, node="/a/*/b")
    assert dict(read(text, tmp_path)) == signals
    inside = yaml.safe_load(text)["/a/*/b"]["ros__parameters"]
    assert list(inside) == ["max_intervals", *names]


def test_steps_and_samples_are_written_in_the_types_of_the_document(tmp_path: Path) -> None:
    written = {
        "a": {"type": "step", "t_start": 0, "t_end": 4, "y_start": 1, "y_end": 2},
        "b": {"type": "samples", "points": [[0, 0], [1, 5], [1, 7], [3, 4], [3, 9]]},
        "c": {"gap": "zero", "intervals": [{"type": "constant", "t_start": k, "t_end": k + 0.5, "y_start": 1} for k in range(2)]},
    }  # fmt: skip
    signals = Signals.read(written)
    text = write_ros_parameters(signals)
    assert set(re.findall(r'type: "(.+)"', text)) == {"constant", "linear"}
    back = read(text, tmp_path, strict=True)
    times = np.linspace(-1.0, 6.0, 141)
    for name, signal in signals.items():
        assert (back[name](times) == signal(times)).all()


def test_a_sine_cannot_be_written() -> None:
    with pytest.raises(SignalError, match="a: a sine cannot be written"):
        write_ros_parameters({"a": Signal([Sine(1.0, 1.0)])})


@settings(max_examples=60)
@given(parts=intervals())
def test_any_signal_of_the_document_survives_a_file(
    parts: list[Any], tmp_path_factory: Any
) -> None:
    signals = {"a": Signal([part for part in parts if isinstance(part, IntervalConfig)])}
    file = tmp_path_factory.getbasetemp() / "survivor.yaml"
    write_ros_parameters(signals, file)
    times = np.linspace(-60.0, 1000.0, 200)
    assert (read_ros_parameters(file)["a"](times) == signals["a"](times)).all()
