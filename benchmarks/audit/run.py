"""Measures how fast the audit trail is sealed and verified, and how much it slows the events.

    python benchmarks/audit/run.py [--trail] [--short] [--json PATH]

One run prints:
- leaves/s of sealing, and of verifying the whole trail in one process and in one per core, with the seconds (goal: a
  million leaves verify in under a minute on two cores), and the CPU seconds of the command and PostgreSQL together;
  with --trail that is all;
- the cost of the queue and of a sealer process that seals every second, in pairs of runs of the whole flow, one with
  and one without them: events/s as a share of events/s without (goal: more than .97), and CPU seconds of all processes,
  PostgreSQL's too, until everything is sealed, as a multiple (goal: at most 1.03). With the real model and an empty
  cache, and with stubbed vectors, where only the database and our code take time.

The rows are those of the bot of `monitor demo`, assessed, and multiplied in SQL under other ids; a million leaves are
half a million interactions with an assessment each. Verifying is the command, including its start. Figures of the event
path are medians of alternating runs, and their ratios medians of the pairs' ratios. Beside other work on the same cores
only the ratio of CPU tells anything. The database is an embedded PostgreSQL in a temporary folder.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from threading import Event
from unittest.mock import patch

from sqlalchemy import text

from benchmarks.consume.rig import cpu_seconds
from benchmarks.figures import finish, options
from benchmarks.traffic import SEED, emptied, interactions, write_events
from monitor.__main__ import ALLOCATIONS_BETWEEN_COLLECTIONS
from monitor.app.background.sealer_process import sealer_process
from monitor.app.flow import Flow
from monitor.app.wiring.application import Application
from monitor.assess.embed.cache import CachedEmbedder, CachedTokenEncoder
from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.embed.minilm import MiniLMEmbedder
from monitor.assess.pipeline import Pipeline
from monitor.core.batch import Batch
from monitor.core.retry import Retry
from monitor.core.settings.audit import AuditSettings
from monitor.core.settings.load import Settings
from monitor.core.settings.sections import EmbeddingSettings
from monitor.ingest.files import FileSource
from monitor.store.audit_queue import Act, Entry, EntrySource, Kind, driver, queue_key, record_act
from monitor.store.interaction import new_interactions
from monitor.store.interaction import writer as writer_module

FULL = {"leaves": 1_000_000, "events": 20_000, "embedded": 1_200, "runs": 5}
SHORT = {"leaves": 20_000, "events": 3_000, "embedded": 150, "runs": 1}
BATCH = 512
TEMPLATES = 500  # interactions that are multiplied
_WAITING = (
    "SELECT kind, app, subject, part, records FROM audit_queue WHERE records IS NOT NULL AND kind = 'interaction'"
)
_KEYS = {
    "interaction_key": """
        INSERT INTO interaction_key SELECT app, id || '-' || n, month FROM interaction_key, generate_series(1, :n) n
    """,
    "audit_secret": """
        INSERT INTO audit_secret SELECT app, id || '-' || n, secret FROM audit_secret, generate_series(1, :n) n
    """,
}
_COPY = """
    INSERT INTO {table} SELECT (jsonb_populate_record(r, jsonb_build_object('id', r.id || '-' || n))).*
    FROM {table} r, generate_series(1, :n) n
