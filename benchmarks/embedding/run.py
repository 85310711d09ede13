"""Measures the int8 build of MiniLM against float32: speed, and changes of vectors, ranking and verdicts.

    python benchmarks/embedding/run.py [--short] [--json PATH]

- tokens/s of both builds, special tokens included, on texts of the knowledge base of `monitor demo`, singly and joined
  to long ones: on one thread by wall and by CPU time, and on one thread per core; and on the GPU, if the installed
  onnxruntime offers CUDA. The builds alternate round by round; figures are medians, the gain is the median over rounds.
- the cosine of each text's and each token's vector in one build to that in the other.
- on each labelled file of dev, with both builds under the weights and thresholds of the profile `minilm`: the share of
  verdicts that change (goal: under 1 %), and the AUC for self-generated against grounded. Nothing is tuned here. Needs
  MONITOR_DATA_DIR (default ../shared/data).

The machine may be shared: rely on CPU time and ratios.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import onnxruntime as ort

from benchmarks.figures import finish, options
from benchmarks.labelled import DATA, DEV, CachingEncoder, assess, cached_pipeline, read, under
from benchmarks.traffic import SEED, interactions
from monitor.assess.embed.graph_cache import cached_graph
from monitor.assess.embed.minilm import MiniLMEmbedder
from monitor.assess.embed.weights import Build, published_weights
from monitor.assess.pipeline import Pipeline
from monitor.core.model import Assessment, Verdict
from monitor.core.settings.load import load_settings
from monitor.review.evaluate.labels import Labelled
from monitor.review.evaluate.statistics import auc

FULL = {"events": 3_000, "rounds": 9, "rows": None}
SHORT = {"events": 300, "rounds": 2, "rows": 60}
BUILDS: tuple[Build, ...] = ("fp32", "int8")
JOINED = 4  # documents in a long text
CHANGED_GOAL = 0.01
TOKENS_A_RUN_CUDA = 32_768
CACHE = load_settings().state_dir / "cache"


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Tokens/s of one pass over the texts."""

    wall: float
    cpu: float


def texts(events: int) -> list[str]:
    answers = interactions(events)
    documents = sorted({d.text for it in answers for d in it.retrieved_documents})
    long = ["\n".join(documents[i : i + JOINED]) for i in range(0, len(documents), JOINED)]
    return [*sorted({it.question for it in answers}), *sorted({it.answer for it in answers}), *documents, *long]


def tokens_of(embedder: MiniLMEmbedder, given: Sequence[str]) -> int:
    return sum(int(feed["attention_mask"].sum()) for _, feed in embedder._runs(embedder._windows(given)))  # noqa: SLF001


def timed(embedder: MiniLMEmbedder, given: Sequence[str], tokens: int) -> Speed:
    wall, cpu = time.perf_counter(), time.process_time()
    embedder.embed_and_encode(given)
    return Speed(wall=tokens / (time.perf_counter() - wall), cpu=tokens / (time.process_time() - cpu))


def speeds(given: Sequence[str], rounds: int) -> dict[str, Any]:
    cores = os.cpu_count() or 1
    embedders = {(b, n): MiniLMEmbedder(b, cache_dir=CACHE, threads=n) for b in BUILDS for n in {1, cores}}
    tokens = tokens_of(embedders["fp32", 1], given)
    for embedder in embedders.values():
        timed(embedder, given, tokens)
    found: dict[tuple[Build, int], list[Speed]] = {key: [] for key in embedders}
    for _ in range(rounds):
        for key, embedder in embedders.items():
            found[key].append(timed(embedder, given, tokens))
    figures: dict[str, Any] = {"texts": len(given), "tokens": tokens}
    for threads in sorted({1, cores}):
        ours = {b: found[b, threads] for b in BUILDS}
        figures[f"{threads} thread" + "s" * (threads > 1)] = {
            **{f"{b}: tokens/s": median(s.wall for s in ours[b]) for b in BUILDS},
            **{f"{b}: tokens per CPU second": median(s.cpu for s in ours[b]) for b in BUILDS},
            "gain": median(i.wall / f.wall for f, i in zip(ours["fp32"], ours["int8"], strict=True)),
            "gain by CPU time": median(i.cpu / f.cpu for f, i in zip(ours["fp32"], ours["int8"], strict=True)),
        }
    return figures


