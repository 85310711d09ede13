"""Scores answers with the pipeline's parts: support, the five similarities, refusals by wording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from benchmarks.study.extractive import GeneratedAnswer
from benchmarks.study.questions import Question
from monitor.assess.classify.refusal import refusal_kind
from monitor.assess.complete.extractive import ExtractiveCompleter
from monitor.assess.embed.batch import embed_batch
from monitor.assess.ports import Embedder
from monitor.assess.score.adaptability import adaptability
from monitor.core.model import Document, Interaction, RefusalKind, SupportingDocument
from monitor.review.evaluate.rows import METRICS, Strings
from monitor.review.evaluate.statistics import Bools, Floats

BATCH = 256
UNDEFINED = -1.0  # below every threshold: an empty answer, or one without support, is not grounded
EXACT = 6  # digits: the cosine of a text to itself is 1, whatever the order of its sum
_ANY_TIME = datetime(2024, 1, 1, tzinfo=UTC)  # required by an interaction, unused here


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """n answers in order.

    `similarities` has shape (n, 5) in the order of METRICS, to the documents joined, as in the study. `declined` is
    what the generator says of its answer, `worded` whether `monitor` reads it as a full refusal.
    """

    similarities: Floats
    unanswerable: Bools
    declined: Bools
    worded: Bools
    groups: Strings

    def below(self, names: Sequence[str], tau: float) -> Bools:
        """Whether any of the metrics of each answer is below the threshold."""
        return np.asarray(self.worst(names) < tau)

    def worst(self, names: Sequence[str]) -> Floats:
        """The lowest of the metrics, shape (n,)."""
        return np.asarray(self.similarities[:, [METRICS.index(name) for name in names]].min(axis=1))


def scored(
    questions: Sequence[Question], answers: Sequence[GeneratedAnswer], embedder: Embedder, *, named: bool
) -> Scored:
    """The scores of each answer; `named` takes the support that the generator names, otherwise it is extracted."""
    interactions = [_interaction(q, a, named=named) for q, a in zip(questions, answers, strict=True)]
    found = []
    for start in range(0, len(interactions), BATCH):
        batch = interactions[start : start + BATCH]
        found += adaptability(embed_batch(batch, ExtractiveCompleter().complete(batch), embedder))
    rows = [[getattr(s.joined, name) for name in METRICS] for s in found]
    return Scored(
        similarities=np.nan_to_num(np.array(rows, np.float64), nan=UNDEFINED).round(EXACT),
        unanswerable=np.array([not q.answerable for q in questions]),
        declined=np.array([a.declined for a in answers]),
        worded=np.array([refusal_kind(a.answer) is RefusalKind.FULL for a in answers]),
        groups=np.array([q.group for q in questions]),
    )


def _interaction(question: Question, answered: GeneratedAnswer, *, named: bool) -> Interaction:
    return Interaction(
        id=question.id,
        app="study",
        occurred_at=_ANY_TIME,
        question=question.text,
        answer=answered.answer,
        retrieved_documents=tuple(Document(id=str(rank), text=d) for rank, d in enumerate(question.documents, start=1)),
        supporting_documents=tuple(SupportingDocument(text=text) for text in answered.support) if named else None,
    )
