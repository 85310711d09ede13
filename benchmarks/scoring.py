"""What a verdict costs: with token vectors at hand on one core, and the whole of it with the documents cached.

    python benchmarks/scoring.py [--short] [--json PATH]

Interactions with 300 words of context and 150 of answer: those of ../shared/data/dev/longform (MONITOR_DATA_DIR) that are
long enough, cut to that length; without that folder, of the passages of `monitor demo`'s knowledge base.
- On one core (a process of its own, one thread of BLAS): interactions/s of overlap, facts, alignment, reading the answer
  and the verdict, token vectors, similarities and support at hand (goal: at least 500); with documents that were scored
  before, whose words and facts are remembered, and with documents never seen. Then the share of each part; and GFLOP/s of
  the alignment's product, beside those of a product of two large matrices.
- The whole pipeline on all cores, in batches, with the documents' vectors cached and every question and answer new, on
  both builds of the encoder (goals: 60 in float32, 100 in int8), with the share of the time that embedding takes. The
  supporting sentences are new too (*new support*), or were embedded for other answers from the same documents before
  (*known support*), as is soon so in a knowledge base.

Figures are medians of rounds in which all variants take turns. The machine may be shared: CPU time counts where one
thread works, the wall where several do.
"""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import numpy as np
from figures import finish, options
from traffic import SEED, interactions

from monitor.classify.profile import load_profile
from monitor.classify.refusal import Role, read_answer
from monitor.classify.rules import classify
from monitor.complete.extractive import ExtractiveCompleter
from monitor.embed.batch import Encoded, embed_batch, encode_batch
from monitor.embed.cache import CachedEmbedder, CachedTokenEncoder
from monitor.embed.graph_cache import Build
from monitor.embed.minilm import MiniLMEmbedder
from monitor.model import Document, Interaction, Metrics, Support
from monitor.pipeline import Pipeline
from monitor.score import features
from monitor.score.adaptability import adaptability
from monitor.score.alignment import Source
from monitor.score.facts import FactIndex
from monitor.score.features import Judged
from monitor.sentences import sentences
from monitor.settings import load_settings

FULL = {"interactions": 189, "rounds": 9}
SHORT = {"interactions": 30, "rounds": 2}
CONTEXT_WORDS, ANSWER_WORDS = 300, 150
BATCH = 32
LARGE = 1_536  # rows and columns of the large matrices
GOALS = {"known documents": 500.0, "new documents": 500.0, "fp32": 60.0, "int8": 100.0}
PROFILE = "minilm"
DATA = Path(os.environ.get("MONITOR_DATA_DIR", "../shared/data"))
CACHE = load_settings().state_dir / "cache"

Ready = tuple[Interaction, Support, Encoded, Metrics]


def cut(texts: Sequence[str], most: int) -> list[str]:
    """The first `most` words of the texts, in order."""
    found = []
    for text in texts:
        words = text.split()[:most]
        most -= len(words)
        if words:
            found.append(" ".join(words))
    return found


