"""Reads the stored answers that are to get another assessment: how many, and a few at a time.

What has been done is told by the rows: an answer with an assessment under the profile is left out. So a rescore that
was stopped or killed goes on where it was, and two at a time do no harm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Engine, text

from monitor.core.assessment_json import support_of
from monitor.core.model import Interaction, Support
from monitor.store.database import retriable
from monitor.store.interaction.rows import interaction_of

TIMEOUT_MS = 120_000  # of a statement that counts a span; a million answers take a few seconds
PAGE = 2_000  # keys read at a time
AT_ONCE = 64  # answers whose texts are in memory
_FIRST = (datetime.min.replace(tzinfo=UTC), "", "")
_TOTALS = """
    SELECT count(*) AS answers, count(b.id) AS assessed,
        count(*) FILTER (WHERE b.id IS NULL AND 'erased' = ANY(i.marks)) AS erased
    FROM interaction i
    JOIN assessment a ON a.app = i.app AND a.id = i.id AND a.occurred_at = i.occurred_at AND a.live
    LEFT JOIN assessment b
        ON b.app = i.app AND b.id = i.id AND b.occurred_at = i.occurred_at AND b.profile_hash = :hash
    WHERE i.occurred_at >= :since AND i.occurred_at < :until {of_app}
"""
# LATERAL with a LIMIT, so that each page costs as many look-ups as it has rows, whatever the span.
_PAGE = """
    SELECT i.occurred_at, i.app, i.id, NOT 'erased' = ANY(i.marks) AND a.live AS readable, b.live AS in_use
    FROM (
        SELECT occurred_at, app, id, marks FROM interaction i
        WHERE i.occurred_at >= :since AND i.occurred_at < :until {of_app}
            AND (i.occurred_at, i.app, i.id) > (:at, :after_app, :after_id)
        ORDER BY i.occurred_at, i.app, i.id LIMIT :most
    ) i
    LEFT JOIN LATERAL (
        SELECT true AS live FROM assessment
        WHERE app = i.app AND id = i.id AND occurred_at = i.occurred_at AND live LIMIT 1
    ) a ON true
    LEFT JOIN LATERAL (
        SELECT live FROM assessment
        WHERE app = i.app AND id = i.id AND occurred_at = i.occurred_at AND profile_hash = :hash LIMIT 1
    ) b ON true
    ORDER BY i.occurred_at, i.app, i.id
"""
_TEXTS = text("""
    SELECT i.*, a.support FROM unnest(CAST(:apps AS text[]), CAST(:ids AS text[]), CAST(:times AS timestamptz[]))
        AS wanted (app, id, occurred_at)
    JOIN interaction i ON i.app = wanted.app AND i.id = wanted.id AND i.occurred_at = wanted.occurred_at
    JOIN LATERAL (
        SELECT support FROM assessment
        WHERE app = i.app AND id = i.id AND occurred_at = i.occurred_at AND live LIMIT 1
    ) a ON true
    WHERE NOT 'erased' = ANY(i.marks)
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class RescoreSpan:
    """The answers of `app`, or of all apps, in [since, until), and the hash of a profile."""

    profile_hash: str
    since: datetime
    until: datetime
    app: str | None

    def sql(self, statement: str) -> str:
        return statement.format(of_app="" if self.app is None else "AND i.app = :app")

    @property
    def values(self) -> dict[str, Any]:
        """The parameters of a statement from `sql`."""
        given = {"hash": self.profile_hash, "since": self.since, "until": self.until}
        return given if self.app is None else {**given, "app": self.app}


@dataclass(frozen=True, slots=True, kw_only=True)
class RescoreTotals:
    """The assessed answers of a span, those with an assessment under the profile, and those erased without one."""

    answers: int
    assessed: int
    erased: int

    @property
    def left(self) -> int:
        """How many can get an assessment under the profile."""
        return self.answers - self.assessed - self.erased


@dataclass(frozen=True, slots=True, kw_only=True)
class RescoreKey:
    """An answer of the span; `in_use` says whether the profile's assessment is the live one, None if it has none."""

    occurred_at: datetime
    app: str
    id: str
    in_use: bool | None


class RescoreAnswers:
    """Reads; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def totals(self, span: RescoreSpan) -> RescoreTotals:
        with retriable(), self._engine.connect() as connection:
            connection.execute(text(f"SET LOCAL statement_timeout = {TIMEOUT_MS}; SET LOCAL jit = off"))
            row = connection.execute(text(span.sql(_TOTALS)), span.values).one()
            return RescoreTotals(**row._mapping)  # noqa: SLF001  the public name for a row as a mapping

    def keys(self, span: RescoreSpan, after: RescoreKey | None = None) -> tuple[list[RescoreKey], RescoreKey | None]:
        """The next page of keys of answers that can be read, and where the one after it begins; None at the end."""
        at, app, id_ = _FIRST if after is None else (after.occurred_at, after.app, after.id)
        values = {**span.values, "at": at, "after_app": app, "after_id": id_, "most": PAGE}
        with retriable(), self._engine.connect() as connection:
            rows = connection.execute(text(span.sql(_PAGE)), values).all()
        found = [(row.readable, RescoreKey(**{n: getattr(row, n) for n in RescoreKey.__slots__})) for row in rows]
        return [key for readable, key in found if readable], found[-1][1] if len(found) == PAGE else None

    def texts(self, keys: Sequence[RescoreKey]) -> list[tuple[Interaction, Support]]:
        """Those answers that are still readable, in order of app and id, with the support of their live assessment."""
        with retriable(), self._engine.connect() as connection:
            return list(_texts(connection, keys))


def _texts(connection: Connection, keys: Sequence[RescoreKey]) -> Iterator[tuple[Interaction, Support]]:
    wanted = {
        "apps": [key.app for key in keys],
        "ids": [key.id for key in keys],
        "times": [key.occurred_at for key in keys],
    }
    rows = connection.execute(_TEXTS, wanted).mappings()
    for row in sorted(rows, key=lambda row: (row["app"], row["id"])):
        yield interaction_of(dict(row)), support_of(row["support"])
