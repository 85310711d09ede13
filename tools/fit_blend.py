"""Fits the numbers of the shipped profile `minilm`, except its five thresholds, to the development files.

    python tools/fit_blend.py

The blend (its features and their proportions) is in monitor/assess/score/features.py and here; it has no fitted
weight. Its proportions were chosen by the worst family, not by the mean: each development file is one, and so are its
answers and its documents of a length (benchmarks/verdicts/order.py). Long answers over long documents, of which these
files have few, rank better without a worst sentence. So the mean support has the largest share at which no family loses
more than .01 of AUC, and the F1 of none more than chance explains. This script fits:
- threshold: the lowest at which no file flags more than MOST_FLAGGED of its grounded answers, as the profile before
  did in its worst file. `short_answers` is left out, since the length of its answers reveals the class.
- weight: by likelihood, when one answer in eight is made up, which is nearer to a chatbot in production than the half
  of these files, so that the probability is one half at the threshold. Each file counts the same.
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
# What counts beside grounding, in its unit (a cosine distance), and the value from which its contribution counts.
MEAN = 0.25  # share of grounding that goes to the mean support; at its typical value both move alike
NEW_CONTENT = 0.08
MISSING_FACT = 0.02
CONTRADICTION = 0.12  # its fault in `grounding` once more, since there it counts less now and has to decide alone
MORE_SENTENCES = 0.04  # makes up for the level: a lighter worst sentence would pass more of the long answers
TYPICAL = {"grounding": -0.25, "aligned": -0.06, "new_content_overlap": 0.85}  # the others: 0
PROPORTIONS = {
    "grounding": -(1 - MEAN),
    "aligned": -2 * MEAN,
    "new_content_overlap": -NEW_CONTENT,
    "contradictions": CONTRADICTION,
    "missing_facts": MISSING_FACT,
    "more_sentences": MORE_SENTENCES,
}
MOST_FLAGGED = 0.285
RATE = 1 / 8
HELD_SURE, NOT_HELD_SURE = 0.8, 0.9
WORDING = ("wording/manual_dev", "wording/assistants_dev")

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def blended(assessments: Sequence[Assessment]) -> Floats:
    """The blend: the higher, the more likely made up."""
    rows = [a.evidence.features for a in assessments]
    return np.array(
        [
            sum(
                part * (value - TYPICAL.get(name, 0.0))
                for name, part in PROPORTIONS.items()
                if (value := row[name]) is not None
            )
            for row in rows
        ]
    )


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
    threshold = float(next(t for t in grid if max((s[~y] >= t).mean() for s, y in sets.values()) <= MOST_FLAGGED))
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
    print(f"bias = {-slope * threshold:.4f}")
    for name, part in PROPORTIONS.items():
        print(f"{name} = {{ weight = {slope * part:.4f}, center = {TYPICAL.get(name, 0.0)}, scale = 1.0 }}")
    print(f"threshold {threshold:.4f}, slope {slope}")


if __name__ == "__main__":
    main()
