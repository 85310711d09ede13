"""Nouns with sensible defaults; a test names only what it is about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from monitor.assess.judge.metric import Judgement, Outcome
from monitor.assess.llm.exchange import Spend
from monitor.assess.score.features import FEATURES
from monitor.core.batch import Batch
from monitor.core.evidence import AlignedSentence, Evidence
from monitor.core.message import DeadLetter, Message, Position
from monitor.core.model import (
    Assessment,
    Document,
    Interaction,
    Metrics,
    Origin,
    Probabilities,
    Reason,
    Refusal,
    RefusalKind,
    Scores,
    SidecarCall,
    StandIn,
    Support,
    SupportingDocument,
    Verdict,
)

NOON = datetime(2025, 11, 21, 12, 0, tzinfo=UTC)
SOME_METRICS = Metrics(sdq=0.75, sdrd=0.875, sda=0.5, qrd=0.625, qa=0.25)  # a REAL column keeps these exactly
PROBABLE = {
    Verdict.GROUNDED: Probabilities(grounded=0.75, refusal=0.125, self_generated=0.125),
    Verdict.REFUSAL: Probabilities(grounded=0.125, refusal=0.75, self_generated=0.125),
    Verdict.SELF_GENERATED: Probabilities(grounded=0.125, refusal=0.125, self_generated=0.75),
}
REASONS = {
    Verdict.GROUNDED: (),
    Verdict.REFUSAL: (Reason.REFUSAL_WORDING,),
    Verdict.SELF_GENERATED: (Reason.ANSWER_OFF_SUPPORT,),
}
SOME_EVIDENCE = Evidence(
    features={**dict.fromkeys(FEATURES), "grounding": -0.25, "aligned": -0.125},
    alignment=(
        AlignedSentence(answer_start=0, answer_end=39, document=0, document_id="d-1", start=0, end=52, score=0.875),
    ),
)
A_STAND_IN = Support(origin=Origin.EXTRACTIVE, documents=(), stands_in=StandIn(because="no answer", queued=True))
FROM_THE_SIDECAR = Support(
    origin=Origin.SIDECAR,
    documents=(SupportingDocument(text="kept for 30 days"),),
    sidecar=SidecarCall(mode="explain", model="gpt-test", prompt_hash="fedcba9876543210"),
)


def clock() -> datetime:
    """A clock that stands still."""
    return NOON


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def an_interaction(**over: Any) -> Interaction:
    known: dict[str, Any] = {
        "id": "q-1",
        "app": "support-bot",
        "occurred_at": NOON,
        "question": "How long are deleted snapshots kept?",
        "answer": "Deleted snapshots are kept for 30 days.",
        "retrieved_documents": (Document(id="d-1", text="Deleted snapshots are kept for 30 days, then purged."),),
    }
    return Interaction(**{**known, **over})


def an_assessment(**over: Any) -> Assessment:
    """`metrics` stands for both readings too; what belongs to an `Interaction` goes into it."""
    own = {name: over.pop(name) for name in list(over) if name in Interaction.__dataclass_fields__}
    verdict = over.get("verdict", Verdict.GROUNDED)
    metrics = over.get("metrics", SOME_METRICS)
    known: dict[str, Any] = {
        "interaction": an_interaction(**own),
        "support": Support(
            origin=Origin.EXTRACTIVE,
            documents=(SupportingDocument(text="Deleted snapshots are kept", document_id="d-1", start=0, end=26),),
        ),
        "scores": Scores(joined=metrics, maximum=metrics),
        "metrics": metrics,
        "evidence": SOME_EVIDENCE,
        "verdict": verdict,
        "rule_verdict": verdict,
        "reasons": REASONS[verdict],
        "refusal": Refusal(kind=RefusalKind.FULL if verdict is Verdict.REFUSAL else RefusalKind.NONE),
        "probabilities": PROBABLE[verdict],
        "uncalibrated": True,
        "profile_name": "hash",
        "profile_hash": "0123456789abcdef",
        "embedding_model": "hash/64",
    }
    return Assessment(**{**known, **over})


def a_message(value: bytes = b"{}", *, topic: str = "answers.jsonl", offset: int = 1, **over: Any) -> Message:
    known: dict[str, Any] = {
        "value": value,
        "position": Position(topic=topic, partition=0, offset=offset),
        "received_at": NOON,
        "size": len(value),
    }
    return Message(**{**known, **over})


def a_dead_letter(value: bytes = b"no JSON", **over: Any) -> DeadLetter:
    path, problem = over.pop("path", "$"), over.pop("problem", "is not JSON")
    return DeadLetter(message=over.pop("message", None) or a_message(value, **over), path=path, problem=problem)


def a_batch(*assessments: Assessment, dead_letters: tuple[DeadLetter, ...] = (), **over: Any) -> Batch:
    known: dict[str, Any] = {
        "assessments": assessments,
        "dead_letters": dead_letters,
        "received": len(assessments) + len(dead_letters),
    }
    return Batch(**{**known, **over})


def a_judgement(**over: Any) -> Judgement:
    known: dict[str, Any] = {
        "metric": "faithfulness",
        "outcome": Outcome(score=0.5, parts={"statements": []}),
        "mode": "separate",
        "model": "gpt-test",
        "prompt_hash": "0123456789abcdef",
        "spend": Spend(calls=2, input_tokens=100, output_tokens=10, cost=0.25),
    }
    return Judgement(**{**known, **over})
