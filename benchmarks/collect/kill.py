"""Kills `monitor collect` again and again while real OTLP exporters send, and counts what became of every span.

    python benchmarks/collect/kill.py [--short] [--json PATH]

Two exporters of OpenTelemetry's Python SDK, one over HTTP and one over gRPC, send turns span by span, and try again as
they do by default. Meanwhile the process that receives, and every fourth time assembles and stores too, is killed
(SIGKILL) at random moments, 100 times in the long form, and started again. At the end every span that was acknowledged
must be kept exactly once, every trace must have given exactly one interaction, and the ledger must balance, recounted.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from threading import Event, Thread

import psycopg
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from benchmarks.databases import temporary_database
from benchmarks.figures import finish, options
from monitor.store.database import connect
from monitor.store.ledger.ledger import Ledger

SEED = 18
FULL, SHORT = 100, 3  # kills
_FEWEST, _MOST = 1, 12  # spans that are acknowledged in a life, before the process is killed within …
_SOON = 0.1  # … so many seconds
_WHOLE = 4  # every so many lives, the process assembles and stores too; in the others it only receives


class Process:
    """`monitor collect` on fixed ports, with its log in a file."""

    def __init__(self, url: str, folder: Path) -> None:
        self.port, self.grpc_port = _free_port(), _free_port()
        self.log = folder / "collect.log"
        self._settings = {
            "DATABASE_URL": url,
            "STATE_DIR": str(folder),
            "EMBEDDING__PROVIDER": "hash",
            "COLLECT__PORT": str(self.port),
            "COLLECT__GRPC_PORT": str(self.grpc_port),
            "COLLECT__CLOSE_AFTER": "0.2",
            "COLLECT__IDLE": "2",
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *, whole: bool) -> None:
        """Starts it, and returns when it takes requests; unless `whole`, it does nothing else."""
        options = [] if whole else ["--receive-only"]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "monitor", "collect", *options],
                env={**os.environ, **{f"MONITOR_{name}": value for name, value in self._settings.items()}},
                stdout=log,
                stderr=log,
            )
        while not _answers(self.port):
            if self._process.poll() is not None:
                raise SystemExit(f"monitor collect ended by itself:\n{self.log.read_text(encoding='utf-8')[-2_000:]}")
            time.sleep(0.05)

    def end(self, number: int) -> None:
        """Sends it a signal that ends it, and waits."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait()
            self._process = None


class Chatbot:
    """Writes turns of three spans, and exports each span until it is acknowledged."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._finished = InMemorySpanExporter()
        provider = TracerProvider(resource=Resource.create({"service.name": "support-bot"}))
        provider.add_span_processor(SimpleSpanProcessor(self._finished))
        self._tracer = provider.get_tracer("chatbot")
        self.turns = self.acknowledged = self.failures = 0

    def run(self, stop: Event) -> None:
        """Takes turns until `stop` is set; the last one is finished."""
        while not stop.is_set():
            for span in self._turn():
                while self._exporter.export([span]) is not SpanExportResult.SUCCESS:
                    self.failures += 1
                self.acknowledged += 1
            self.turns += 1

    def _turn(self) -> list[ReadableSpan]:
        question, passage = f"What is order {self.turns}?", f"Order {self.turns} is a kettle."
        kind = "openinference.span.kind"
        self._finished.clear()
        root = {kind: "CHAIN", "input.value": question, "output.value": passage}
        found = {kind: "RETRIEVER", "input.value": question, "retrieval.documents.0.document.content": passage}
        said = {
            kind: "LLM",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": question,
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": passage,
        }
        with self._tracer.start_as_current_span("turn", attributes=root):
            self._tracer.start_span("search", attributes=found).end()
            self._tracer.start_span("call", attributes=said).end()
        return list(self._finished.get_finished_spans())


def trial(url: str, kills: int, seed: int, *, drain: bool = True) -> dict[str, int]:
    """Kills so many times; returns what was sent, and what the database holds afterwards.

    With `drain`, every trace is closed, and its turn stored, before that.
    """
    random, stop = Random(seed), Event()
    with tempfile.TemporaryDirectory() as folder:
        process = Process(url, Path(folder))
        process.start(whole=False)
        bots = [
            Chatbot(HttpExporter(endpoint=f"http://127.0.0.1:{process.port}/v1/traces", timeout=2)),
            Chatbot(GrpcExporter(endpoint=f"http://127.0.0.1:{process.grpc_port}", insecure=True, timeout=2)),
        ]
        threads = [Thread(target=bot.run, args=(stop,), daemon=True) for bot in bots]
        for thread in threads:
            thread.start()
        try:
            for number in range(1, kills + 1):
                enough = sum(bot.acknowledged for bot in bots) + random.randint(_FEWEST, _MOST)
                while sum(bot.acknowledged for bot in bots) < enough:
                    time.sleep(0.01)
                time.sleep(random.uniform(0, _SOON))
                process.end(signal.SIGKILL)
                process.start(whole=number % _WHOLE == 0)
        finally:
            stop.set()
        for thread in threads:
            thread.join()
        process.end(signal.SIGTERM)
        if drain:
            process.start(whole=True)
            _drained(url)
            process.end(signal.SIGTERM)
    return {
        "kills": kills,
        "turns": sum(bot.turns for bot in bots),
        "spans acknowledged": sum(bot.acknowledged for bot in bots),
        "exports that gave up": sum(bot.failures for bot in bots),
        **_stored(url),
    }


def _drained(url: str) -> None:
    """Waits until no trace is open and no turn waits."""
    query = "SELECT (SELECT count(*) FROM trace WHERE due_at IS NOT NULL) + (SELECT count(*) FROM inbox)"
    with psycopg.connect(url, autocommit=True) as connection:
        while (row := connection.execute(query).fetchone()) and row[0]:
            time.sleep(0.2)


def _stored(url: str) -> dict[str, int]:
    queries = {
        "spans kept": "SELECT count(*) FROM trace_part",
        "traces": "SELECT count(DISTINCT trace_id) FROM trace",
        "interactions": "SELECT count(*) FROM interaction",
        "open by the totals": "SELECT sum(open) FROM trace_count",
    }
    with psycopg.connect(url) as connection:
        counts = {name: int((connection.execute(query).fetchone() or (0,))[0]) for name, query in queries.items()}
    engine = connect(url)
    rows, recounted = Ledger(engine).read(recount=True)
    engine.dispose()
    unbalanced = sum(not row.balanced for row in rows) + sum(not one.balanced for one in recounted)
    return {**counts, "ledgers out of balance": unbalanced}


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _answers(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def main() -> None:
    given = options(__doc__, "three kills")
    with temporary_database() as url:
        figures = trial(url, SHORT if given.short else FULL, SEED)
    for name, value in figures.items():
        print(f"{name:24} {value:>9,}")
    exact = figures["spans kept"] == figures["spans acknowledged"]
    once = figures["interactions"] == figures["turns"]
    balanced = not figures["ledgers out of balance"] and not figures["open by the totals"]
    print(f"nothing acknowledged was lost, nothing doubled: {'true' if exact and once and balanced else 'FALSE'}")
    finish({**figures}, seed=SEED, path=given.json)
    if not (exact and once and balanced):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
