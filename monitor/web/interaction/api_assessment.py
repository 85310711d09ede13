"""An assessment as JSON, from its stored row, in the format that `replay` writes and scripts rely on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import Field

from monitor.privacy.masking import redact, redact_part
from monitor.web.base.api_model import (
    ApiResponse,
    Metrics,
    Probabilities,
    Profile,
    Refusal,
    masked,
    masked_support,
    metrics,
    probabilities,
    rounded,
)
from monitor.web.interaction.diagnosis.api import Retrieval, retrieval

RANK = "conformal rank in the app's reference period: about 0.1 of usual answers have 0.1 or less; null without one"
DIAGNOSIS = "whether the retriever or the generator is at fault; null: an earlier release assessed it"
REFERENCE = "hash of that reference"


class SupportPiece(ApiResponse):
    """A piece of a document; `start` and `end` are null when it is in no retrieved document."""

    document_id: str | None
    start: int | None
    end: int | None
    text: str
    match: str | None = Field(None, description="how the piece was found in the document, if not word for word")
    cut_short: bool = Field(default=False, description="true: not found, but the search was cut short")


class Support(ApiResponse):
    """The supporting documents, and where they come from."""

    origin: str
    documents: list[SupportPiece]
    sidecar: dict[str, Any] | None = None
    stands_in: dict[str, Any] | None = None


class AlignedSentence(ApiResponse):
    """A sentence of the answer and the passage nearest to it; offsets refer to the texts in clear."""

    answer_start: int
    answer_end: int
    document: int | None = None
    document_id: str | None
    start: int | None
    end: int | None
    score: float
    contradicts: bool = False


class MissingFact(ApiResponse):
    """A number, date or name in the answer that is in no retrieved document."""

    kind: str
    start: int
    end: int
    text: str


class BorrowedWords(ApiResponse):
    """Characters `[start, end)` of the question of an earlier turn; `text` is masked, and null if they are gone."""

    id: str
    start: int
    end: int
    text: str | None


class AsAsked(ApiResponse):
    """The similarities of a follow-up question as it was asked."""

    sdq: float | None
    qrd: float | None
    qa: float | None


class StandaloneQuestion(ApiResponse):
    """How a follow-up question was read: its own words after those that it borrows from earlier turns."""

    text: str | None = Field(description="what was compared with the documents; null if there is a `problem`")
    problem: str | None = Field(None, description="why the text cannot be put together any more")
    sha256: str | None = Field(
        description="of the text in clear; null unless `clear`, since a hash lets words be guessed"
    )
    cue_start: int = Field(description="of the words of the question by which it leans; empty: it names nothing")
    cue_end: int
    borrowed: list[BorrowedWords]
    as_asked: AsAsked


class Assessment(ApiResponse):
    """The verdict of one interaction under one profile, with its evidence."""

    id: str
    app: str
    occurred_at: datetime
    verdict: str
    probabilities: Probabilities
    uncalibrated: bool = Field(description="true: the profile was not calibrated with labels of this app")
    refusal: Refusal
    metrics: Metrics
    reasons: list[str]
    support: Support
    features: dict[str, float | None]
    alignment: list[AlignedSentence]
    missing: list[MissingFact]
    diagnosis: str | None = Field(description=DIAGNOSIS)
    retrieval: Retrieval | None = Field(description="the chunks that it rests on; null after an erasure too")
    compared: float = Field(description="share of the documents that the answer was aligned with; below 1 if too long")
    standalone_question: StandaloneQuestion | None = Field(
        None, description="how a follow-up question was read; null: as it stands"
    )
    profile: Profile
    embedding_model: str
    rule_verdict: str = Field(description="the verdict of the study's rule alone, for comparison")
    rank: float | None = Field(description=RANK)
    reference: str | None = Field(description=REFERENCE)
    live: bool = Field(description="false: made under another profile for comparison; alerts do not count it")
    revised_at: datetime | None


def assessment(row: Mapping[str, Any], *, clear: bool) -> Assessment:
    """The assessment in a row of `AssessmentQueries.with_assessments`, with texts masked unless `clear`."""
    evidence: dict[str, Any] = row["evidence"] or {}  # empty after an erasure
    support: Any = row["support"] or {}
    missing: Any = evidence.get("missing", [])
    alignment: Any = evidence.get("alignment", [])
    if not clear:
        documents = masked_support(support.get("documents", []), row["retrieved_documents"])
        hidden: Any = masked(support)
        support = {**hidden, "documents": documents}
        missing = [{**fact, "text": redact_part(row["answer"], fact["start"], fact["end"])} for fact in missing]
        alignment = [{**pair, "document_id": masked(pair["document_id"])} for pair in alignment]
    return Assessment(
        id=row["id"],
        app=row["app"],
        occurred_at=row["occurred_at"],
        verdict=row["verdict"],
        probabilities=probabilities(row),
        uncalibrated=row["uncalibrated"],
        refusal=Refusal(kind=row["refusal_kind"], correct=row["refusal_correct"]),
        metrics=metrics(row),
        reasons=row["reasons"],
        support=Support(**{"origin": "", "documents": [], **support}),
        features=evidence.get("features", {}),
        alignment=[AlignedSentence(**pair) for pair in alignment],
        missing=[MissingFact(**fact) for fact in missing],
        diagnosis=row["diagnosis"],
        retrieval=retrieval(evidence),
        compared=evidence.get("compared", 1.0),
        standalone_question=_standalone(row, clear=clear),
        profile=Profile(name=row["profile_name"], hash=row["profile_hash"]),
        embedding_model=row["embedding_model"],
        rule_verdict=row["rule_verdict"],
        rank=rounded(row["rank"]),
        reference=row["reference"],
        live=row["live"],
        revised_at=row["revised_at"],
    )


def _standalone(row: Mapping[str, Any], *, clear: bool) -> StandaloneQuestion | None:
    """The words of earlier turns stay masked: a look in clear is recorded for this interaction alone."""
    read = row["read_as"]
    if read is None:
        return None
    stored = row["evidence"]["standalone_question"]
    words = [None if piece["text"] is None else redact(piece["text"]) for piece in read["borrowed"]]
    own = row["question"] if clear else redact(row["question"])
    return StandaloneQuestion(
        text=None if read["text"] is None else " ".join([*filter(None, words), own]),
        problem=read["problem"],
        sha256=stored["sha256"] if clear else None,
        cue_start=stored["cue_start"],
        cue_end=stored["cue_end"],
        borrowed=[BorrowedWords(**at, text=text) for at, text in zip(stored["borrowed"], words, strict=True)],
        as_asked=AsAsked(**read["as_asked"]),
    )
