"""Measures what true rates cost with a million answers in the period: drawing a plan, and reading the rates.

    python benchmarks/rates/cost.py [--json PATH] [--short]

Rows are made in the database itself, as for `benchmarks/web/run.py`, 1,571,000 over 88 days, of which the last 56 days
are the period: a million answers of some apps, counted by many more minutes than a week has. Goal: the rates of all
apps within a second. `--short` makes a fiftieth.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from benchmarks.figures import finish, options
from benchmarks.rates.run import KEY
from benchmarks.web.rows import DAYS, make
from benchmarks.web.run import database
from monitor.review.rates.period import Period
from monitor.review.rates.plan import PlanRequest
from monitor.store.database import connect
from monitor.store.interaction.overview import OverviewStore
from monitor.store.migrate import migrate
from monitor.store.review.plans import Plans
from monitor.store.review.rates import known_rates

PERIOD_DAYS, ANSWERS, TIMES = 56, 1_000_000, 7
GOAL = 1.0  # seconds


def timed(action: Callable[[], object]) -> float:
    """The median of `TIMES` runs, in seconds."""
    taken = []
    for _ in range(TIMES):
        began = time.perf_counter()
        action()
        taken.append(time.perf_counter() - began)
    return median(taken)


def main() -> None:
    asked = options(__doc__, "a fiftieth of the rows")
    answers = ANSWERS // 50 if asked.short else ANSWERS
    with tempfile.TemporaryDirectory(prefix="monitor-rates-") as folder, database(Path(folder)) as url:
        engine = connect(url, queue_key=lambda: KEY)
        migrate(engine)
        now = datetime.now(UTC).replace(second=0, microsecond=0)
        make(url, round(answers * DAYS / PERIOD_DAYS), now)
        period = Period(since=now - timedelta(days=PERIOD_DAYS), until=now)
        plans, overview = Plans(engine), OverviewStore(engine)
        counted = overview.totals(period.since, period.until)
        app = max(counted, key=lambda name: counted[name].total)

        request = PlanRequest(
            app=app, since=period.since, until=period.until, labels=100, guaranteed=False, judge_share=0.05
        )
        figures = {
            "answers": sum(counts.total for counts in counted.values()),
            "apps": len(counted),
            "answers_of_app": counted[app].total,
            "plan": timed(lambda: plans.make(request, by="benchmark", now=now)),
            "rates": timed(lambda: known_rates(engine, overview, None, period, now)),
            "rates_of_app": timed(lambda: known_rates(engine, overview, app, None, now)),
        }
        engine.dispose()
    print(f"{figures['answers']:,} answers of {figures['apps']} apps; medians of {TIMES}")
    print(f"rates of all apps      {figures['rates']:7.3f} s (goal: {GOAL:g} s)")
    print(f"rates of one app       {figures['rates_of_app']:7.3f} s, {figures['answers_of_app']:,} answers")
    print(f"a plan of 100 labels   {figures['plan']:7.3f} s, from the same answers")
    finish(figures, seed=None, path=asked.json)


if __name__ == "__main__":
    main()
