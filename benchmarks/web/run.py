"""Measures the dashboard's pages at ten million interactions: server time of each page.

    python benchmarks/web/run.py [--json PATH] [--short]

Rows are made in the database itself (see `rows.py`), in an embedded PostgreSQL with its default settings, which is
removed at the end; `--short` makes a hundred thousand. Then `monitor serve` answers on 127.0.0.1, each page once to
warm up and 30 times for the figures. Server time is from the request to the last byte of the answer, seen from this
machine, one request at a time. `monitor` needs no model for it, and nothing is written meanwhile. Ten million rows take
some 15 GB of disk.
"""

from __future__ import annotations

import http
import http.client
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import quantiles

from sqlalchemy import Engine, text

from benchmarks.figures import finish, options
from benchmarks.web.other_rows import FINGERPRINT, FIRST, SECOND, make_other_rows
from benchmarks.web.rows import DAYS, make
from monitor.store.database import connect
from monitor.store.interaction.filters import PagePosition
from monitor.store.migrate import migrate
from monitor.store.tokens import Access, Session
from monitor.web.base.cursor import to_cursor

FEW, MANY = 100_000, 10_000_000
TIMES = 30
GOAL = 0.150  # seconds, p95
SERVER = """
import sys
from pathlib import Path
from monitor.store.embedded_postgres import embedded_database
print(embedded_database(Path(sys.argv[1])), flush=True)
sys.stdin.read()
"""
PAGES: Mapping[str, str] = {
    "overview, 1 h": "/?span=1h",
    "overview, 24 h": "/?span=24h",
    "overview, 7 d": "/?span=7d",
    "overview, 28 d": "/?span=28d",
    "overview, 28 d, one app": "/?span=28d&app=bank",
    "interactions, 24 h": "/interactions",
    "interactions, 28 d": "/interactions?span=28d",
    "interactions, negative": "/interactions?verdict=negative&span=28d",
    "interactions, one app": "/interactions?app=travel&span=28d",
    "interactions, app and verdict": "/interactions?app=travel&verdict=self_generated&span=28d",
    "interactions, no such app": "/interactions?app=nobody&span=28d",
    "interactions, environment": "/interactions?environment=staging&span=28d",
    "interactions, model": "/interactions?model=trial-3&span=28d",
    "interactions, topic": "/interactions?topic=other+things&span=28d",
    "interactions, four filters": "/interactions?topic=backup&model=trial-3&app=travel&verdict=refusal&span=28d",
    "interactions, reason": "/interactions?reason=contradicts_documents&span=28d",
    "interactions, diagnosis": "/interactions?diagnosis=retrieval_missed&span=28d",
    "interactions, rare diagnosis": "/interactions?diagnosis=retrieval_redundant&span=28d",
    "interactions, retriever and reason": "/interactions?diagnosis=retriever&reason=missing_fact&span=28d",
    "interactions, diagnosis and metric": "/interactions?diagnosis=generator&metric=sda&high=0.32&span=28d",
    "interactions, over-refusals": "/interactions?refusal=over&span=28d",
    "interactions, metric, common": "/interactions?metric=sda&low=0.5&span=28d",
    "interactions, metric, rare": "/interactions?metric=qa&high=0.1&span=24h",
    "interactions, labelled": "/interactions?labelled=yes&span=28d",
    "interactions, not labelled": "/interactions?labelled=no&span=28d",
    "interactions, common word": "/interactions?words=hdc&span=28d",
    "interactions, rare word": "/interactions?words=ref12345&span=28d",
    "interactions, rare word and verdict": "/interactions?words=ref12345&verdict=negative&span=28d",
    "interactions, rare word and app": "/interactions?words=ref12345&app=bank&span=28d",
    "interactions, older pages": "/interactions?span=28d&older={cursor}",
    "interaction": "/interactions/{app}/{id}",
    "interaction, unknown": "/interactions/support/nobody",
    "alerts": "/alerts",
    "alert": f"/alerts/{FINGERPRINT}",
    "silence, previewed": "/alerts/silence?matchers=app%3Dapp-1&length=4h",
    "review queue": "/review",
    "review queue, 28 d, one app": "/review?span=28d&app=travel",
    "reports": "/reports",
    "profiles": "/profiles",
    "profile, with its charts": f"/profiles/{FIRST}",
    "profiles, compared": f"/profiles/compare?first={FIRST}&second={SECOND}",
    "dead letters": "/dead-letters",
    "dead letters, a problem": "/dead-letters?problem=missing+3",
    "dead letters, no such topic": "/dead-letters?topic=nobody",
    "dead letter": "/dead-letters/500",
    "audit": "/audit",
    "audit, one kind of act": "/audit?kind=look",
}


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@contextmanager
def served(folder: Path, url: str) -> Iterator[int]:
    """The port of a real server on that database."""
    port = free_port()
    own = {"MONITOR_STATE_DIR": str(folder), "MONITOR_DATABASE_URL": url, "MONITOR_WEB__PORT": str(port)}
    command = [str(Path(sys.executable).with_name("monitor")), "serve"]
    log = folder / "serve.log"
    with (
        log.open("w") as output,
        subprocess.Popen(command, env={**os.environ, **own}, cwd=folder, stderr=output) as process,
    ):
        try:
            deadline = time.monotonic() + 300  # on busy cores a start takes minutes
            while not _answers(port) and time.monotonic() < deadline and process.poll() is None:
                time.sleep(0.1)
            yield port
        finally:
            process.terminate()


