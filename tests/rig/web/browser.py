"""A visitor's page in a browser, and the installation that it looks at."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page

from tests.rig.installation import Installation

SCREENSHOTS = os.environ.get("MONITOR_TEST_SCREENSHOTS")
DESKTOP, PHONE = (1280, 900), (390, 844)


class Site:
    """Where it is, the link that signs in there once, and what stands behind it."""

    def __init__(self, url: str, link: str, database: str, installation: Installation) -> None:
        self.url = url
        self.link = link
        self.database = database
        self.installation = installation


class Visit:
    """One visitor's page, with whatever is not to happen on it."""

    def __init__(self, context: BrowserContext, site: Site) -> None:
        self.page: Page = context.new_page()
        self.errors: list[str] = []
        self.strangers: list[str] = []
        self._site = site
        self.page.on("console", lambda said: said.type in {"error", "warning"} and self.errors.append(said.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", self._asked)
        context.on("request", self._requested)

    def goto(self, path: str) -> Any:
        """Opens a page of ours."""
        return self.page.goto(self._site.url + path, wait_until="load")

    def keep(self, name: str) -> None:
        """Keeps a screenshot where somebody wants to see it: one takes as long as the page does."""
        if SCREENSHOTS:
            self.page.screenshot(path=Path(SCREENSHOTS) / f"{name}.png", full_page=True)

    def _asked(self, dialog: Any) -> None:
        self.errors.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _requested(self, request: Any) -> None:
        if not request.url.startswith((self._site.url + "/", "data:", "about:")):
            self.strangers.append(request.url)
