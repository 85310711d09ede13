"""Answers with chosen scores, and references frozen of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from monitor.core.model import Assessment, Probabilities
from monitor.store.interaction.writer import Writer
from monitor.store.reference.draw import ReferencePeriod
from monitor.store.reference.references import ReferenceStore
from tests.factories.answers import NOON, a_batch, an_assessment

WEEK = ReferencePeriod(app="support-bot", since=NOON - timedelta(days=7), until=NOON)


def scored(score: float, **over: Any) -> Assessment:
    probabilities = Probabilities(grounded=1 - score, refusal=0.0, self_generated=score)
    return an_assessment(probabilities=probabilities, **over)


def usual(number: int, first: int = 0, **over: Any) -> list[Assessment]:
    """Answers of the week, each worded differently; their scores go up in equal steps from 0 to nearly 1."""
    return [
        scored(n / number, **{"id": f"u-{first + n}", "answer": f"{n} days.", "occurred_at": WEEK.since, **over})
        for n in range(number)
    ]


def write(writer: Writer, *assessments: Assessment) -> None:
    assert writer.write(a_batch(*assessments)).duplicate == 0


def froze(engine: Any, period: ReferencePeriod = WEEK, *, by: str = "ann") -> Any:
    return ReferenceStore(engine).freeze(period, by=by, now=NOON)
