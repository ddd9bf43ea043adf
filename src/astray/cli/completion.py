"""`astray completion`: the completion of commands, options and names in a shell.

The shell calls `astray` itself at each TAB, so what is offered is what this installation has: its
commands and options, scenarios, kinds, maps, presets of robots and robot models.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

VARIABLE = "_ASTRAY_COMPLETE"  # of the environment, by which the shell asks for names
SHELLS = ("bash", "zsh", "fish")


INSTALL = """\b
bash:  eval "$(astray completion bash)"     in ~/.bashrc
zsh:   eval "$(astray completion zsh)"      in ~/.zshrc, after compinit
fish:  astray completion fish > ~/.config/fish/completions/astray.fish"""


@click.command(epilog=INSTALL)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the code that completes commands and names in SHELL."""
    from click.shell_completion import get_completion_class

    root = click.get_current_context().find_root().command
    found = get_completion_class(shell)
    assert found is not None, shell
    click.echo(found(root, {}, "astray", VARIABLE).source())


def complete_scenarios(_: Any, __: Any, incomplete: str) -> list[CompletionItem]:
    """Bundled scenarios, and files."""
    from astray.presets import SCENARIOS

    return _offer(incomplete, _stems(SCENARIOS), (".yaml", ".yml"))


def complete_kinds(_: Any, __: Any, incomplete: str) -> list[CompletionItem]:
    """The kinds of plugins and their families."""
    return _offer(incomplete, {*_kinds(), *(kind for kinds in _kinds().values() for kind in kinds)})


def complete_estimators(_: Any, __: Any, incomplete: str) -> list[CompletionItem]:
    """The kinds of estimators that run on a log."""
    return _offer(incomplete, [kind for kind in _kinds()["estimator"] if kind != "remote"])


def complete_maps(_: Any, __: Any, incomplete: str) -> list[CompletionItem]:
    """Bundled maps, and files."""
    from astray.presets import MAPS

    return _offer(incomplete, _stems(MAPS), ())


def complete_maps_and_generators(_: Any, __: Any, incomplete: str) -> list[CompletionItem]:
    """Bundled maps, generators, and files."""
    from astray.presets import MAPS
    from astray.world.maps import GENERATORS

    return _offer(incomplete, [*_stems(MAPS), *GENERATORS], ())


def complete_models(_: Any, __: Any, incomplete: str) -> list[CompletionItem]:
    """The robot models of `astray pioneer`, and files."""
    from astray.pioneer import model_names

    return _offer(incomplete, model_names(), (".p", ".inc", ".yaml"))


def complete_override(_: Any, __: Any, incomplete: str) -> list[CompletionItem]:
    """The value of `--set PATH=VALUE`, where its path ends in preset, kind or map."""
    path, equals, value = incomplete.partition("=")
    names = _values(path.rpartition(".")[2]) if equals else ()
    return [item(f"{path}={name}") for name in sorted(names) if name.startswith(value)]


def complete_nodes(_: Any, __: Any, incomplete: str) -> list[CompletionItem]:
    """The ROS 2 nodes that run by themselves."""
    from astray.cli.node import NODES

    return _offer(incomplete, NODES)


def item(value: str, type: str = "plain") -> CompletionItem:
    """One name that is offered; of type file, the shell completes the path itself."""
    from click.shell_completion import CompletionItem

    return CompletionItem(value, type=type)


def _values(key: str) -> Iterable[str]:
    """The names that the value of a key of scenarios may be."""
    from astray.presets import MAPS, ROBOTS

    if key == "preset":
        return _stems(ROBOTS)
    if key == "map":
        return _stems(MAPS)
    if key == "kind":
        return {kind for kinds in _kinds().values() for kind in kinds}
    return ()


def _offer(
    incomplete: str, names: Iterable[str], suffixes: Sequence[str] | None = None
) -> list[CompletionItem]:
    """The names that begin like this, and files if there are suffixes; any file if these are ()."""
    found = sorted(set(names))
    if suffixes:
        # Shells complete paths only where nothing else is offered, so the nearest are offered here.
        files = Path.cwd().glob("[!.]*")
        found += sorted(file.name for file in files if file.suffix in suffixes)
    offered = [item(name) for name in found if name.startswith(incomplete)]
    return offered or ([] if suffixes is None else [item(incomplete, "file")])


def _stems(folder: Path) -> list[str]:
    return [file.stem for file in folder.iterdir() if file.suffix in (".yaml", ".geojson")]


def _kinds() -> dict[str, list[str]]:
    """The built-in kinds by family."""
    from astray.plugin import KINDS
    from astray.scenario import BUILT_IN_PACKAGES

    assert BUILT_IN_PACKAGES  # importing them declares them
    return {family: list(kinds) for family, kinds in KINDS.items()}


def complete_if_asked() -> None:
    """Take over the completion in bash, which has its own idea of what a word is."""
    import os

    if VARIABLE not in os.environ:
        return
    from click.shell_completion import BashComplete, add_completion_class

    class Bash(BashComplete):
        """Bash cuts `--set path=value` at the equals sign, and replaces what is behind it."""

        name = "bash"

        def get_completion_args(self) -> tuple[list[str], str]:
            args, incomplete = super().get_completion_args()
            behind = "" if incomplete == "=" else incomplete
            if incomplete == "=" and args:
                args.append("=")
            self.before = ""
            if len(args) > 1 and args[-1] == "=":
                self.before = f"{args[-2]}="
                return args[:-2], self.before + behind
            return args, incomplete

        def format_completion(self, item: CompletionItem) -> str:
            return f"{item.type},{item.value.removeprefix(self.before)}"

    add_completion_class(Bash)