def _answers(port: int) -> bool:
    try:
        return timed(port, "/readyz")[1] == http.HTTPStatus.OK
    except OSError:
        return False


def timed(port: int, path: str, secret: str = "") -> tuple[float, int, int]:
    """Seconds, status and bytes of one request in the session of `secret`."""
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path, headers={"Cookie": f"monitor_session={secret}"})
        answer = connection.getresponse()
        size = len(answer.read())
    finally:
        connection.close()
    return time.perf_counter() - began, answer.status, size


def measured(rows: int) -> dict[str, dict[str, float]]:
    """By page: p50 and p95 in seconds, status, bytes."""
    with tempfile.TemporaryDirectory(prefix="monitor-web-") as folder, database(Path(folder)) as url:
        engine = connect(url)
        migrate(engine)
        now = datetime.now(UTC)
        began = time.monotonic()
        make(url, rows, now)
        make_other_rows(url, rows, now)
        size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file()) / 1e9
        print(f"\n{rows:,} interactions of {DAYS} days, made in {time.monotonic() - began:.0f} s: {size:.1f} GB")
        known = places(engine, rows)
        secret = Access(engine).begin_session(Session(subject="local", role="admin"), now=now, length=timedelta(days=1))
        engine.dispose()
        with served(Path(folder), url) as port:
            return {name: page(port, name, path.format(**known), secret) for name, path in PAGES.items()}


@contextmanager
def database(folder: Path) -> Iterator[str]:
    """An embedded PostgreSQL in a separate process, stopped before its folder is removed."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.stdin.close()
            server.wait(60)


def places(engine: Engine, rows: int) -> dict[str, str]:
    """Values for the braces in the paths: an interaction that is some 12 days old."""
    with engine.connect() as connection:
        query = text("SELECT occurred_at, app, id FROM interaction WHERE id = :id")
        found = connection.execute(query, {"id": f"q-{rows * 6 // 7}"}).one()
    place = PagePosition(occurred_at=found.occurred_at, app=found.app, id=found.id)
    return {"app": found.app, "id": found.id, "cursor": to_cursor(place)}


def page(port: int, name: str, path: str, secret: str) -> dict[str, float]:
    """The figures of one page."""
    timed(port, path, secret)
    answers = [timed(port, path, secret) for _ in range(TIMES)]
    cuts = quantiles([seconds for seconds, _, _ in answers], n=20, method="inclusive")
    _, status, size = answers[-1]
    if status == http.HTTPStatus.SEE_OTHER or status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
        raise SystemExit(f"{name}: {path} answers {status}")
    print(f"  {name:42}{status:>5}{cuts[9] * 1000:>8.0f}{cuts[18] * 1000:>8.0f} ms{size / 1000:>8.0f} kB", flush=True)
    return {"p50": cuts[9], "p95": cuts[18], "status": status, "bytes": size}


def main() -> None:
    arguments = options(__doc__, f"{FEW:,} rows only", medium="a million rows in the place of ten")
    print(f"server time of each page: status, p50, p95 of {TIMES}")
    few = measured(FEW)
    figures: dict[str, object] = {str(FEW): few}
    if not arguments.short:
        rows = MANY // 10 if arguments.medium else MANY
        many = measured(rows)
        figures[str(rows)] = many
        print(f"\np95 at {rows:,} rows against {FEW:,}; goal {GOAL * 1000:.0f} ms")
        for name, timed_page in many.items():
            p95, missed = timed_page["p95"], "" if timed_page["p95"] <= GOAL else "  missed"
            print(f"  {name:42}{p95 * 1000:>8.0f} ms{p95 / few[name]['p95']:>8.1f} x{missed}")
    finish(figures, seed=None, path=arguments.json)


if __name__ == "__main__":
    main()
