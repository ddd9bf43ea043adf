"""Tutorials run as they are written: every block of a page, in its order, as a reader types them.

- A `python` or `yaml` block whose first line names a file, `# slip.yaml`, is written to that file.
  `# uwb.py, continued` is added to it.
- Other `python` blocks run one after the other in one process.
- The `astray` and `python` lines of `sh` blocks run as commands.
- A `text` block that directly follows is what the block before it prints.

    python docs/_extensions/astray_site/tutorials.py docs/learn/truth-and-belief.md FOLDER

runs a page in a folder and prints, as JSON, what each block printed. The site never runs it: the
tests do, and `docs/make_pictures.py`, which keeps the pictures that a page saves.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

LEARN = Path(__file__).resolve().parents[2] / "learn"
NAMES = ("truth-and-belief", "compare-estimators", "your-own-estimator")
"""The pages of docs/learn that run as they are written."""
BLOCK = re.compile(
    r"^```(?P<language>python|yaml|sh)\n(?P<code>.*?)^```\n(?:\n*```text\n(?P<printed>.*?)^```)?",
    re.MULTILINE | re.DOTALL,
)
FILE = re.compile(r"# (?P<name>[\w.-]+\.(?:py|yaml))(?P<continued>, continued)?\n")


class Step(NamedTuple):
    """A block of a tutorial."""

    language: str
    code: str
    printed: str | None
    """What the page says that it prints; None if it does not say."""

    @property
    def file(self) -> str | None:
        """The file that it is, or is added to."""
        found = None if self.language == "sh" else FILE.match(self.code)
        return found["name"] if found else None


def tutorials() -> list[Path]:
    """The pages, in their order."""
    return [LEARN / f"{name}.md" for name in NAMES]


def steps_of(page: Path) -> list[Step]:
    """The blocks of a page that a reader writes or runs, in their order."""
    text = page.read_text(encoding="utf-8")
    return [Step(b["language"], b["code"], b["printed"]) for b in BLOCK.finditer(text)]


def pictures_of(page: Path) -> list[str]:
    """The pictures that the programs and commands of a page save, in their order."""
    code = "\n".join(step.code for step in steps_of(page))
    return re.findall(r'(?:savefig\("|--plot )([\w.-]+\.png)', code)


def run_tutorial(page: Path, folder: Path) -> list[str]:
    """Run a tutorial in a process of its own.

    Args:
        page: A page.
        folder: Where its files are written.

    Returns:
        What each step printed.

    Raises:
        RuntimeError: A step failed; the text is what it wrote to standard error.
    """
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONUTF8": "1", "COLUMNS": "120"}
    command = [sys.executable, __file__, str(page), str(folder)]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", env=environment, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{page.name}: {done.stderr}")
    printed: list[str] = json.loads(done.stdout)
    return printed


def run_steps(steps: list[Step]) -> Iterator[str]:
    """Run steps in the present folder; give what each printed."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for step in steps:
        if step.file:
            found = FILE.match(step.code)
            mode = "a" if found and found["continued"] else "w"
            code = step.code[found.end() :] if found and mode == "a" else step.code
            with Path(step.file).open(mode, encoding="utf-8") as file:
                file.write(f"\n\n{code}" if mode == "a" else code)
            yield ""
        elif step.language == "sh":
            yield "".join(map(_run_command, step.code.splitlines()))
        else:
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(step.code, "<tutorial>", "exec"), names)
            yield output.getvalue()


def _run_command(line: str) -> str:
    """Run a line if it is `astray …` or `python …`; give what it printed."""
    name, *arguments = shlex.split(line, comments=True) or [""]
    if name not in ("astray", "python"):
        return ""
    command = [sys.executable, *(["-m", "astray"] if name == "astray" else []), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


if __name__ == "__main__":
    tutorial = steps_of(Path(sys.argv[1]).resolve())
    os.chdir(sys.argv[2])
    sys.path[0] = os.getcwd()
    print(json.dumps(list(run_steps(tutorial))))
