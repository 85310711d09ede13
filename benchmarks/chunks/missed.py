"""Questions that the documents answer and questions that they do not, to tell apart.

Each set has both kinds. `squad2`: written about one passage, the unanswerable ones so that they look answerable.
`natural_questions`: a passage that holds the answer, or one that does not. `faq`: AWS's FAQ is asked about AWS, and
about other providers. `faq_gap`: it is asked about AWS, and its own answer is retrieved, or was taken out of the
knowledge base. The swaps: questions of a file with their documents, or with those of the nearest other question.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from itertools import islice
from random import Random
from typing import Any, NamedTuple

import numpy as np

from benchmarks.labelled import DATA
from monitor.assess.ports import Embedder

RETRIEVED = 3
SWAPPED = ("attribution", "longform", "expert")


class Asked(NamedTuple):
    """A question with its documents; `part` 0 is for choosing, 1 for reporting. Rows of one source share a part."""

    question: str
    documents: tuple[str, ...]
    answerable: bool
    part: int


def sets(embedder: Embedder, seed: int, most: int) -> dict[str, list[Asked]]:
    """All sets, each with at most `most` questions of each kind."""
    random = Random(seed)
    return {
        "squad2": _squad(random, most),
        "natural_questions": _natural_questions(most),
        **_faq(embedder, random, most),
        **{f"{name}_swapped": _swapped(embedder, name, most) for name in SWAPPED},
    }


def _squad(random: Random, most: int) -> list[Asked]:
    rows = _rows("questions/squad2")
    random.shuffle(rows)
    parts = {group: at % 2 for at, group in enumerate(sorted({row["group"] for row in rows}))}
    found = [Asked(r["question"], (r["context"],), r["answerable"], parts[r["group"]]) for r in rows]
    return [*_first(found, most, answerable=True), *_first(found, most, answerable=False)]


def _natural_questions(most: int) -> list[Asked]:
    yes = [(row["question"], tuple(row["retrieved_documents"])) for row in _rows("dev/natural_questions")]
    no = [(row["question"], (row["context"],)) for row in _rows("questions/natural_questions_unanswerable")]
    return [
        Asked(question, documents, answerable, at % 2)
        for answerable, rows in ((True, yes), (False, no))
        for at, (question, documents) in enumerate(rows[:most])
    ]


def _faq(embedder: Embedder, random: Random, most: int) -> dict[str, list[Asked]]:
    rows = _rows("questions/cloud_faq")
    random.shuffle(rows)
    own = [row for row in rows if row["platform"] == "aws"]
    other = [row for row in rows if row["platform"] != "aws"][:most]
    knowledge = list(dict.fromkeys(row["answer"] for row in own))
    vectors = embedder.embed(knowledge)

    def retrieved(question: str, without: str = "") -> tuple[str, ...]:
        nearest = np.argsort(-(vectors @ embedder.embed([question])[0]), kind="stable")
        found = (knowledge[at] for at in nearest.tolist() if knowledge[at] != without)
        return tuple(islice(found, RETRIEVED))

    asked = [(row, retrieved(row["question"])) for row in own[:most]]
    found = [(row, documents) for row, documents in asked if row["answer"] in documents]
    gap = [(row, retrieved(row["question"], row["answer"])) for row in own[most : most + len(found)]]
    return {
        "faq": [
            *(
                Asked(row["question"], documents, answerable=True, part=at % 2)
                for at, (row, documents) in enumerate(asked)
            ),
            *(
                Asked(row["question"], retrieved(row["question"]), answerable=False, part=at % 2)
                for at, row in enumerate(other)
            ),
        ],
        "faq_gap": [
            *(
                Asked(row["question"], documents, answerable=True, part=at % 2)
                for at, (row, documents) in enumerate(found)
            ),
            *(
                Asked(row["question"], documents, answerable=False, part=at % 2)
                for at, (row, documents) in enumerate(gap)
            ),
        ],
    }


def _swapped(embedder: Embedder, name: str, most: int) -> list[Asked]:
    rows: dict[str, dict[str, Any]] = {}
    for row in _rows(f"dev/{name}"):
        if row["label"] == "grounded" and row["tags"].get("closed_book") != "1":
            rows.setdefault(row["question"], row)
    chosen = list(rows.values())[: 2 * most]
    vectors = embedder.embed([row["question"] for row in chosen])
    likeness = vectors @ vectors.T
    np.fill_diagonal(likeness, -1.0)
    return [
        Asked(
            row["question"],
            tuple((chosen[int(likeness[at].argmax())] if at % 2 else row)["retrieved_documents"]),
            at % 2 == 0,
            at // 2 % 2,
        )
        for at, row in enumerate(chosen)
    ]


def _first(rows: Sequence[Asked], most: int, *, answerable: bool) -> list[Asked]:
    return [row for row in rows if row.answerable == answerable][:most]


def _rows(name: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
