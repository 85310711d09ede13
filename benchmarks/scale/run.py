"""Measures how the store grows: several writers, a million stored answers, what people ask of them, and upkeep.

    python benchmarks/scale/run.py [--short] [--ten] [--json PATH]

Answers are those of the bot of `monitor demo` (1.8 kB an event, three documents each), assessed with stubbed vectors
and then stored by the real writer with their rollups and their places in the audit trail. Per answer that is what one
of production takes. They are spread over 56 days. One run prints:

- answers/s that 1, 2 and 4 writer processes store in one PostgreSQL, and the CPU of both sides for one answer;
- leaves/s of sealing them, and bytes on disk for each answer, by table and index;
- then a million answers (ten with `--ten`, which takes 100 GB), multiplied by COPY into the tables with their indexes:
  rows/s by table, the size of a row of `verdict_minute`, seconds of VACUUM and of dropping a month;
- the time of pages and commands, and answers/s of one writer again, at that size.

Goals: review queue p95 at most 150 ms; a writer no slower on the full tables than on empty ones. PostgreSQL is the
embedded one with its default settings, `fsync` off, in a temporary folder on the same cores.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.figures import finish, options
from benchmarks.scale.ingest import ingested
from benchmarks.scale.queries import asked
from benchmarks.scale.rows import fill, minutes, sizes, vacuumed
from benchmarks.traffic import SEED, interactions
from monitor.__main__ import ALLOCATIONS_BETWEEN_COLLECTIONS
from monitor.app.wiring.application import Application
from monitor.core.settings.load import Settings
from monitor.core.settings.sections import EmbeddingSettings
from monitor.privacy.retention import Keeping, Policy
from monitor.store.privacy.retention import Retention

FULL = {"rows": 1_000_000, "templates": 500, "written": 10_000, "times": 30}
SHORT = {"rows": 5_000, "templates": 40, "written": 600, "times": 2}
WRITERS = (1, 2, 4)
_ANSWERS = "SELECT count(*) FROM interaction"


def measure(sizes_: Mapping[str, int], folder: Path) -> dict[str, Any]:
    settings = Settings(state_dir=folder, embedding=EmbeddingSettings(provider="hash"))
    with Application(settings) as application:
        application.migrate()
        url, key = application.database_url, application.auditing.queue_key()
        with psycopg.connect(url, autocommit=True) as server:
            server.execute("ALTER SYSTEM SET fsync = off")
            server.execute("SELECT pg_reload_conf()")
        postmaster = int((folder / "postgres" / "postmaster.pid").read_text().split("\n", 1)[0])
        templates = application.assessing.pipeline.assess(interactions(sizes_["templates"]))

        def writers(number: int, name: str) -> dict[str, float]:
            each = sizes_["written"] // number
            return ingested(url, key, templates, name=name, processes=number, number=each, postmaster=postmaster)

        results: dict[str, Any] = {"writers": {str(n): writers(n, f"w{n}") for n in WRITERS}}
        begin = time.perf_counter()
        leaves = application.auditing.sealer().seal_and_sign(application.now())
        results["sealing, leaves/s"] = leaves / (time.perf_counter() - begin)
        stored = _answers(url)
        vacuumed(url)
        results["bytes an answer"] = {name: size / stored for name, size in sizes(url).items()}
        copies = max(sizes_["rows"] // stored - 1, 1)
        seconds = fill(url, copies)
        results["COPY, answers/s"] = {table: stored * copies / took for table, took in seconds.items()}
        results["VACUUM (ANALYZE), s"] = vacuumed(url)
        results["answers"] = _answers(url)
        results["verdict_minute"] = minutes(url)
        results["ms"] = asked(application, folder, sizes_["times"])
        results["writers, tables full"] = {"1": writers(1, "full")}
        results["dropping a month, s"] = _dropped(application)
        return results


def _answers(url: str) -> int:
    with psycopg.connect(url) as connection:
        (number,) = connection.execute(_ANSWERS).fetchone() or (0,)
        return int(number)


def _dropped(application: Application) -> dict[str, float]:
    """Seconds by month before this one, as retention drops it with its keys and secrets."""
    retention, now = Retention(application.engine), application.now()
    this_month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    policy = Policy(others=Keeping(keep=now - this_month))
    seconds: dict[str, float] = {}
    cut_offs = policy.cut_offs(retention.apps(), now)
    for month in retention.parts(cut_offs):
        if month is not None:
            begin = time.perf_counter()
            gone = retention.drop(month, cut_offs, by="benchmark", now=now)
            if gone:
                number = sum(rows.stored for rows in gone)
                seconds[f"{month:%Y-%m}, {number:,} answers"] = time.perf_counter() - begin
    return seconds


def show(figures: Mapping[str, Any], indent: str = "") -> None:
    for name, value in figures.items():
        if isinstance(value, Mapping):
            print(f"{indent}{name}")
            show(value, f"{indent}  ")
        else:
            label = f"{indent}{name}"
            print(f"{label:70}{value:>14,.1f}" if isinstance(value, float) else f"{label:70}{value!s:>14}")


def main() -> None:
    arguments = options(__doc__, "a few thousand answers, to see that it runs", ten="ten million answers, 100 GB")
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS, 10, 10)  # as the command does
    scale = SHORT if arguments.short else FULL
    if arguments.ten:
        scale = {**scale, "rows": 10 * scale["rows"]}
    with tempfile.TemporaryDirectory(prefix="monitor-scale-") as folder:
        Path(folder).chmod(0o711)  # so that root's database lies in it too
        results = measure(scale, Path(folder))
    show(finish(results, seed=SEED, path=arguments.json))


if __name__ == "__main__":
    main()
