"""A real browser for pages of the report: one for a module of tests, a page of its own for each visit.

Belongs here: starting it, and what a visit keeps (console, errors). Does not belong here: what is asked of a page.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
_QUIET = ("no-sandbox", "disable-gpu", "disable-background-networking", "disable-component-update", "no-first-run")


@contextmanager
def opened_browser() -> Iterator[Browser]:
    """Start Chromium and end it in any case."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[f"--{option}" for option in _QUIET])
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """An open page and all that its console said."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.said: list[str] = []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("request", self._requested)
        page.on("dialog", lambda dialog: self.said.append(f"dialog {dialog.message}"))

    def _requested(self, request: Any) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.said.append(f"asked for {request.url}")

    def drawn(self) -> "Visit":
        """Bring every figure into view and wait until it is drawn."""
        height = self.page.evaluate("document.documentElement.scrollHeight")
        width = self.page.viewport_size["width"] if self.page.viewport_size else 1024
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.locator("[data-plot]:not([data-drawn])").first.wait_for(state="detached", timeout=15_000)
        return self


@contextmanager
def visited(browser: Browser, path: Path, *, width: int = 1024, look: str = "light", **options: Any) -> Iterator[Visit]:
    """Open the file at a width [px] and in a theme."""
    size = {"width": width, "height": 900}
    context = browser.new_context(viewport=size, color_scheme=look, offline=True, **options)  # type: ignore[arg-type]
    try:
        visit = Visit(context.new_page())
        visit.page.goto(path.as_uri())
        yield visit
    finally:
        context.close()
