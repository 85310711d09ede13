"""Compares the verdicts of a profile with those shown: how many would move, from what to what, with examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Engine, text

from monitor.core.model import Verdict
from monitor.store.database import retriable
from monitor.store.rescore.answers import TIMEOUT_MS, RescoreSpan

EXAMPLES = 3  # of each move, those whose probability changed most
_BOTH = """
    FROM assessment i
    JOIN assessment b ON b.app = i.app AND b.id = i.id AND b.occurred_at = i.occurred_at AND b.profile_hash = :hash
    WHERE i.live AND i.occurred_at >= :since AND i.occurred_at < :until {of_app}
"""
_COUNTS = """
    SELECT i.app, i.verdict AS shown, b.verdict AS other, count(*) AS answers, count(*) FILTER (WHERE b.live) AS in_use
    {both} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
_EXAMPLES = """
    SELECT app, shown, other, id, occurred_at, p_shown, p_other FROM (
        SELECT i.app, i.verdict AS shown, b.verdict AS other, i.id, i.occurred_at, i.p_self_generated AS p_shown,
            b.p_self_generated AS p_other, row_number() OVER (
                PARTITION BY i.app, i.verdict, b.verdict
                ORDER BY abs(i.p_self_generated - b.p_self_generated) DESC, i.id
            ) AS place
        {both} AND i.verdict <> b.verdict
    ) moved WHERE place <= :examples ORDER BY app, shown, other, place
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedAnswer:
    """An answer whose verdict moves, with P(self-generated) as shown and under the profile."""

    id: str
    occurred_at: datetime
    p_shown: float
    p_other: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """The answers of `app` whose verdict is `shown` now and `other` under the profile; equal ones do not move."""

    app: str
    shown: Verdict
    other: Verdict
    answers: int
    in_use: int  # whose verdict under the profile is the one that is shown
    examples: Sequence[MovedAnswer] = field(default_factory=tuple)


def compare(engine: Engine, span: RescoreSpan) -> list[Move]:
    """How the verdicts of the span move, by app, from and to; only answers with an assessment under the profile.

    Raises:
        Retriable: the database is out of reach.
    """
    with retriable(), engine.connect() as connection:
        connection.execute(text(f"SET LOCAL statement_timeout = {TIMEOUT_MS}; SET LOCAL jit = off"))
        both = span.sql(_BOTH)
        counts = connection.execute(text(_COUNTS.format(both=both)), span.values).all()
        rows = connection.execute(text(_EXAMPLES.format(both=both)), {**span.values, "examples": EXAMPLES}).all()
    examples: dict[tuple[str, str, str], list[MovedAnswer]] = {}
    for row in rows:
        one = MovedAnswer(id=row.id, occurred_at=row.occurred_at, p_shown=row.p_shown, p_other=row.p_other)
        examples.setdefault((row.app, row.shown, row.other), []).append(one)
    return [
        Move(
            app=row.app,
            shown=Verdict(row.shown),
            other=Verdict(row.other),
            answers=row.answers,
            in_use=row.in_use,
            examples=tuple(examples.get((row.app, row.shown, row.other), ())),
        )
        for row in counts
    ]
