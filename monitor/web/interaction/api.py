"""API routes of interactions: the filtered list, and one with its assessments, judgements and labels."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from pydantic import Field

from monitor.app.wiring.application import Application
from monitor.privacy.masking import redact, redact_head
from monitor.store.interaction.context import InteractionContext
from monitor.store.interaction.feedback import feedback_on
from monitor.store.interaction.filters import Filters, ListedInteraction
from monitor.store.interaction.listing.list import InteractionList
from monitor.store.interaction.turns.unscored_list import unscored_turns
from monitor.store.review.newest_labels import newest_labels
from monitor.web.base.access import Identity, Permission
from monitor.web.base.api_model import (
    ApiResponse,
    Metrics,
    Probabilities,
    Profile,
    Refusal,
    masked,
    masked_support,
    masked_throughout,
    metrics,
    probabilities,
    rounded,
)
from monitor.web.base.cursor import from_cursor, to_cursor
from monitor.web.base.disclosure import INTERACTION_FIELDS, Clear, record_look, require_unmask
from monitor.web.base.guard import Needs
from monitor.web.base.parameters import AppAndId, Cursor, Limit
from monitor.web.base.problem import NOT_FOUND, problems
from monitor.web.interaction.api_assessment import DIAGNOSIS, RANK, REFERENCE, Assessment, assessment
from monitor.web.interaction.api_filters import read_filters
from monitor.web.interaction.exact import permitted

router = APIRouter(tags=["interactions"])
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
PREFIX = "/api/v1/interactions/"
_HEAD = 500  # characters of a text in the list


class InteractionItem(ApiResponse):
    """An interaction in the list with its live assessment."""

    app: str
    id: str
    occurred_at: datetime
    environment: str
    model: str | None
    topic: str | None
    question: str = Field(description=f"its first {_HEAD} characters, personal data masked")
    answer: str = Field(description=f"its first {_HEAD} characters, personal data masked")
    verdict: str
    rule_verdict: str
    reasons: list[str]
    diagnosis: str | None = Field(description=DIAGNOSIS)
    refusal: Refusal
    probabilities: Probabilities
    metrics: Metrics
    uncalibrated: bool
    profile: Profile
    rank: float | None = Field(description=RANK)
    reference: str | None = Field(description=REFERENCE)


class InteractionPage(ApiResponse):
    """Interactions, newest first. `reached`: how far back a search has looked; `next` continues from there."""

    items: list[InteractionItem]
    next: str | None
    reached: datetime | None


class Judgement(ApiResponse):
    """One metric from the judge, which is a language model."""

    metric: str
    score: float | None
    reason: str | None = Field(description="why there is no score")
    model: str
    mode: str
    judged_at: datetime
    parts: Any


class PersonLabel(ApiResponse):
    """The newest label of one person."""

    label: str
    by: str
    at: datetime
    note: str | None


class UserFeedback(ApiResponse):
    """What the end user said last of the answer."""

    thumb: str
    comment: str | None
    given_at: datetime


class InteractionDetail(ApiResponse):
    """An interaction with its live assessment and the assessments under other profiles."""

    id: str
    app: str
    occurred_at: datetime
    stored_at: datetime
    sealed_at: datetime | None = Field(description="when the audit trail sealed it; null while it waits")
    environment: str
    conversation_id: str | None
    turn: int | None
    question: str
    answer: str
    retrieved_documents: list[dict[str, Any]]
    supporting_documents: list[dict[str, Any]] | None = Field(
        description="as the chatbot logged them; null: its generator was not asked for any"
    )
    reference_answer: str | None
    model: str | None
    prompt_version: str | None
    tags: dict[str, Any]
    trace_id: str | None
    latency_ms: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None = Field(description="by the prices when it was stored; null: unknown")
    marks: list[str]
    clear: bool = Field(description="whether personal data is shown in clear")
    unscored: str | None = Field(description="why it has no scores; null: it has")
    replaced_at: datetime | None = Field(description="when more of its trace replaced what was stored first")
    assessment: Assessment | None = Field(description="null exactly where it is `unscored`")
    other_assessments: list[Assessment]
    judgements: list[Judgement]
    labels: list[PersonLabel]
    feedback: UserFeedback | None = Field(None, description="of the end user; null if none was given")


@router.get(
    "/interactions",
    response_model=InteractionPage,
    operation_id="listInteractions",
    responses=problems(),
    summary="List interactions, newest first",
)
def interactions(
    request: Request,
    who: Viewer,
    filters: Annotated[Filters, Depends(read_filters)],
    limit: Limit = 50,
    cursor: Cursor = None,
) -> InteractionPage:
    """Masks personal data for every role. Refuses a search that would take too long, and says what to narrow."""
    application: Application = request.app.state.application
    place = None if cursor is None else from_cursor(cursor)
    found = InteractionList(application.engine).page(permitted(request, who, filters), older_than=place, most=limit)
    return InteractionPage(
        items=list(map(_item, found.rows)),
        next=None if found.older is None else to_cursor(found.older),
        reached=found.reached,
    )


@router.get(
    "/interactions/{app}/{id:path}",
    response_model=InteractionDetail,
    operation_id="getInteraction",
    responses=problems(NOT_FOUND),
    summary="Get an interaction with its assessments, judgements and labels",
)
def interaction(
    request: Request,
    who: Viewer,
    app_and_id: Annotated[tuple[str, str], Depends(AppAndId(PREFIX))],
    *,
    clear: Clear = False,
) -> InteractionDetail:
    """Masks personal data unless `clear`. Offsets always refer to the texts in clear."""
    application: Application = request.app.state.application
    app, id_ = app_and_id
    if clear:
        require_unmask(request, who)
    rows = application.queries.with_assessments(id_, app) or unscored_turns(application.engine, id_, app)
    if not rows:
        waits = any(row["app"] == app for row in application.queries.unassessed(id_))
        raise HTTPException(
            NOT_FOUND, "the interaction is stored but not assessed yet" if waits else "no such interaction is stored"
        )
    if clear:
        record_look(request, who, app=app, subject=id_, fields=INTERACTION_FIELDS)
    judgements = application.queries.judgements(app, id_)
    labels = newest_labels(application.engine, app, id_)
    leaves = InteractionContext(application.engine).leaves(app, id_)
    return interaction_detail(
        rows,
        judgements,
        labels,
        sealed_at=leaves[0].sealed_at if leaves else None,
        feedback=feedback_on(application.engine, app, id_),
        clear=clear,
    )


def interaction_detail(
    rows: list[Mapping[str, Any]],
    judgements: list[Mapping[str, Any]],
    labels: list[Mapping[str, Any]],
    *,
    sealed_at: datetime | None = None,
    feedback: Mapping[str, Any] | None = None,
    clear: bool,
) -> InteractionDetail:
    """An interaction from its rows of `AssessmentQueries.with_assessments`, the live one first."""
    first = rows[0]
    names = (
        *("question", "answer", "retrieved_documents", "supporting_documents", "reference_answer", "tags"),
        *("conversation_id", "trace_id", "environment", "model", "prompt_version"),
    )
    texts: dict[str, Any] = {name: first[name] if clear else masked(first[name]) for name in names}
    if not clear:
        texts["tags"] = masked_throughout(first["tags"])
        if first["supporting_documents"] is not None:
            texts["supporting_documents"] = masked_support(first["supporting_documents"], first["retrieved_documents"])
    plain = {name: first[name] for name in InteractionDetail.model_fields if name not in names and name in first}
    assessed = [assessment(row, clear=clear) for row in rows if first["unscored"] is None]
    return InteractionDetail(
        **plain,
        **texts,
        sealed_at=sealed_at,
        clear=clear,
        assessment=next(iter(assessed), None),
        other_assessments=assessed[1:],
        judgements=[_judgement(row, clear=clear) for row in judgements],
        labels=[
            PersonLabel(
                label=row["label"],
                by=row["labelled_by"],
                at=row["labelled_at"],
                note=_text(row["note"], clear=clear),
            )
            for row in labels
        ],
        feedback=None
        if feedback is None
        else UserFeedback(
            thumb=feedback["thumb"],
            comment=_text(feedback["comment"], clear=clear),
            given_at=feedback["given_at"],
        ),
    )


def _judgement(row: Mapping[str, Any], *, clear: bool) -> Judgement:
    own = {name: row[name] for name in ("metric", "score", "model", "mode", "judged_at")}
    return Judgement(
        **own, reason=_text(row["reason"], clear=clear), parts=row["parts"] if clear else masked(row["parts"])
    )


def _text(text: str | None, *, clear: bool) -> str | None:
    return text if clear or text is None else redact(text)


def _item(listed: ListedInteraction) -> InteractionItem:
    values = {name: getattr(listed, name) for name in ListedInteraction.__slots__}
    return InteractionItem(
        **{name: values[name] for name in ("app", "id", "occurred_at", "uncalibrated")},
        **{name: _text(values[name], clear=False) for name in ("environment", "model", "topic")},
        question=redact_head(listed.question, _HEAD),
        answer=redact_head(listed.answer, _HEAD),
        verdict=listed.verdict,
        rule_verdict=listed.rule_verdict,
        reasons=list(listed.reasons),
        diagnosis=listed.diagnosis,
        refusal=Refusal(kind=listed.refusal_kind, correct=listed.refusal_correct),
        probabilities=probabilities(values),
        metrics=metrics(values),
        profile=Profile(name=listed.profile_name, hash=listed.profile_hash),
        rank=rounded(listed.rank),
        reference=listed.reference,
    )
