"""Fits the five thresholds of the shipped profile `minilm`, and prints them with the figures of the thesis's rule.

    python tools/fit_thresholds.py

SDA: the highest mean over the files of the balanced accuracy of *negative* (self-generated) against grounded, among the
thresholds that flag at most one grounded answer in ten, since people switch off a pager with more false alarms. A file
with one class counts by its share of right verdicts. Each file counts the same. `short_answers` is left out, since the
length of its answers reveals the class.
SDRD: extractive support is always in the documents and is not compared with them, so these labels say nothing about it;
the best balanced accuracy of support against its own documents and against those of another question.
QRD: the best balanced accuracy of a question against its own documents and against those of another.
SDQ, QA: the highest value that at most one grounded answer in fifty is below, mean over the files. A higher SDQ gains
nothing on these labels; and refusals are found by their wording first, so QA only has to catch answers far off the
question.
The figures printed by group-wise cross-validation are of thresholds fitted without the group they judge.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from monitor.assess.classify.profile import MetricRules, compared
from monitor.assess.complete.extractive import ExtractiveCompleter
from monitor.assess.embed.batch import embed_batch
from monitor.assess.embed.cache import CachedEmbedder
from monitor.assess.embed.minilm import MiniLMEmbedder
from monitor.assess.score.adaptability import adaptability
from monitor.core.model import Document, Interaction, Support
from monitor.core.settings.load import load_settings

DATA = Path(os.environ.get("MONITOR_DATA_DIR", "../shared/data"))
FITTED = ("dev/attribution", "dev/longform", "dev/dialogue", "dev/expert", "dev/natural_questions")
REPORTED = ("dev/short_answers",)
SDQ, SDRD, SDA, QRD, QA = range(5)
PRIMARY = [SDQ, SDRD, SDA]
READINGS = {"sdq": "best", "sdrd": "maximum", "sda": "best", "qrd": "maximum", "qa": "joined"}
RULES = MetricRules.model_validate({name: {"threshold": 0, "reading": reading} for name, reading in READINGS.items()})
MOST_WOLF = 0.10
NEVER = -1.0  # SDRD is not compared where support stands word for word in the documents, as extractive support does
RARE = 0.02
GRID = np.round(np.arange(-0.05, 0.96, 0.01), 2)
FOLDS = 5
BATCH = 128

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Labelled:
    """One file: scores of shape (n, 5), which rows are negative, and the fold of each row's group."""

    def __init__(self, name: str, scores: Floats, negative: Bools, folds: NDArray[np.int64]) -> None:
        self.name, self.scores, self.negative, self.folds = name, scores, negative, folds

    def where(self, keep: Bools) -> Labelled:
        return Labelled(self.name, self.scores[keep], self.negative[keep], self.folds[keep])


def read(name: str) -> list[dict[str, object]]:
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def interactions(rows: list[dict[str, object]]) -> list[Interaction]:
    now = datetime.now(UTC)
    return [
        Interaction(
            id=str(row["id"]),
            app="fit",
            occurred_at=now,
            question=str(row["question"]),
            answer=str(row["answer"]),
            retrieved_documents=tuple(Document(id=str(i), text=d) for i, d in enumerate(row["retrieved_documents"])),  # type: ignore[arg-type]
        )
        for row in rows
    ]


def score(answers: list[Interaction], supports: list[Support], embedder: CachedEmbedder) -> Floats:
    found = []
    for i in range(0, len(answers), BATCH):
        for s in adaptability(embed_batch(answers[i : i + BATCH], supports[i : i + BATCH], embedder)):
            m = compared(RULES, s)
            found.append([math.nan if v is None else v for v in (m.sdq, m.sdrd, m.sda, m.qrd, m.qa)])
    return np.array(found)


def with_documents_of_another(answers: list[Interaction]) -> list[Interaction]:
    half = len(answers) // 2
    return [
        replace(it, retrieved_documents=answers[(i + half) % len(answers)].retrieved_documents)
        for i, it in enumerate(answers)
    ]


def balanced(flagged: Bools, negative: Bools) -> float:
    parts = [flagged[negative].mean()] if negative.any() else []
    parts += [(~flagged[~negative]).mean()] if (~negative).any() else []
    return float(np.mean(parts))


def flagged(file: Labelled, thresholds: Floats) -> Bools:
    return (file.scores[:, PRIMARY] < thresholds).any(axis=1)  # NaN compares as not below


