"""The page in a notebook: a frame of its own, while the run goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import astray
from astray.plots.notebook import iframe_html, in_notebook
from support.paths import ROOT

nbformat = pytest.importorskip("nbformat", reason="needs nbclient")
nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def outputs(notebook: Any, kind: str) -> list[str]:
    return [
        output["data"][kind]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if kind in output.get("data", {})
    ]


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs_and_shows_the_page_and_a_figure(file: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(file, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "it is kept without outputs"
    client = nbclient.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    [frame] = outputs(notebook, "text/html")
    assert frame.startswith('<iframe src="http://127.0.0.1:')
    assert "token=" in frame
    assert len(outputs(notebook, "image/png")) == 1
    said = [
        o["text"] for c in notebook.cells if c.cell_type == "code" for o in c.outputs if "text" in o
    ]
    assert said == ["10 s, 0 events\n"]


def test_outside_a_notebook_the_browser_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    sim = astray.load("drift")
    assert not in_notebook()
    with sim.view() as view:
        assert opened == [view.url]
    with sim.view(browser=False):
        assert len(opened) == 1


def test_an_address_cannot_break_out_of_its_frame() -> None:
    assert '"><script' not in iframe_html('http://127.0.0.1/?token="><script>')
