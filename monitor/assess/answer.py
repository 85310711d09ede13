"""`assess_answer`: one answer in a notebook or a test, with the verdict that the service gives. Needs no database."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

from typing_extensions import override

from monitor.assess.classify.profile import build_of, load_profile
from monitor.assess.complete.extractive import ExtractiveCompleter
from monitor.assess.conversation.turn import LONGEST_QUESTION, MOST_TURNS, Turn
from monitor.assess.embed.cache import CachedEmbedder, CachedTokenEncoder
from monitor.assess.embed.minilm import MiniLMEmbedder
from monitor.assess.embed.weights import Build
from monitor.assess.pipeline import Pipeline
from monitor.assess.ports import Conversations
from monitor.core.assessment_json import assessment_json, storable
from monitor.core.evidence import AlignedSentence
from monitor.core.model import (
    Assessment,
    Document,
    Interaction,
    Metrics,
    Probabilities,
    Reason,
    Refusal,
    SupportingDocument,
    Verdict,
)
from monitor.core.settings.load import state_dir
from monitor.core.text.content_id import content_id

GivenDocument: TypeAlias = str | Mapping[str, Any] | Document
_CACHE_BYTES = 2**26  # for vectors of recent texts, and again for vectors of their tokens
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)  # the answer has no time
one_at_a_time = Lock()  # the model is loaded once, and one thread at a time may call it


@dataclass(frozen=True, slots=True)
class _Given(Conversations):
    """The questions before the answer, as turns with numbers from 1."""

    questions: Sequence[str]

    @override
    def before(self, interactions: Sequence[Interaction], leaning: Collection[int]) -> Mapping[int, Sequence[Turn]]:
        turns = [
            Turn(id=str(number), question=question[:LONGEST_QUESTION], occurred_at=_EPOCH, turn=number)
            for number, question in enumerate(self.questions, 1)
        ]
        return dict.fromkeys(leaning, turns[-MOST_TURNS:])


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerAssessment:
    """The verdict on one answer and what it rests on; `assessment` is all of it.

    `alignment` names for each sentence of the answer the nearest passage of the documents, as character offsets.
    """

    verdict: Verdict
    probabilities: Probabilities
    reasons: tuple[Reason, ...]
    metrics: Metrics
    refusal: Refusal
    alignment: tuple[AlignedSentence, ...]
    assessment: Assessment

    def to_json(self) -> dict[str, object]:
        """The object that `monitor replay --output` writes for an answer; `id`, `app` and `occurred_at` are made up."""
        return assessment_json(self.assessment)


def assess_answer(
    *,
    question: str,
    retrieved_documents: Iterable[GivenDocument],
    answer: str,
    supporting_documents: Iterable[str | Mapping[str, Any] | SupportingDocument] | None = None,
    conversation: Iterable[str] = (),
    profile: str | Path | None = None,
) -> AnswerAssessment:
    """Assesses one answer with the embedded model, as the service does under its default settings.

    A document is its text, or a mapping with `text` and perhaps `id`. `supporting_documents` are what the generator
    says it used; None leaves it to the monitor to find them. `conversation` are the questions that were asked before,
    the first one first: a question that leans on them is completed from them, and `assessment.standalone` says how.
    `profile` is the name of a shipped profile or the path of a file, made for the embedded model; default: the one that
    ships. The first call loads the model, which takes a second or two. Any thread may call.

    Raises:
        WrongSettings: the profile cannot be used, or MONITOR_STATE_DIR, which holds the model's graph, not written.
        KeyError: a mapping has no `text`.
        TypeError: `conversation` is one question instead of a list.
    """
    if isinstance(conversation, str):
        raise TypeError("conversation is a list of questions, not one question")
    before = [storable(said) for said in conversation]
    interaction = Interaction(
        id="answer",
        app="default",
        occurred_at=_EPOCH,
        conversation_id="conversation" if before else None,
        question=storable(question),
        answer=storable(answer),
        retrieved_documents=tuple([_document(one) for one in retrieved_documents]),
        supporting_documents=None
        if supporting_documents is None
        else tuple([_support(one) for one in supporting_documents]),
    )
    with one_at_a_time:
        pipeline = replace(_pipeline(None if profile is None else str(profile)), conversations=_Given(before))
        (assessment,) = pipeline.assess([interaction])
    return AnswerAssessment(
        verdict=assessment.verdict,
        probabilities=assessment.probabilities,
        reasons=assessment.reasons,
        metrics=assessment.metrics,
        refusal=assessment.refusal,
        alignment=tuple(assessment.evidence.alignment),
        assessment=assessment,
    )


@cache
def _pipeline(profile: str | None) -> Pipeline:
    embedder, encoder = embedded_model(build_of(profile))
    return Pipeline(
        completer=ExtractiveCompleter(),
        encoder=encoder,
        embedder=embedder,
        profile=load_profile(profile, embedder.model, encoder.token_model),
    )


@cache
def embedded_model(build: Build = "int8") -> tuple[CachedEmbedder, CachedTokenEncoder]:
    """The embedded model behind its caches; callers hold `one_at_a_time`."""
    given = os.environ.get("MONITOR_STATE_DIR")
    model = MiniLMEmbedder(build, cache_dir=(Path(given) if given else state_dir()) / "cache")
    embedder = CachedEmbedder(model, _CACHE_BYTES)
    return embedder, CachedTokenEncoder(model, _CACHE_BYTES, embedder=embedder)


def _document(given: GivenDocument) -> Document:
    if isinstance(given, Document):
        return given
    fields: Mapping[str, Any] = {"text": given} if isinstance(given, str) else given
    text = storable(fields["text"])
    return Document(id=storable(str(fields.get("id") or content_id(text))), text=text)


def _support(given: str | Mapping[str, Any] | SupportingDocument) -> SupportingDocument:
    if isinstance(given, SupportingDocument):
        return given
    if isinstance(given, str):
        return SupportingDocument(text=storable(given))
    return SupportingDocument(
        text=storable(given["text"]),
        document_id=given.get("document_id"),
        start=given.get("start"),
        end=given.get("end"),
    )
