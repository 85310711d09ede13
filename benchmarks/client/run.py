"""Measures what reporting an answer costs the chatbot: the time of one call of `monitor.client`, p50 and p99.

    python benchmarks/client/run.py [--json PATH] [--short]

Each answer has eight documents of 1,000 characters with metadata, as a retriever of LangChain returns them, and 500
characters of its own. The calls come one after the other with a pause, as fast as a busy chatbot's (500 a second), and
the thread that sends runs beside them in the same process. The receiver is up; or nobody listens; or it takes two
seconds for each batch; or the queue is full, so that each event is dropped. `observed` is an empty function with
`observe_rag`, receiver up; `file` and `off` are a reporter to a file, and one without a URL. *Work* is the processor
time of the chatbot's thread alone, without what other programs on the machine take from it. `base` is the same loop
without a report, for the clock's own cost. The bound is 50 µs at p50 with the receiver up, down, slow and full.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from benchmarks.figures import finish, options
from monitor.client import Reporter, observe_rag

RATE = 500  # calls a second
PATIENCE = 2.0  # seconds of the slow receiver for a batch
NOBODY = "http://127.0.0.1:9"  # the discard port: the connection is refused at once


Work: TypeAlias = Callable[[], object]


@dataclass
class FoundDocument:
    """As a retriever of LangChain gives it."""

    page_content: str
    metadata: dict[str, str] = field(default_factory=lambda: {"source": "kb/returns.md", "section": "returns"})


DOCUMENTS = [FoundDocument("A lamp may be returned. " * 42) for _ in range(8)]
ANSWER = "You may return it within 30 days. " * 15


def main() -> None:
    """Measures and prints."""
    given = options(__doc__, short="fewer calls: shows that it works")
    calls = 500 if given.short else 10_000
    rows = measured(calls)
    print(f"{'':10}  p50 µs   p99 µs   max µs  work: p50   p99     sent  dropped")
    for name, row in rows.items():
        took = f"{row['p50']:8.1f} {row['p99']:8.1f} {row['max']:8.1f}"
        print(f"{name:10}{took} {row['work_p50']:9.1f} {row['work_p99']:7.1f} {row['sent']:7} {row['dropped']:8}")
    finish({"calls": calls, "calls_a_second": RATE, "microseconds": rows}, seed=None, path=given.json)


def measured(calls: int) -> dict[str, dict[str, float]]:
    """p50, p99 and maximum in µs, and what became of the events, for each state of the receiver."""
    rows = {"base": timed(Reporter(""), calls, lambda _: int)}
    rows["off"] = timed(Reporter(""), calls)
    with receiver(0) as url:
        rows["up"] = timed(Reporter(url), calls)
        rows["observed"] = timed(Reporter(url), calls, observing)
    rows["down"] = timed(Reporter(NOBODY), calls)
    with receiver(PATIENCE) as url:
        rows["slow"] = timed(Reporter(url), calls)
    rows["full"] = timed(Reporter(NOBODY, max_events=10), calls)
    with TemporaryDirectory() as folder:
        rows["file"] = timed(Reporter((Path(folder) / "events.jsonl").as_uri()), calls)
    return rows


def recording(reporter: Reporter) -> Work:
    """A call of `record`."""
    return lambda: reporter.record(
        question="How long can I return it?", retrieved_documents=DOCUMENTS, answer=ANSWER, model="m"
    )


def observing(reporter: Reporter) -> Work:
    """A call of a function with the decorator."""

    @observe_rag(reporter=reporter)
    def ask(question: str) -> tuple[str, list[FoundDocument]]:
        return question and ANSWER, DOCUMENTS

    return lambda: ask("How long can I return it?")


def timed(reporter: Reporter, calls: int, work: Callable[[Reporter], Work] | None = None) -> dict[str, float]:
    """Times calls on the chatbot's thread; of `record` unless `work` says otherwise."""
    call = (work or recording)(reporter)
    took, worked = [], []
    for _ in range(calls):
        started, began = time.perf_counter(), time.thread_time()
        call()
        ended, until = time.perf_counter(), time.thread_time()
        took.append((ended - started) * 1e6)
        worked.append((until - began) * 1e6)
        time.sleep(1 / RATE)
    reporter.close(0.2)
    took.sort()
    worked.sort()
    return {
        "p50": took[calls // 2],
        "p99": took[calls * 99 // 100],
        "max": took[-1],
        "work_p50": worked[calls // 2],
        "work_p99": worked[calls * 99 // 100],
        "sent": reporter.sent,
        "dropped": reporter.dropped,
    }


@contextmanager
def receiver(seconds: float) -> Iterator[str]:
    """A receiver in a process of its own that takes `seconds` for each batch; gives its URL."""
    ours, theirs = Pipe()
    process = Process(target=_receive, args=(seconds, theirs), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}"
    finally:
        process.terminate()
        process.join()


def _receive(seconds: float, port: Connection) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            time.sleep(seconds)
            self.send_response(202)
            self.end_headers()
            self.wfile.write(b'{"accepted": 1, "rejected": []}')

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port.send(server.server_port)
    server.serve_forever()


if __name__ == "__main__":
    main()
