"""Turns interactions, assessments and dead letters into rows, and rows of `interaction` back into interactions."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from monitor.core.assessment_json import encode, piece_json, storable, stored_evidence, support_json
from monitor.core.diagnosis import Diagnosis
from monitor.core.message import Position
from monitor.core.model import (
    Assessment,
    Document,
    Interaction,
    Mark,
    Metrics,
    Reason,
    Scores,
    SupportingDocument,
    TokenUsage,
    Unscored,
    Verdict,
)
from monitor.store.interaction.minute_sums import CountedAssessment
from monitor.store.tables.interactions import METRICS

_FLOAT4 = struct.Struct("<f")
INTERACTION_COLUMNS = (
    "app",
    "id",
    "occurred_at",
    "stored_at",
    "environment",
    "conversation_id",
    "turn",
    "question",
    "answer",
    "retrieved_documents",
    "supporting_documents",
    "reference_answer",
    "model",
    "prompt_version",
    "tags",
    "trace_id",
    "latency_ms",
    "input_tokens",
    "output_tokens",
    "marks",
    "source_topic",
    "source_partition",
    "source_offset",
    "tag_digests",
    "unscored",
    "cost",
    "span_id",
)
ASSESSMENT_COLUMNS = (
    "app",
    "id",
    "profile_hash",
    "occurred_at",
    "profile_name",
    "embedding_model",
    "verdict",
    "rule_verdict",
    "reasons",
    "refusal_kind",
    "refusal_correct",
    "p_grounded",
    "p_refusal",
    "p_self_generated",
    "uncalibrated",
    *METRICS,
    "features",
    "support",
    "evidence",
    "rank",
    "reference",
    "diagnosis",
)


_MOST_EARLIER = 8  # rows before a revised one that it keeps
_EARLIER = tuple(name for name in ASSESSMENT_COLUMNS if name not in {"app", "id", "occurred_at"})


def interaction_row(it: Interaction, stored_at: datetime) -> tuple[object, ...]:
    """Values for INTERACTION_COLUMNS."""
    usage, at = it.usage, it.position
    return (
        it.app,
        it.id,
        it.occurred_at,
        stored_at,
        it.environment,
        it.conversation_id,
        it.turn,
        it.question,
        it.answer,
        encode([_document(d) for d in it.retrieved_documents]),
        None if it.supporting_documents is None else encode([piece_json(d) for d in it.supporting_documents]),
        it.reference_answer,
        it.model,
        it.prompt_version,
        encode(dict(it.tags)) if it.tags else "{}",
        it.trace_id,
        it.latency_ms,
        usage.input if usage else None,
        usage.output if usage else None,
        _array(sorted(it.marks)),
        *((None, None, None) if at is None else (storable(at.topic), at.partition, at.offset)),
        _array(sorted(it.tag_digests)) if it.tag_digests else None,
        it.unscored,
        it.cost,
        it.span_id,
    )


def interaction_of(row: Mapping[str, Any]) -> Interaction:
    """The interaction of a row, a mapping by column name: the reverse of `interaction_row`."""
    support, usage = row["supporting_documents"], (row["input_tokens"], row["output_tokens"])
    position = None
    if row["source_topic"] is not None:
        position = Position(topic=row["source_topic"], partition=row["source_partition"], offset=row["source_offset"])
    return Interaction(
        id=row["id"],
        app=row["app"],
        occurred_at=row["occurred_at"].astimezone(UTC),
        question=row["question"],
        answer=row["answer"],
        retrieved_documents=tuple(Document(**document) for document in row["retrieved_documents"]),
        supporting_documents=None if support is None else tuple(SupportingDocument(**piece) for piece in support),
        environment=row["environment"],
        conversation_id=row["conversation_id"],
        turn=row["turn"],
        reference_answer=row["reference_answer"],
        model=row["model"],
        prompt_version=row["prompt_version"],
        tags=row["tags"],
        tag_digests=frozenset(row["tag_digests"] or ()),
        trace_id=row["trace_id"],
        span_id=row["span_id"],
        latency_ms=row["latency_ms"],
        usage=None if usage == (None, None) else TokenUsage(input=usage[0], output=usage[1]),
        cost=row["cost"],
        marks=frozenset(map(Mark, row["marks"])),
        position=position,
        unscored=None if row["unscored"] is None else Unscored(row["unscored"]),
    )


def assessment_row(a: Assessment) -> tuple[object, ...]:
    """Values for ASSESSMENT_COLUMNS."""
    it, p, m = a.interaction, a.probabilities, a.metrics
    return (
        it.app,
        it.id,
        a.profile_hash,
        it.occurred_at,
        a.profile_name,
        a.embedding_model,
        a.verdict,
        a.rule_verdict,
        _array(a.reasons),
        a.refusal.kind,
        a.refusal.correct,
        real(p.grounded),
        real(p.refusal),
        real(p.self_generated),
        a.uncalibrated,
        real(m.sdq),
        real(m.sdrd),
        real(m.sda),
        real(m.qrd),
        real(m.qa),
        encode(_features(a.scores)),
        encode(support_json(a.support)),
        encode(stored_evidence(a)),
        real(a.rank),
        a.reference,
        None if a.diagnosis is None else a.diagnosis.diagnosis,
    )


def as_earlier(row: Mapping[str, Any]) -> str:
    """What a revision keeps of the row before it, as JSON: that row, with what it keeps of the one before in turn.

    Of many rows it keeps the last ones and the first, so that a turn which is revised over and over stays small.
    """
    states = [{name: row[name] for name in _EARLIER}]
    if row["revised_at"] is not None:
        states[0]["revised_at"] = row["revised_at"].astimezone(UTC).isoformat()
        before = row["earlier"]
        while before is not None:
            states.append({name: value for name, value in before.items() if name != "earlier"})
            before = before.get("earlier")
    kept: dict[str, Any] | None = None
    for state in reversed([*states[: _MOST_EARLIER - 1], *states[_MOST_EARLIER - 1 :][-1:]]):
        kept = state if kept is None else {**state, "earlier": kept}
    return encode(kept)


def counted_row(it: Interaction, row: Mapping[str, Any]) -> CountedAssessment:
    """What the rollup counts of a row of `assessment`."""
    return CountedAssessment(
        interaction=it,
        verdict=Verdict(row["verdict"]),
        reasons=[Reason(reason) for reason in row["reasons"]],
        metrics=Metrics(**{name: row[name] for name in METRICS}),
        heard=row["evidence"].get("judge", {}).get("turned", 0),
        diagnosis=None if row["diagnosis"] is None else Diagnosis(row["diagnosis"]),
    )


def _document(d: Document) -> dict[str, object]:
    row: dict[str, object] = {"id": d.id, "text": d.text}
    if d.score is not None:
        row["score"] = d.score
    if d.source is not None:
        row["source"] = d.source
    if d.metadata:
        row["metadata"] = d.metadata
    return row


def _features(scores: Scores) -> dict[str, object]:
    return {"joined": _values(scores.joined), "maximum": _values(scores.maximum), "undefined": dict(scores.undefined)}


def _values(m: Metrics) -> dict[str, float | None]:
    return {"sdq": m.sdq, "sdrd": m.sdrd, "sda": m.sda, "qrd": m.qrd, "qa": m.qa}


def real(value: float | None) -> float | None:
    """The nearest value that a REAL column holds, so that the server has nothing left to round."""
    if value is None:
        return None
    (rounded,) = _FLOAT4.unpack(_FLOAT4.pack(value))
    return float(rounded)


def _array(words: Iterable[str]) -> str:
    """A Postgres array of words that need no quoting."""
    return f"{{{','.join(words)}}}"


def key(assessment: Assessment) -> tuple[str, str]:
    """(app, id). Every replica writes in the order of these keys, which rules out deadlocks."""
    return assessment.interaction.app, assessment.interaction.id
