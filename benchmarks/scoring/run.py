"""Measures the cost of a verdict: with token vectors given on one core, and as a whole with the documents cached.

    python benchmarks/scoring/run.py [--short] [--json PATH]

Interactions have 300 words of context and 150 of answer: those of ../shared/data/dev/longform (MONITOR_DATA_DIR) that
are long enough, cut to that length; without that folder, passages of the knowledge base of `monitor demo`.
- On one core (a separate process, one thread of BLAS): interactions/s of overlap, facts, alignment, reading the answer
  and the verdict, given token vectors, similarities and support (goal: at least 500); with documents scored before,
  whose words and facts are cached, and with documents never seen. Then the share of each part, and GFLOP/s of the
  alignment's product compared with a product of two large matrices.
- The whole pipeline on all cores, in one batch, with the documents' vectors cached and every question and answer new,
  on both builds of the encoder (goals: 60 in float32, 100 in int8), with the share of the time that embedding takes.
  The supporting sentences are new too (*new support*), or were embedded before for other answers from the same
  documents (*known support*), as soon happens in a knowledge base.

Figures are medians of rounds in which all variants alternate. One core is measured by CPU time. The whole is measured
by wall time, and by CPU time as if the machine were idle: the CPU time of embedding, which uses all cores, divided by
their number, plus that of the rest, which uses one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np

from benchmarks.figures import finish, in_fresh_process, options
from benchmarks.scoring.parts import Ready, Stopwatch, cpu_seconds, score, watched
from benchmarks.scoring.texts import long_enough, turned, unseen
from benchmarks.traffic import SEED
from monitor.assess.classify.profile import read_profile
from monitor.assess.complete.extractive import ExtractiveCompleter
from monitor.assess.embed.batch import embed_batch, encode_batch
from monitor.assess.embed.cache import CachedEmbedder, CachedTokenEncoder
from monitor.assess.embed.minilm import MiniLMEmbedder
from monitor.assess.embed.weights import Build
from monitor.assess.pipeline import Pipeline
from monitor.assess.score.adaptability import adaptability
from monitor.core.model import Interaction
from monitor.core.settings.load import load_settings

FULL = {"interactions": 189, "rounds": 9}
SHORT = {"interactions": 30, "rounds": 2}
LARGE = 1_536  # rows and columns of the large matrices
GOALS = {"known documents": 500.0, "new documents": 500.0, "fp32": 60.0, "int8": 100.0}
PROFILE = read_profile("minilm-int8")  # the numbers are those of both builds
CACHE = load_settings().state_dir / "cache"


def at_hand(answers: Sequence[Interaction]) -> list[Ready]:
    embedder = MiniLMEmbedder(cache_dir=CACHE, threads=1)
    supports = ExtractiveCompleter().complete(answers)
    metrics = [PROFILE.compared(s) for s in adaptability(embed_batch(answers, supports, embedder))]
    return list(zip(answers, supports, encode_batch(answers, embedder), metrics, strict=True))


def products(ready: Sequence[Ready]) -> list[tuple[np.ndarray, np.ndarray]]:
    """The two sides of each alignment's product, in single precision."""
    return [
        (np.concatenate([d["vector"] for d in e.documents]).astype(np.float32), e.answer["vector"].astype(np.float32))
        for _, _, e, _ in ready
    ]


def one_core(sizes: Mapping[str, int]) -> dict[str, Any]:
    """Runs in a process whose BLAS has one thread."""
    _, answers = long_enough(sizes["interactions"])
    ready = at_hand(answers)
    pairs = products(ready)
    large = np.random.default_rng(SEED).standard_normal((LARGE, LARGE)).astype(np.float32)
    flop = sum(2 * documents.size * len(answer) for documents, answer in pairs)
    found: dict[str, list[float]] = {}

    def took(name: str, amount: float, work: Callable[[], object]) -> None:
        found.setdefault(name, []).append(amount / cpu_seconds(work))

    def all_of(each: Sequence[Ready]) -> None:
        for one in each:
            score(one, PROFILE)

    shares: list[dict[str, float]] = []
    all_of(ready)
    for number in range(sizes["rounds"]):
        fresh = [(it, *others) for it, (_, *others) in zip(unseen(answers, number), ready, strict=True)]
        took("known documents", len(ready), lambda: all_of(ready))
        took("new documents", len(ready), lambda fresh=fresh: all_of(fresh))
        took("product", flop / 1e9, lambda: [documents @ answer.T for documents, answer in pairs])
        took("peak", 2 * LARGE**3 / 1e9, lambda: large @ large)
        watch = Stopwatch()
        all_of(ready)  # `fresh` has evicted them
        with watched(watch):
            whole = cpu_seconds(lambda: all_of(ready))
        rest = whole - sum(watch.spent.values())
        shares.append({name: spent / whole for name, spent in {**watch.spent, "rest": rest}.items()})
    product, peak = median(found["product"]), median(found["peak"])
    return {
        "interactions": len(ready),
        "tokens of context, mean": float(np.mean([len(documents) for documents, _ in pairs])),
        "tokens of answer, mean": float(np.mean([len(answer) for _, answer in pairs])),
        "interactions/s on one core": {name: median(found[name]) for name in ("known documents", "new documents")},
        "share of the time": {name: median(s[name] for s in shares) for name in shares[0]},
        "alignment's product": {
            "MFLOP": flop / len(pairs) / 1e6,
            "GFLOP/s": product,
            "GFLOP/s of large matrices": peak,
            "of the peak": product / peak,
            "share of the time": (flop / len(pairs) / 1e9 / product) * median(found["known documents"]),
        },
    }


