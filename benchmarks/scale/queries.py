"""The time of the pages and commands that people use most, at the size that is stored."""

from __future__ import annotations

import http
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from statistics import median, quantiles

from benchmarks.web.run import served, timed
from monitor.app.report import reporting
from monitor.app.wiring.application import Application
from monitor.report.weekly.week import last_week
from monitor.store.tokens import Access, Session

PAGES: Mapping[str, str] = {
    "overview, 24 h": "/?span=24h",
    "overview, 28 d": "/?span=28d",
    "list of answers": "/interactions?span=28d",
    "list of answers, self-generated": "/interactions?verdict=self_generated&span=28d",
    "review queue": "/review",
    "alerts": "/alerts",
}
Figures = dict[str, dict[str, float]]


def asked(application: Application, folder: Path, times: int) -> Figures:
    """p50, p95 and the first time of each, in ms, asked one after another."""
    now = application.now()
    secret = Access(application.engine).begin_session(
        Session(subject="local", role="admin"), now=now, length=timedelta(days=1)
    )
    found: Figures = {}
    with served(folder, application.database_url) as port:
        for name, path in PAGES.items():

            def page(path: str = path) -> None:
                status = timed(port, path, secret)[1]
                if status != http.HTTPStatus.OK:
                    raise RuntimeError(f"{path} answers {status}")

            found[name] = _measured(page, times)
    loop, reports, week = application.alerting.loop(), reporting(application), last_week(now)
    found["one round of the alert rules that ship"] = _measured(lambda: loop.evaluate(application.now()), times)
    (app, *_) = reports.apps(week)
    found["weekly report of an app"] = _measured(lambda: reports.written(app, week, again=True), max(times // 10, 1))
    return found


def _measured(work: Callable[[], object], times: int) -> dict[str, float]:
    first, *rest = [_milliseconds(work) for _ in range(times + 1)]
    p95 = quantiles(rest, n=20, method="inclusive")[-1] if len(rest) > 1 else rest[0]
    return {"first": first, "p50": median(rest), "p95": p95}


def _milliseconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1000