def labelled(path: Path) -> Iterator[tuple[str, str, list[str]]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            yield row["question"], row["answer"], row["retrieved_documents"]


def demo() -> Iterator[tuple[str, str, list[str]]]:
    """Questions of the demo; of five passages drawn for each, one is not retrieved, and the answer has of all."""
    random = Random(SEED)  # noqa: S311  repeatable
    its = interactions(3_000)
    passages = sorted({d.text for it in its for d in it.retrieved_documents})
    for question in sorted({it.question for it in its}):
        drawn = random.sample(passages, 5)
        said = [sentence for passage in drawn for sentence in sentences(passage)]
        yield question, " ".join(random.sample(said, len(said))), drawn[1:]


def long_enough(count: int) -> tuple[str, list[Interaction]]:
    path = DATA / "dev/longform.jsonl.gz"
    name, rows = (str(path), labelled(path)) if path.exists() else ("the demo's knowledge base", demo())
    found: list[Interaction] = []
    for question, answer, documents in rows:
        enough = len(" ".join(documents).split()) >= CONTEXT_WORDS and len(answer.split()) >= ANSWER_WORDS * 0.9
        if enough and len(found) < count:
            texts = cut(documents, CONTEXT_WORDS)
            found.append(
                Interaction(
                    id=str(len(found)),
                    app="bench",
                    occurred_at=datetime.now(UTC),
                    question=question,
                    answer=cut([answer], ANSWER_WORDS)[0],
                    retrieved_documents=tuple(Document(id=str(n), text=text) for n, text in enumerate(texts)),
                )
            )
    return name, found


def score(ready: Ready, profile: Any) -> None:
    """What `Pipeline` does with one interaction once it has its vectors."""
    it, support, encoded, metrics = ready
    reading = read_answer(it.answer, it.question)
    judged = [Judged(s.start, s.end, s.role is Role.CONTENT) for s in reading.sentences]
    classify(it, support, metrics, reading, features.evidence(it, support, metrics, encoded, judged), profile)


def at_hand(its: Sequence[Interaction]) -> list[Ready]:
    embedder = MiniLMEmbedder(cache_dir=CACHE, threads=1)
    profile = load_profile(PROFILE, embedder.model, embedder.token_model)
    supports = ExtractiveCompleter().complete(its)
    metrics = [profile.compared(s) for s in adaptability(embed_batch(its, supports, embedder))]
    return list(zip(its, supports, encode_batch(its, embedder), metrics, strict=True))


def unseen(ready: Sequence[Ready], number: int) -> list[Ready]:
    """The same with other documents, for what is remembered by text: white space at their end."""
    return [
        (
            replace(it, retrieved_documents=tuple(
                replace(d, text=d.text + " " * (number + 1)) for d in it.retrieved_documents
            )),
            *others,
        )
        for it, *others in ready
    ]  # fmt: skip


class Stopwatch:
    """CPU seconds inside wrapped calls."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    def wrap(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            begin = time.process_time()
            try:
                return call(*args, **kwargs)
            finally:
                self.spent[name] = self.spent.get(name, 0.0) + time.process_time() - begin

        return timed


@contextmanager
def watched(watch: Stopwatch) -> Iterator[None]:
    """Measures the parts of `score` while the block lasts."""
    places: list[tuple[Any, str, str]] = [
        (features, "overlap", "overlap"), (features, "missing", "facts"), (features, "contradicts", "contradictions"),
        (FactIndex, "of", "facts"), (Source, "of", "alignment"), (Source, "align", "alignment"),
        (globals_ := __import__(__name__), "read_answer", "reading the answer"), (globals_, "classify", "verdict"),
    ]  # fmt: skip
    before = [vars(owner)[name] for owner, name, _ in places]
    for owner, name, part in places:
        timed = watch.wrap(part, getattr(owner, name))
        setattr(owner, name, staticmethod(timed) if name == "of" else timed)
    try:
        yield
    finally:
        for (owner, name, _), old in zip(places, before, strict=True):
            setattr(owner, name, old)


def cpu_seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def products(ready: Sequence[Ready]) -> list[tuple[np.ndarray, np.ndarray]]:
    """The two sides of each alignment's product, in single precision."""
    return [
        (np.concatenate([d["vector"] for d in e.documents]).astype(np.float32), e.answer["vector"].astype(np.float32))
        for _, _, e, _ in ready
    ]


def one_core(sizes: Mapping[str, int]) -> dict[str, Any]:
    """In a process of its own, whose BLAS has one thread."""
    _, its = long_enough(sizes["interactions"])
    ready = at_hand(its)
    profile = load_profile(PROFILE, "all-MiniLM-L6-v2/fp32", "all-MiniLM-L6-v2/fp32/128")
    pairs = products(ready)
    large = np.random.default_rng(SEED).standard_normal((LARGE, LARGE)).astype(np.float32)
    flop = sum(2 * documents.size * len(answer) for documents, answer in pairs)
    found: dict[str, list[float]] = {}

    def took(name: str, amount: float, work: Callable[[], object]) -> None:
        found.setdefault(name, []).append(amount / cpu_seconds(work))

    def all_of(each: Sequence[Ready]) -> None:
        for one in each:
            score(one, profile)

    shares: list[dict[str, float]] = []
    all_of(ready)
    for number in range(sizes["rounds"]):
        fresh = unseen(ready, number)
        took("known documents", len(ready), lambda: all_of(ready))
        took("new documents", len(ready), lambda fresh=fresh: all_of(fresh))
        took("product", flop / 1e9, lambda: [documents @ answer.T for documents, answer in pairs])
        took("peak", 2 * LARGE**3 / 1e9, lambda: large @ large)
        watch = Stopwatch()
        all_of(ready)  # `fresh` has taken their place
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


def turned(its: Sequence[Interaction], number: int) -> list[Interaction]:
    """Other answers of the same words, and other questions: the sentences of an answer in another order."""
    found = []
    for it in its:
        said = sentences(it.answer)
        shift = number % max(1, len(said))
        found.append(
            replace(
                it, question=f"{it.question} ({number})", answer=" ".join(said[shift:] + said[:shift]) + f" {number}"
            )
        )
    return found


class Whole:
    """The pipeline on one build, with its caches."""

    def __init__(self, build: Build) -> None:
        self.model = MiniLMEmbedder(cache_dir=CACHE, build=build)
        profile = load_profile(PROFILE, "all-MiniLM-L6-v2/fp32", "all-MiniLM-L6-v2/fp32/128")
        self.embedder = CachedEmbedder(self.model, 2**28)
        self.pipeline = Pipeline(
            completer=ExtractiveCompleter(),
            encoder=CachedTokenEncoder(self.model, 2**29, embedder=self.embedder),
            embedder=self.embedder,
            profile=profile,
        )
        self.embedding = 0.0
        for name in ("embed", "embed_and_encode"):
            setattr(self.model, name, self._timed(getattr(self.model, name)))

    def _timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(texts: Sequence[str]) -> Any:
            begin = time.perf_counter()
            try:
                return call(texts)
            finally:
                self.embedding += time.perf_counter() - begin

        return timed

    def rate(self, its: Sequence[Interaction]) -> tuple[float, float]:
        """Interactions/s, and the share of the time that embedding took."""
        self.embedding, begin = 0.0, time.perf_counter()
        for start in range(0, len(its), BATCH):
            self.pipeline.assess(its[start : start + BATCH])
        wall = time.perf_counter() - begin
        return len(its) / wall, self.embedding / wall


def all_cores(sizes: Mapping[str, int]) -> dict[str, Any]:
    _, its = long_enough(sizes["interactions"])
    builds: tuple[Build, ...] = ("fp32", "int8")
    found: dict[str, list[tuple[float, float]]] = {}
    for number in range(max(1, sizes["rounds"] // 3)):
        for build in builds:
            whole = Whole(build)
            whole.pipeline.encoder.encode([d.text for it in its for d in it.retrieved_documents])
            whole.pipeline.assess(its[:1])  # the examples of refusals, which every process embeds once
            for name in ("new support", "known support"):
                changed = turned(its, 2 * number + (name == "known support") + 1)
                found.setdefault(f"{build}, {name}", []).append(whole.rate(changed))
    return {
        name: {"interactions/s": median(r for r, _ in rates), "embedding's share": median(s for _, s in rates)}
        for name, rates in found.items()
    }


def alone(work: Callable[..., Any], *arguments: object) -> Any:
    """Runs `work` in a fresh process with one thread of BLAS."""
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def show(figures: Mapping[str, Any], before: str = "", goal: float | None = None) -> None:
    for name, value in figures.items():
        wanted = GOALS.get(name.split(",", maxsplit=1)[0], goal)
        if isinstance(value, Mapping):
            show(value, f"{before}{name}: ", wanted)
            continue
        said = (
            f"{value:,.3f}"
            if isinstance(value, float) and value < 1
            else f"{value:,.1f}"
            if isinstance(value, float)
            else value
        )
        rated = wanted is not None and "share" not in name
        print(
            f"{before + name:64}{said!s:>12}"
            + f"   goal ≥ {wanted:.0f}: {'met' if value >= wanted else 'NOT MET'}" * rated
        )


def main() -> None:
    arguments = options(__doc__, "fewer interactions and rounds, to see that it runs")
    sizes = SHORT if arguments.short else FULL
    figures: dict[str, Any] = {"texts of": long_enough(1)[0], "scoring": alone(one_core, sizes)}
    figures["the whole"] = alone(all_cores, sizes)
    show(finish(figures, seed=SEED, path=arguments.json))


if __name__ == "__main__":
    main()
