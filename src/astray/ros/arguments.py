"""What ROS 2 users type behind a node's name, and where they expect it to take effect.

-r scan:=/laser/scan     another name for a topic; __ns and __node are those of the node
-p rate:=50.0            a parameter, dots for levels; its value is YAML
--params-file FILE       many of them, in sections by node
--ros-args               nothing by itself: all of this may stand behind it
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from astray.errors import Fault, Origin, ScenarioError, WrongInput, suggest
from astray.files import Marked
from astray.scenario import merge_layers
from astray.scenario.importers import parse_parameter, read_node_parameters

NAME = re.compile(r"(~/|/)?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*\Z")
NODE_NAMES = ("__node", "__name")
ALWAYS = ("use_sim_time", "qos_overrides", "start_type_description_service")
"""Parameters that every node of ROS 2 has; those that we do not know do no harm."""

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Arguments:
    """The names and parameters that a node was given."""

    node: str
    namespace: str = ""
    """What its topics begin with: "" or `/robots`."""
    remaps: tuple[tuple[str, str], ...] = ()
    parameters: Marked = dataclasses.field(default_factory=lambda: Marked({}, Origin("parameters")))
    """All parameters, nested by their dots."""
    typed: tuple[str, ...] = ()
    """The first parts of those that were typed one by one."""

    def topic(self, name: str) -> str:
        """The full name of a topic, as the user wants it called."""
        full = self._expand(name)
        for of, to in self.remaps:
            if self._expand(of) == full:
                return self._expand(to)
        return full

    def _expand(self, name: str) -> str:
        if name.startswith("/"):
            return name
        if name.startswith("~/"):
            return f"{self.namespace}/{self.node}/{name[2:]}"
        return f"{self.namespace}/{name}"

    def settings(self, of: type[T], others: Sequence[str] = ()) -> T:
        """The parameters that are fields of a dataclass; WrongInput if one does not fit.

        `others` are further names that the node reads by itself. What stands in a file and is
        unknown may be meant for other programs; what was typed is a mistake.
        """
        hints = get_type_hints(of)
        fields = [field.name for field in dataclasses.fields(of)]  # type: ignore[arg-type]
        known = [*fields, *others]
        for name in self.typed:
            if name not in known and name not in ALWAYS:
                have = ", ".join(known)
                raise WrongInput(f"-p: no parameter {name!r}{suggest(name, known)} ({have})")
        given = self.parameters.value
        made = {k: _value(given[k], hints[k], k) for k in fields if k in given}
        return of(**made)


def parse_arguments(
    node: str,
    remaps: Sequence[str] = (),
    params: Sequence[str] = (),
    files: Sequence[Path] = (),
) -> Arguments:
    """What a user typed for a node; WrongInput or ScenarioError says what is wrong with it."""
    rules: list[tuple[str, str]] = []
    namespace = ""
    for rule in remaps:
        of, to = _split(rule, "-r", "from:=to")
        whose, colon, rest = of.partition(":")
        of = rest if colon else of
        if colon and whose != node:
            continue
        if of in NODE_NAMES:
            node = to
        elif of == "__ns":
            namespace = "/" + to.strip("/") if to.strip("/") else ""
        else:
            rules.append((of, to))
        for name in (of, to):
            if not NAME.match(name) and not (of == "__ns" and name == "/"):
                raise WrongInput(f"-r {rule}: {name!r} is not a name of ROS 2")
    faults: list[Fault] = []
    tree = Marked({}, Origin("parameters"))
    for file in files:
        tree = merge_layers(tree, read_node_parameters(file, f"{namespace}/{node}", faults))
    typed = []
    for text in params:
        name, value = _split(text, "-p", "name:=value")
        typed.append(name.split(".")[0])
        tree = merge_layers(tree, parse_parameter(name, value, f"-p {text}", faults))
    if faults:
        raise ScenarioError(faults)
    return Arguments(node, namespace, tuple(rules), tree, tuple(typed))


def _split(text: str, option: str, form: str) -> tuple[str, str]:
    before, sign, behind = text.partition(":=")
    if not sign or not before.strip() or not behind.strip():
        raise WrongInput(f"{option} {text}: it should be {form}")
    return before.strip(), behind.strip()


def _value(marked: Marked, hint: Any, name: str) -> Any:
    """A parameter of the type that the node declares; whole numbers are taken for others."""
    value = marked.plain()
    kinds = get_args(hint) if get_origin(hint) is not None else (hint,)
    if get_origin(hint) is Literal:
        if value in kinds:
            return value
        wanted = "one of " + ", ".join(str(kind) for kind in kinds)
    elif float in kinds:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if is_number and math.isfinite(value):
            return float(value)
        wanted = "a number"
    else:
        if type(value) in kinds:
            return value
        wanted = {bool: "true or false", int: "a whole number", str: "text"}[kinds[0]]
    raise WrongInput(f"{marked.origin}: {name}: needs {wanted}, not {value!r}")