class WholePipeline:
    """The pipeline on one build, with its caches."""

    def __init__(self, build: Build) -> None:
        self.model = MiniLMEmbedder(build, cache_dir=CACHE)
        self.embedder = CachedEmbedder(self.model, 2**28)
        self.pipeline = Pipeline(
            completer=ExtractiveCompleter(),
            encoder=CachedTokenEncoder(self.model, 2**29, embedder=self.embedder),
            embedder=self.embedder,
            profile=PROFILE,
        )
        self.embedding = self.embedding_cpu = 0.0
        self.asked: list[str] = []
        for name in ("embed", "embed_and_encode"):
            setattr(self.model, name, self._timed(getattr(self.model, name)))

    def _timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(texts: Sequence[str]) -> Any:
            self.asked += texts
            begin, cpu = time.perf_counter(), time.process_time()
            try:
                return call(texts)
            finally:
                self.embedding += time.perf_counter() - begin
                self.embedding_cpu += time.process_time() - cpu

        return timed

    def run(self, answers: Sequence[Interaction]) -> dict[str, float]:
        """One pass over the interactions."""
        self.embedding = self.embedding_cpu = 0.0
        self.asked.clear()
        begin, cpu = time.perf_counter(), time.process_time()
        self.pipeline.assess(answers)
        wall, whole_cpu = time.perf_counter() - begin, time.process_time() - cpu
        pieces = sum(map(len, self.model._windows(self.asked).pieces))  # noqa: SLF001  what had to be encoded
        dedicated_seconds = self.embedding_cpu / (os.cpu_count() or 1) + whole_cpu - self.embedding_cpu
        return {
            "interactions/s": len(answers) / wall,
            "tokens encoded for one": pieces / len(answers),
            "interactions/s by CPU time": len(answers) / dedicated_seconds,
            "share of CPU time of embedding": self.embedding_cpu / whole_cpu,
            "tokens/s while embedding": pieces / self.embedding,
        }


def all_cores(sizes: Mapping[str, int]) -> dict[str, Any]:
    _, answers = long_enough(sizes["interactions"])
    builds: tuple[Build, ...] = ("fp32", "int8")
    found: dict[str, list[dict[str, float]]] = {}
    for number in range(max(1, sizes["rounds"] // 3)):
        for build in builds:
            whole = WholePipeline(build)
            whole.pipeline.encoder.encode([d.text for it in answers for d in it.retrieved_documents])
            whole.pipeline.assess(answers[:1])  # embeds the examples of refusals, once per process
            for name in ("new support", "known support"):
                changed = turned(answers, 2 * number + (name == "known support") + 1)
                found.setdefault(f"{build}, {name}", []).append(whole.run(changed))
    return {n: {f: median(run[f] for run in runs) for f in runs[0]} for n, runs in found.items()}


def show(figures: Mapping[str, Any], before: str = "", goal: float | None = None) -> None:
    for name, value in figures.items():
        required = GOALS.get(name.split(",", maxsplit=1)[0], goal)  # of a figure, or of its group
        if isinstance(value, Mapping):
            show(value, f"{before}{name}: ", required)
            continue
        shown = f"{value:,.{3 if value < 1 else 1}f}" if isinstance(value, float) else str(value)
        goal_words = ""
        if required is not None and (name in GOALS or name.startswith("interactions/s")):
            goal_words = f"   goal ≥ {required:.0f}: {'met' if value >= required else 'NOT MET'}"
        print(f"{before + name:64}{shown:>12}{goal_words}")


def main() -> None:
    arguments = options(__doc__, "fewer interactions and rounds, to see that it runs")
    sizes = SHORT if arguments.short else FULL
    figures: dict[str, Any] = {"texts of": long_enough(1)[0], "scoring": in_fresh_process(one_core, sizes)}
    figures["the whole"] = in_fresh_process(all_cores, sizes)
    show(finish(figures, seed=SEED, path=arguments.json))


if __name__ == "__main__":
    main()
