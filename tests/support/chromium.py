"""What tests of the page in a real Chromium share: a browser tab."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def until(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 120.0
    while not (found := condition()):
        assert time.monotonic() < deadline, "the condition never held"
        time.sleep(0.02)
    return found


class Tab:
    """A page in the browser, its errors and its requests."""

    def __init__(self, browser: Any, url: str, **options: Any) -> None:
        options.setdefault("viewport", {"width": 1280, "height": 800})
        self.context = browser.new_context(accept_downloads=True, **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(120_000)
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda m: m.type == "error" and self.errors.append(m.text))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(url)
        self.wait("s.step >= 0")

    @property
    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = self.page.evaluate("astray.state")
        return found

    def read(self, name: str) -> Any:
        """One field of the state: all of it is slow where there are many robots."""
        return self.page.evaluate(f"astray.state.{name}")

    def wait(self, condition: str) -> None:
        # Evaluated from here, because the page's policy forbids it to evaluate text.
        test = f"() => {{ const s = window.astray?.state; return Boolean(s && ({condition})); }}"
        until(lambda: self.page.evaluate(test))

    def at(self, x: float, y: float) -> tuple[float, float]:
        px, py = self.page.evaluate("([x, y]) => astray.toScreen(x, y)", [x, y])
        return px, py

    def drag(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
    ) -> None:
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        for k in range(1, 7):
            share = k / 6
            mouse.move(
                start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])
            )
        mouse.up()

    def pause(self) -> None:
        """Pause the run, and wait until the page has it."""
        if not self.read("paused"):
            self.page.click("#play")
        self.wait("s.paused")
