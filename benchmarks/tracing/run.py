"""Measures what traces of monitor's own stages cost the events.

    python benchmarks/tracing/run.py [--short] [--json PATH]

The same events go from messages to rows with traces off and with traces on, in pairs, the one that goes first taking
turns. Embeddings are stubbed, which leaves the least for tracing to hide behind, and each message names the trace of
its producer. A receiver in a process of its own takes the spans. For batches of 512 events and of 16, one run prints
the ratio of CPU time and of wall time, on to off, sending included: the median of the pairs. The wall time includes the
wait for the last spans to be sent. It also prints the CPU time that the stages of one batch take by themselves, which
no noise of the machine hides.
"""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from threading import Event

from pydantic import SecretStr

from benchmarks.databases import temporary_database
from benchmarks.figures import finish, options
from benchmarks.traffic import SEED, emptied, event, interactions
from monitor.app.batch_attributes import arrival, outcome
from monitor.app.flow import Flow
from monitor.app.wiring.application import Application
from monitor.app.wiring.tracing import traced
from monitor.core.batch import Batch, Tally
from monitor.core.message import Message, Offset, Position
from monitor.core.retry import Retry
from monitor.core.settings.load import Settings
from monitor.core.settings.sections import EmbeddingSettings
from monitor.core.settings.tracing import TracingSettings
from monitor.core.stage import StageName, begin, stage

FULL = {"events": 2_000, "pairs": 5}
SHORT = {"events": 600, "pairs": 1}
BATCHES = (512, 16)
STAGES: tuple[StageName, ...] = ("decode", "assess", "complete", "encode", "score", "store")
ALONE = 200  # batches without any work in them


class Prepared:
    """A source of messages that were made before."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._reached = 0

    def poll(self, *, max_messages: int, max_bytes: int, timeout: float) -> Sequence[Message] | None:
        del max_bytes, timeout
        given = self._messages[self._reached : self._reached + max_messages]
        self._reached += len(given)
        return given or None

    def offsets(self) -> Sequence[Offset]:
        return ()

    def hold(self) -> None:
        """Nothing needs to be kept alive."""

    def stored(self, offsets: Sequence[Offset]) -> None:
        """Nothing is kept of it."""

    def fenced(self, _offsets: Sequence[Offset], error: Exception) -> None:
        raise error

    def progress(self) -> Sequence[object]:
        return ()


def messages(count: int, application: Application) -> list[Message]:
    made = []
    for place, it in enumerate(interactions(count)):
        value = event(it).encode()
        parent = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01".encode()
        at = Position(topic="answers", partition=0, offset=place)
        message = Message(value=value, position=at, received_at=application.now(), size=len(value))
        made.append(replace(message, headers=(("traceparent", parent),)))
    return made


def receive(told: Connection) -> None:
    """Takes whatever is posted, until the other end of the pipe is closed."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response_only(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.send(server.server_port)
    server.serve_forever()


@contextmanager
def receiver() -> Iterator[str]:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=receive, args=(theirs,), daemon=True)
    process.start()
    yield f"http://127.0.0.1:{ours.recv()}"
    process.terminate()
    process.join()


def seconds(
    application: Application, given: Sequence[Message], batch: int, endpoint: str | None
) -> tuple[float, float]:
    """CPU and wall seconds of one run through the emptied tables, the last spans included."""
    emptied(application)
    stop = Event()
    flow = Flow(
        source=Prepared(given),  # type: ignore[arg-type]
        decode=application.decoder().decode_batch,
        assess=application.assessing.pipeline.assess,
        store=application.store,
        retry=Retry(stop=stop),
        stop=stop,
        written=lambda _batch, _tally: None,
        batch_messages=batch,
        batch_bytes=16 * 2**20,
        poll_seconds=0.25,
    )
    cpu, wall = time.process_time(), time.perf_counter()
    with nullcontext() if endpoint is None else traced(TracingSettings(endpoint=endpoint)):
        assert flow.run().assessed == len(given)
    return time.process_time() - cpu, time.perf_counter() - wall


def ratios(run: Callable[[str | None], tuple[float, float]], endpoint: str, pairs: int) -> dict[str, float]:
    """CPU and wall time with traces, as multiples of those without: the medians of the pairs."""
    for each in (None, endpoint):  # fills the caches and imports the packages
        run(each)
    found = []
    for pair in range(pairs):
        order = (None, endpoint) if pair % 2 == 0 else (endpoint, None)
        measured = {each: run(each) for each in order}
        found.append([on / off for on, off in zip(measured[endpoint], measured[None], strict=True)])
    return {"cpu": median(cpu for cpu, _ in found), "wall": median(wall for _, wall in found)}


def milliseconds_alone(application: Application, given: Sequence[Message], endpoint: str) -> dict[str, float]:
    """CPU milliseconds that the stages of one batch take by themselves, with traces off and on, sending included."""
    decoded = application.decoder().decode_batch(given[: BATCHES[0]])
    assessments = tuple(application.assessing.pipeline.assess(decoded.interactions))
    batch = Batch(assessments=assessments, dead_letters=(), received=len(assessments))

    def one_batch() -> None:
        process = begin("process", **arrival(given[: BATCHES[0]], ()))
        with process.resumed():
            for name in STAGES:
                with stage(name, interactions=len(assessments)):
                    pass
        process.add(**outcome(batch, Tally(received=batch.received, assessed=batch.received)))
        process.end()

    def run(at: str | None) -> float:
        cpu = time.process_time()
        with nullcontext() if at is None else traced(TracingSettings(endpoint=at)):
            for _ in range(ALONE):
                one_batch()
        return 1e3 * (time.process_time() - cpu) / ALONE

    found = [(run(None), run(endpoint)) for _ in range(5)]
    return {"off": median(off for off, _ in found), "on": median(on for _, on in found)}


def main() -> None:
    chosen = options(__doc__, "fewer events, and one pair only")
    sizes = SHORT if chosen.short else FULL
    figures: dict[str, object] = {**sizes}
    with ExitStack() as opened:
        url = opened.enter_context(temporary_database())
        endpoint = opened.enter_context(receiver())
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        settings = Settings(database_url=SecretStr(url), state_dir=folder, embedding=EmbeddingSettings(provider="hash"))
        application = opened.enter_context(Application(settings))
        application.prepare()
        given = messages(sizes["events"], application)
        for batch in BATCHES:
            found = ratios(lambda at, batch=batch: seconds(application, given, batch, at), endpoint, sizes["pairs"])
            figures[f"batches of {batch}"] = found
            print(f"batches of {batch:>3}: {found['cpu']:.3f} × the CPU time, {found['wall']:.3f} × the wall time")
        alone = figures["stages alone"] = milliseconds_alone(application, given, endpoint)
        print(f"stages of a batch of {BATCHES[0]}: {alone['off']:.2f} ms of CPU without traces, {alone['on']:.2f} with")
    finish(figures, seed=SEED, path=chosen.json)


if __name__ == "__main__":
    main()
