"""The command line. Heavy imports happen inside commands, so that `astray --help` is instant.

What a command is called and which options it has stands in `simulate`, `serve` and `look_back`;
what it does, in the modules that they import when it is called.
"""

from __future__ import annotations

import sys

import click

from astray.cli import commands, serve, show
from astray.version import __version__

__all__ = ["__version__", "astray", "commands", "main", "serve", "show"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="astray")
def astray() -> None:
    """A fast 2D mobile-robot simulator in which every robot has a truth and a belief."""


for _commands in (commands, serve, show):
    for _command in vars(_commands).values():
        if isinstance(_command, click.Command):
            astray.add_command(_command)


def main() -> None:
    """Run the command line: 0 done, 1 failed, 2 wrong input, no traceback for a user's fault."""
    from astray.errors import AstrayError, WrongInput

    try:
        astray(standalone_mode=False)
        sys.stdout.flush()  # if it cannot be, that is to be known
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
        sys.exit(_of_system(problem))


def _of_system(problem: OSError) -> int:
    """Tell what the system refused: a file that was named, or else to take what was printed."""
    import os

    if problem.filename is not None:
        click.echo(f"{problem.filename}: {problem.strerror}", err=True)
        return 2
    # What is left to print would only be refused again when the interpreter ends.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    click.echo(f"what is printed cannot be written: {problem.strerror or problem}", err=True)
    return 1