"""


def multiplied(application: Application, copies: int) -> None:
    """Multiplies each stored interaction, its assessment and their places in the queue."""
    with application.engine.begin() as connection:
        waiting = connection.execute(text(_WAITING)).all()
        entries = (
            Entry(
                row.kind,
                row.app,
                f"{row.subject}-{n}",
                row.part,
                row.records.replace(f'"{row.subject}"', f'"{row.subject}-{n}"'),
            )
            for n in range(1, copies + 1)
            for row in waiting
        )
        EntrySource(queue_key(connection)).queue(driver(connection), entries, application.now())
        for table in ("interaction_key", "audit_secret"):
            connection.execute(text(_KEYS[table]), {"n": copies})
        for table in ("interaction", "assessment"):
            connection.execute(text(_COPY.format(table=table)), {"n": copies})
    with application.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))


def trail(application: Application, leaves: int) -> dict[str, object]:
    """Seals the given number of leaves in one go, and verifies them."""
    templates = interactions(TEMPLATES)[:TEMPLATES]
    assessments = application.assessing.pipeline.assess(templates)
    for first in range(0, TEMPLATES, BATCH):
        application.store.write(
            Batch(assessments=tuple(assessments[first : first + BATCH]), dead_letters=(), received=BATCH)
        )
    multiplied(application, leaves // (2 * TEMPLATES) - 1)
    application.auditing.witness_file.unlink(missing_ok=True)  # it has checkpoints of emptied trails
    begin = time.perf_counter()
    sealed = application.auditing.sealer().seal_and_sign(application.now())
    sealing = time.perf_counter() - begin
    with application.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))
    results: dict[str, object] = {
        "leaves": sealed,
        "sealing: seconds": sealing,
        "sealing: leaves per second": sealed / sealing,
    }
    for processes in sorted({1, os.cpu_count() or 1}):
        before = _cpu(application)
        seconds, found = verified(application, processes)
        results[f"verifying in {processes}: CPU seconds"] = _cpu(application) - before
        if found["size"] != sealed:
            raise RuntimeError(f"{found['size']} of {sealed} leaves were verified")
        results[f"verifying in {processes}: seconds"] = seconds
        results[f"verifying in {processes}: leaves per second"] = sealed / seconds
        results[f"verifying in {processes}: seconds for a million"] = seconds / sealed * 1_000_000
    return results


def verified(application: Application, processes: int) -> tuple[float, dict[str, object]]:
    """Seconds of the command, and its output."""
    command = [sys.executable, "-m", "monitor", "audit", "verify", "--json", "--processes", str(processes)]
    environment = {**os.environ, "MONITOR_STATE_DIR": str(application.settings.state_dir)}
    begin = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return time.perf_counter() - begin, json.loads(done.stdout)


def flow(application: Application, pipeline: Pipeline, path: Path) -> float:
    """Events/s of one replay of `path` into the emptied tables."""
    stop = Event()
    begin = time.perf_counter()
    tally = Flow(
        source=FileSource([path], now=application.now),
        decode=application.decoder().decode_batch,
        assess=pipeline.assess,
        store=application.store,
        retry=Retry(stop=stop),
        stop=stop,
        written=lambda _batch, _tally: None,
        batch_messages=BATCH,
        batch_bytes=16 * 2**20,
        poll_seconds=0.25,
    ).run()
    return tally.assessed / (time.perf_counter() - begin)


@contextmanager
def without_queue() -> Iterator[None]:
    with (
        patch.object(EntrySource, "queue", lambda *_: 0),
        patch.object(writer_module, "queued_record", lambda *_: ""),
        patch.object(new_interactions, "queued_record", lambda *_: ""),
    ):
        yield


def cost(application: Application, path: Path, runs: int, *, real: bool) -> dict[str, float]:
    """Events/s and CPU seconds an event without and with the trail, and the medians of their ratios in a pair."""
    pairs = []
    for _ in range(runs):
        pair = []
        for sealed in (False, True):
            emptied(application)
            application.auditing.witness_file.unlink(missing_ok=True)  # it has checkpoints of the emptied trail
            with sealer_process(application) if sealed else without_queue(), nullcontext():
                if sealed:
                    _until_it_seals(application)
                pipeline = fresh(application) if real else stubbed(application)
                before = _cpu(application)
                rate = flow(application, pipeline, path)
                _until_sealed(application)
                pair.append((rate, _cpu(application) - before))
        pairs.append(pair)
    without, with_ = (statistics.median(pair[place][0] for pair in pairs) for place in (0, 1))
    return {
        "events/s without": without,
        "events/s with": with_,
        "ratio of events/s": statistics.median(pair[1][0] / pair[0][0] for pair in pairs),
        "ratio of CPU": statistics.median(pair[1][1] / pair[0][1] for pair in pairs),
        "ratio of CPU, lowest pair": min(pair[1][1] / pair[0][1] for pair in pairs),
        "ratio of CPU, highest pair": max(pair[1][1] / pair[0][1] for pair in pairs),
    }


def _until_it_seals(application: Application) -> None:
    """Waits until the sealer has started, so that no second of its start counts."""
    act = Act(kind=Kind.LOOK, by="benchmark", at=application.now(), subject="nothing")
    record_act(application.engine, act)
    _until_sealed(application)


def _until_sealed(application: Application) -> None:
    while _queued(application):
        time.sleep(0.2)


def _cpu(application: Application) -> float:
    """CPU seconds so far of this process, of those that it started, and of PostgreSQL."""
    postmaster = application.settings.state_dir / "postgres" / "postmaster.pid"
    return cpu_seconds(os.getpid()) + cpu_seconds(int(postmaster.read_text().split("\n", 1)[0]))


def _queued(application: Application) -> bool:
    with application.engine.connect() as connection:
        return bool(connection.scalar(text("SELECT EXISTS (SELECT FROM audit_queue)")))


def fresh(application: Application) -> Pipeline:
    """The application's pipeline before it has encoded anything."""
    sizes = application.settings.embedding
    model = MiniLMEmbedder(cache_dir=application.cache_dir)
    embedder = CachedEmbedder(model, sizes.cache_bytes)
    encoder = CachedTokenEncoder(model, sizes.token_cache_bytes, embedder=embedder)
    return replace(application.assessing.pipeline, encoder=encoder, embedder=embedder)


def stubbed(application: Application) -> Pipeline:
    return replace(application.assessing.pipeline, embedder=CachedEmbedder(HashEmbedder(), 2**27))


def measure(sizes: dict[str, int], folder: Path, *, trail_only: bool) -> dict[str, object]:
    results: dict[str, object] = {}
    settings = Settings(state_dir=folder / "state", audit=AuditSettings(every=1.0))
    given = [] if trail_only else interactions(sizes["events"])
    flows = () if trail_only else ((True, "real model", sizes["embedded"]), (False, "stubbed", sizes["events"]))
    for real, name, number in flows:
        provider = "minilm" if real else "hash"
        with Application(
            settings.model_copy(update={"embedding": EmbeddingSettings(provider=provider)})
        ) as application:
            application.migrate()
            file = folder / f"{provider}.jsonl"
            write_events(given[:number], file)
            measured = cost(application, file, sizes["runs"], real=real)
            results |= {f"{name}: {what}": value for what, value in measured.items()}
    with Application(settings.model_copy(update={"embedding": EmbeddingSettings(provider="hash")})) as application:
        application.migrate()
        emptied(application)
        results |= trail(application, sizes["leaves"])
    return results


def main() -> None:
    arguments = options(__doc__, "smaller and once, to see that it runs", trail="seal and verify only")
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS, 10, 10)  # as the command does
    with tempfile.TemporaryDirectory() as folder:
        results = measure(SHORT if arguments.short else FULL, Path(folder), trail_only=arguments.trail)
    for name, value in finish(results, seed=SEED, path=arguments.json).items():
        print(f"{name:45} {value:14,.2f}" if isinstance(value, float) else f"{name:45} {value!s:>14}")


if __name__ == "__main__":
    main()
