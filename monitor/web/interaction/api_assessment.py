"""An assessment as JSON from its stored row, as `replay` writes it (docs/start/events.md)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import Field

from monitor.privacy.masking import redact_part
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
)


class Piece(ApiResponse):
    """A piece of a document; `start` and `end` are null where it stands in none."""

    document_id: str | None
    start: int | None
    end: int | None
    text: str
    match: str | None = Field(None, description="how it was found, where that was not word for word")


class Support(ApiResponse):
    """What the answer stands on, and who supplied it."""

    origin: str
    documents: list[Piece]
    sidecar: dict[str, Any] | None = None
    stands_in: dict[str, Any] | None = None


class Aligned(ApiResponse):
    """A sentence of the answer and the passage that carries it; offsets are of the texts in clear."""

    answer_start: int
    answer_end: int
    document: int | None = None
    document_id: str | None
    start: int | None
    end: int | None
    score: float
    contradicts: bool = False


class Missing(ApiResponse):
    """A number, date or name of the answer that the documents do not hold."""

    kind: str
    start: int
    end: int
    text: str


class Assessment(ApiResponse):
    """The verdict of one interaction under one profile, and what it rests on."""

    id: str
    app: str
    occurred_at: datetime
    verdict: str
    probabilities: Probabilities
    uncalibrated: bool = Field(description="the profile was not fitted to labels of this app")
    refusal: Refusal
    metrics: Metrics
    reasons: list[str]
    support: Support
    features: dict[str, float | None]
    alignment: list[Aligned]
    missing: list[Missing]
    profile: Profile
    embedding_model: str
    rule_verdict: str = Field(description="by the thesis's rule alone, for comparison")
    live: bool = Field(description="false: a rescore's, which no alert counts")
    revised_at: datetime | None


def assessment(row: Mapping[str, Any], *, clear: bool) -> Assessment:
    """The one that a row of `Queries.explained` holds; its texts are masked unless `clear`."""
    evidence: dict[str, Any] = row["evidence"] or {}  # erased ones hold nothing
    support: Any = row["support"] or {}
    missing: Any = evidence.get("missing", [])
    if not clear:
        documents = masked_support(support.get("documents", []), row["retrieved_documents"])
        hidden: Any = masked(support)
        support = {**hidden, "documents": documents}
        missing = [{**its, "text": redact_part(row["answer"], its["start"], its["end"])} for its in missing]
    alignment: Any = evidence.get("alignment", [])
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
        alignment=[Aligned(**its) for its in alignment],
        missing=[Missing(**its) for its in missing],
        profile=Profile(name=row["profile_name"], hash=row["profile_hash"]),
        embedding_model=row["embedding_model"],
        rule_verdict=row["rule_verdict"],
        live=row["live"],
        revised_at=row["revised_at"],
    )
