"""The study's questions, drawn with a seed: a part to fit on and a part to report on, which share no document.

SQuAD 2.0 comes with the document that each question was written about. The cloud chatbot's knowledge base holds AWS's
answers alone, without their questions: a stored question would be found word for word, which no user's question is.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from monitor.assess.ports import Embedder

T = TypeVar("T")
DATA = Path(os.environ.get("MONITOR_DATA_DIR", "../shared/data")) / "questions"
FITTING_SHARE = 0.25  # of SQuAD's contexts
KNOWN = "aws"
FOREIGN = ("gcp", "ibm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question with the documents retrieved for it; questions of one `group` share a document."""

    id: str
    text: str
    documents: tuple[str, ...]
    answerable: bool
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A question of a cloud provider's FAQ with its answer."""

    id: str
    question: str
    answer: str
    platform: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Questions to fit on, and other ones to report on."""

    fitting: tuple[Question, ...]
    reported: tuple[Question, ...]


def read_squad() -> list[Question]:
    """All questions of the file, each with its one document."""
    return [
        Question(
            id=str(row["id"]),
            text=str(row["question"]),
            documents=(str(row["context"]),),
            answerable=bool(row["answerable"]),
            group=str(row["group"]),
        )
        for row in _rows("squad2")
    ]


def read_faq() -> list[Entry]:
    """All entries of the file, on one line each."""
    return [
        Entry(
            id=str(row["id"]),
            question=" ".join(str(row["question"]).split()),
            answer=" ".join(str(row["answer"]).split()),
            platform=str(row["platform"]),
        )
        for row in _rows("cloud_faq")
    ]


def _rows(name: str) -> list[dict[str, object]]:
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def squad_parts(questions: Sequence[Question], *, answerable: int, unanswerable: int, seed: int) -> Parts:
    """All questions of a quarter of the groups to fit on, and `count` questions of the other groups to report on.

    Raises:
        ValueError: there are too few.
    """
    rng = np.random.default_rng(seed)
    groups = sorted({q.group for q in questions})
    order = rng.permutation(len(groups))
    kept = {groups[place] for place in order[: round(FITTING_SHARE * len(groups))]}
    rest = [q for q in questions if q.group not in kept]
    reported = [
        *_drawn([q for q in rest if q.answerable], answerable, rng),
        *_drawn([q for q in rest if not q.answerable], unanswerable, rng),
    ]
    return Parts(fitting=tuple(q for q in questions if q.group in kept), reported=tuple(reported))


def faq_parts(
    entries: Sequence[Entry], *, answerable: int, unanswerable: int, seed: int
) -> tuple[list[Entry], list[Entry]]:
    """Entries to fit on and others to report on, each with the given numbers on AWS and on GCP and IBM.

    Raises:
        ValueError: there are too few.
    """
    rng = np.random.default_rng(seed)
    known = _drawn([e for e in entries if e.platform == KNOWN], 2 * answerable, rng)
    foreign = _drawn([e for e in entries if e.platform in FOREIGN], 2 * unanswerable, rng)
    return known[answerable:] + foreign[unanswerable:], known[:answerable] + foreign[:unanswerable]


def _drawn(rows: Sequence[T], number: int, rng: np.random.Generator) -> list[T]:
    if len(rows) < number:
        raise ValueError(f"{number} rows were asked for where there are {len(rows)}")
    return [rows[place] for place in rng.permutation(len(rows))[:number]]


def retrieve(asked: Sequence[str], knowledge: Sequence[str], embedder: Embedder, k: int) -> NDArray[np.intp]:
    """Indices of the k texts of `knowledge` nearest to each question by cosine, nearest first; shape (n, k)."""
    similarity = embedder.embed(asked) @ embedder.embed(knowledge).T
    return np.argsort(-similarity, axis=1, kind="stable")[:, :k]


def with_documents(entries: Sequence[Entry], knowledge: Sequence[str], nearest: NDArray[np.intp]) -> list[Question]:
    """The entries' questions with the retrieved documents; those on AWS count as answerable.

    Each is a separate group, since every question has its own entry.
    """
    return [
        Question(
            id=entry.id,
            text=entry.question,
            documents=tuple(knowledge[place] for place in places),
            answerable=entry.platform == KNOWN,
            group=entry.id,
        )
        for entry, places in zip(entries, nearest, strict=True)
    ]
