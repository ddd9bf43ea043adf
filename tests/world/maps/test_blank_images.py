"""An image without walls is warned of, with the threshold that decides."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from astray.cli import astray as commands
from astray.errors import MapWarning
from astray.world.maps import read_map


def grey(folder: Path, value: int) -> Path:
    Image.fromarray(np.full((5, 6), value, np.uint8)).save(folder / "hall.png")
    return folder / "hall.png"


def test_an_image_of_free_space_is_warned_of(tmp_path: Path) -> None:
    file = grey(tmp_path, 200)
    said = "hall.png: has no walls: no pixel is darker than 50% of white, and the darkest has 78%"
    with pytest.warns(MapWarning, match=said):
        assert not len(read_map({"file": str(file), "scale": 0.1}))


@pytest.mark.parametrize(
    ("negate", "said"),
    [
        (0, "occupied_thresh is 0.65, negate 0, and the darkest pixel is 78% of white"),
        (1, "occupied_thresh is 0.95, negate 1, and the lightest pixel is 78% of white"),
    ],
)
def test_the_threshold_of_a_map_server_file_is_named(
    negate: int, said: str, tmp_path: Path
) -> None:
    grey(tmp_path, 200)
    file = tmp_path / "hall.yaml"
    threshold = 0.95 if negate else 0.65
    file.write_text(
        "image: hall.png\nresolution: 0.1\norigin: [0, 0, 0]\n"
        f"negate: {negate}\noccupied_thresh: {threshold}\nfree_thresh: 0.2\n"
    )
    with pytest.warns(MapWarning, match=re.escape(said)):
        read_map(str(file))


def test_the_description_has_no_ends_to_praise(tmp_path: Path) -> None:
    with pytest.warns(MapWarning):
        done = CliRunner().invoke(commands, ["map", str(grey(tmp_path, 200)), "--scale", "0.1"])
    assert done.exit_code == 0
    assert "none: the map has no walls" in done.output


def test_an_image_with_walls_is_not_warned_of(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    assert len(read_map({"file": str(grey(tmp_path, 100)), "scale": 0.1}))
    assert not recwarn.list
