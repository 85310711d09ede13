"""Whether the overview page, the API, the weekly report and plain SQL tell the same numbers of one week."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from sqlalchemy import text
from starlette.testclient import TestClient

from monitor.app.wiring.application import Application
from monitor.core.settings.load import load_settings
from monitor.store.tokens import Access
from monitor.web.app import create_app
from monitor.web.base.access import Role
from monitor.web.base.guard import Guard

WEEK = timedelta(days=7)
NAMES = ("answers", "negative", "refusal", "self_generated")
COUNTED = text("""
    SELECT count(*), count(*) FILTER (WHERE verdict <> 'grounded'), count(*) FILTER (WHERE verdict = 'refusal'),
        count(*) FILTER (WHERE verdict = 'self_generated')
    FROM assessment WHERE app = :app AND occurred_at >= :start AND occurred_at < :end
""")
SHARES = re.compile(r'flagged as [^<]*</span>\s*<span class="figure">(?:<a [^>]*>)?([^<]*)<')
TOTAL = re.compile(r'answers assessed</span>\s*<span class="figure">(?:<a [^>]*>)?([^<]*)<')


def told_alike(url: str, state: Path, app: str, end: datetime, report: dict[str, Any]) -> dict[str, Any]:
    """The numbers of the week before `end` from each place, and whether they are equal.

    `report` is the report of that week as JSON. The page shows shares: they are compared as they are shown.
    """
    own = {"database_url": SecretStr(url), "state_dir": state}
    with Application(load_settings().model_copy(update=own), now=lambda: end) as application:
        with application.engine.connect() as connection:
            row = connection.execute(COUNTED, {"app": app, "start": end - WEEK, "end": end}).one()
        access = Access(application.engine)
        token = access.make_token(f"benchmark {app}", Role.VIEWER, by="benchmark", now=end)[1]
        served = create_app(application, Guard(access=access, now=lambda: end, only_tokens=True))
        client = TestClient(served, base_url="http://127.0.0.1", headers={"authorization": f"Bearer {token}"})
        now = client.get("/api/v1/overview", params={"span": "7d", "app": app}).raise_for_status().json()["now"]
        page = client.get("/", params={"span": "7d", "app": app}).raise_for_status().text
        served.state.jobs.stop()
    counted = dict(zip(NAMES, map(int, row), strict=True))
    of_api = {"answers": now["answers"], **{name: now[name]["answers"] for name in NAMES[1:]}}
    rates = report["verdicts"]["rates"]
    of_report = {"answers": report["verdicts"]["answers"], **{name: rates[name]["this"]["count"] for name in NAMES[1:]}}
    shown = [*TOTAL.findall(page), *SHARES.findall(page)]
    wanted = [f"{counted['answers']:,}".replace(",", "\u202f")]
    wanted += [f"{100 * counted[name] / counted['answers']:.1f}\u00a0%" for name in NAMES[1:]]
    found = {"app": app, "sql": counted, "api": of_api, "report": of_report, "page": shown}
    return {**found, "equal": counted == of_api == of_report and shown == wanted}
