"""Make the pictures of the gallery and of the tutorials: `make docs-pictures`.

Each numbered program runs in a process of its own. Its picture is the one that it saves, else the
plot of its run, else what it prints. The pictures of a tutorial are those that its own code saves.

    python docs/make_pictures.py                     # all
    python docs/make_pictures.py truth-and-belief    # of one tutorial
"""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from PIL import Image

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS / "_extensions"))

from astray_site.tutorials import pictures_of, run_tutorial, tutorials  # noqa: E402 - after its path

PICTURES = DOCS / "pictures" / "gallery"
TUTORIAL_PICTURES = DOCS / "pictures" / "learn"
LEARN = DOCS / "learn"
EXAMPLES = DOCS.parent / "examples"
WIDTH = 960  # pixels
COLOURS = 128  # of the palette: the pictures are drawings, and small files
PROMPT_LINES, PROMPT_WIDTH = 18, 92


def make_picture(program: Path, target: Path) -> None:
    """Run a program and keep its picture.

    Args:
        program: A numbered program.
        target: The PNG file; replaced.

    Raises:
        subprocess.CalledProcessError: The program failed.
    """
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, __file__, str(program), place]
        done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
        pictures = sorted(Path(place).rglob("*.png"), key=lambda file: file.name != "plot.png")
        if not pictures:
            pictures = [Path(place) / "printed.png"]
            draw_text(done.stdout.replace(place, "out"), pictures[0])
        shrink(pictures[-1], target)


def make_page_pictures(page: Path) -> None:
    """Run the programs of a page one after the other, and keep the pictures that it shows.

    Args:
        page: A page whose `sh` lines do not run, as those of servers.

    Raises:
        subprocess.CalledProcessError: A program failed.
        FileNotFoundError: No program saved a picture that the page shows.
    """
    text = page.read_text(encoding="utf-8")
    shown = re.findall(r"\]\((\.\./pictures/learn/(\w+)\.png)\)", text)
    if not shown:
        return
    with tempfile.TemporaryDirectory() as place:
        programs = []
        for language, block in re.findall(r"^```(python|yaml)\n(.*?)^```", text, re.M | re.S):
            if named := re.match(r"# ([\w./-]+\.(?:py|yaml))\n", block):
                (Path(place) / named[1]).write_text(block, encoding="utf-8")
            elif language == "python":
                programs.append(block)
        program = Path(place) / "page.py"
        program.write_text("\n".join(programs), encoding="utf-8")
        subprocess.run([sys.executable, program], check=True, capture_output=True, cwd=place)
        for target, name in shown:
            shrink(Path(place) / f"{name}.png", (page.parent / target).resolve())


def run_program(program: Path, folder: Path) -> None:
    """Run a program here, and plot its run if it saves no picture itself."""
    sys.argv = [str(program), str(folder)]
    values = runpy.run_path(str(program), run_name="__main__")
    run = values.get("sim")
    if run is not None and hasattr(run, "plot") and not list(folder.rglob("*.png")):
        run.plot().savefig(folder / "plot.png", dpi=110)


def make_tutorial_pictures(page: Path) -> None:
    """Run a tutorial as it is written, and keep the pictures that it saves.

    Args:
        page: A page of docs/learn.

    Raises:
        RuntimeError: A block of the page failed.
    """
    with tempfile.TemporaryDirectory() as place:
        run_tutorial(page, Path(place))
        for name in pictures_of(page):
            shrink(Path(place) / name, TUTORIAL_PICTURES / name)


def draw_text(text: str, target: Path) -> None:
    """Draw what a program prints."""
    from matplotlib.figure import Figure

    lines = [
        part for line in text.splitlines() for part in textwrap.wrap(line, PROMPT_WIDTH) or [""]
    ]
    figure = Figure(figsize=(9.6, 4.8), facecolor="#14181f")
    figure.text(
        0.04, 0.92, "\n".join(lines[:PROMPT_LINES]), family="DejaVu Sans Mono", fontsize=11.5,
        color="#e8ecf2", va="top", linespacing=1.6,
    )  # fmt: skip
    figure.savefig(target, dpi=100)


def shrink(source: Path, target: Path) -> None:
    """Write a picture with a palette, at most so wide."""
    with Image.open(source) as picture:
        plain = picture.convert("RGB")
        if plain.width > WIDTH:
            plain = plain.resize(
                (WIDTH, round(plain.height * WIDTH / plain.width)), Image.Resampling.LANCZOS
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        plain.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        run_program(Path(sys.argv[1]), Path(sys.argv[2]))
    else:
        for page in sorted(LEARN.glob("*.md")):
            if page.stem in sys.argv or len(sys.argv) == 1:
                print(page.stem)
                (make_tutorial_pictures if page in tutorials() else make_page_pictures)(page)
        for program in sorted(EXAMPLES.glob("[0-9]*.py")) if len(sys.argv) == 1 else ():
            print(program.stem)
            make_picture(program, PICTURES / f"{program.stem[:2]}.png")
