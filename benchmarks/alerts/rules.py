"""Measures the cost of the counts that alert rules read, at few and at many stored answers.

    python benchmarks/alerts/rules.py [--short] [--json PATH]

It makes up the rollups of 120 days in an embedded PostgreSQL under a temporary folder, once for 1 million interactions
and once for 100 million (--short: 20,000 and 2,000,000 of 32 days), directly in `verdict_minute` and `verdict_hour`: 6
apps, 2 models, 4 topics, day and night. After one round to warm up it calls `SpanCounts.counts` as rules do, for spans
that end at times drawn from the last three days. Each call asks for the rate of negative answers by app, some for a
mean.

- p50 and p95 in ms per rule for each kind of spans (goal: p95 ≤ 50 ms at 100 million; *28 days by hour* is learnt at
  most once an hour and has no goal), and the ratio of the p50 at 100 million to that at 1 million.

Tables are unlogged. Times are wall times on an otherwise idle machine.
"""

from __future__ import annotations

import logging
import random
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import psycopg
from psycopg import sql

from benchmarks.figures import finish, options
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.window import HOUR, MINUTE, Span
from monitor.core.model import Reason, Verdict
from monitor.store.alert.counts import SpanCounts
from monitor.store.database import connect
from monitor.store.embedded_postgres import embedded_database
from monitor.store.migrate import migrate
from monitor.store.tables.interactions import METRICS

SEED = 20_260_301
NOW = datetime(2026, 3, 1, tzinfo=UTC)
FULL = {"days": 120, "interactions": (1_000_000, 100_000_000), "rounds": 200}
SHORT = {"days": 32, "interactions": (20_000, 2_000_000), "rounds": 20}
GOAL = 50.0  # ms
UNTIMED = "28 days by hour"
NEGATIVE = Signal(kind=SignalKind.RATE, name="negative")
MEAN = Signal(kind=SignalKind.MEAN, name="sda")

# Answers per minute and combination: `mean` on average, more by day and for the first app. Rows without answers are
# left out, since the writer makes none. A twentieth are negative.
_FILL = """
    INSERT INTO verdict_minute
    SELECT minute, 'app-' || a, 'production', 'model-' || m, 'topic-' || t, n,
           {columns}
    FROM (
        SELECT minute, a, m, t, floor(mean + random())::bigint AS n
        FROM generate_series({first}::timestamptz, {last}::timestamptz, interval '1 minute') AS minute,
             generate_series(1, 6) AS a, generate_series(1, 2) AS m, generate_series(1, 4) AS t,
             LATERAL (SELECT {average} * (1 + 0.8 * sin(extract(epoch FROM minute) * 2 * pi() / 86400)) / (a + 1)
                             / 0.2655 AS mean) AS traffic
    ) AS answers WHERE n > 0 ORDER BY minute, a, m, t
"""


# A histogram of n answers around 0.7.
_BINS = "('[33:36]={' || concat_ws(',', n / 4, n / 4, n / 4, n - n / 4 * 3) || '}')::bigint[]"


def columns() -> str:
    """The columns after `total`, in the order of the table."""
    verdicts = ["n - n / 20", "n / 50", "n / 20 - n / 50"]
    metrics = [*["n"] * len(METRICS), *["n * 0.7"] * len(METRICS), *[_BINS] * len(METRICS)]
    later = ["0"] * 3  # the last columns of the table but one, which is left to its default
    return ", ".join([*verdicts, *["n / 50"] * (len(Reason) - len(later)), *metrics, *later])


def fill(url: str, days: int, interactions: int) -> dict[str, Any]:
    """Makes the rollups of one size; returns the seconds it took and the size."""
    average = interactions / (days * 24 * 60 * 48)
    begun = time.perf_counter()
    with psycopg.connect(url, autocommit=True, options="-c timezone=UTC") as connection:
        for table in ("verdict_minute", "verdict_hour"):
            connection.execute(sql.SQL("ALTER TABLE {} SET UNLOGGED").format(sql.Identifier(table)))
        connection.execute("SELECT setseed(0.5)")
        connection.execute("SET monitor.hours = 'written'")  # the hours are filled below, all at once
        first, last = NOW - timedelta(days=days), NOW - MINUTE
        connection.execute(_FILL.format(columns=columns(), average=average, first=f"'{first}'", last=f"'{last}'"))
        made = time.perf_counter()
        added = (*hour_columns("count"), *hour_columns("sum"))
        names = ["total", *Verdict, *Reason, *added]
        squares = hour_columns("squares")
        connection.execute(  # our own names
            f"INSERT INTO verdict_hour (hour, app, environment, model, topic, {', '.join([*names, *squares])})"
            " SELECT date_trunc('hour', minute), app, environment, model, topic,"
            f" {', '.join(f'sum({name})' for name in names)}, {', '.join(['sum(total) * 0.5'] * len(squares))}"
            " FROM verdict_minute GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5"
        )
        hours = time.perf_counter()
        for table in ("verdict_minute", "verdict_hour"):
            connection.execute(sql.SQL("VACUUM ANALYZE {}").format(sql.Identifier(table)))
        ((total, minutes),) = connection.execute("SELECT sum(total)::bigint, count(*) FROM verdict_minute")
        ((hour_rows, size),) = connection.execute(
            "SELECT count(*), pg_total_relation_size('verdict_minute') + pg_total_relation_size('verdict_hour')"
            " FROM verdict_hour"
        )
    return {
        "interactions": total,
        "rows by minute": minutes,
        "rows by hour": hour_rows,
        "GB": size / 1e9,
        "s to make minutes": made - begun,
        "s to make hours of them": hours - made,
    }


