"""What the documentation says is tried: its programs, scenarios, commands, links and tables."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from astray_site.tutorials import tutorials
from click.testing import CliRunner

import astray
from astray.cli import astray as commands
from astray.pioneer import find_model, like_mobilesim, model_names
from astray.plugin import KINDS
from astray.scenario.schema import BUILT_IN_PACKAGES
from astray.tables import (
    COLLISION_STATE,
    COMMAND,
    COMPASS,
    CONTACTS,
    DRIVE,
    FIX,
    LANDMARKS,
    SCAN,
    STATE,
    TRACK,
    WHEELS,
    Columns,
    columns_of,
)
from support.pages import DOCS, generated, pages_of, title_of
from support.paths import ROOT

assert BUILT_IN_PACKAGES  # importing it declares every kind
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *pages_of()]
HOWTO, REFERENCE = DOCS / "howto", DOCS / "reference"
ENVIRONMENT = {"PYTHONUTF8": "1", "COLUMNS": "120", "ROS_DOMAIN_ID": f"{1 + os.getpid() % 200}"}
"""Of programs; simultaneous tests have DDS domains of their own."""
TRAINING = DOCS / "learn" / "train-an-agent.md"  # test_training.py runs it
SHELVES = ("learn", "howto", "reference", "why", "coming-from")
IN_SCHEMA = """
import json
from astray.scenario.load import load_scenario
from astray.scenario.schema import json_schema as schema
load_scenario("with_gps.yaml")
print(json.dumps(schema()))
"""
IN_LOG = """
import astray
log = astray.load("with_gps.yaml", worlds=3).run(2.0, log=0.2)
fix = log["rover"].readings["gps"]
print(fix["x"].shape, len(set(fix["x"][-1])))
"""

pages = pytest.mark.parametrize("page", PAGES, ids=title_of)
RECIPES = [page for page in PAGES if page not in tutorials()]  # test_tutorials.py runs those
recipes = pytest.mark.parametrize("page", RECIPES, ids=title_of)
"""Pages whose programs and scenarios do not depend on each other; test_tutorials runs the others."""


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def file_name(block: str) -> str | None:
    """The file that a block is, by the comment in its first line."""
    found = re.match(r"# ([\w./-]+\.(?:py|yaml))\n", block)
    return found[1] if found else None


def write_files(page: Path, folder: Path) -> None:
    """Write the blocks of a page that are files."""
    for block in (*blocks(page, "python"), *blocks(page, "yaml")):
        if name := file_name(block):
            (folder / name).write_text(block, encoding="utf-8")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder: plugins of one test are then unknown to the others."""
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        cwd=folder,
        encoding="utf-8",
        env={**os.environ, **ENVIRONMENT},
        timeout=300,
        check=False,
    )


