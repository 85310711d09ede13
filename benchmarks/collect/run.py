"""Measures how fast spans are taken and traces assembled, and what happens at the limit of open traces.

    python benchmarks/collect/run.py [--short] [--json PATH]

This process and the embedded database share one core.

- *Taking*: requests of 512 spans, as OpenTelemetry's batch processor sends them, are read and kept, one transaction
  each (goal: 5,000 spans/s, with memory that does not grow with their number).
- *Repeats*: the same requests again; nothing may be added.
- *Assembling*: every trace is closed, and its turn appended to the inbox.
- *At the limit*: traces of one span until no more may be open (a million in the long form), then more: all must be
  refused with a time after which to try again, and nothing be added.
"""

from __future__ import annotations

import os
import resource
import time
from datetime import UTC, datetime
from random import Random

import psycopg

from benchmarks.collect.bodies import SPANS, bodies, lone_spans
from benchmarks.databases import temporary_database
from benchmarks.figures import finish, options
from monitor.app.collect.assembler import Assembler
from monitor.core.errors import Overloaded
from monitor.core.settings.collect import TraceLimits
from monitor.core.trace import Collected
from monitor.ingest.traces.otlp import read_request
from monitor.store.collect.store import CollectStore
from monitor.store.database import connect
from monitor.store.migrate import migrate

SEED = 18
FULL = {"turns": 15_000, "open": 1_000_000}
SHORT = {"turns": 300, "open": 3_000}
AT_ONCE, REFUSED = 1_000, 50  # traces of a request at the limit; such requests
GOAL = 5_000  # spans/s


def now() -> datetime:
    return datetime.now(UTC)


def take(store: CollectStore, requests: list[bytes]) -> float:
    """Reads and keeps the requests; returns the seconds that it took."""
    begin = time.perf_counter()
    for request in requests:
        read = read_request(request, logs=False, json=False)
        store.keep([Collected(received_at=now(), spans=read.spans)])
    return time.perf_counter() - begin


def counted(url: str, table: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(row[0]) if row else 0


def taken(url: str, turns: int, random: Random) -> dict[str, float]:
    store = CollectStore(url, TraceLimits(close_after=0.0, idle=0.0), now)
    requests = list(bodies(turns, random))
    size = sum(map(len, requests))
    warm = max(1, len(requests) // 20)
    take(store, requests[:warm])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = take(store, requests[warm:])
    spans = (len(requests) - warm) / len(requests) * turns * SPANS
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    again = take(store, requests)
    if (kept := counted(url, "trace_part")) != turns * SPANS:
        raise SystemExit(f"{kept} spans are kept of {turns * SPANS}")
    assembler, begin = Assembler(store=store, app="default"), time.perf_counter()
    while assembler.round():
        pass
    assembling = time.perf_counter() - begin
    if (made := counted(url, "inbox")) != turns:
        raise SystemExit(f"{made} turns were made of {turns} traces")
    store.close()
    return {
        "spans": turns * SPANS,
        "bytes a span": round(size / turns / SPANS),
        "taken, spans/s": round(spans / seconds),
        "repeated, spans/s": round(turns * SPANS / again),
        "assembled, spans/s": round(turns * SPANS / assembling),
        "both, spans/s": round(1 / (seconds / spans + assembling / turns / SPANS)),
        "memory grown by, MiB": round(grown / 1024, 1),
    }


def at_the_limit(url: str, most: int, random: Random) -> dict[str, float]:
    store = CollectStore(url, TraceLimits(idle=3_600.0, max_open=most), now)
    begin = time.perf_counter()
    for _ in range(most // AT_ONCE):
        take(store, [lone_spans(AT_ONCE, random)])
    filling = time.perf_counter() - begin
    rows, polite = counted(url, "trace"), 0
    more = [lone_spans(AT_ONCE, random) for _ in range(REFUSED)]
    begin = time.perf_counter()
    for request in more:
        try:
            take(store, [request])
        except Overloaded as error:
            polite += error.retry_after > 0
    refusing = time.perf_counter() - begin
    if polite != REFUSED or counted(url, "trace") != rows:
        raise SystemExit(f"only {polite} of {REFUSED} requests were refused, or something was added")
    store.close()
    return {
        "open traces": most,
        "opened, traces/s": round(most / filling),
        "refused requests": polite,
        "ms a refusal": round(1_000 * refusing / REFUSED, 2),
    }


def main() -> None:
    given = options(__doc__, "a few hundred traces")
    sizes = SHORT if given.short else FULL
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # the database inherits it
    random, figures = Random(SEED), dict[str, object]()
    with temporary_database() as url:
        engine = connect(url)
        migrate(engine)
        engine.dispose()
        figures |= taken(url, sizes["turns"], random)
        figures |= at_the_limit(url, sizes["open"], random)
    for name, value in figures.items():
        print(f"{name:24} {value:>12,}")
    print(f"goal: {GOAL:,} spans/s taken: {'reached' if float(str(figures['taken, spans/s'])) >= GOAL else 'MISSED'}")
    finish(figures, seed=SEED, path=given.json)


if __name__ == "__main__":
    main()
