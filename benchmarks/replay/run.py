"""Measures how fast a replay is, where its time goes, and how the parts compare with what they are built on.

    python benchmarks/replay/run.py [--short] [--json PATH]

One run prints:
- events/s through the whole flow with the embedder's cache cold and warm, and the share of CPU time of each part (goal:
  at least 0.9 for the encoder, as onnxruntime runs it);
- our embedding throughput, sentence vectors only, against raw onnxruntime on the same texts (goal: at least 0.9);
- events/s with stubbed embeddings against a plain COPY of the same prepared rows in one transaction, into tables with
  the same indexes (goal: at least 0.35), and into bare ones;
- the peak memory of replay processes over a short file and one ten times as long (goal: under 700 MB for both).

The events are those of the bot of `monitor demo` with documents of its knowledge base: the script reads nothing from
outside. Each figure is the median of its runs. The database is an embedded PostgreSQL in a temporary folder.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock
from typing import ParamSpec, TypeVar

import numpy as np
import onnxruntime as ort

from benchmarks.figures import finish, in_fresh_process, options
from benchmarks.traffic import SEED, copy_seconds, emptied, interactions, write_events
from monitor.__main__ import ALLOCATIONS_BETWEEN_COLLECTIONS
from monitor.app.flow import Flow
from monitor.app.wiring.application import Application
from monitor.assess.embed.cache import CachedEmbedder, CachedTokenEncoder
from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.embed.minilm import MiniLMEmbedder
from monitor.assess.pipeline import Pipeline
from monitor.core.batch import Tally
from monitor.core.model import Interaction
from monitor.core.retry import Retry
from monitor.core.settings.load import Settings
from monitor.core.settings.sections import EmbeddingSettings
from monitor.ingest.files import FileSource

FULL = {"events": 20_000, "embedded": 1_200, "texts": 400, "runs": 3}
SHORT = {"events": 3_000, "embedded": 200, "texts": 100, "runs": 1}
BATCH = 512
P = ParamSpec("P")
R = TypeVar("R")


class Stopwatch:
    """Adds up the time spent inside wrapped calls, by `clock`."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._lock = Lock()
        self.spent: dict[str, float] = {}

    def wrap(self, name: str, call: Callable[P, R]) -> Callable[P, R]:
        def timed(*args: P.args, **kwargs: P.kwargs) -> R:
            begin = self._clock()
            try:
                return call(*args, **kwargs)
            finally:
                took = self._clock() - begin
                with self._lock:
                    self.spent[name] = self.spent.get(name, 0.0) + took

        return timed


def flow(
    application: Application, pipeline: Pipeline, path: Path, watch: Stopwatch | None = None
) -> tuple[float, Tally]:
    """Seconds and ledger of one replay of `path` into the emptied tables."""
    emptied(application)
    watch = watch or Stopwatch()
    decoder, store, stop = application.decoder(), application.store, Event()

    class TimedStore:
        write = staticmethod(watch.wrap("write", store.write))

    begin = time.perf_counter()
    tally = Flow(
        source=FileSource([path], now=application.now),
        decode=watch.wrap("decode", decoder.decode_batch),
        assess=watch.wrap("assess", pipeline.assess),
        store=TimedStore(),
        retry=Retry(stop=stop),
        stop=stop,
        written=lambda _batch, _tally: None,
        batch_messages=BATCH,
        batch_bytes=16 * 2**20,
        poll_seconds=0.25,
    ).run()
    return time.perf_counter() - begin, tally


def with_empty_caches(application: Application, watch: Stopwatch) -> Pipeline:
    """The application's pipeline before it has encoded anything; `watch` adds up the time inside onnxruntime."""
    sizes = application.settings.embedding
    model = MiniLMEmbedder(cache_dir=application.cache_dir)
    session = model._session  # noqa: SLF001  its calls, on whatever thread, are the encoder

    class TimedSession:
        run = staticmethod(watch.wrap("encoder", session.run))

    model._session = TimedSession()  # type: ignore[assignment]  # noqa: SLF001
    embedder = CachedEmbedder(model, sizes.cache_bytes)
    encoder = CachedTokenEncoder(model, sizes.token_cache_bytes, embedder=embedder)
    return replace(application.assessing.pipeline, encoder=encoder, embedder=embedder)


def embedding_ratio(
    application: Application, answers: Sequence[Interaction], sizes: dict[str, int]
) -> dict[str, float]:
    """Our texts/s over raw onnxruntime's, which gets tokenised, sorted and padded batches of the same texts."""
    texts = sorted({t for it in answers for t in (it.question, it.answer, *(d.text for d in it.retrieved_documents))})
    texts = [texts[i] for i in np.random.default_rng(SEED).permutation(len(texts))[: sizes["texts"]]]
    embedder = MiniLMEmbedder(cache_dir=application.cache_dir)
    session: ort.InferenceSession = embedder._session  # noqa: SLF001  the very session, so that only our part differs
    fed: list[tuple[list[str], dict[str, np.ndarray]]] = []

    class RecordingSession:
        def run(self, outputs: list[str], feed: dict[str, np.ndarray]) -> object:
            fed.append((outputs, feed))
            return session.run(outputs, feed)

    embedder._session = RecordingSession()  # type: ignore[assignment]  # noqa: SLF001
    embedder.embed(texts)
    embedder._session = session  # noqa: SLF001
    ours, raw = [], []
    for _ in range(max(3, sizes["runs"])):
        begin = time.perf_counter()
        embedder.embed(texts)
        ours.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        list(embedder._threads.map(lambda run: session.run(*run), fed))  # noqa: SLF001  on as many threads
        raw.append(time.perf_counter() - begin)
    tokens = sum(int(feed["attention_mask"].sum()) for _, feed in fed)
    return {
        "texts": len(texts),
        "tokens_per_second": tokens / statistics.median(ours),
        "raw_tokens_per_second": tokens / statistics.median(raw),
        "ratio": statistics.median(r / o for o, r in zip(ours, raw, strict=True)),
    }