def hour_columns(kind: str) -> tuple[str, ...]:
    return tuple(f"{metric}_{kind}" for metric in METRICS)


def spans(end: datetime) -> Mapping[str, Sequence[Span]]:
    """The spans that rules ask for at `end`."""

    def back(length: timedelta) -> Span:
        return Span(start=end - length, end=end)

    hour = Span(start=end - HOUR, end=end)
    last = Span(start=end - MINUTE, end=end)
    rounded = end.replace(minute=0)
    return {
        "5 minutes": [back(5 * MINUTE)],
        "burn rate: 5m 30m 1h 2h 6h 1d 3d": [back(m * MINUTE) for m in (5, 30, 60, 120, 360, 1_440, 4_320)],
        "35 single minutes": [last.back(i * MINUTE) for i in range(35)],
        "this hour, and that of 4 weeks": [hour.back(timedelta(weeks=i)) for i in range(5)],
        UNTIMED: [Span(start=rounded - timedelta(days=28), end=rounded)],
    }


def timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1000


def measure(url: str, rounds: int) -> dict[str, dict[str, float]]:
    """p50 and p95 of each kind of spans."""
    engine = connect(url)
    store = SpanCounts(engine)

    def read(name: str, signal: Signal, asked: Sequence[Span]) -> object:
        if name == UNTIMED:
            return store.hour_sums(signal, {}, ("app",), asked[0])
        return store.counts(signal, {}, ("app",), asked)

    drawn = random.Random(SEED)
    found: dict[str, list[float]] = {}
    for number in range(rounds + 1):
        end = NOW - drawn.randrange(3 * 24 * 60 - 4_320 // 2) * MINUTE
        for name, asked in spans(end).items():
            for signal in (NEGATIVE, MEAN) if name == "5 minutes" else (NEGATIVE,):
                if name == UNTIMED and number > rounds // 10:
                    continue
                took = timed(partial(read, name, signal, asked))
                if number:
                    found.setdefault(name if signal is NEGATIVE else f"{name}, a mean", []).append(took)
    engine.dispose()
    return {
        name: {"p50 ms": median(times), "p95 ms": quantiles(times, n=20)[-1] if len(times) > 1 else times[0]}
        for name, times in found.items()
    }


def of_one_size(days: int, interactions: int, rounds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="monitor-rules-") as folder:
        url = embedded_database(Path(folder))
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
        engine = connect(url)
        migrate(engine)
        engine.dispose()
        return {"made": fill(url, days, interactions), "rules": measure(url, rounds)}


def show(figures: Mapping[str, Any], sizes: Sequence[int]) -> None:
    for size in sizes:
        made = figures[f"{size:,}"]["made"]
        print(
            f"{size:,}: "
            + ", ".join(f"{n} {v:,.1f}" if isinstance(v, float) else f"{n} {v:,}" for n, v in made.items())
        )
    small, large = (figures[f"{size:,}"]["rules"] for size in sizes)
    print(f"{'ms per rule':36}" + "".join(f"{f'{size:,}: p50':>20}{'p95':>8}" for size in sizes) + f"{'ratio':>8}")
    for name in small:
        both = "".join(f"{of[name]['p50 ms']:20.1f}{of[name]['p95 ms']:8.1f}" for of in (small, large))
        goal = (
            "" if name == UNTIMED else f"   goal ≤ {GOAL:.0f}: {'met' if large[name]['p95 ms'] <= GOAL else 'NOT MET'}"
        )
        print(f"{name:36}{both}{large[name]['p50 ms'] / small[name]['p50 ms']:8.2f}{goal}")


def main() -> None:
    arguments = options(__doc__, "fewer interactions of fewer days, to see that it runs")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    scale = SHORT if arguments.short else FULL
    sizes = scale["interactions"]
    figures: dict[str, Any] = {f"{size:,}": of_one_size(scale["days"], size, scale["rounds"]) for size in sizes}
    show(finish(figures, seed=SEED, path=arguments.json), sizes)


if __name__ == "__main__":
    main()