def output(folder: Path, *arguments: str) -> str:
    """What Python prints in a folder, where it has to succeed."""
    done = run(folder, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def with_gps(tmp_path: Path) -> Path:
    """A folder with the sensor of the page on extending, and the scenario that names it."""
    write_files(HOWTO / "extending.md", tmp_path)
    return tmp_path


# The README.


def test_the_readme_leads_with_the_two_commands_of_a_fresh_clone() -> None:
    assert blocks(README, "sh")[0].split("\n")[:2] == ["make demo", "make test"]


def test_the_first_python_block_of_the_readme_has_at_most_10_lines() -> None:
    assert len(blocks(README, "python")[0].splitlines()) <= 10


def test_the_first_python_block_of_the_readme_runs_and_leaves_a_picture(tmp_path: Path) -> None:
    printed = output(tmp_path, "-c", blocks(README, "python")[0])
    assert printed.startswith("believes y = ")
    assert (tmp_path / "line.png").stat().st_size > 0


def test_the_readme_names_motions_by_their_kinds() -> None:
    """And every backticked word of that list is one: `point` was none."""
    listed = re.search(r"the motions (.*?);", README.read_text(encoding="utf-8"), re.DOTALL)
    assert listed is not None
    assert set(re.findall(r"`(\w+)`", listed[1])) == set(KINDS["motion"])


# Every page.


@pytest.mark.parametrize("page", [page for page in RECIPES if page != TRAINING], ids=title_of)
def test_the_programs_of_a_page_run_one_after_the_other(page: Path, tmp_path: Path) -> None:
    programs = [block for block in blocks(page, "python") if not file_name(block)]
    if any("astray.ros.dds" in block for block in programs):
        pytest.importorskip("cyclonedds", reason="needs the extra [ros2]")
    if programs:
        write_files(page, tmp_path)
        (tmp_path / "page.py").write_text("\n".join(programs), encoding="utf-8")
        printed = output(tmp_path, "page.py")
        if shown := "".join(blocks(page, "text printed")):
            assert printed == shown


@recipes
def test_the_scenarios_of_a_page_load_unless_they_are_meant_to_be_wrong(
    page: Path, tmp_path: Path
) -> None:
    write_files(page, tmp_path)
    for block in blocks(page, "yaml"):
        name = file_name(block)
        assert name, "a scenario in the documentation is a file: give it a name"
        checked = run(tmp_path, "-m", "astray", "check", name)
        assert checked.returncode == (2 if name == "wrong.yaml" else 0), checked.stderr


def command_lines() -> list[str]:
    lines = [line for page in PAGES for block in blocks(page, "sh") for line in block.splitlines()]
    return sorted({line for line in lines if line.startswith("astray ")})


@pytest.mark.parametrize("line", command_lines())
def test_a_command_line_of_the_documentation_is_understood(line: str) -> None:
    name, *arguments = shlex.split(line, comments=True)[1:]
    shown = CliRunner().invoke(commands, [name, *arguments, "--help"])
    assert shown.exit_code == 0, shown.output
    commands.commands[name].make_context(name, arguments)  # values are parsed, nothing is run


def test_the_page_on_aria_builds_the_library_and_the_program_that_it_runs() -> None:
    page = (HOWTO / "aria.md").read_text(encoding="utf-8")
    (made,) = re.findall(r"make -C AriaCoda (.+)", page)
    (run,) = re.findall(r"^    AriaCoda/(\S+) -rh", page, re.MULTILINE)
    # AriaCoda has no target "lib", and "all" makes the library, which the loader must find.
    assert made.split() == ["all", run]
    assert "LD_LIBRARY_PATH=$PWD/AriaCoda/lib" in page


def test_the_page_on_mobilesim_names_the_jitter_of_every_sonar_and_laser() -> None:
    page = (REFERENCE / "mobilesim.md").read_text(encoding="utf-8")
    for device, others in (("sonar", {}), ("laser", {"seekurjr": "12"})):
        (row,) = re.findall(rf"^\| jitter of {device}s \|(.+)\|$", page, re.MULTILINE)
        (theirs_mm,) = re.findall(
            r"^ [\d.]+ mm wide, uniform: a standard deviation of ([\d.]+)", row
        )
        _, ours, alike, *_ = row.split(" | ")
        assert alike.strip() == f"{theirs_mm} mm"
        for name in model_names():
            model = find_model(name)
            sensor = model.sensor(getattr(model, device))
            if not sensor:
                continue
            mm = f"{1000 * sensor['sigma']:g}"
            expected = f"{mm} mm of a `{name}`" if name in others else f"deviation of {mm} mm"
            assert mm == others.get(name, mm)
            assert expected in ours
            same = like_mobilesim(model).sensor(getattr(model, device))
            assert 1000 * same["sigma"] == pytest.approx(float(theirs_mm), rel=0.05)


OUTPUTS = ("--out", "--plot", "--record", "--save", "--html")
FILE = re.compile(r"[\w.-]+(/[\w.-]+)*(/|\.[a-z][\w]{1,6}(\.gz)?)|logs/\w+|out/\w+")


def files_that_are_missing(page: Path) -> list[str]:
    """The files of command lines that a reader of the page does not have.

    A page writes a file as a block that names it, or by a program; a command line, by an option,
    for the lines after it in its section. What a reader brings along is said to be "yours".
    """
    text = page.read_text(encoding="utf-8")
    named = {file_name(block) for block in (*blocks(page, "python"), *blocks(page, "yaml"))}
    programs = "\n".join(blocks(page, "python"))
    missing = []
    for section in re.split(r"^## ", text, flags=re.MULTILINE):
        made = {name for name in named if name}
        found = re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
        for line in "\n".join(found).splitlines():
            command, _, comment = line.partition("  #")
            arguments = shlex.split(command) if command.startswith("astray ") else []
            before = ["", *arguments]
            for option, argument in zip(before, arguments, strict=False):
                if option in OUTPUTS:
                    made.add(argument)
                    if argument.endswith(".yaml"):  # a map, with its image
                        made.add(argument.replace(".yaml", ".pgm"))
                elif FILE.fullmatch(argument) and not re.search(r"\byours\b", comment):
                    folders = {argument, *map(str, Path(argument).parents)}
                    if not folders & made and f'"{argument}"' not in programs:
                        missing.append(argument)
    return missing


@pages
def test_a_command_line_names_files_that_its_page_makes_or_that_are_yours(page: Path) -> None:
    assert files_that_are_missing(page) == []


@pytest.mark.parametrize("name", ["maps", "running"])
def test_the_command_lines_of_a_page_run_one_after_the_other(name: str, tmp_path: Path) -> None:
    for block in blocks(HOWTO / f"{name}.md", "sh"):
        for line in block.splitlines():
            if line.startswith("astray "):
                output(tmp_path, "-m", *shlex.split(line, comments=True))


def test_the_worlds_on_the_page_on_maps_load_with_the_files_that_it_makes(tmp_path: Path) -> None:
    page = HOWTO / "maps.md"
    for line in "".join(blocks(page, "sh")).splitlines():
        if "--out" in line:
            output(tmp_path, "-m", *shlex.split(line, comments=True))
    worlds = re.findall(r"^world: .*\}", "".join(blocks(page, "text")), re.MULTILINE)
    assert len(worlds) >= 8
    for k, world in enumerate(worlds):
        file = tmp_path / f"world_{k}.yaml"
        file.write_text(
            f"{world}\nrobots: [{{name: rover, start: {{clearance: 0.3}}}}]\n", encoding="utf-8"
        )
        assert astray.load(file).map() is not None


@pages
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, _, anchor in (
        link.partition("#")
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
        if "://" not in link
    ):
        file = (page.parent / target).resolve() if target else page
        assert file.exists() or generated(file), target
        if anchor and not generated(file):
            headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in [heading.lower().replace(" ", "-") for heading in headings]


def test_the_landing_page_leads_to_every_shelf() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    for shelf in (*SHELVES, "gallery"):
        assert f"({shelf}/index.md)" in index
        assert f"\n{shelf}/index\n" in index  # in the sidebar, too


@pytest.mark.parametrize("shelf", SHELVES)
def test_every_page_of_a_shelf_is_in_its_index_and_in_the_sidebar(shelf: str) -> None:
    index = (DOCS / shelf / "index.md").read_text(encoding="utf-8")
    for page in pages_of(shelf):
        name = page.relative_to(DOCS / shelf).with_suffix("").as_posix()
        if name != "index":
            assert f"({name}.md)" in index
            assert f"\n{name}\n" in index


def test_a_page_is_on_a_shelf() -> None:
    assert [page.name for page in DOCS.glob("*.md")] == ["index.md"]
    folders = {page.relative_to(DOCS).parts[0] for page in pages_of() if page.parent != DOCS}
    assert folders == {*SHELVES, "gallery"}


# The page on extending.


def test_the_sensor_on_the_page_is_fifteen_lines() -> None:
    sensor = blocks(HOWTO / "extending.md", "python")[0]
    assert file_name(sensor) == "gps.py"
    assert len(sensor.splitlines()) <= 15


def test_the_sensor_on_the_page_is_in_the_catalogue_with_its_unit(with_gps: Path) -> None:
    catalogue = json.loads(
        output(with_gps, "-m", "astray", "kinds", "--plugins", "gps.py", "--json")
    )
    gps = next(kind for kind in catalogue if kind["kind"] == "gps")
    assert gps["about"] == "Map position with white noise."
    assert {"name": "sigma", "default": 0.5, "unit": "m"} in gps["parameters"]


def test_the_sensor_on_the_page_is_in_the_checked_scenario(with_gps: Path) -> None:
    checked = json.loads(output(with_gps, "-m", "astray", "check", "with_gps.yaml", "--json"))
    gps = next(s for s in checked["robots"][0]["sensors"] if s["kind"] == "gps")
    assert gps["sigma"] == {"uniform": [0.2, 0.4]}


def test_the_sensor_on_the_page_is_in_the_schema(with_gps: Path) -> None:
    schema: dict[str, Any] = json.loads(output(with_gps, "-c", IN_SCHEMA))
    assert schema["$defs"]["sensor_gps"]["properties"]["sigma"]["description"] == "m"


def test_the_sensor_on_the_page_is_in_the_log_and_differs_between_worlds(with_gps: Path) -> None:
    assert output(with_gps, "-c", IN_LOG).strip() == "(11, 3) 3"


# What pages say about the code.


def test_the_faults_on_the_page_are_those_that_check_reports(tmp_path: Path) -> None:
    page = REFERENCE / "scenarios.md"
    write_files(page, tmp_path)
    reported = run(tmp_path, "-m", "astray", "check", "wrong.yaml").stderr.splitlines()
    (shown,) = (b.splitlines() for b in blocks(page, "text") if b.startswith("wrong.yaml"))
    # What is known, in brackets at the end, grows with every kind and parameter.
    assert [line.split(" (")[0] for line in shown] == [line.split(" (")[0] for line in reported]


def test_the_page_on_scenarios_names_every_key() -> None:
    text = (REFERENCE / "scenarios.md").read_text(encoding="utf-8")
    schema = json.loads(CliRunner().invoke(commands, ["check", "--schema"]).output)
    robot, start, wheels = (schema["$defs"][name] for name in ("robot", "start", "sensor_wheels"))
    common = {"kind", "name", "rate", "offset", "latency"}
    keys = {*schema["properties"], *robot["properties"], *start["properties"], *common}
    assert common <= set(wheels["properties"])
    assert {key for key in keys if f"`{key}`" not in text} == set()


@pytest.mark.parametrize(
    "layout",
    [
        STATE,
        COMMAND,
        DRIVE,
        WHEELS,
        SCAN,
        COLLISION_STATE,
        FIX,
        COMPASS,
        LANDMARKS,
        CONTACTS,
        TRACK,
    ],
)
def test_the_page_on_conventions_names_every_column_with_its_unit(layout: Columns) -> None:
    text = (REFERENCE / "conventions.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    for column in columns_of(layout).values():
        if column.name in ("fresh", "stamp"):
            assert f"`{column.name}`" in text
        else:
            named = [row for row in rows if f"`{column.name}`" in row]
            assert any(f"| {column.unit} |" in row or not column.unit for row in named), column


def test_the_citation_has_the_version_of_the_package() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == astray.__version__
