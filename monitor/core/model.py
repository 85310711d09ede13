"""The nouns of the domain: interactions, their documents, and assessments.

Frozen, slotted, keyword-only dataclasses with small derivations at most; pydantic stays at the edges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from monitor.core.diagnosis import ChunkDiagnosis
from monitor.core.evidence import Evidence, StandaloneQuestion
from monitor.core.message import Position

JsonScalar: TypeAlias = str | int | float | bool | None
Json: TypeAlias = JsonScalar | list["Json"] | dict[str, "Json"]


class Verdict(StrEnum):
    """The verdict on an answer: supported by its documents, a refusal, or made up by the generator."""

    GROUNDED = "grounded"
    REFUSAL = "refusal"
    SELF_GENERATED = "self_generated"

    @property
    def negative(self) -> bool:
        """True for the two verdicts that alerts count."""
        return self is not Verdict.GROUNDED


class Reason(StrEnum):
    """Why a verdict was given; the first five stand for a metric below its threshold.

    A negative verdict has at least one reason.
    """

    SUPPORT_OFF_QUESTION = "support_off_question"  # SDQ
    SUPPORT_NOT_RETRIEVED = "support_not_retrieved"  # SDRD
    ANSWER_OFF_SUPPORT = "answer_off_support"  # SDA
    RETRIEVAL_OFF_QUESTION = "retrieval_off_question"  # QRD
    ANSWER_OFF_QUESTION = "answer_off_question"  # QA
    NOT_IN_DOCUMENTS = "not_in_documents"  # sentences of the answer that no passage supports
    MISSING_FACT = "missing_fact"  # a number, date or name that the documents do not hold
    CONTRADICTS_DOCUMENTS = "contradicts_documents"
    NO_DOCUMENTS = "no_documents"  # nothing was retrieved
    NO_SUPPORT = "no_support"  # documents were retrieved, but the generator named none
    EMPTY_ANSWER = "empty_answer"
    REFUSAL_WORDING = "refusal_wording"


class Unscored(StrEnum):
    """Why a turn of a chatbot is stored without scores and verdict."""

    CALL_FAILED = "call_failed"  # the model call failed, so there is no answer
    CONTENT_REDACTED = "content_redacted"  # question, answer or documents were redacted before they were sent
    CONTENT_NOT_CAPTURED = "content_not_captured"  # the instrumentation is set to send no texts
    NO_RETRIEVAL = "no_retrieval"  # the chatbot answered without looking anything up
    NO_DOCUMENT_TEXT = "no_document_text"  # ids of documents are known, their texts are not
    PROBE = "probe"  # a golden probe asked, so the turn is no live traffic; see `monitor/probe/mark.py`

    @property
    def lacking(self) -> bool:
        """Whether the turn lacks what scores need; false where it is left out on purpose."""
        return self is not Unscored.PROBE


class Origin(StrEnum):
    """Who supplied the supporting documents."""

    LOGGED = "logged"
    SIDECAR = "sidecar"
    EXTRACTIVE = "extractive"


class Match(StrEnum):
    """How a supporting document was found in a retrieved one."""

    EXACT = "exact"
    FOLDED = "folded"  # equal except for case, white space, quotation marks and dashes
    FUZZY = "fuzzy"  # equal except for a few characters


class RefusalKind(StrEnum):
    """How much of an answer is a refusal: nothing, part of it, or all of it."""

    NONE = "none"
    PARTIAL = "partial"
    FULL = "full"


class Mark(StrEnum):
    """A change or doubt that a reader of a stored interaction should know of."""

    TEXT_REPLACED = "text_replaced"  # U+0000 or lone surrogates became U+FFFD: Postgres cannot store them
    TIME_DEFAULTED = "time_defaulted"  # the event has no time; the time of receipt is used
    TIME_OUT_OF_RANGE = "time_out_of_range"  # far in the past or future: stored in the default partition
    REDACTED = "redacted"  # personal data was replaced by placeholders before anything was stored
    ERASED = "erased"  # its texts were deleted at a person's request; verdict, figures and times stay


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One retrieved document. `id` comes from the event, or is `sha256:<16 hex digits>` of the text."""

    id: str
    text: str
    score: float | None = None
    source: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportingDocument:
    """A piece of text that supports the answer; `[start, end)` are character offsets into the document, if located.

    `match` is None if the piece was not searched for, or was not found and so is not from the documents; `cut_short`
    is true if it was not found although not every place was looked at, because the texts are too long.
    """

    text: str
    document_id: str | None = None
    start: int | None = None
    end: int | None = None
    match: Match | None = None
    cut_short: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Tokens that the chatbot's generator read and wrote for this answer."""

    input: int | None = None
    output: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """One question with its answer, as the chatbot logged it.

    `supporting_documents` is None if the generator was not asked, and empty if it named none.
    `occurred_at` is timezone-aware UTC. If it is `unscored`, texts that are not known are empty. One that `revises`
    replaces the stored interaction of its id, because more of its trace has arrived.
    """

    id: str
    app: str
    occurred_at: datetime
    question: str
    answer: str
    retrieved_documents: tuple[Document, ...]
    supporting_documents: tuple[SupportingDocument, ...] | None = None
    environment: str = "production"
    conversation_id: str | None = None
    turn: int | None = None
    reference_answer: str | None = None
    model: str | None = None
    prompt_version: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    # keyed digests of tags that redaction changed, by which the answer is found: see `monitor/privacy/tag_digest.py`
    tag_digests: frozenset[str] = frozenset()
    trace_id: str | None = None
    span_id: str | None = None  # within the trace, of the span that verdicts belong to
    latency_ms: float | None = None
    usage: TokenUsage | None = None
    cost: float | None = None  # by the prices when it was read, in their currency
    marks: frozenset[Mark] = frozenset()
    position: Position | None = None  # of the message that carried it
    feedback: tuple[Feedback, ...] = ()  # on this and earlier interactions of the app, kept apart from all else
    unscored: Unscored | None = None
    revises: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What an end user said of the answer of the interaction `id`: `thumb` is `up` or `down`.

    `given_at` is that of the event, which says it for feedback that comes without an interaction.
    """

    id: str
    thumb: str
    comment: str | None = None
    given_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SidecarCall:
    """A call of the sidecar. `second_answer` is the answer that the generator gave in mode `regenerate`."""

    mode: str
    model: str
    prompt_hash: str
    second_answer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """Why extractive support stands in for the sidecar's, and whether the sidecar is asked again later.

    `error` is the cause, within the process that met it; it is not stored.
    """

    because: str
    queued: bool
    error: Exception | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """The supporting documents that are scored, and who supplied them."""

    origin: Origin
    documents: tuple[SupportingDocument, ...]
    sidecar: SidecarCall | None = None
    stands_in: StandIn | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """The five RAG adaptability similarities in [-1, 1]; None where a text is missing (metrics.md §1)."""

    sdq: float | None
    sdrd: float | None
    sda: float | None
    qrd: float | None
    qa: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Each similarity to the joined documents, and its maximum over single documents.

    `undefined` maps each metric without a value to the reason: `no_documents`, `no_support`,
    `empty_question` or `empty_answer`.
    """

    joined: Metrics
    maximum: Metrics
    undefined: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Whether the answer refuses. `correct` is None if it is unknown whether the documents hold the answer."""

    kind: RefusalKind
    correct: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Probabilities:
    """Probabilities of the three verdicts; they sum to 1."""

    grounded: float
    refusal: float
    self_generated: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """The scores and verdict of one interaction under one profile.

    `rank` is its conformal rank in (0, 1] among the usual answers of its app, `reference` the hash of the frozen
    reference that it is taken in (`monitor.assess.reference`); None where there is no reference for it. `standalone` is
    how a follow-up question was read; None where the question was read as it stands.
    """

    interaction: Interaction
    support: Support
    scores: Scores
    metrics: Metrics  # the readings that the profile compares
    evidence: Evidence
    verdict: Verdict
    rule_verdict: Verdict  # by the study's rule alone, for comparison
    reasons: tuple[Reason, ...]
    refusal: Refusal
    probabilities: Probabilities
    uncalibrated: bool
    profile_name: str
    profile_hash: str
    embedding_model: str
    rank: float | None = None
    reference: str | None = None
    diagnosis: ChunkDiagnosis | None = None
    standalone: StandaloneQuestion | None = None