# Runs in a small process of its own: the kernel counts the memory of the parent into the peak of its child.
LAUNCHER = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stderr=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)
"""


def peak_memory(path: Path, state: Path) -> float:
    """Peak resident megabytes of a `monitor replay` process with the real model."""
    command = [sys.executable, "-c", LAUNCHER, sys.executable, "-m", "monitor", "replay", str(path)]
    environment = {**os.environ, "MONITOR_STATE_DIR": str(state)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    status, kilobytes = map(int, done.stdout.split())
    if status != 0:
        raise RuntimeError(f"replay of {path.name} ended with {status}")
    return kilobytes / 1024


def measure(sizes: dict[str, int], folder: Path) -> dict[str, object]:
    answers = interactions(sizes["events"])
    stub_file, real_file = folder / "stub.jsonl", folder / "real.jsonl"
    write_events(answers, stub_file)
    write_events(answers[: sizes["embedded"]], real_file)
    results: dict[str, object] = {}
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS, 10, 10)  # as the command does
    settings = Settings(state_dir=folder / "state", embedding=EmbeddingSettings(provider="minilm"))
    with Application(settings) as application:
        application.migrate()
        application.decoder()  # imports what a process imports once
        cold, warm, shares = [], [], []
        for _ in range(sizes["runs"]):
            watch = Stopwatch(time.thread_time)
            fresh = with_empty_caches(application, watch)
            cpu = time.process_time()
            seconds, tally = flow(application, fresh, real_file, watch)
            cpu = time.process_time() - cpu
            cold.append(tally.assessed / seconds)
            spent = dict(watch.spent)
            spent["complete, tokenise, score, classify, wait"] = cpu - sum(spent.values()) + spent.pop("assess")
            shares.append({name: value / cpu for name, value in spent.items()})
            seconds, tally = flow(application, fresh, real_file)
            warm.append(tally.assessed / seconds)
        results["events_per_second_cold"] = statistics.median(cold)
        results["events_per_second_warm"] = statistics.median(warm)
        results["share_of_cpu_cold"] = {n: statistics.median(s[n] for s in shares) for n in shares[0]}
        results["embedding"] = embedding_ratio(application, answers, sizes)

    stub_settings = settings.model_copy(update={"embedding": EmbeddingSettings(provider="hash")})
    with Application(stub_settings) as application:
        application.migrate()
        stub = replace(
            application.assessing.pipeline, embedder=CachedEmbedder(HashEmbedder(), settings.embedding.cache_bytes)
        )
        assessments = stub.assess(answers)
        rates, copies, bare, shares = [], [], [], []
        for _ in range(sizes["runs"]):
            watch = Stopwatch()
            seconds, tally = flow(application, stub, stub_file, watch)
            rates.append(tally.assessed / seconds)
            shares.append({name: value / seconds for name, value in watch.spent.items()})
            copies.append(len(assessments) / copy_seconds(application, assessments, indexes=True))
            bare.append(len(assessments) / copy_seconds(application, assessments, indexes=False))
        results["events_per_second_stubbed"] = statistics.median(rates)
        results["copy_events_per_second"] = statistics.median(copies)
        results["copy_without_indexes_events_per_second"] = statistics.median(bare)
        results["stubbed_to_copy"] = statistics.median(r / c for r, c in zip(rates, copies, strict=True))
        results["stubbed_to_copy_without_indexes"] = statistics.median(r / c for r, c in zip(rates, bare, strict=True))
        results["share_of_wall_stubbed"] = {n: statistics.median(s[n] for s in shares) for n in shares[0]}

    ten = folder / "ten.jsonl"
    write_events(
        [
            replace(it, id=f"{it.id}-{n}", question=f"{it.question} ({n})")
            for n in range(10)
            for it in answers[: sizes["embedded"] // 2]
        ],
        ten,
    )
    one = folder / "one.jsonl"
    write_events(answers[: sizes["embedded"] // 2], one)
    results["peak_mb_short_file"] = peak_memory(one, folder / "state")
    results["peak_mb_ten_times_as_long"] = peak_memory(ten, folder / "state")
    return results


def show(results: dict[str, object], prefix: str = "") -> None:
    for name, value in results.items():
        if isinstance(value, dict):
            show(value, f"{prefix}{name}: ")
        else:
            print(
                f"{prefix + name:60} {value:12,.2f}" if isinstance(value, float) else f"{prefix + name:60} {value:>12}"
            )


def main() -> None:
    arguments = options(__doc__, "smaller and once, to see that it runs")
    with tempfile.TemporaryDirectory() as folder:
        results = in_fresh_process(measure, SHORT if arguments.short else FULL, Path(folder))
    show(finish(results, seed=SEED, path=arguments.json))


if __name__ == "__main__":
    main()