def cuda(given: Sequence[str], rounds: int) -> dict[str, float] | str:
    """Tokens/s of the float32 graph on the GPU, or why there is no figure."""
    if "CUDAExecutionProvider" not in ort.get_available_providers():
        return f"none: onnxruntime {ort.__version__} here offers {', '.join(ort.get_available_providers())}"
    embedder = MiniLMEmbedder("fp32", cache_dir=CACHE, threads=1)
    session = ort.InferenceSession(cached_graph(CACHE, published_weights()), providers=["CUDAExecutionProvider"])
    if session.get_providers()[0] != "CUDAExecutionProvider":
        return "none: onnxruntime offers CUDA, but no device answers"
    embedder._session, embedder._budget = session, TOKENS_A_RUN_CUDA  # noqa: SLF001  the same program on another device
    tokens = tokens_of(embedder, given)
    timed(embedder, given, tokens)
    return {"fp32: tokens/s": median(timed(embedder, given, tokens).wall for _ in range(rounds))}


def cosines(given: Sequence[str]) -> dict[str, dict[str, float]]:
    """Cosines between the builds, of texts and of all their tokens."""
    (vectors, tokens, _), (others, other_tokens, _) = (
        MiniLMEmbedder(build, cache_dir=CACHE).embed_and_encode(given) for build in BUILDS
    )
    rows, other_rows = (
        np.concatenate([t["vector"] for t in each]).astype(np.float32) for each in (tokens, other_tokens)
    )
    pairs = {"sentence vectors": (vectors * others).sum(axis=1), "token vectors": (rows * other_rows).sum(axis=1)}
    return {
        name: {"mean": float(c.mean()), "lowest in a hundred": float(np.quantile(c, 0.01)), "lowest": float(c.min())}
        for name, c in pairs.items()
    }


def compared(rows: Sequence[Labelled], ours: Sequence[Assessment], others: Sequence[Assessment]) -> dict[str, Any]:
    """The verdicts and AUCs of one file in both builds."""
    kept = np.array([row.label is not Verdict.REFUSAL for row in rows])
    made_up = np.array([row.label is Verdict.SELF_GENERATED for row in rows])[kept]
    pairs = list(zip(ours, others, strict=True))
    scores = [np.array([a.probabilities.self_generated for a in each])[kept] for each in (ours, others)]
    return {
        "rows": len(rows),
        "changed": sum(a.verdict is not b.verdict for a, b in pairs) / len(rows),
        "rule changed": sum(a.rule_verdict is not b.rule_verdict for a, b in pairs) / len(rows),
        **{f"auc {build}": auc(score, made_up) for build, score in zip(BUILDS, scores, strict=True)},
    }


def int8_pipeline(pipeline: Pipeline) -> Pipeline:
    """The pipeline on the int8 build, under a profile with the same numbers."""
    encoder = CachingEncoder(MiniLMEmbedder(cache_dir=CACHE), {})
    names = {"embedding_model": encoder.model, "token_model": encoder.token_model}
    return under(
        Pipeline(completer=pipeline.completer, encoder=encoder, embedder=encoder, profile=pipeline.profile),
        pipeline.profile.model_copy(update=names),
    )


def verdicts(most: int | None) -> dict[str, Any]:
    found = {}
    with cached_pipeline("minilm") as fp32:
        int8 = int8_pipeline(fp32)
        for name in DEV:
            rows = read(name)[:most]
            found[name] = compared(rows, assess(fp32, rows), assess(int8, rows))
    total = sum(f["rows"] for f in found.values())
    found["all"] = {
        "rows": total,
        **{name: sum(f[name] * f["rows"] for f in found.values()) / total for name in ("changed", "rule changed")},
    }
    return found


def show(figures: Mapping[str, Any], before: str = "") -> None:
    for name, value in figures.items():
        if isinstance(value, Mapping):
            show(value, f"{before}{name}: ")
        else:
            figure = "–" if value is None else f"{value:,.4f}" if isinstance(value, float) and value < 100 else value
            figure = f"{figure:,.0f}" if isinstance(figure, float) else figure
            goal = (
                f"   goal < {CHANGED_GOAL}: {'met' if value < CHANGED_GOAL else 'NOT MET'}" if name == "changed" else ""
            )
            print(f"{before + name:56}{figure:>12}{goal}")


def main() -> None:
    arguments = options(__doc__, "fewer texts, rounds and rows, to see that it runs")
    sizes = SHORT if arguments.short else FULL
    given = texts(sizes["events"])
    figures: dict[str, Any] = {
        "speed": speeds(given, sizes["rounds"]),
        "CUDA": cuda(given, sizes["rounds"]),
        "cosine": cosines(given),
    }
    if DATA.is_dir():
        figures["verdicts"] = verdicts(sizes["rows"])
    else:
        print(f"no labelled data at {DATA}: set MONITOR_DATA_DIR")
    show(finish(figures, seed=SEED, path=arguments.json))


if __name__ == "__main__":
    main()