def wolf(files: list[Labelled], thresholds: Floats) -> float:
    """The share of grounded answers that are flagged, mean over the files."""
    return float(np.mean([flagged(f, thresholds)[~f.negative].mean() for f in files]))


def reached(files: list[Labelled], thresholds: Floats) -> float:
    return float(np.mean([balanced(flagged(f, thresholds), f.negative) for f in files]))


def fit_rare(files: list[Labelled], metric: int) -> float:
    """The highest threshold that at most RARE of the grounded answers are below, mean over the files."""

    def below(value: float) -> float:
        return float(np.mean([(f.scores[~f.negative, metric] < value).mean() for f in files]))

    return float(max((value for value in GRID if below(value) <= RARE), default=GRID[0]))


def fit_primary(files: list[Labelled]) -> Floats:
    def tried(sda: float) -> float:
        thresholds = np.array([sdq, NEVER, sda])
        cry = wolf(files, thresholds)
        return reached(files, thresholds) if cry <= MOST_WOLF else -cry

    sdq = fit_rare(files, SDQ)
    return np.array([sdq, NEVER, max(GRID, key=tried)])  # the first, so the lowest that is as good


def fit_own(own: list[Floats], other: list[Floats]) -> tuple[float, float]:
    """The threshold that best separates scores with a row's documents from those with another's, and its accuracy."""
    scores = np.concatenate(own + other)
    low = np.repeat([False, True], [sum(map(len, own)), sum(map(len, other))])
    tried = [balanced(scores < value, low) for value in GRID]
    return float(GRID[int(np.argmax(tried))]), max(tried)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    cache = load_settings().state_dir / "cache"
    embedder = CachedEmbedder(MiniLMEmbedder(cache_dir=cache), 2**30)

    files, own, other = {}, [], []
    for name in FITTED + REPORTED:
        rows = read(name)
        answers = interactions(rows)
        supports = ExtractiveCompleter().complete(answers)
        groups = {group: i % FOLDS for i, group in enumerate(sorted({str(row["group"]) for row in rows}))}
        files[name] = Labelled(
            name,
            score(answers, supports, embedder),
            np.array([row["label"] == "self_generated" for row in rows]),
            np.array([groups[str(row["group"])] for row in rows]),
        )
        if name in FITTED:
            own.append(files[name].scores)
            other.append(score(with_documents_of_another(answers), supports, embedder))
    fitted = [files[name] for name in FITTED]
    sdrd, sdrd_reached = fit_own([s[:, SDRD] for s in own], [s[:, SDRD] for s in other])
    qrd, qrd_reached = fit_own([s[:, QRD] for s in own], [s[:, QRD] for s in other])
    qa = fit_rare(fitted, QA)
    primary = fit_primary(fitted)
    held_out = {name: [np.zeros(0, bool), np.zeros(0, bool)] for name in FITTED}
    for fold in range(FOLDS):
        thresholds = fit_primary([f.where(f.folds != fold) for f in fitted])
        for f in fitted:
            part = f.where(f.folds == fold)
            held_out[f.name][0] = np.concatenate([held_out[f.name][0], flagged(part, thresholds)])
            held_out[f.name][1] = np.concatenate([held_out[f.name][1], part.negative])
    print(f"{'file':24} {'rows':>5} {'negative':>8} {'balanced acc.':>13} {'cross-validated':>15} {'study, 0.8':>10}")
    for name, f in files.items():
        cv = f"{balanced(*held_out[name]):15.3f}" if name in held_out else f"{'–':>15}"
        ours, study = (balanced(flagged(f, t), f.negative) for t in (primary, np.full(3, 0.8)))
        print(f"{name:24} {len(f.negative):5} {int(f.negative.sum()):8} {ours:13.3f} {cv} {study:10.3f}")
    mean = np.mean([balanced(*held_out[name]) for name in FITTED])
    print(f"mean of the fitted files: {reached(fitted, primary):.3f}, cross-validated {mean:.3f}")
    print(f"grounded answers flagged, mean of the fitted files: {wolf(fitted, primary):.3f}")
    print(f"own against other documents: QRD {qrd_reached:.3f} at {qrd}, SDRD {sdrd_reached:.3f} at {sdrd}")
    found = {"sdq": primary[0], "sdrd": sdrd, "sda": primary[2], "qrd": qrd, "qa": qa}
    print()
    for metric, threshold in found.items():
        print(f'{metric} = {{ threshold = {threshold:.2f}, reading = "{READINGS[metric]}" }}')


if __name__ == "__main__":
    main()
