"""YAML files of maps: small trees without aliases, read without trust."""

from __future__ import annotations

from typing import Any

from astray.errors import Fault, MapError

MAX_DEPTH = 32


def read_yaml_tree(data: bytes, file: str) -> dict[str, Any]:
    """The mapping in the bytes of a YAML file; `file` is what errors call it."""
    import yaml

    from astray.files import read_yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        text = data.decode("utf-8-sig")
        depth = 0
        # The C loader recurses without a limit of its own, and aliases of aliases never end.
        for event in yaml.parse(text, loader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None):
                line = event.start_mark.line + 1 if event.start_mark else 1
                raise MapError(f"{file}:{line}: aliases and tags are not taken")
            if depth > MAX_DEPTH:
                raise MapError(f"{file}: nested deeper than {MAX_DEPTH} levels")
    except UnicodeDecodeError:
        raise MapError(f"{file}: not a text file in UTF-8") from None
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        where = f":{mark.line + 1}" if mark else ""
        what = problem.problem or problem.context or "cannot be read"
        raise MapError(f"{file}{where}: not YAML: {what}") from None
    except (yaml.YAMLError, ValueError, TypeError, OverflowError) as problem:
        what = str(problem).split("\n")[0]
        raise MapError(f"{file}: not YAML: {what}") from None
    faults: list[Fault] = []
    found = read_yaml(text, file, faults, most=len(text))  # without aliases there are no more
    for fault in faults:
        raise MapError(f"{file}:{fault.origin.line}: {fault.message}")
    if found is None or not isinstance(found.value, dict) or not found.value:
        raise MapError(f"{file}: a mapping of keys to values is needed")
    tree: dict[str, Any] = found.plain()
    return tree
