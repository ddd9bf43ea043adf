"""A pseudo-terminal in place of a port, for programs that only know serial lines."""

from __future__ import annotations

import os

from astray.errors import WrongInput


class PseudoTerminal:
    """The near end of a pseudo-terminal; programs open `path`."""

    def __init__(self) -> None:
        try:
            import pty
            import tty
        except ImportError:
            raise WrongInput("--pty: this system has no pseudo-terminals") from None
        self._near, self._far = pty.openpty()
        # Raw, or the terminal would echo packets and change their bytes. The far end is kept open:
        # the near one would fail to be read while no program has it open.
        tty.setraw(self._far)
        os.set_blocking(self._near, False)
        self.path = os.ttyname(self._far)

    def fileno(self) -> int:
        """What a selector watches."""
        return self._near

    def recv(self, most: int) -> bytes:
        """Some bytes."""
        return os.read(self._near, most)

    def send(self, data: bytes) -> int:
        """Send some bytes, and tell how many."""
        return os.write(self._near, data)

    def close(self) -> None:
        """Be done."""
        os.close(self._near)
        os.close(self._far)
