"""Candidates and opinions with sensible defaults."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from monitor.core.model import Probabilities, Verdict
from monitor.review.draw import Candidate
from monitor.review.label import Drawn, Opinion

NOON = datetime(2025, 11, 21, 12, 0, tzinfo=UTC)  # a Friday, in week 47
G, R, S = Verdict.GROUNDED, Verdict.REFUSAL, Verdict.SELF_GENERATED


def a_candidate(id_: object, margin: float = 0.5, **over: Any) -> Candidate:
    """`margin` lies between the probabilities of grounded and of self-generated."""
    known: dict[str, Any] = {
        "app": "bot",
        "occurred_at": NOON,
        "verdict": G,
        "rule_verdict": G,
        "probabilities": Probabilities(grounded=0.5 + margin / 2, refusal=0.0, self_generated=0.5 - margin / 2),
    }
    return Candidate(id=str(id_), **{**known, **over})


def labelled(id_: object, drawn: Drawn = Drawn.MARGIN, by: str = "ann", **over: Any) -> Candidate:
    return a_candidate(id_, drawn=drawn, people=frozenset({by}), **over)


def an_opinion(id_: object = "q-1", label: Verdict = G, by: str = "ann", number: int = 1, **over: Any) -> Opinion:
    known: dict[str, Any] = {
        "app": "bot",
        "occurred_at": NOON,
        "at": NOON,
        "drawn": Drawn.RANDOM,
        "verdict": G,
        "rule_verdict": G,
    }
    return Opinion(id=str(id_), label=label, by=by, number=number, **{**known, **over})
