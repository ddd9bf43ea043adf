"""The command-line arguments of ROS 2 nodes: remappings and parameters.

-r scan:=/laser/scan     remaps a topic; __ns and __node are the node's namespace and name
-p rate:=50.0            sets a parameter, dots for levels; its value is YAML
--params-file FILE       sets many parameters, in sections by node
--ros-args               may stand before these arguments
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
COMMON_PARAMETERS = ("use_sim_time", "qos_overrides", "start_type_description_service")
"""Parameters that every ROS 2 node has; a node that does not use them ignores them."""

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Arguments:
    """The name, remappings and parameters of a node.

    Args:
        node: The name of the node.
        namespace: The namespace of its topics: "" or `/robots`.
        remaps: Pairs of a topic and its new name.
        parameters: All parameters, nested by their dots.
        typed: The first parts of the parameters that were given one by one, by `-p`.
    """

    node: str
    namespace: str = ""
    remaps: tuple[tuple[str, str], ...] = ()
    parameters: Marked = dataclasses.field(default_factory=lambda: Marked({}, Origin("parameters")))
    typed: tuple[str, ...] = ()

    def topic(self, name: str) -> str:
        """The full name of a topic, remapped."""
        full = self._expand(name)
        for old, new in self.remaps:
            if self._expand(old) == full:
                return self._expand(new)
        return full

    def _expand(self, name: str) -> str:
        if name.startswith("/"):
            return name
        if name.startswith("~/"):
            return f"{self.namespace}/{self.node}/{name[2:]}"
        return f"{self.namespace}/{name}"

    def settings(self, dataclass: type[T], further: Sequence[str] = ()) -> T:
        """The parameters as a dataclass.

        Args:
            dataclass: Its fields are the parameters.
            further: Names of parameters that the node reads by itself.

        Returns:
            The dataclass, with the given values.

        Raises:
            WrongInput: A value does not fit its field, or a parameter given by `-p` is unknown. An
                unknown one in a file is ignored, since it may be of another program.
        """
        hints = get_type_hints(dataclass)
        fields = [field.name for field in dataclasses.fields(dataclass)]  # type: ignore[arg-type]
        known = [*fields, *further]
        for name in self.typed:
            if name not in known and name not in COMMON_PARAMETERS:
                names = ", ".join(known)
                raise WrongInput(f"-p: unknown parameter {name!r}{suggest(name, known)} ({names})")
        given = self.parameters.value
        return dataclass(**{k: _value(given[k], hints[k], k) for k in fields if k in given})


def parse_arguments(
    node: str,
    remaps: Sequence[str] = (),
    params: Sequence[str] = (),
    files: Sequence[Path] = (),
) -> Arguments:
    """Read the arguments of a node.

    Args:
        node: The usual name of the node.
        remaps: The values of `-r`.
        params: The values of `-p`.
        files: The values of `--params-file`.

    Raises:
        WrongInput: An argument is not valid.
        ScenarioError: A parameter or a file is not valid.
    """
    rules: list[tuple[str, str]] = []
    namespace = ""
    for rule in remaps:
        old, new = _split(rule, "-r", "from:=to")
        only_for, colon, name = old.partition(":")
        old = name if colon else old
        if colon and only_for != node:
            continue
        if old in NODE_NAMES:
            node = new
        elif old == "__ns":
            namespace = "/" + new.strip("/") if new.strip("/") else ""
        else:
            rules.append((old, new))
        for name in (old, new):
            if not NAME.match(name) and not (old == "__ns" and name == "/"):
                raise WrongInput(f"-r {rule}: {name!r} is not a valid name in ROS 2")
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
    left, sign, right = text.partition(":=")
    if not sign or not left.strip() or not right.strip():
        raise WrongInput(f"{option} {text}: it should be {form}")
    return left.strip(), right.strip()


def _value(marked: Marked, hint: Any, name: str) -> Any:
    """A parameter of the declared type; a whole number is accepted as a float."""
    value = marked.plain()
    types = get_args(hint) if get_origin(hint) is not None else (hint,)
    if get_origin(hint) is Literal:
        if value in types:
            return value
        expected = "one of " + ", ".join(str(kind) for kind in types)
    elif float in types:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if is_number and math.isfinite(value):
            return float(value)
        expected = "a number"
    else:
        if type(value) in types:
            return value
        expected = {bool: "true or false", int: "a whole number", str: "text"}[types[0]]
    raise WrongInput(f"{marked.origin}: {name}: needs {expected}, not {value!r}")
