"""The pages that the site makes of the code: one for each public name, kind and command."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from astray_site import GENERATED_FOLDERS, generated_pages
from astray_site.docstrings import to_markdown, to_rst
from astray_site.examples import ROOT, example_of, programs
from astray_site.inventory import described_as, exports, kind_of, names, packages
from astray_site.kinds import parameter_rows

import astray
from astray.cli import astray as program
from astray.plugin import KINDS
from astray.scenario import load_scenario
from support.pages import DOCS

PROGRAMS = sorted((DOCS / "reference" / "examples").glob("*.py"))
INDIRECT = {
    "engine.events",
    "Log",
    "Robots",
    "Scene",
    "Tracks",
    "Recording",
    "Sweep",
    "robot.control",
    "robot.tracking",
}
"""What an example uses without its name, as what a call returns or a method is given."""
SNIPPETS = sorted((DOCS / "reference" / "examples").glob("*.yaml"))


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return generated_pages()


def test_every_public_name_of_astray_has_a_page(pages: dict[str, str]) -> None:
    for short in astray.__all__:
        if short != "__version__":
            name = names()[f"astray.{short}"]
            assert f":: {name.full}" in pages[name.page]


def test_every_name_that_a_public_package_exports_is_described_once(pages: dict[str, str]) -> None:
    assert {"astray.world", "astray.robot.estimators", "astray.errors"} <= set(packages())
    for package in packages():
        module = importlib.import_module(package)
        for short in exports(package):
            if kind_of(getattr(module, short)) != "module":
                name = names()[described_as(package, short)]
                assert pages[name.page].count(f":: {name.full}\n") <= 1
                assert f":: {name.full}" in pages[name.page]


def test_every_public_package_has_a_page_that_lists_its_names(pages: dict[str, str]) -> None:
    for package in packages():
        if package != "astray.errors":
            page = pages[f"reference/api/{package.replace('.', '-')}"]
            for short in exports(package):
                kind = kind_of(getattr(importlib.import_module(package), short))
                assert kind == "module" or described_as(package, short) in page


def test_every_kind_has_a_page_with_each_of_its_parameters(pages: dict[str, str]) -> None:
    for family, kinds in KINDS.items():
        for kind, cls in kinds.items():
            if cls.__module__.startswith("astray."):
                page = pages[f"reference/kinds/{family}-{kind}"]
                for row in parameter_rows(cls):
                    assert f"| {row[0]} |" in page


def test_every_kind_has_an_example_that_loads() -> None:
    built_in = {
        f"{family}-{kind}"
        for family, kinds in KINDS.items()
        for kind, cls in kinds.items()
        if cls.__module__.startswith("astray.")
    }
    assert {file.stem for file in SNIPPETS} == built_in


@pytest.mark.parametrize("file", SNIPPETS, ids=lambda file: file.stem)
def test_the_example_of_a_kind_loads_and_uses_it(file: Path) -> None:
    kind = file.stem.partition("-")[2]
    assert f"kind: {kind}" in file.read_text(encoding="utf-8")
    assert load_scenario(file).robots


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda file: file.stem)
def test_the_example_of_a_name_runs_and_uses_it(file: Path, tmp_path: Path) -> None:
    source = file.read_text(encoding="utf-8")
    assert re.search(rf"\b{file.stem.rpartition('.')[2]}\b", source) or file.stem in INDIRECT
    assert f"astray.{file.stem}" in {*names(), *packages()}
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, cwd=tmp_path, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_public_name_of_astray_has_an_example() -> None:
    for name in names().values():
        if name.full.count(".") == 1 and name.page != "reference/api/errors":
            assert example_of(name.full), name.full


def test_every_command_has_a_page_with_each_of_its_options(pages: dict[str, str]) -> None:
    for name, command in program.commands.items():
        page = pages[f"reference/commands/{name}"]
        for parameter in command.params:
            if parameter.param_type_name == "option" and not getattr(parameter, "hidden", False):
                assert all(f"`{option}`" in page for option in parameter.opts)


def test_every_field_of_a_message_says_where_its_value_comes_from(pages: dict[str, str]) -> None:
    messages = pages["reference/ros/index"].partition("## Messages")[2]
    rows = re.findall(r"^\| `([^`]+)` \| (.*) \|$", messages, re.MULTILINE)
    assert ("header.frame_id", "`lidar_link`") in rows
    assert ("linear_acceleration.x", "column `ax` (m/s²)") in rows
    assert len(rows) > 100
    for field, source in rows:
        assert source.strip(), field
        assert "``" not in source, field
        for name in ("computed", "Concatenated", "CovarianceBlock", "SteppedValue", "text of"):
            assert name not in source, field


def test_every_numbered_program_has_a_page_and_a_picture(pages: dict[str, str]) -> None:
    assert len(programs()) == len(list((ROOT / "examples").glob("*.py")))
    for shown in programs():
        assert shown.source in pages[shown.page]
        assert f"pictures/gallery/{shown.file.stem[:2]}.png" in pages[shown.page]


def test_generated_pages_are_in_folders_that_git_ignores(pages: dict[str, str]) -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {f"docs/{folder}/" for folder in GENERATED_FOLDERS} <= set(ignored)
    for name in pages:
        assert any(name.startswith(f"{folder}/") for folder in GENERATED_FOLDERS)


def test_an_indented_block_of_a_docstring_becomes_a_literal_block() -> None:
    docstring = "A law, with `x`.\n\n    y = a * b_\n\nIt holds.\n\nArgs:\n    x: In m."
    rst = to_rst(docstring.splitlines())
    assert rst[:6] == ["A law, with ``x``.", "", "::", "", "    y = a * b_", ""]
    assert rst[-1] == "    x: In m."  # an argument is no block
    assert "```text\ny = a * b_\n```" in to_markdown(docstring)


def test_what_is_markup_to_rest_alone_is_escaped() -> None:
    assert to_rst(["|d_k| * a_"]) == [r"\|d_k\| \* a\_"]


def test_a_colon_in_what_is_returned_is_no_type() -> None:
    assert to_rst(["Returns:", "    The names: all."]) == ["", ":returns:", "    The names: all."]
