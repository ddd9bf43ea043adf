"""A page for each command, read from click: help, arguments, options, exit codes, examples."""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import Any

import click

from astray.cli import astray as program
from astray_site.api import EXIT_CODES
from astray_site.examples import DOCS, ROOT
from astray_site.markdown import code, join, literal, table, toctree

MOST_EXAMPLES = 8


def pages() -> dict[str, str]:
    """Make the pages."""
    found = {"reference/commands/index": index_page()}
    for name, command in program.commands.items():
        found[f"reference/commands/{name}"] = command_page(name, command)
    return found


def index_page() -> str:
    """The page that lists the commands."""
    rows = [
        (f"[`astray {name}`]({name}.md)", command.get_short_help_str(200))
        for name, command in sorted(program.commands.items())
    ]
    return join(
        "# Commands",
        "Each command prints its options with `--help`. `astray --version` prints the version.",
        table(("command", "what it does"), rows),
        "## Exit codes",
        table(("code", "meaning"), EXIT_CODES),
        "[Running](/howto/running.md) has how the shell completes commands and names.",
        toctree(sorted(program.commands)),
    )


def command_page(name: str, command: click.Command) -> str:
    """The page of one command."""
    context = click.Context(command, info_name=f"astray {name}")
    usage = command.get_usage(context).removeprefix("Usage: ")
    examples = example_lines().get(name, {})
    lines = "\n".join(list(examples)[:MOST_EXAMPLES])
    sources = sorted({page for page in list(examples.values())[:MOST_EXAMPLES] if page})
    shown_on = ", ".join(f"[{title(page)}](/{page}.md)" for page in sources)
    return join(
        f"# astray {name}",
        help_text(command),
        "## Usage",
        code(re.sub(r"\s+", " ", usage), "text"),
        *arguments_part(command),
        "## Options",
        table(("option", "value", "default", "meaning"), option_rows(command, context)),
        "## Exit codes",
        table(("code", "meaning"), EXIT_CODES),
        *(["## Examples", code(lines, "sh")] if lines else []),
        f"These lines are from: {shown_on}." if shown_on else "",
    )


def help_text(command: click.Command) -> str:
    """The help of a command, without the marks of click."""
    text = inspect.cleandoc(command.help or "").replace("\b\n", "").replace("\f", "")
    return re.sub(r"(?<![\w`])(--[a-z][\w-]*)", r"`\1`", text)


def arguments_part(command: click.Command) -> list[str]:
    """The arguments of a command, if there are any."""
    rows = [
        (literal((p.name or "").upper()), "needed" if p.required else "optional", many(p))
        for p in command.params
        if isinstance(p, click.Argument)
    ]
    return ["## Arguments", table(("argument", "", ""), rows)] if rows else []


def many(parameter: click.Parameter) -> str:
    """Whether an argument may be given several times."""
    return "may be repeated" if parameter.nargs == -1 else ""


def option_rows(command: click.Command, context: click.Context) -> list[tuple[str, ...]]:
    """A row for each option: names, kind of value, default, help."""
    rows: list[tuple[str, ...]] = []
    for option in command.get_params(context):
        if not isinstance(option, click.Option) or option.hidden:
            continue
        names = ", ".join(literal(name) for name in (*option.opts, *option.secondary_opts))
        value = "" if option.is_flag or option.count else literal(option.make_metavar(context))
        help = re.sub(r"(?<![\w`])(--[a-z][\w-]*)", r"`\1`", option.help or "")
        rows.append(
            (
                names,
                value,
                default_of(option),
                help + (" May be repeated." if option.multiple and "repeated" not in help else ""),
            )
        )
    return rows


def default_of(option: click.Option) -> str:
    """The default of an option; nothing where it is a flag or has none."""
    default: Any = option.default
    plain = isinstance(default, (int, float, str)) and not isinstance(default, bool)
    return literal(str(default)) if plain and not option.is_flag else ""


@cache
def example_lines() -> dict[str, dict[str, str]]:
    """The command lines of the README and of all pages: by command, the line and its page.

    Tests check that each of them is understood.
    """
    found: dict[str, dict[str, str]] = {}
    files = [(ROOT / "README.md", "")]
    for shelf in ("learn", "howto", "reference", "why", "coming-from"):
        files += [(f, f"{shelf}/{f.stem}") for f in sorted((DOCS / shelf).glob("*.md"))]
    for file, page in files:
        text = file.read_text(encoding="utf-8")
        for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            for line in block.splitlines():
                if line.startswith("astray ") and len(line.split()) > 1:
                    found.setdefault(line.split()[1], {}).setdefault(line, page)
    return found


@cache
def title(page: str) -> str:
    """The title of a page."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    return next(line[2:] for line in text.splitlines() if line.startswith("# "))
