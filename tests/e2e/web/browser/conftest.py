"""The dashboard as people use it: real headless Chromium on a real server with 100,000 stored interactions.

Screenshots are kept in the folder that `MONITOR_TEST_SCREENSHOTS` names, if it names one.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from playwright.sync_api import Browser, BrowserContext, StorageState, sync_playwright

from monitor.alert.rules.file import load_rules
from monitor.app.wiring.application import Application
from monitor.core.settings.load import Settings
from tests.rig.installation import installed
from tests.rig.services import missing
from tests.rig.waiting import until
from tests.rig.web.browser import DESKTOP, Site, Visit
from tests.rig.web.browser_stock import APP, RULES, diagnose, events, multiply, probe


@pytest.fixture(scope="session")
def site(
    encoder_cache: Path,
    postgres: str,  # noqa: ARG001  skips where that one does
    new_database: Callable[..., str],
    migrated_template: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Site]:
    """An installation with data that serves, open to this machine."""
    folder = tmp_path_factory.mktemp("site")
    database = new_database(migrated_template)
    installation = installed(encoder_cache, folder, DATABASE_URL=database)
    log = folder / "answers.jsonl"
    log.write_text("".join(events(datetime.now(UTC))), encoding="utf-8")
    assert installation.run("replay", log).returncode == 0
    (folder / "rules.yaml").write_text(RULES, encoding="utf-8")
    with Application(Settings(database_url=database, state_dir=folder / "state", rules=folder / "rules.yaml")) as its:
        rules = load_rules(folder / "rules.yaml", receivers=("console",))
        its.alerting.loop(rules=lambda: rules).evaluate(its.now())
        probe(its.engine)
    assert installation.run("audit", "seal").returncode == 0
    multiply(database)
    diagnose(database)
    for week in ("last", "this"):
        made = installation.run("report", "weekly", "--output", folder / f"{week}.html")
        assert made.returncode == 0, made.stderr
    server = installation.start("serve", WEB__PORT="0", RULES=str(folder / "rules.yaml"))
    found = until("the dashboard serves", lambda: re.search(r"works once: ((http://127\.0\.0\.1:\d+)/\S+)", server.err))
    yield Site(found[2], found[1], database, installation)
    assert server.terminate() == 0
    installation.close()


@pytest.fixture(scope="session")
def places(site: Site) -> dict[str, str]:
    """The values to fill into the addresses of pages."""
    with psycopg.connect(site.database) as connection:

        def one(query: str) -> str:
            return str(connection.execute(query).fetchone()[0])

        return {
            "app": APP,
            "fingerprint": one("SELECT fingerprint FROM alert WHERE state = 'firing'"),
            "probe": one("SELECT max(number) FROM probe_run"),
            "profile": one("SELECT hash FROM profile"),
            "letter": one("SELECT max(id) FROM dead_letter"),
            "week": f"{datetime.now(UTC) - timedelta(days=7):%G-W%V}",
        }


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    found = shutil.which("chromium")
    if found is None:
        missing("Chromium is needed: apt-get install chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def signed_in(browser: Browser, site: Site) -> StorageState:
    """The cookies of the browser that has opened the printed link."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(site.link)
        assert page.url == f"{site.url}/"
        return context.storage_state()


@pytest.fixture
def visit(browser: Browser, site: Site, signed_in: StorageState) -> Iterator[Callable[..., Visit]]:
    """Opens pages in contexts of their own; afterwards checks for console errors and requests to other hosts."""
    opened: list[tuple[BrowserContext, Visit]] = []

    def begin(size: tuple[int, int] = DESKTOP, **context: Any) -> Visit:
        its = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, **{"storage_state": signed_in, **context}
        )
        opened.append((its, Visit(its, site)))
        return opened[-1][1]

    yield begin
    for context, its in opened:
        context.close()
        assert its.errors == []
        assert its.strangers == []
