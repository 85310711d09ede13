"""Reads the documents that live traffic of an app has shown: contexts for the judge of correctness."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Engine, text

from monitor.store.database import retriable

SPAN: Final = timedelta(days=28)
MOST_ANSWERS: Final = 2_000  # the newest ones of the span
MOST_DOCUMENTS: Final = 4_000
LONGEST: Final = 4_000  # characters; what a document holds beyond them is not read
_BOUNDS = text(
    "SET LOCAL statement_timeout = '60s'; SET LOCAL lock_timeout = '5s'; SET LOCAL jit = off; "
    "SET LOCAL max_parallel_workers_per_gather = 0"
)
# The newest answers are found by the index of lists alone; only their interactions are looked up.
_SHOWN = text("""
    WITH newest AS MATERIALIZED (
        SELECT app, id, occurred_at FROM assessment
        WHERE live AND app = :app AND occurred_at >= :since AND occurred_at <= :now
        ORDER BY occurred_at DESC, app DESC, id DESC LIMIT :answers
    ), shown AS (
        SELECT left(document ->> 'text', :longest) AS text, n.occurred_at
        FROM newest n
        JOIN LATERAL (
            SELECT retrieved_documents FROM interaction
            WHERE app = n.app AND id = n.id AND occurred_at = n.occurred_at LIMIT 1
        ) i ON true
        CROSS JOIN LATERAL jsonb_array_elements(i.retrieved_documents) AS document
    )
    SELECT min(text) FROM shown WHERE text ~ '\\S' GROUP BY md5(text)
    ORDER BY max(occurred_at) DESC, md5(min(text)) LIMIT :documents
""")


def shown_documents(engine: Engine, app: str, *, now: datetime) -> list[str]:
    """The different texts that the newest MOST_ANSWERS answers of `app` were given, the last shown first.

    Raises:
        Retriable, Fatal: the database is out of reach or too slow, or refuses.
    """
    values = {
        "app": app,
        "since": now - SPAN,
        "now": now,
        "answers": MOST_ANSWERS,
        "longest": LONGEST,
        "documents": MOST_DOCUMENTS,
    }
    with retriable(), engine.begin() as connection:
        connection.execute(_BOUNDS)
        return list(connection.execute(_SHOWN, values).scalars())
