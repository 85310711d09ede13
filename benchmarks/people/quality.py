"""A quality owner on Monday: does what went wrong in four weeks stand in the first screen of the report?

Plays the traffic of `traffic.py` into an empty database with `monitor replay`, writes the weekly report of both apps
and opens it in Chromium: whether the drift, the nine bad hours and the wrong refusals are in the first screen of a
laptop (1280 × 800) and of a phone (390 × 844), beside what is true; whether the app that stays as it is is left in
peace; and whether page, API, report and SQL tell the same numbers of that week. Then, on counts alone, the share of
seeded quiet months with a finding.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

from benchmarks.databases import temporary_database
from benchmarks.figures import finish, options
from benchmarks.people.agreement import told_alike
from benchmarks.people.traffic import APP, QUIET_APP, SEED, last_monday, written
from monitor.report.findings.cells import ALL_SIGNALS, DAY, HOURS, NEGATIVE, Cells
from monitor.report.findings.find import SAMPLED, find
from monitor.report.weekly.week import week_of

SCREENS = {"laptop": (1280, 800), "phone": (390, 844)}
QUIET, QUIET_SHORT = 200, 20


def monitored(url: str, state: Path, *arguments: str) -> None:
    """Runs `monitor` on that database."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MONITOR_")}
    own = {"MONITOR_DATABASE_URL": url, "MONITOR_STATE_DIR": str(state)}
    command = [sys.executable, "-m", "monitor", *arguments]
    subprocess.run(command, env={**environment, **own}, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def played(folder: Path, end: datetime, *, part: float) -> Iterator[tuple[dict[str, Any], str]]:
    """The truth and the URL of the database; the reports of both apps are in `folder` as JSON, HTML and Markdown."""
    true = written(folder, end, part=part)
    week = week_of((end - timedelta(days=1)).date()).name
    with temporary_database() as url:
        monitored(url, folder / "state", "replay", str(folder / "events.jsonl"))
        for app in (APP, QUIET_APP):
            for form in ("json", "html", "md"):
                path = str(folder / f"{app}.{form}")
                report = ("report", "weekly", "--app", app, "--week", week, "--output", path)
                monitored(url, folder / "state", *report)
        yield true, url


def judged(content: dict[str, Any], true: dict[str, Any]) -> dict[str, Any]:
    """The place in the list of each thing to find, from 1 on (None: not found), and how right its figures are."""
    items = content["findings"]["items"]

    def place(kind: str, value: str) -> int | None:
        return next((n for n, it in enumerate(items, 1) if (it["kind"], it["value"]) == (kind, value)), None)

    drift, outage = place("rise", true["drift"]["model"]), place("outage", true["outage"]["topic"])
    refusals = place("wrong_refusals", "")
    found: dict[str, Any] = {"drift": drift, "outage": outage, "wrong_refusals": refusals, "findings": len(items)}
    if drift:
        found["drift_shares"] = [week["share"] for week in items[drift - 1]["weeks"]]
    if outage:
        spans = [
            tuple(datetime.fromisoformat(its[name]) for name in ("start", "end"))
            for its in (items[outage - 1], true["outage"])
        ]
        (start, end), (true_start, true_end) = spans
        both = min(end, true_end) - max(start, true_start)
        found["outage_overlap"] = round(both / (max(end, true_end) - min(start, true_start)), 2)
    if refusals:
        found["refusals"] = {
            name: items[refusals - 1][name] for name in ("at_least", "likely", "told_wrong", "told_right", "not_told")
        }
    return found


def first_screen(page: Page, html: Path, size: tuple[int, int], shot: Path) -> int:
    """How many findings end above the fold."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(html.as_uri())
    page.screenshot(path=shot)
    boxes = [item.bounding_box() for item in page.locator(".actions li").all()]
    return sum(box is not None and box["y"] + box["height"] <= size[1] for box in boxes)


def quiet_month(rng: np.random.Generator) -> tuple[Cells, Cells]:
    """Hourly counts of an app with 3 models and 12 topics, which differ as days do; nothing changes."""
    shape = (HOURS, 3, 12)
    hour, model, topic = (axis.ravel() for axis in np.indices(shape))
    usual = np.clip(0.08 * rng.lognormal(0, 0.15, 3)[model] * rng.lognormal(0, 0.25, 12)[topic], 0, 0.5)
    days = rng.lognormal(0, 0.15, HOURS // DAY)[hour // DAY]
    traffic = rng.uniform(0.05, 1.0) * (1 - 0.8 * np.cos(2 * np.pi * (hour % DAY - 3) / DAY))
    total = rng.poisson(traffic * rng.lognormal(0, 0.7, 12)[topic])
    made_up = rng.binomial(total, np.clip(usual * days, 0, 1))
    refused = rng.binomial(total - made_up, np.clip(usual / 3 * days, 0, 1))
    off = rng.binomial(made_up + refused, 0.3)
    counts = {"self_generated": made_up, "refusal": refused, NEGATIVE: made_up + refused}
    counts[ALL_SIGNALS[-1]] = off
    zeros = np.zeros_like(hour)
    labels = {"environment": zeros, "model": model, "topic": topic}
    values = {
        "environment": ("production",),
        "model": tuple("abc"),
        "topic": tuple(f"topic {place}" for place in range(12)),
    }
    cells = Cells(hour=hour, total=total, counts=counts, labels=labels, values=values)
    sampled = Cells(
        hour=hour // DAY * DAY,
        total=total,
        counts=counts,
        labels={**labels, SAMPLED: rng.integers(0, 2, len(hour))},
        values={**values, SAMPLED: ("v1", "v2")},
    )
    return cells, sampled


def quiet_months(number: int) -> dict[str, Any]:
    rng = np.random.default_rng(SEED)
    found = [find(*quiet_month(rng)).findings for _ in range(number)]
    kinds = [type(about).__name__.lower() for each in found for about, _ in each]
    return {
        "months": number,
        "with_a_finding": sum(bool(each) for each in found),
        "kinds": {kind: kinds.count(kind) for kind in sorted({*kinds})},
    }


def measured(*, short: bool) -> dict[str, Any]:
    """Plays the four weeks, and returns the figures."""
    end = last_monday(datetime.now(UTC))
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        folder = Path(os.environ.get("PEOPLE_FOLDER", made))
        with played(folder, end, part=0.5 if short else 1.0) as (true, url):
            contents = {app: json.loads((folder / f"{app}.json").read_text()) for app in (APP, QUIET_APP)}
            equal = [told_alike(url, folder / "state", app, end, contents[app]) for app in contents]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        screens = {
            name: first_screen(page, folder / f"{APP}.html", size, folder / f"{name}.png")
            for name, size in SCREENS.items()
        }
        browser.close()
    found = judged(contents[APP], true)
    wanted = [found[name] for name in ("drift", "outage", "wrong_refusals")]
    in_first = {name: all(place and place <= seen for place in wanted) for name, seen in screens.items()}
    quiet = contents[QUIET_APP]["findings"]
    return {
        "truth": true,
        "found": found,
        "findings_in_first_screen": screens,
        "all_three_in_first_screen": in_first,
        "findings_of_the_quiet_app": len(quiet["items"]),
        "told_alike": equal,
        "quiet": quiet_months(QUIET_SHORT if short else QUIET),
    }


def main() -> None:
    given = options(__doc__, "half the traffic, and twenty quiet months")
    figures = measured(short=given.short)
    for name, value in figures.items():
        print(f"{name:28} {value}")
    finish(figures, seed=SEED, path=given.json)


if __name__ == "__main__":
    main()
