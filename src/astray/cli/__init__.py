"""The command line: a file for each command, named as the command, and what commands share.

The top of each file declares the command with click; heavy imports happen when it is called, so
that `astray --help` is instant. `RunSession` (`session.py`) runs a simulation for `run`, `demo` and
`pioneer`.
"""

from __future__ import annotations

import sys
from typing import Any

import click

from astray.cli.check import check
from astray.cli.completion import VARIABLE, complete_if_asked, completion
from astray.cli.demo import demo
from astray.cli.kinds import kinds
from astray.cli.map import map_command
from astray.cli.node import node
from astray.cli.pioneer import pioneer
from astray.cli.recover import recover
from astray.cli.replay import replay
from astray.cli.report import report
from astray.cli.run import run
from astray.cli.score import score
from astray.cli.sweep import sweep
from astray.version import __version__

__all__ = ["astray", "main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="astray")
def astray() -> None:
    """A fast 2D mobile-robot simulator in which every robot has a truth and a belief."""


for _command in (
    *(check, completion, demo, kinds, map_command, node, pioneer),
    *(recover, replay, report, run, score, sweep),
):
    astray.add_command(_command)


def main() -> None:
    """Run the command line; the exit code is 0 done, 1 failed, 2 wrong input."""
    from astray.errors import AstrayError, WrongInput

    complete_if_asked()
    _print_warnings_plainly()
    try:
        astray(standalone_mode=False, complete_var=VARIABLE)
        sys.stdout.flush()  # so that a full disk or a closed pipe is an error here
    except click.exceptions.Abort:
        sys.exit(1)
    except click.ClickException as problem:
        problem.show()
        sys.exit(problem.exit_code)
    except WrongInput as problem:
        click.echo(f"{problem}", err=True)
        sys.exit(2)
    except AstrayError as problem:
        click.echo(f"{problem}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as problem:
        sys.exit(_report_system_error(problem))


def _print_warnings_plainly() -> None:
    """Print astray's own warnings as one line, without the line of Python that gave them."""
    import warnings

    from astray.errors import AstrayWarning

    show = warnings.showwarning

    def show_plainly(
        message: Warning | str, category: type[Warning], *where: Any, **options: Any
    ) -> None:
        if issubclass(category, AstrayWarning):
            click.echo(f"warning: {message}", err=True)
        else:
            show(message, category, *where, **options)

    warnings.showwarning = show_plainly


def _report_system_error(problem: OSError) -> int:
    """Report a file or an output stream that the system refused; the exit code."""
    import os

    if problem.filename is not None:
        click.echo(f"{problem.filename}: {problem.strerror}", err=True)
        return 2
    # The interpreter would fail to flush what is left in the buffer at its end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    click.echo(f"the output cannot be written: {problem.strerror or problem}", err=True)
    return 1
