"""Reads how relevant the chunks of an app's newest answers were: what is usual there."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Engine, text

from monitor.assess.threshold import Spread, pooled
from monitor.core.model import Verdict
from monitor.store.database import limited_read

ANSWERS: Final = 300  # the newest of an app
_TOO_SLOW = "the app's chunks are left out of the threshold for now"
# The newest of each verdict come from the index by app, verdict and time. Those of an earlier release, without a
# diagnosis, are among them: there may be millions to look through behind them.
_NEWEST = text("""
    SELECT count(*) AS count, avg(relevance) AS mean, coalesce(stddev_pop(relevance), 0) AS sd FROM (
        SELECT a.evidence FROM unnest(CAST(:verdicts AS text[])) AS v (verdict)
        CROSS JOIN LATERAL (
            SELECT a.evidence, a.occurred_at FROM assessment a
            WHERE a.app = :app AND a.verdict = v.verdict AND a.live
            ORDER BY a.occurred_at DESC LIMIT :answers
        ) a ORDER BY a.occurred_at DESC LIMIT :answers
    ) a, LATERAL (
        SELECT CAST(chunk ->> 'relevance' AS double precision) AS relevance
        FROM jsonb_array_elements(a.evidence -> 'retrieval' -> 'chunks') AS c (chunk)
    ) c
""")


class UsualRelevance:
    """What is usual in each app, from its own answers."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of(self, app: str, otherwise: Spread) -> Spread:
        """The spread of the relevances of its newest chunks, drawn to `otherwise` where there are few.

        Raises:
            Retriable: the database is out of reach or too slow.
        """
        given = {"app": app, "verdicts": [verdict.value for verdict in Verdict], "answers": ANSWERS}
        with limited_read(self._engine, _TOO_SLOW) as connection:
            count, mean, sd = connection.execute(_NEWEST, given).one()
        return pooled(count, Spread(mean=mean, sd=sd), otherwise) if count else otherwise
