"""Measures the diagnosis of retrieved chunks: what it finds, whom it blames, and what it costs.

    python benchmarks/chunks/run.py [--json PATH] [--short]

1. *Missed*: how well the best chunk's relevance tells questions that the documents do not answer (`missed.py`), against
   QRD alone: AUC in each set, over all sets as they are, and over all sets as seven apps, where each chunk's threshold
   knows what is usual in its app. Of each set, the half for reporting; what is usual comes from the half for choosing.
2. *Culprit*: the share of self-generated answers whose diagnosis names the culprit that a reader named
   (`culprit_cases.json`), retriever or generator; beside it, what always blaming the generator gets. The verdict is the
   people's, and the monitor's own where it is self-generated too.
3. *Cost*: processor time of the chunks as a share of all other scoring with vectors at hand, and of all with encoding.

Needs MONITOR_DATA_DIR (default ../shared/data). Vectors are kept on disk: the first run takes minutes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.chunks.missed import Asked, sets
from benchmarks.figures import finish, options
from benchmarks.labelled import BATCH, assess, cached_pipeline, read
from monitor.assess.chunks.diagnose import diagnose
from monitor.assess.chunks.examine import LIMITS
from monitor.assess.pipeline import Pipeline
from monitor.assess.threshold import Spread, dynamic_threshold
from monitor.core.model import Assessment, Document, Interaction, Verdict
from monitor.review.evaluate.statistics import auc

SEED = 19
CASES = Path(__file__).parent / "culprit_cases.json"
COSTING = "dev/longform"
Floats = NDArray[np.float64]


def missed(pipeline: Pipeline, most: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    pooled: dict[str, list[float]] = {"qrd": [], "relevance": [], "over_threshold": []}
    unanswerable: list[bool] = []
    for name, rows in sets(pipeline.embedder, SEED, most).items():
        made = [(row, a) for row, a in zip(rows, _asked(pipeline, rows), strict=True) if a.diagnosis and a.metrics.qrd]
        usual = _usual([a for row, a in made if row.part == 0])
        reported = [(row, a) for row, a in made if row.part == 1]
        truth = np.array([not row.answerable for row, _ in reported])
        scores = {
            "qrd": [a.metrics.qrd or 0.0 for _, a in reported],
            "relevance": [_best(a) for _, a in reported],
            "over_threshold": [
                _best(a) - dynamic_threshold(_relevances(a), usual, LIMITS, above=0) for _, a in reported
            ],
        }
        found[name] = {"questions": len(reported), **{key: _auc(value, truth) for key, value in scores.items()}}
        for key, values in scores.items():
            pooled[key] += values
        unanswerable += truth.tolist()
    together = {key: _auc(values, np.array(unanswerable)) for key, values in pooled.items()}
    return {"sets": found, "together": {"questions": len(unanswerable), **together}}


def culprits(pipeline: Pipeline) -> dict[str, Any]:
    cases = json.loads(CASES.read_text(encoding="utf-8"))
    found: dict[str, Any] = {}
    for part in ("choosing", "exam"):
        right, own, always = [], [], []
        for name in sorted({case["file"] for case in cases[part]}):
            rows = {row.interaction.id: row for row in read(name)}
            chosen = [case for case in cases[part] if case["file"] == name]
            for case, a in zip(chosen, assess(pipeline, [rows[case["id"]] for case in chosen]), strict=True):
                blames = _blames(a, Verdict.SELF_GENERATED)
                right.append((name, blames == case["culprit"]))
                always.append((name, case["culprit"] == "generator"))
                if a.verdict is Verdict.SELF_GENERATED:
                    own.append(blames == case["culprit"])
        long = [ok for name, ok in right if name != "dev/short_answers"]
        found[part] = {
            "cases": len(right),
            "right": _mean([ok for _, ok in right]),
            "always_generator": _mean([ok for _, ok in always]),
            "right_without_short_answers": _mean(long),
            "always_generator_without_short_answers": _mean([ok for name, ok in always if name != "dev/short_answers"]),
            "own_verdict_cases": len(own),
            "own_verdict_right": _mean(own),
        }
    return found


def cost(pipeline: Pipeline, rows: int) -> dict[str, float]:
    """Processor seconds, with every vector at hand; encoding is measured apart, on texts that are not at hand."""
    answers = [row.interaction for row in read(COSTING)][:rows]
    batches = [answers[at : at + BATCH] for at in range(0, len(answers), BATCH)]
    for batch in batches:
        pipeline.assess(batch)  # vectors and caches by text
    chunks = 0.0
    inner = Pipeline._diagnosed  # noqa: SLF001  the step that is measured

    def timed(self: Pipeline, *given: Any) -> Assessment:
        nonlocal chunks
        start = time.process_time()
        result = inner(self, *given)
        chunks += time.process_time() - start
        return result

    Pipeline._diagnosed = timed  # type: ignore[assignment,method-assign]  # noqa: SLF001
    try:
        start = time.process_time()
        for batch in batches:
            pipeline.assess(batch)
        whole = time.process_time() - start
    finally:
        Pipeline._diagnosed = inner  # type: ignore[method-assign]  # noqa: SLF001
    few = answers[:32]
    start = time.process_time()
    pipeline.encoder._inner.embed_and_encode(  # type: ignore[attr-defined]  # noqa: SLF001  past the cache
        list({text: 0 for it in few for text in (it.question, it.answer, *(d.text for d in it.retrieved_documents))})
    )
    encoding = (time.process_time() - start) / len(few) * len(answers)
    return {
        "answers": len(answers),
        "chunks_ms": 1e3 * chunks / len(answers),
        "other_scoring_ms": 1e3 * (whole - chunks) / len(answers),
        "encoding_ms": 1e3 * encoding / len(answers),
        "of_other_scoring": chunks / (whole - chunks),
        "of_all_else": chunks / (whole - chunks + encoding),
    }


def _asked(pipeline: Pipeline, rows: Sequence[Asked]) -> list[Assessment]:
    now = datetime.now(UTC)
    answers = [
        Interaction(
            id=str(at),
            app="asked",
            occurred_at=now,
            question=row.question,
            answer="",
            retrieved_documents=tuple(Document(id=str(n), text=text) for n, text in enumerate(row.documents)),
        )
        for at, row in enumerate(rows)
    ]
    return [a for at in range(0, len(answers), BATCH) for a in pipeline.assess(answers[at : at + BATCH])]


def _blames(a: Assessment, verdict: Verdict) -> str:
    assert a.diagnosis is not None
    named = diagnose(verdict, a.diagnosis.chunks, a.diagnosis.threshold)
    return "generator" if named.of_generator else "retriever"


def _best(a: Assessment) -> float:
    return max(_relevances(a), default=0.0)


def _relevances(a: Assessment) -> list[float]:
    return [] if a.diagnosis is None else [chunk.relevance for chunk in a.diagnosis.chunks]


def _usual(answers: Sequence[Assessment]) -> Spread:
    values = np.array([relevance for a in answers for relevance in _relevances(a)])
    return Spread(mean=float(values.mean()), sd=float(values.std()))


def _auc(scores: Sequence[float], truth: NDArray[np.bool_]) -> float:
    found = auc(-np.array(scores), truth)
    return float("nan") if found is None else found


def _mean(values: Sequence[bool]) -> float:
    return float(np.mean(values)) if values else float("nan")


def show(figures: dict[str, Any]) -> None:
    told = figures["missed"]
    print(f"{'unanswerable (AUC)':24}{'questions':>10}{'QRD':>8}{'relevance':>11}{'- threshold':>13}")
    for name, row in [*told["sets"].items(), ("all, as seven apps", told["together"])]:
        print(f"{name:24}{row['questions']:10}{row['qrd']:8.3f}{row['relevance']:11.3f}{row['over_threshold']:13.3f}")
    print(f"{'culprit named':24}{'cases':>10}{'right':>8}{'always generator':>19}")
    for part, row in figures["culprits"].items():
        print(f"{part:24}{row['cases']:10}{row['right']:8.3f}{row['always_generator']:19.3f}")
        long = row["right_without_short_answers"], row["always_generator_without_short_answers"]
        print(f"{'  without short answers':34}{long[0]:8.3f}{long[1]:19.3f}")
        print(f"{'  self-generated to us too':24}{row['own_verdict_cases']:10}{row['own_verdict_right']:8.3f}")
    c = figures["cost"]
    print(f"an answer: chunks {c['chunks_ms']:.2f} ms, other scoring {c['other_scoring_ms']:.2f} ms, ", end="")
    print(f"encoding {c['encoding_ms']:.1f} ms without a cache")
    print(f"chunks are {c['of_other_scoring']:.1%} of other scoring, {c['of_all_else']:.1%} of all else with encoding")


def main() -> None:
    args = options(__doc__, "60 questions of each kind, and 60 answers")
    with cached_pipeline() as pipeline:
        figures: dict[str, Any] = {
            "missed": missed(pipeline, 60 if args.short else 400),
            "culprits": culprits(pipeline),
            "cost": cost(pipeline, 60 if args.short else 400),
        }
    show(figures)
    finish(figures, seed=SEED, path=args.json)


if __name__ == "__main__":
    main()
