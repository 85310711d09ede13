"""Fits the numbers of the shipped profile `minilm`, except its five thresholds, to the development files.

    python tools/fit_blend.py

The blend (its features and their proportions) is in monitor/assess/score/features.py and here. It was chosen by the
mean AUC over the files, each counting the same, and has no fitted weight. This script fits:
- threshold: the highest mean F1 over the files when one answer in eight is made up, which is nearer to a chatbot in
  production than the half of these files. Each file counts the same. `short_answers` is left out, since the length of
  its answers reveals the class.
- weight: by likelihood, at the same rate, so that the probability is one half at the threshold.
- question_held, question_not_held: on people's questions with documents that answer them and with documents that do not
  (Natural Questions), both counting the same: the value from which four in five are answerable, and the value below
  which nine in ten are not. SQuAD 2.0, whose unanswerable questions were written to look answerable, is printed too.
- refusal_precision, refusal_missed: on the wording files.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.labelled import DATA, assess, cached_pipeline, read, with_documents
from monitor.assess.classify.refusal import refusal_kind
from monitor.assess.ports import TokenEncoder
from monitor.assess.score.alignment import Source
from monitor.assess.score.features import passages_of
from monitor.core.model import Assessment, RefusalKind, Verdict
from monitor.review.evaluate.statistics import auc

FITTED = ("dev/attribution", "dev/longform", "dev/dialogue", "dev/expert")
NEW_CONTENT = 0.05  # share of words that are neither in the question nor in the documents, beside grounding
TYPICAL_GROUNDING, TYPICAL_NEW = -0.25, 0.85  # of an answer, from which contributions are counted
RATE = 1 / 8
HELD_SURE, NOT_HELD_SURE = 0.8, 0.9
WORDING = ("wording/manual_dev", "wording/assistants_dev")

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def blended(assessments: Sequence[Assessment]) -> Floats:
    """The blend: the higher, the more likely made up."""
    found = []
    for a in assessments:
        new = a.evidence.features["new_content_overlap"]
        found.append((a.evidence.features["grounding"] or 0.0) + NEW_CONTENT * (TYPICAL_NEW if new is None else new))
    return -np.array(found)


def weights(made_up: Bools) -> Floats:
    """Weights of the rows that sum to 1 and give the made-up ones the share RATE."""
    return np.where(made_up, RATE / made_up.sum(), (1 - RATE) / (~made_up).sum())


def f1(score: Floats, made_up: Bools, threshold: float) -> float:
    w, flagged = weights(made_up), score >= threshold
    right = w[flagged & made_up].sum()
    return float(2 * right / (w[flagged].sum() + w[made_up].sum()))


def log_likelihood(score: Floats, made_up: Bools, threshold: float, slope: float) -> float:
    odds = slope * (score - threshold)
    return float(weights(made_up) @ -np.logaddexp(0, np.where(made_up, -odds, odds)))


def question_support(encoder: TokenEncoder, asked: Sequence[tuple[str, Sequence[str]]]) -> Floats:
    """Support of each question by its documents."""
    found = []
    for question, documents in asked:
        tokens, *sources = encoder.encode([question, *documents])
        (one,) = Source.of(sources, [passages_of(d) for d in documents]).align(tokens, [(0, len(question))])
        found.append(0.0 if one is None else one.support)
    return np.array(found)


def sure_from(support: Floats, other: Floats, share: float) -> float:
    """The lowest support from which `share` are of the first kind, both kinds counting the same."""
    for value in np.sort(np.concatenate([support, other])):
        ours, theirs = (support >= value).mean(), (other >= value).mean()
        if ours / (ours + theirs) >= share:
            return float(value)
    return 0.0


def lines(name: str) -> list[dict[str, str]]:
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def main() -> None:
    with cached_pipeline() as pipeline:
        sets = {}
        for name in FITTED:
            rows = [row for row in with_documents(read(name)) if row.label is not Verdict.REFUSAL]
            sets[name] = (
                blended(assess(pipeline, rows)),
                np.array([row.label is Verdict.SELF_GENERATED for row in rows]),
            )
        squad = lines("questions/squad2")
        squad_support = question_support(pipeline.encoder, [(row["question"], [row["context"]]) for row in squad])
        natural = [row.interaction for row in read("dev/natural_questions")]
        answerable = question_support(
            pipeline.encoder, [(it.question, [d.text for d in it.retrieved_documents]) for it in natural]
        )
        unanswerable = question_support(
            pipeline.encoder,
            [(row["question"], [row["context"]]) for row in lines("questions/natural_questions_unanswerable")],
        )
    grid = np.arange(0.0, 0.8, 0.0025)
    threshold = float(max(grid, key=lambda t: np.mean([f1(s, y, t) for s, y in sets.values()])))
    slope = float(
        max(
            np.arange(2.0, 40.0, 0.5),
            key=lambda k: np.mean([log_likelihood(s, y, threshold, k) for s, y in sets.values()]),
        )
    )
    print(f"{'file':18} {'AUC':>6} {'F1 at the threshold':>20} {'best F1':>8}   (one in {1 / RATE:.0f} made up)")
    for name, (s, y) in sets.items():
        best = max(f1(s, y, t) for t in grid)
        print(f"{name:18} {auc(s, y):6.4f} {f1(s, y, threshold):20.3f} {best:8.3f}")
    both = np.concatenate([answerable, unanswerable])
    own = np.repeat([True, False], [len(answerable), len(unanswerable)])
    held = sure_from(answerable, unanswerable, HELD_SURE)
    not_held = -sure_from(-unanswerable, -answerable, NOT_HELD_SURE)
    print(
        f"question's support, answerable against not: AUC {auc(both, own):.3f} (Natural Questions), "
        f"{auc(squad_support, np.array([bool(row['answerable']) for row in squad])):.3f} (SQuAD 2.0)"
    )
    print(
        f"told to be held {(answerable >= held).mean():.2f} of the answerable, not to be held "
        f"{(unanswerable < not_held).mean():.2f} of the others"
    )
    worded = [
        (refusal_kind(row["answer"]) is RefusalKind.FULL, row["label"] == "refusal")
        for name in WORDING
        for row in lines(name)
    ]
    said = np.array(worded)
    print()
    print(f"refusal_precision = {said[said[:, 0], 1].mean():.3f}")
    print(f"refusal_missed = {said[~said[:, 0], 1].mean():.4f}")
    print(f"question_held = {held:.3f}")
    print(f"question_not_held = {not_held:.3f}")
    print(f"bias = {-slope * (threshold + TYPICAL_GROUNDING + NEW_CONTENT * TYPICAL_NEW):.4f}")
    print(f"grounding = {{ weight = {-slope * 0.1:.4f}, center = {TYPICAL_GROUNDING}, scale = 0.1 }}")
    print(f"new_content_overlap = {{ weight = {-slope * NEW_CONTENT:.4f}, center = {TYPICAL_NEW}, scale = 1.0 }}")
    print(f"threshold {threshold:.4f}, slope {slope}")


if __name__ == "__main__":
    main()
