"""How soon threads take turns: sooner while a server runs, so that no message waits for a tick."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

SHORT = 0.0005  # s, the interpreter's switch interval while a server runs

_counting = threading.Lock()
_servers = 0
_before = 0.0


@contextlib.contextmanager
def short_switch_interval() -> Iterator[None]:
    """Let threads take short turns until the last of all such blocks ends, in whichever order."""
    _begin()
    try:
        yield
    finally:
        _end()


def _begin() -> None:
    global _servers, _before
    with _counting:
        if not _servers:
            _before = sys.getswitchinterval()
            sys.setswitchinterval(SHORT)
        _servers += 1


def _end() -> None:
    global _servers
    with _counting:
        _servers -= 1
        if not _servers:
            sys.setswitchinterval(_before)
