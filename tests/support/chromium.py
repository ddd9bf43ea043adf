"""What tests of the page in a real Chromium share: a tab, and patience."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def until(holds: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 120.0
    while not (found := holds()):
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)
    return found


class Tab:
    """A page in the browser, and the faults that it had."""

    def __init__(self, browser: Any, url: str, **how: Any) -> None:
        how.setdefault("viewport", {"width": 1280, "height": 800})
        self.context = browser.new_context(accept_downloads=True, **how)
        self.page = self.context.new_page()
        self.page.set_default_timeout(120_000)
        self.faults: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda fault: self.faults.append(str(fault)))
        self.page.on("console", lambda m: m.type == "error" and self.faults.append(m.text))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(url)
        self.wait("s.step >= 0")

    @property
    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = self.page.evaluate("astray.state")
        return found

    def ask(self, name: str) -> Any:
        """One thing of the state: all of it takes its time where there are many robots."""
        return self.page.evaluate(f"astray.state.{name}")

    def wait(self, condition: str) -> None:
        # From here: the page's policy does not let it evaluate text, whoever asks it to.
        test = f"() => {{ const s = window.astray?.state; return Boolean(s && ({condition})); }}"
        until(lambda: self.page.evaluate(test))

    def at(self, x: float, y: float) -> tuple[float, float]:
        px, py = self.page.evaluate("([x, y]) => astray.toScreen(x, y)", [x, y])
        return px, py

    def drag(self, start: tuple[float, float], end: tuple[float, float], **held: Any) -> None:
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        for k in range(1, 7):
            share = k / 6
            mouse.move(
                start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])
            )
        mouse.up()

    def hold(self) -> None:
        """Let time stand still, and the page know it."""
        if not self.ask("held"):
            self.page.click("#play")
        self.wait("s.held")
